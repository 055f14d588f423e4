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
    name='flex_description',
    version='0.1.0',
    description='What a flexible robot is: a URDF with beams, sections and mode shapes',
    author='flex maintainers',
    author_email='maintainers@users.noreply.a-seed-9fea8c9f.example',
    license='Apache-2.0',
    python_requires='>=3.10',
    packages=find_packages(exclude=['test', 'test.*']),
    package_data={'flex_description': ['py.typed', 'robots/*']},
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/flex_description']),
        ('share/flex_description', ['package.xml']),
        ('share/flex_description/robots', sorted(glob('flex_description/robots/*.*'))),
    ],
    install_requires=['numpy', 'scipy', 'pyyaml', 'xacro'],
    extras_require={'test': ['pytest', 'hypothesis']},  # colcon test runs what it finds here
    zip_safe=False,
    entry_points={
        'console_scripts': [
            'describe = flex_description.commands.describe:main',
            'suggest = flex_description.commands.suggest:main',
            'lump = flex_description.commands.lump:main',
        ],
    },
)
