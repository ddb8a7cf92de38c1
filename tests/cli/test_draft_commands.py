# SPDX-License-Identifier: MIT
"""`sfumato init` and `sfumato hierarchy` as typed: questions on a terminal, none in a pipe, no cell in a message."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import stat
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.command_line import CANARY, Invoke, Ran


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a name, a secret in each cell of one column, and cells that may mean missing."""
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    jobs, diseases = ["cook", "unknown", "nurse", "driver", "teacher"], ["flu", "gout", CANARY]
    rows = (f"Ann {i},{20 + i % 50},{jobs[i % 5]},{diseases[i % 3]}" for i in range(100))
    path.write_text("\n".join(["name,age,job,disease", *rows]) + "\n")
    return path


def type_answers(argv: Sequence[str], answers: Sequence[str], folder: Path, seconds: float = 120) -> Ran:
    """Run a command on a pseudo-terminal, and answer whenever a question ends in "] "."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(folder)
        os.execv(sys.executable, [sys.executable, "-m", "sfumato", *argv])
    output, rest, end = "", list(answers), time.monotonic() + seconds
    question_count = 0
    try:
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break
            if not part:
                break
            output += part.decode()
            if output.count("] ") > question_count and output.endswith("] ") and rest:
                question_count = output.count("] ")
                os.write(terminal, (rest.pop(0) + "\n").encode())
        else:
            os.kill(child, signal.SIGKILL)
    finally:
        os.close(terminal)
        status = os.waitpid(child, 0)[1]
    return Ran(os.waitstatus_to_exitcode(status), output, "")


def test_a_pipe_asks_nothing_and_says_so(people: Path, invoke: Invoke) -> None:
    ran = invoke("init", people.name)
    assert ran.code == 0
    assert "not a terminal" in ran.output
    assert "sfumato run policy.toml" in ran.output
    assert 'Not released: "name"' in ran.output
    policy = tomllib.loads(Path("policy.toml").read_text())
    assert policy["roles"]["sensitive"] == ["disease"]
    assert policy["data"] == {"path": "people.csv", "missing_marks": ["", "?"]}
    assert "not a terminal" not in invoke("init", people.name, "--yes", "--out", "second.toml").output


def test_nothing_is_written_over(people: Path, invoke: Invoke) -> None:
    Path("policy.toml").write_text("mine")
    ran = invoke("init", people.name)
    assert ran.code == 2
    assert "exists and is not overwritten" in ran.output
    assert Path("policy.toml").read_text() == "mine"
    assert "not a shape" in invoke("init", people.name, "--shape", "tabel").output
    assert "not a purpose" in invoke("init", people.name, "--for", "sell").output, (
        "the option that is wrong comes first"
    )
    assert invoke("hierarchy", people.name, "age", "--out", "policy.toml").code == 2
    assert Path("policy.toml").read_text() == "mine"


def test_a_missing_input_is_named_before_an_existing_output(invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "policy.toml"
    out.write_text("mine")
    for argv in (("init", "nowhere.csv", "--out", str(out)), ("hierarchy", "nowhere.csv", "age", "--out", str(out))):
        ran = invoke(*argv)
        assert ran.code == 2
        assert "nowhere.csv: the file does not exist" in ran.output


def test_an_output_in_no_folder_is_named_as_it_was_given(people: Path, invoke: Invoke, tmp_path: Path) -> None:
    rows = people.read_text().splitlines()
    towns = ("Paris", "Rome", "Berlin")  # a column whose hierarchy is a file of its own
    lines = [f"{rows[0]},town", *(f"{row},{towns[number % 3]}" for number, row in enumerate(rows[1:]))]
    people.write_text("\n".join(lines) + "\n")
    out = tmp_path / "nowhere" / "x.toml"
    ran = invoke("init", people.name, "--yes", "--out", str(out))
    assert ran.code == 2
    assert f"{out}: cannot be written (there is no folder {out.parent}: make it first)" in ran.output
    assert "hierarchy" not in ran.output


def test_answers_on_a_terminal_are_obeyed(people: Path) -> None:
    ran = type_answers(["init", people.name], ["share", "1", "agee", "age", "x", "4"], people.parent)
    assert ran.code == 0, ran.output
    assert CANARY not in ran.output
    assert "There is no column agee." in ran.output
    policy = tomllib.loads((people.parent / "policy.toml").read_text())
    assert policy["data"]["missing_marks"] == ["", "?", "unknown"]
    assert policy["roles"]["sensitive"] == ["age"]
    assert policy["protect"][0]["models"] == [{"model": "k_anonymity", "k": 4}]


@pytest.mark.slow
def test_empty_answers_take_the_defaults(people: Path, invoke: Invoke) -> None:
    ran = type_answers(["init", people.name], ["", "", "", ""], people.parent)
    assert ran.code == 0, ran.output
    policy_text = (people.parent / "policy.toml").read_text()
    invoke("init", people.name, "--yes", "--out", "yes.toml")
    assert tomllib.loads(policy_text.replace("policy_", "yes_")) == tomllib.loads(Path("yes.toml").read_text())


def test_options_answer_for_scripts(people: Path, invoke: Invoke) -> None:
    words = ("--for", "publish", "--k", "3", "--sensitive", "age", "--missing-mark", "unknown", "--json")
    ran = invoke("init", people.name, "--out", "p.toml", *words)
    answer = json.loads(ran.output)
    assert answer["next"] == "sfumato run p.toml"
    policy = tomllib.loads(Path(answer["policy"]).read_text())
    assert policy["protect"][0]["models"][0] == {"model": "k_anonymity", "k": 3}
    assert policy["data"]["missing_marks"] == ["", "?", "unknown"]
    assert policy["roles"]["sensitive"] == ["age"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("init", "nobody.csv"), "does not exist"),
        (("init", "people.csv", "--for", "sell"), "choose publish, share, synthetic, outsource, hide"),
        (("init", "people.csv", "--shape", "cube"), "choose table, baskets, sequences or points"),
        (("init", "people.csv", "--sensitive", "agee"), 'no column "agee"'),
        (("init", "people.csv", "--k", "1000"), "choose a smaller k"),
        (("init", "people.csv", "--out", "nowhere/policy.toml"), "cannot be written"),
        (("hierarchy", "people.csv", "agee"), 'no column "agee"'),
        (("hierarchy", "people.csv", "name", "--out", "h.csv"), "write one by hand"),
        (("hierarchy", "people.csv", "age", "--out", "nowhere/h.csv"), "cannot be written"),
    ],
)
def test_mistakes_get_a_sentence(words: tuple[str, ...], sentence: str, people: Path, invoke: Invoke) -> None:
    ran = invoke(*words)
    assert ran.code == 2
    assert sentence in ran.output
    assert not list(people.parent.glob("*.toml"))


def test_hierarchy_shows_counts_and_writes_a_file_for_editing(people: Path, invoke: Invoke) -> None:
    import sfumato as sf

    result = invoke("hierarchy", people.name, "job")
    assert "cook" not in result.output
    assert "--out FILE" in result.output
    ran = invoke("hierarchy", people.name, "job", "--out", "job.csv")
    assert ran.code == 0
    assert 'job = "job.csv"' in ran.output
    assert sf.Hierarchy.read("job.csv").height >= 2
    assert stat.S_IMODE(Path("job.csv").stat().st_mode) == 0o600
    answer = json.loads(invoke("hierarchy", people.name, "age", "--json").output)
    assert answer["levels"][0] == {"level": 0, "labels": 50, "fewest_rows": 2, "most_rows": 2}
    assert answer["policy"] == 'age = { kind = "intervals", widths = [2, 10, 20, 40] }'


def test_audit_ends_with_the_command_to_type_next(people: Path, invoke: Invoke) -> None:
    odd = people.rename(people.with_name("my people.csv"))
    assert invoke("audit", odd.name).output.rstrip().endswith("sfumato init 'my people.csv'")


def test_a_second_run_says_which_release_it_replaced(
    people: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sfumato.report.page.render_page", lambda account: "<!doctype html><p>a report</p>")
    invoke("init", people.name)
    first = invoke("run", "policy.toml")
    assert first.code == 0
    assert "replaced" not in first.output
    created = json.loads(Path("out/release/certificate.json").read_text())["created"]
    second = invoke("run", "policy.toml")
    assert f"Note: the earlier release of {created} in this folder was replaced" in second.output
