# SPDX-License-Identifier: MIT
"""In a log, long work says how far it is: seldom, in lines, and only if nobody reads JSON."""

from __future__ import annotations

import io
import sys

import pytest

from sfumato.cli import progress_lines
from sfumato.cli.progress_lines import ProgressLines, spell_duration
from sfumato.cli.terminal import show_progress
from sfumato.runtime.progress import report_progress


def test_a_line_is_due_every_half_minute() -> None:
    clock, lines = [0.0], list[str]()
    tell = ProgressLines(lines.append, lambda: clock[0])
    for second in range(100):
        clock[0] = float(second)
        tell("counting", second, 200)
    assert lines == [
        "counting, 15%, about 3 min left",
        "counting, 30%, about 2 min left",
        "counting, 45%, about 2 min left",
    ]


def test_a_new_step_is_estimated_by_itself() -> None:
    clock, lines = [0.0], list[str]()
    tell = ProgressLines(lines.append, lambda: clock[0])
    tell("reading", 0, None)
    for clock[0], step, done_count, total in (
        (20.0, "writing", 500, 1000),
        (30.0, "writing", 750, 1000),
        (60.0, "reading", 0, None),
    ):
        tell(step, done_count, total)
    assert lines == ["writing, 75%, about 10 s left", "reading"]


def test_durations() -> None:
    assert [spell_duration(seconds) for seconds in (3.2, 600.0, 9000.0)] == ["3 s", "10 min", "2.5 h"]


@pytest.mark.parametrize(("quiet", "interval", "lines"), [(False, 0.0, 2), (False, 30.0, 0), (True, 0.0, 0)])
def test_a_pipe_gets_lines(monkeypatch: pytest.MonkeyPatch, quiet: bool, interval: float, lines: int) -> None:
    monkeypatch.setattr(progress_lines, "INTERVAL", interval)
    errors = io.StringIO()
    monkeypatch.setattr(sys, "stderr", errors)
    with show_progress(quiet):
        report_progress("step \x1b[2J", 1, 4)
        report_progress("step \x1b[2J", 2, 4)
    assert len(errors.getvalue().splitlines()) == lines
    assert "\x1b" not in errors.getvalue()
