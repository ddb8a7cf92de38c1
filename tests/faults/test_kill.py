# SPDX-License-Identifier: MIT
"""A run that is killed at any moment leaves no half release: the old one, the new one, or none."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sfumato.workflow.folders.leftovers import sweep_workspaces
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import verify

pytestmark = pytest.mark.usefixtures("plain_report")

STEPS = (
    "reading",
    "encoding the table",
    "writing",
    "measuring claims on the written file",
    "linking",
    "comparing before and after",
    "drawing the report",
    "publishing",
)
KILLED = -signal.SIGKILL


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".sfumato-*"))


def whole_or_absent(out: Path) -> bool:
    """Whether there is a release; if there is one, it must hold, and be complete."""
    release = out / "release"
    if not release.exists():
        return False
    for parent in (out.parent, out):
        sweep_workspaces(parent)  # as the next run does
    checked = verify(out)
    assert checked.holds, checked.problems
    assert {path.name for path in release.iterdir()} == {"certificate.json", "data.csv", "report.html"}
    assert (out / "private" / "record.json").exists(), "a release never lacks its record"
    return True


def recovers(sandbox: Any) -> None:
    """The next run succeeds and sweeps up."""
    assert run_policy(Policy.read(sandbox.policy)).published
    assert whole_or_absent(sandbox.out)
    assert not leftovers(sandbox.root)


@pytest.mark.parametrize("step", STEPS)
def test_killed_in_a_fresh_folder(sandbox: Any, step: str) -> None:
    killed = sandbox.process("run", sandbox.policy, kill_at=step, plain_report=True)
    assert killed.code == KILLED, killed.output
    assert not whole_or_absent(sandbox.out)
    recovers(sandbox)


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A release made once, to be copied as the earlier one of many tests."""
    return []


def first_release(sandbox: Any, earlier: list[Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    if not earlier:
        assert run_policy(Policy.read(sandbox.policy)).published
        copy_folder = tmp_path_factory.mktemp("earlier") / "out"
        shutil.copytree(sandbox.out, copy_folder)
        earlier.append(copy_folder)
    elif not sandbox.out.exists():
        shutil.copytree(earlier[0], sandbox.out)
    return str((sandbox.out / "release" / "certificate.json").read_text())


@pytest.mark.parametrize("step", STEPS[-4:])
def test_killed_over_an_earlier_release(
    sandbox: Any, step: str, earlier: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    old_certificate = first_release(sandbox, earlier, tmp_path_factory)
    killed = sandbox.process("run", sandbox.policy, kill_at=step, plain_report=True)
    assert killed.code == KILLED
    assert whole_or_absent(sandbox.out)
    assert (sandbox.out / "release" / "certificate.json").read_text() == old_certificate, (
        "the old release stays as it was"
    )
    recovers(sandbox)


@pytest.mark.parametrize(
    ("situation", "stride"),
    [
        ("fresh", 151),
        ("both", 151),
        *(
            pytest.param(situation, 13, marks=pytest.mark.slow)
            for situation in ("fresh", "earlier release", "both", "foreign folder")
        ),
    ],
)
def test_killed_at_many_lines_of_publishing(
    sandbox: Any, situation: str, stride: int, earlier: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """At many lines of the moves that make a release appear: it is there whole, or the old one is, or none."""
    was_there = situation in ("earlier release", "both", "foreign folder")
    if was_there:
        first_release(sandbox, earlier, tmp_path_factory)
    if situation != "fresh":
        sandbox.out.mkdir(parents=True, exist_ok=True)
    foreign = situation in ("both", "foreign folder")
    if foreign:
        (sandbox.out / "notes.txt").write_text("mine")
    if situation == "foreign folder":
        (sandbox.out / "folder").mkdir()
    line, ended = 1, False
    while not ended:
        assert line < 5000, "publishing has more lines than this test foresaw"
        killed = sandbox.process("run", sandbox.policy, kill_at_line=line, plain_report=True)
        assert killed.code in (KILLED, 0), killed.output
        ended = killed.code == 0
        has_release = whole_or_absent(sandbox.out)
        assert has_release or not was_there, f"the release vanished (killed at line {line})"
        if not was_there and has_release and not ended:  # published before it died: back to the start
            shutil.rmtree(sandbox.out / "release")
            shutil.rmtree(sandbox.out / "private")
            if situation == "fresh":
                sandbox.out.rmdir()
        line += stride
    recovers(sandbox)
    assert not foreign or (sandbox.out / "notes.txt").read_text() == "mine"


def test_killed_by_the_clock(sandbox: Any) -> None:
    for delay in (0.05, 0.3, 0.6, 0.9, 1.2):
        sandbox.process("run", sandbox.policy, kill_after_seconds=delay)
        whole_or_absent(sandbox.out)
    recovers(sandbox)


def test_a_real_command_killed_and_interrupted(sandbox: Any) -> None:
    """Not through the fork server: the installed command, in a process group of its own."""
    command = [str(Path(sys.executable).with_name("sfumato")), "run", str(sandbox.policy)]
    environment = {**os.environ, "SFUMATO_HOME": str(sandbox.home)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        time.sleep(1.3)
        process.kill()
        process.wait()
    whole_or_absent(sandbox.out)
    recovers(sandbox)


@pytest.mark.parametrize("step", ["reading", "linking", "publishing"])
def test_interrupted_with_a_sentence(sandbox: Any, step: str) -> None:
    stopped = sandbox.process("run", sandbox.policy, interrupt_at=step, plain_report=True)
    assert stopped.code == 130, stopped.output
    assert "interrupted" in stopped.err
    assert "Traceback" not in stopped.output
    assert not whole_or_absent(sandbox.out)
    assert not leftovers(sandbox.root)


def test_interrupted_under_json(sandbox: Any) -> None:
    stopped = sandbox.process("run", sandbox.policy, "--json", interrupt_at="linking")
    assert stopped.code == 130, stopped.output
    assert json.loads(stopped.out)["error"] == "Interrupted"
