"""Runs the Python of a page, with what the page takes as given."""
from __future__ import annotations

from pathlib import Path
from typing import Any

from documentation_pages import ROOT, Block, blocks, pages

PAGES = [page for page in pages() if any(block.language == 'python' for block in blocks(page))]
ARM = """
import numpy as np
from flex_description import load_robot
from flex_dynamics import Model, Wrench

model = Model(load_robot('cibicik_arm'))
joints = [0.0, 0.5, 1.0, 0.5]
q = model.statics(joints)[0]
v, a, tau = np.zeros(model.n), np.zeros(model.n), np.zeros(model.n_joints)
"""
MOTION = ARM + """
from flex_control import MinimumJerk

trajectory = MinimumJerk(joints, [0.5, 0.8, 0.8, 0.5], 1.0)
time, stamp_ns, effort, period, speeds = 0.0, 0, tau, 1e-3, 0.0 * tau
reference = trajectory.sample(0.0)
"""
CRANE = """
from pathlib import Path
import re

page = Path(PAGE).read_text(encoding='utf-8')
xml, = re.findall(r'```xml\\n(<robot .*?)```', page, re.S)
yaml, = re.findall(r'```yaml\\n(flexible:\\n.*?)```', page, re.S)
plain = xml[:xml.index('  <flexible link="boom">')] + '</robot>'
Path('arm.urdf').write_text(plain)
Path('overlay.yaml').write_text(yaml)
Path('arm.urdf.xacro').write_text(plain.replace(
    '<robot name="crane">', '<robot name="crane" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    '<xacro:arg name="length" default="1"/>').replace('"2 0 0.1"', '"$(arg length) 0 0.1"'))
"""
BAG = """
from pathlib import Path
from flex_viz import Run
from test_run import record

record(Path('BAG'), Run(model, 'tool', np.linspace(0.0, 1.0, 3), np.array([q, q, q]),
                        np.zeros((3, model.n)), np.zeros((3, 4))))
"""
# What a page takes as given, run before its first block.
CONTEXT = {
    'flex_bringup/doc/mobile_platforms.md': ARM.replace('cibicik_arm', 'mobile_arm').replace(
        'q = model.statics(joints)[0]', 'q = model.close(np.zeros(model.n)).q')
    + 'rates = np.zeros(model.n_joints)\n',
    'flex_control/doc/input_shaping.md': MOTION,
    'flex_control/doc/kalman_filter.md': MOTION,
    'flex_control/doc/observer.md': MOTION,
    'flex_control/doc/write_your_own_controller.md': MOTION,
    'flex_description/doc/flexible_elements.md': CRANE,
    'flex_description/doc/lump.md': """
from pathlib import Path
from flex_description import load_robot
from flex_description.lumping import lump, urdf_text

Path('cibicik_arm_lumped.urdf').write_text(urdf_text(lump(load_robot('cibicik_arm'), segments=8)))
""",
    'flex_description/doc/mode_shapes.md': 'import numpy as np\nx = np.linspace(0.0, 2.0, 5)\n',
    'flex_dynamics/doc/constraints.md': ARM.replace('cibicik_arm', 'flexible_four_bar').replace(
        'q = model.statics(joints)[0]', 'q = np.zeros(model.n)'),
    'flex_dynamics/doc/derivatives.md': ARM + """
from flex_dynamics import ParameterDerivatives, Rollout

wrenches, frame, x = [Wrench('tool', force=np.array([0.0, 20.0, 0.0]))], 'link2', 1.0
""",
    'flex_dynamics/doc/model.md': ARM.replace("('cibicik_arm')", "('cibicik_arm', {"
        "'flexible_joints': {'joint2': {'stiffness': 1e5, 'motor_inertia': 1e-3}}})"),
    'flex_dynamics/doc/symbolic.md': """
import numpy as np

q, p, tau = np.zeros(9), np.zeros(7), np.zeros(3)
""",
    'flex_study/doc/environments.md': ARM + """
from pathlib import Path
from flex_description import published_description

Path('my.urdf').write_text(published_description(model.robot))
""",
    'doc/how_to/record_and_report.md': ARM + BAG.replace('BAG', 'run1'),
    'flex_viz/doc/reports.md': ARM + BAG,
}
# Pages, or single blocks by their first line, that do not run in `make test`, and why.
ELSEWHERE = {
    'flex_control/doc/tip_tracking.md': 'plans for seconds',
    'flex_dynamics/doc/batches.md': '103 simulations',
}
BLOCKS_ELSEWHERE = {
    'from setuptools import setup': 'test_control_node.py installs it',
    'import xarray': 'reads the results of a study of 1000 runs',
    'import xml.etree.ElementTree as ElementTree': 'needs pinocchio: `make validate` runs it',
    'from dask_jobqueue import SLURMCluster': 'needs a cluster with Slurm',
    'from dask_kubernetes.operator import KubeCluster': 'needs a cluster with Kubernetes',
}


def reason(block: Block) -> str:
    """Why a block does not run in `make test`; '' if it does.

    Blocks whose page does not say that they are Python run on pages that are known here."""
    if not block.fenced and block.page not in CONTEXT and block.page not in ELSEWHERE:
        return 'without a fence and a language'
    first = block.text.strip().splitlines()[0]
    return ELSEWHERE.get(block.page, '') or BLOCKS_ELSEWHERE.get(first, '')


def run_page(page: str, elsewhere: bool = False) -> None:
    """Run the blocks of a page in one namespace; elsewhere: those too that have a reason."""
    names: dict[str, Any] = {'__name__': page, 'PAGE': str(ROOT / page)}
    exec(compile(CONTEXT.get(page, ''), f'what {page} takes as given', 'exec'), names)
    for block in blocks(page):
        if block.language == 'python' and (elsewhere or not reason(block)):
            code = '\n' * (block.line - 1) + block.text
            exec(compile(code, str(Path(ROOT, page)), 'exec'), names)
