# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
"""A robot whose every name is an attack on whatever shows it."""
from __future__ import annotations

from xml.sax.saxutils import quoteattr

SCRIPT = '<iframe srcdoc="<script>top.hacked=1</script>">'
IMAGE = '<img src=x onerror=hacked=2>'
LINK = '[a](javascript:hacked=3)<a href=x>'
MATH = r'$\frac{$ _x_ **y** `z`'
SLASHES = '/../..//a/__proto__'
LABEL = '_</title></script><b>"\'&amp;'
NAMES = {'robot': f'{IMAGE}', 'base': SLASHES, 'arm': LINK, 'tip': SCRIPT, 'turn': IMAGE,
         'swing': LABEL, 'gauge': MATH}
URDF = """<robot name={robot}>
  <material name={tip}><color rgba="1 0 0 1"/></material>
  <link name={base}/>
  <link name={arm}><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name={tip}><visual><geometry><box size="0.2 0.1 0.1"/></geometry>
    <material name={tip}/></visual><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name={turn} type="continuous"><parent link={base}/><child link={arm}/>
    <axis xyz="0 0 1"/></joint>
  <joint name={swing} type="continuous"><origin xyz="1 0 0"/><parent link={arm}/>
    <child link={tip}/><axis xyz="0 1 0"/></joint>
  <flexible link={arm}><beam length="1"><section shape="circle" radius="0.02"/>
    <material name="steel"/></beam>
    <gauge name={gauge} x="0.5" z="0.02"/></flexible>
</robot>"""


def urdf(**names: str) -> str:
    """With these names in place of those above."""
    return URDF.format(**{key: quoteattr(name) for key, name in {**NAMES, **names}.items()})
