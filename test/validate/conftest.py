"""`make validate`: every test claims; the session ends with a report of all claims.

The models of other programs, which the benchmark uses too, are found beside it; small robots of
the papers beside the tests of flex_dynamics.
"""
from __future__ import annotations

import signal
import sys
from pathlib import Path

import matplotlib
import pytest
from claims import Claims, Section, write

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'test' / 'bench'))
sys.path.append(str(ROOT / 'flex_dynamics' / 'test'))
matplotlib.use('Agg')

SECTIONS = pytest.StashKey[dict[str, Section]]()


def _section(config: pytest.Config, module) -> Section:
    """The section of a test file, by its docstring: title is the first line, text is the rest."""
    title, _, text = (module.__doc__ or module.__name__).partition('\n')
    title = title.rstrip('.')
    return config.stash.setdefault(SECTIONS, {}).setdefault(
        title, Section(title, ' '.join(text.split())))


@pytest.fixture
def claims(request):
    """Collects claims of a test; the test fails at its end if one does not hold."""
    collected = Claims(_section(request.config, request.module))
    yield collected
    assert not collected.failed, '\n'.join(collected.failed)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.skipped:
        _section(item.config, item.module).skipped.append(str(call.excinfo.value))


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    report = (yield).get_result()
    if report.skipped:           # a whole file, because a peer is not installed
        title = Path(report.nodeid).stem.removeprefix('test_').capitalize()
        section = collector.config.stash.setdefault(SECTIONS, {}).setdefault(title,
                                                                             Section(title))
        section.skipped.append(str(report.longrepr[-1]))


def pytest_sessionstart():
    """Ended from outside it stops what it launched and reports what ran, as after Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_sessionfinish(session):
    sections = list(session.config.stash.get(SECTIONS, {}).values())
    if sections:
        files = list(Path(__file__).parent.glob('test_*.py'))      # a section each
        write(sections, ROOT / 'results', len(files))


def pytest_terminal_summary(terminalreporter, config):
    if config.stash.get(SECTIONS, {}):
        terminalreporter.write_line('report: results/validation.html, results/validation.md')
