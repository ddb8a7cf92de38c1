# SPDX-License-Identifier: MIT
"""What is at risk in sequences, counted by hand, and as the command line prints it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.cli.commands import run_commands

ROWS = [list("abc"), list("abc"), list("ab"), list("xa"), []]


def test_counts_are_those_of_a_small_example() -> None:
    audit_report = sf.audit(sf.Sequences.of(ROWS))
    assert isinstance(audit_report, sf.SequenceAudit)
    assert (audit_report.sequences, audit_report.empty, audit_report.elements, audit_report.items) == (5, 1, 10, 4)
    assert (audit_report.shortest, audit_report.median_length, audit_report.longest) == (0, 2.0, 3)
    assert (audit_report.rare_items, audit_report.people, audit_report.k) == (1, 4, 1)
    assert (audit_report.patterns, audit_report.rare_patterns) == (8, 2)  # a b c x, ab ac bc xa; x and xa are rare
    # Who went x a is alone by two points; nobody else ever is.
    assert [(risk.points, risk.unique_share) for risk in audit_report.known_points][1:] == [(2, 0.25), (3, 0.25)]


def test_everybody_alike_is_found_by_nothing() -> None:
    audit_report = sf.audit(sf.Sequences.of([list("ab")] * 7))
    assert audit_report.k == 7
    assert all(risk.unique_share == 0 for risk in audit_report.known_points)
    assert "at least 7" in audit_report.list_sentences()[-1]


def test_itemsets_count_by_item() -> None:
    audit_report = sf.audit(sf.Sequences.of([[["a", "b"], ["c"]], [["a"], ["c"]]]))
    assert (audit_report.patterns, audit_report.rare_patterns) == (6, 3)  # a c, ac; b, (ab), bc are rare


@pytest.mark.parametrize("rows", [[], [[], []]])
def test_without_items_there_is_nothing_to_examine(rows: list[list[str]]) -> None:
    with pytest.raises(sf.DataError, match="none has an item"):
        sf.audit(sf.Sequences.of(rows))


def run_audit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    monkeypatch.setattr(sys, "argv", ["sfumato", "audit", *words])
    with pytest.raises(SystemExit) as exit_info:
        run_commands()
    assert exit_info.value.code == 0
    return capsys.readouterr().out


def test_the_command_reads_every_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sequences = sf.Sequences.of(ROWS[:4])
    sequences.write(tmp_path / "spmf.txt")
    sequences.write(tmp_path / "long.csv")
    sequences.write(tmp_path / "named.csv", id="person", item="place", time="hour")
    named_arguments = [str(tmp_path / "named.csv"), "--id", "person", "--item", "place", "--time", "hour"]
    expected = sf.audit(sequences).as_json()
    for words in ([str(tmp_path / "spmf.txt")], [str(tmp_path / "long.csv")], named_arguments):
        audit_report = json.loads(run_audit(monkeypatch, capsys, *words, "--json"))
        assert audit_report == json.loads(json.dumps(expected | {"source": words[0]}))
    output = run_audit(monkeypatch, capsys, str(tmp_path / "spmf.txt"))
    assert "4 sequences of 4 different items" in output
    assert "sfumato init" in output


def test_the_next_step_names_the_columns_that_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without them, `init` would not find these columns, and draft a policy for a table."""
    file = tmp_path / "w.csv"
    sf.Sequences.of(ROWS[:4]).write(file, id="who", item="where", time="when")
    text = run_audit(monkeypatch, capsys, str(file), "--id", "who", "--item", "where", "--time", "when")
    assert f"sfumato init {file} --id who --item where --time when" in " ".join(text.split())


def test_points_whose_columns_are_named_are_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --id and --time a column of items was asked for, though the file has x and y."""
    file = tmp_path / "points.csv"
    file.write_text("tour,at,x,y\n1,1,0,0\n1,2,9,9\n2,1,0,0\n2,2,9,9\n", encoding="utf-8")
    text = run_audit(monkeypatch, capsys, str(file), "--id", "tour", "--time", "at")
    assert "2 sequences of 2 different items" in text
    assert "grid of 10 × 10" in text
