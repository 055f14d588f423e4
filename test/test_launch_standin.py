"""The stand-in for ROS 2 launch, run as a user runs it: in a process of its own."""
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STAND_IN = ROOT / 'bare' / 'launch_standin'
HEAD = """
import sys
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument, ExecuteProcess, GroupAction, IncludeLaunchDescription, LogInfo,
    OpaqueFunction, RegisterEventHandler, SetLaunchConfiguration, Shutdown, TimerAction)
from launch.conditions import IfCondition, UnlessCondition
from launch.event_handlers import OnProcessExit, OnShutdown
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.parameter_descriptions import ParameterValue

def python(code, name='worker', **kwargs):
    return ExecuteProcess(cmd=[sys.executable, '-c', code], name=name, output='screen', **kwargs)

SLEEP = 'import time; print("asleep"); time.sleep(60)'

def generate_launch_description():
    return LaunchDescription([
"""


def start(folder, body, *arguments):
    path = folder / 'try.launch.py'
    path.write_text(HEAD + textwrap.indent(textwrap.dedent(body), ' ' * 8) + '\n    ])\n')
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(
        [str(STAND_IN), os.environ.get('PYTHONPATH', '')]))
    return subprocess.Popen([sys.executable, '-m', 'ros2cli_standin', 'launch', str(path),
                             *arguments], env=env, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


def run(folder, body, *arguments):
    process = start(folder, body, *arguments)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


def wait_for(process, text):
    lines = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            return ''.join(lines)
    raise AssertionError(f'{text!r} not in {lines}')


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] == 'Z'


def test_arguments_prefixes_and_a_clean_end(tmp_path):
    code, output = run(tmp_path, """
        DeclareLaunchArgument('who', default_value='nobody', description='Name to greet.'),
        python(['print("hello ', LaunchConfiguration('who'), '")'], name='greeter'),
        """, 'who:=world')
    assert code == 0, output
    assert '[greeter-1] hello world' in output
    assert 'process has finished cleanly' in output


@pytest.mark.parametrize('word, expected', [
    ('mode:=c', 'Valid options are'),
    ('mdoe:=a', "unknown launch arguments ['mdoe']"),
    ('mode', "malformed launch argument 'mode'"),
    ('other:=1', 'Required launch argument "mode" was not provided'),
])
def test_bad_arguments_are_refused(tmp_path, word, expected):
    code, output = run(tmp_path, """
        DeclareLaunchArgument('other', default_value='0'),
        DeclareLaunchArgument('mode', choices=['a', 'b']),
        python('print("ran")'),
        """, word)
    assert code == 1
    assert expected in output
    assert 'Traceback' not in output
    assert '] ran' not in output


def test_show_args(tmp_path):
    code, output = run(tmp_path, """
        DeclareLaunchArgument('mode', default_value='a', choices=['a', 'b'], description='How'),
        """, '--show-args')
    assert code == 0
    assert "'mode':\n        How. Valid choices are: ['a', 'b']\n        (default: 'a')" in output


def test_conditions_groups_and_scopes(tmp_path):
    code, output = run(tmp_path, """
        DeclareLaunchArgument('yes', default_value='true'),
        DeclareLaunchArgument('word', default_value='outer'),
        GroupAction([
            SetLaunchConfiguration('word', 'inner'),
            LogInfo(msg=['in ', LaunchConfiguration('word')]),
        ], condition=IfCondition(LaunchConfiguration('yes'))),
        LogInfo(msg='never', condition=UnlessCondition(LaunchConfiguration('yes'))),
        LogInfo(msg=['out ', LaunchConfiguration('other', default='none')]),
        LogInfo(msg=PathJoinSubstitution(['a', LaunchConfiguration('word')])),
        LogInfo(msg=PythonExpression(['1 + ', '1'])),
        OpaqueFunction(function=lambda context: [LogInfo(msg='from a function')]),
        """)
    assert code == 0, output
    said = [line.split(': ')[1] for line in output.splitlines()]
    assert said == ['in inner', 'out none', 'a/outer', '2', 'from a function']


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_everything_within_five_seconds(tmp_path, number):
    process = start(tmp_path, "python(SLEEP), python(SLEEP, name='other'),")
    output = wait_for(process, 'asleep') + wait_for(process, 'asleep')
    pids = [int(line.split('[')[-1].rstrip(']\n')) for line in output.splitlines()
            if 'started with pid' in line]
    began = time.monotonic()
    process.send_signal(number)
    process.communicate(timeout=60)
    assert time.monotonic() - began < 5
    assert len(pids) == 2 and all(map(gone, pids))


