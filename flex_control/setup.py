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
from setuptools import find_packages, setup

setup(
    name='flex_control',
    version='0.1.0',
    description='How a flexible robot is driven: trajectories, controllers, estimators, a node',
    author='flex maintainers',
    author_email='maintainers@users.noreply.a-seed-9fea8c9f.example',
    license='Apache-2.0',
    python_requires='>=3.10',
    packages=find_packages(exclude=['test', 'test.*']),
    package_data={'flex_control': ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/flex_control']),
        ('share/flex_control', ['package.xml']),
    ],
    install_requires=['flex-description==0.1.0', 'flex-dynamics==0.1.0', 'daqp', 'numba',
                      'numpy', 'scipy'],
    extras_require={'test': ['pytest', 'hypothesis']},  # colcon test runs what it finds here
    zip_safe=False,
    entry_points={
        'console_scripts': [
            'control = flex_ros.start:main_of.flex_control.nodes.control',
            'observer = flex_ros.start:main_of.flex_control.nodes.observer',
            'controlled_simulator = '
            'flex_ros.start:main_of.flex_control.nodes.controlled_simulator',
            'shaping_proxy = flex_ros.start:main_of.flex_control.nodes.shaping_proxy',
        ],
        'flex_control.controllers': [
            'attitude = flex_control.controllers.attitude.attitude:Attitude',
            'composite = flex_control.controllers.vibration.composite:Composite',
            'computed_torque = flex_control.controllers.computed_torque:ComputedTorque',
            'elastic_joint = flex_control.controllers.elastic_joint:ElasticJoint',
            'feedback_linearization = '
            'flex_control.controllers.feedback_linearization:FeedbackLinearization',
            'lqg = flex_control.controllers.lqg:LQG',
            'lqr = flex_control.controllers.lqr:LQR',
            'mpc = flex_control.controllers.mpc:MPC',
            'pd = flex_control.controllers.pd:PD',
            'pid = flex_control.controllers.pid:PID',
            'strain_feedback = '
            'flex_control.controllers.vibration.strain_feedback:StrainFeedback',
        ],
    },
)
