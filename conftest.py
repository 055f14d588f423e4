"""Every test run gets a ROS domain of its own, so that two on one machine do not meet."""
import contextlib
import os

import pytest

RESERVED = contextlib.ExitStack()


def pytest_configure(config: pytest.Config) -> None:
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    with contextlib.suppress(ImportError):  # Without ROS the libraries can be tested all the same.
        from domain_coordinator import domain_id
        os.environ['ROS_DOMAIN_ID'] = str(RESERVED.enter_context(domain_id()))


def pytest_unconfigure(config: pytest.Config) -> None:
    RESERVED.close()
