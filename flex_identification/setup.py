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
    name='flex_identification',
    version='0.1.0',
    description='What a flexible robot is made of: parameters from recorded data',
    author='flex maintainers',
    author_email='maintainers@users.noreply.a-seed-9fea8c9f.example',
    license='Apache-2.0',
    python_requires='>=3.10',
    packages=find_packages(exclude=['test', 'test.*']),
    package_data={'flex_identification': ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/flex_identification']),
        ('share/flex_identification', ['package.xml']),
    ],
    install_requires=['flex-control==0.1.0', 'flex-description==0.1.0',
                      'flex-dynamics==0.1.0', 'flex-ros==0.1.0', 'matplotlib', 'numba', 'numpy',
                      'pyyaml', 'scipy'],
    extras_require={'test': ['pytest']},  # colcon test runs what it finds here
    zip_safe=False,
    entry_points={
        'console_scripts': [
            'inspect = flex_identification.commands.inspect:main',
            'identify = flex_identification.commands.identify:main',
            'place = flex_identification.commands.place:main',
            'plan = flex_identification.commands.plan:main',
            'payload_estimator = flex_identification.nodes.payload_estimator:main',
        ],
    },
)
