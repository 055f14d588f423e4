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
from glob import glob

from setuptools import find_packages, setup

setup(
    name='flex_bringup',
    version='0.1.0',
    description='How it is put together: launch files, parameters, RViz configurations, the demo',
    author='flex maintainers',
    author_email='maintainers@users.noreply.a-seed-9fea8c9f.example',
    license='Apache-2.0',
    python_requires='>=3.10',
    packages=find_packages(exclude=['test', 'test.*']),
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/flex_bringup']),
        ('share/flex_bringup', ['package.xml']),
        ('share/flex_bringup/launch', sorted(glob('launch/*.launch.py'))),
        ('share/flex_bringup/config', sorted(glob('config/*.*'))),
        ('share/flex_bringup/config/moveit', sorted(glob('config/moveit/*.*'))),
        *((f'share/flex_bringup/config/moveit/{robot}', sorted(glob(f'config/moveit/{robot}/*')))
          for robot in ('panda', 'ur5')),
        ('share/flex_bringup/rviz', sorted(glob('rviz/*.rviz'))),
    ],
    install_requires=[
        'flex-description==0.1.0',
        'flex-dynamics==0.1.0',
        'flex-ros==0.1.0',
        'flex-control==0.1.0',
        'flex-viz==0.1.0',
        'matplotlib',
        'numpy',
        'pyyaml',
    ],
    extras_require={'test': ['pytest']},  # colcon test runs what it finds here
    zip_safe=False,
    entry_points={
        'console_scripts': [
            'demo = flex_bringup.demo:main',
        ],
    },
)
