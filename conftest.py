"""Every test run gets a ROS domain of its own, so that two on one machine do not meet; and so does
every file of launch tests, since nodes that were killed stay in a domain's graph for a while."""
import contextlib
import itertools
import os
from pathlib import Path

import pytest

LAUNCH_TESTS = Path(__file__).parent / 'test' / 'launch'
DOMAINS = itertools.cycle(range(1, 101))
RESERVED = contextlib.ExitStack()
USERS: set[Path] = set()      # files of launch tests that have had a domain


def reserve_a_domain() -> None:
    RESERVED.close()
    with contextlib.suppress(ImportError):  # Without ROS the libraries can be tested all the same.
        from domain_coordinator import domain_id
        os.environ['ROS_DOMAIN_ID'] = str(RESERVED.enter_context(domain_id(DOMAINS.__next__)))


def pytest_configure(config: pytest.Config) -> None:
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    reserve_a_domain()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.path.parent == LAUNCH_TESTS and item.path not in USERS:
        USERS.add(item.path)
        reserve_a_domain()


def pytest_unconfigure(config: pytest.Config) -> None:
    RESERVED.close()