def test_a_deaf_process_is_asked_then_told_then_killed(tmp_path):
    process = start(tmp_path, """
        python('import signal, time, sys\\n'
               'def say(number, frame): print("got", signal.Signals(number).name)\\n'
               'signal.signal(signal.SIGINT, say)\\n'
               'signal.signal(signal.SIGTERM, say)\\n'
               'print("deaf")\\n'
               'while True: time.sleep(0.1)', sigterm_timeout='1.0', sigkill_timeout='1.0'),
        """)
    wait_for(process, 'deaf')
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert output.index('got SIGINT') < output.index('got SIGTERM') < output.index('exit code -9')
    assert process.returncode == 1


def test_the_death_of_a_required_process_ends_the_launch(tmp_path):
    began = time.monotonic()
    code, output = run(tmp_path, """
        python(SLEEP, name='sleeper'),
        python('import time; time.sleep(0.5); raise SystemExit(3)', name='required',
               on_exit=Shutdown(reason='required process died')),
        """)
    assert time.monotonic() - began < 30       # the sleeper would take 60
    assert code == 1
    assert '[required-2]: process has died' in output and 'exit code 3' in output
    assert "sending signal 'SIGINT' to process[sleeper-1]" in output


def test_a_grandchild_does_not_outlive_the_launch(tmp_path):
    process = start(tmp_path, """
        python('import subprocess, sys, time\\n'
               'child = subprocess.Popen([sys.executable, "-c", "import time; '
               'import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"])\\n'
               'time.sleep(0.5); print("child", child.pid); time.sleep(60)'),
        """)
    pid = int(wait_for(process, '] child').split()[-1])
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    end = time.monotonic() + 30.0
    while not gone(pid):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_timers_respawn_and_handlers(tmp_path):
    code, output = run(tmp_path, """
        python('print("once"); raise SystemExit(1)', name='again', respawn=True,
               respawn_delay=0.1),
        TimerAction(period=2.0, actions=[Shutdown(reason='enough')]),
        TimerAction(period=60.0, actions=[LogInfo(msg='never')]),
        RegisterEventHandler(OnShutdown(on_shutdown=[LogInfo(msg='going down')])),
        """)
    assert output.count('] once') > 1
    assert 'going down' in output and 'never' not in output
    assert code == 0, output


def test_ros_arguments_of_a_node(tmp_path):
    params = tmp_path / 'own.yaml'
    params.write_text('/**: {ros__parameters: {rate: 5.0}}\n')
    code, output = run(tmp_path, f"""
        DeclareLaunchArgument('count', default_value='3'),
        GroupAction([
            PushRosNamespace('left'),
            Node(executable=sys.executable, name='arm', exec_name='arm', output='screen',
                 arguments=['-c', 'import sys\\nprint(sys.argv[1:])\\nfor a, b in '
                            'zip(sys.argv, sys.argv[1:]):\\n'
                            ' if a == "--params-file": print(open(b).read())'],
                 parameters=[{str(params)!r}, {{
                     'count': LaunchConfiguration('count'),
                     'label': ParameterValue(LaunchConfiguration('count'), value_type=str),
                     'text': '7', 'gains': {{'p': [1, 2.5]}}}}],
                 remappings=[('/tf', 'tf')]),
        ]),
        """)
    assert code == 0, output
    assert "'__node:=arm', '-r', '__ns:=/left', '--params-file'" in output
    assert "'/tf:=tf'" in output
    assert 'rate: 5.0' in output
    for line in ('/left/arm:', 'count: 3', "label: '3'", "text: '7'", 'gains.p:', '- 1.0'):
        assert f'] {line}' in output.replace(']     ', '] ').replace(']   ', '] '), line


@pytest.mark.parametrize('line, name', [
    ('from launch.actions import ResetEnvironment', 'launch.actions.ResetEnvironment'),
    ('from launch.substitutions import AnonName', 'launch.substitutions.AnonName'),
    ('from launch import LaunchIntrospector', 'launch.LaunchIntrospector'),
    ('from launch_ros.actions import LifecycleNode', 'launch_ros.actions.LifecycleNode'),
    ("python('', prefix='gdb')", 'prefix'),
    ("Node(executable='x', emulate_tty=True)", 'emulate_tty'),
])
def test_what_is_not_implemented_is_refused_by_name(tmp_path, line, name):
    if line.startswith('from'):
        body = f'OpaqueFunction(function=lambda context: exec({line!r})),'
    else:
        body = f'{line},'
    code, output = run(tmp_path, body)
    assert code == 1
    assert name in output and 'stand-in' in output
    assert 'Traceback' not in output


def test_a_program_that_is_not_there(tmp_path):
    code, output = run(tmp_path, "ExecuteProcess(cmd=['no-such-program']),")
    assert code == 1
    assert 'no-such-program' in output and 'Traceback' not in output


def test_a_launch_whose_reader_is_gone_still_ends_its_processes(tmp_path):
    process = start(tmp_path, "python(SLEEP, sigterm_timeout='1.0'),")
    text = wait_for(process, 'asleep')
    worker = int(text.split('process started with pid [')[1].split(']')[0])
    process.stdout.close()
    process.send_signal(signal.SIGINT)
    process.wait(20.0)
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
