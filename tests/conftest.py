# SPDX-License-Identifier: MIT
"""What every test may ask for."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.command_line import CANARY, Invoke, Ran

# How long an example takes says more of the machine than of the code. A plain run draws the same examples each time, so
# that whoever changed nothing sees no other outcome; with a number given, every run draws others.
EXAMPLES = os.environ.get("SFUMATO_EXAMPLES")
settings.register_profile("patient", deadline=None, max_examples=int(EXAMPLES or 25), derandomize=EXAMPLES is None)
settings.load_profile("patient")


SAMPLED = {
    "test_broken_files.py",
    "test_hidden_spelling.py",
    "test_hostile_certificates.py",
    "test_missing_readings.py",
    "test_neighbours.py",
    "test_strongest_links.py",
    "test_swapping_brute.py",
    "test_table_reader.py",
    "test_tampering.py",
}
"""Files of long tables of cases, of which each run tries every third; the others are among the slow tests."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--method TAG` runs the tests that say something of one method."""
    parser.addoption("--method", metavar="TAG", help="run only the tests that say something of this method")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark two of three cases as slow, before slow ones are left out."""
    if config.getoption("--method"):
        select_tests_of_method(config, items)
    cases: Counter[str] = Counter()
    for item in items:
        if item.path.name in SAMPLED and hasattr(item, "callspec") and isinstance(item, pytest.Function):
            cases[item.originalname] += 1
            if cases[item.originalname] % 3 != 1:
                item.add_marker(pytest.mark.slow)


def select_tests_of_method(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests whose names have no word of the method."""
    from tests.method_words import list_words  # imports every method

    words = list_words(config.getoption("--method"))
    chosen = [item for item in items if any(word in item.nodeid for word in words)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets; tests that need it are skipped where it is not."""
    data_folder = os.environ.get("SFUMATO_DATA")
    folder = Path(data_folder) if data_folder else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set SFUMATO_DATA to the folder that holds it")
    return folder


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Invoke:
    """Run a command in this process, through `main` as a shell would."""

    def run(*argv: str | Path) -> Ran:
        from sfumato.cli.commands import run_commands

        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, argv)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            run_commands()
        output = capfd.readouterr()
        assert CANARY not in output.out + output.err
        code = end.value.code
        return Ran(code if isinstance(code, int) else 0, output.out, output.err)

    return run


@pytest.fixture(autouse=True)
def restored_signals() -> Iterator[None]:
    """`main` listens to signals as the last thing that its process does; here there are tests after it."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)
    handlers = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
