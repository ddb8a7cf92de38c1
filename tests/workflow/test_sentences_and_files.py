# SPDX-License-Identifier: MIT
"""Sentences that were once false of the file that they are about, each with the policy that showed it."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import ChangeKind

AGES = [20 + row * 7 % 60 for row in range(120)]
ROLES = {"age": "quasi_identifying", "sex": "quasi_identifying", "pay": "insensitive", "ill": "sensitive"}


def make_people(**columns: Any) -> sf.Table:
    """120 people of different ages; pay repeats, so that nobody is unique by it."""
    frame = pl.DataFrame(
        {
            "age": AGES,
            "sex": ["f", "m"] * 60,
            "pay": [1000 + 10 * (row % 12) for row in range(120)],
            "ill": [["flu", "cold", "ache"][row % 3] for row in range(120)],
            **columns,
        }
    )
    return sf.Table.of(frame, {**dict.fromkeys(columns, "insensitive"), **ROLES})


def read_certificate(run: sf.Run) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((run.out / "release" / "certificate.json").read_text(encoding="utf-8"))
    return body


def test_columns_that_are_not_coded_are_not_said_to_be(tmp_path: Path) -> None:
    table = make_people()
    method = sf.EncodeForTrees(target="ill", columns=("age",))
    release = method.protect(table, method.new_key(table))
    change_kinds = {change.column: change.kind for change in release.changes}
    coded, kept_kind = ChangeKind.CODED, ChangeKind.KEPT
    assert change_kinds == {"age": coded, "sex": kept_kind, "pay": kept_kind, "ill": coded}
    forged = release.data.frame.with_columns(pl.Series("pay", [1, *release.data.frame["pay"][1:]]))
    findings = sf.check(
        sf.Release(release.data.replace_frame(forged), method, release.claims, {}, release.details), table
    )
    assert [finding.property for finding in findings if not finding.holds] == ["kept_cells_changed"]


def test_a_column_of_names_beside_codes_is_refused(tmp_path: Path) -> None:
    table = make_people(email=[f"person{row}@example.org" for row in range(120)])
    run = sf.run(table, sf.EncodeForTrees(target="ill", columns=("age",)), out=tmp_path / "out")
    assert run.verdict.status == "refused" and "email" in run.verdict.objections[0].columns
    assert not (tmp_path / "out" / "release").exists()


def test_codes_that_are_the_originals_stop_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sf.EncodeForTrees, "_list_coded_columns", lambda self, data: tuple(data.frame.columns), raising=True
    )
    with pytest.raises(sf.ClaimBroken, match="every cell is as in the originals"):
        sf.run(make_people(), sf.EncodeForTrees(target="ill", columns=("age",)), out=tmp_path / "out")


def test_an_accepted_column_that_was_changed_does_not_leave_as_it_is(tmp_path: Path) -> None:
    accept = {"pay": "rounded to thousands", "sex": "known to all"}
    run = sf.run(make_people(), sf.RoundNumbers(columns="pay", step=1000), out=tmp_path / "out", accept=accept)
    warnings = read_certificate(run)["verdict"]["warnings"]
    assert '"pay" is published as its method changed it; accepted: rounded to thousands' in warnings
    assert '"sex" is published unchanged; accepted: known to all' in warnings


def test_the_loss_of_two_methods_is_the_larger_one(tmp_path: Path) -> None:
    """Half of all detail is lost by labels; few cells are blank, and few numbers capped."""
    methods: tuple[Any, ...] = (sf.Partition(models=(sf.KAnonymity(k=40),)), sf.TopCode(columns="pay", k=5))
    run = sf.run(make_people(), methods, out=tmp_path / "out", accept={"pay": "repeats"})
    single_run = sf.run(make_people(), methods[0], out=tmp_path / "alone", accept={"pay": "repeats"})
    assert run.record["utility"]["loss"] == pytest.approx(single_run.record["utility"]["loss"])
    assert run.record["utility"]["loss"] > 0.2
    private = [(row, "ill") for row in (0, 7)]
    blanking = sf.SuppressEntries(private=private, confidence=1.0, min_support=60)
    joint_run = sf.run(make_people(), (methods[0], blanking), out=tmp_path / "both", accept={"pay": "repeats"})
    assert joint_run.record["utility"]["loss"] == pytest.approx(single_run.record["utility"]["loss"])


def test_blanked_cells_are_counted_where_others_were_filled() -> None:
    """A label of all values in place of a missing cell does not make up for a blank one."""
    roles = {"a": "quasi_identifying"}
    original = sf.Table.of({"a": ["x", "y", None, "x"]}, roles)
    published = sf.Table.of({"a": ["x", None, "*", "x"]}, roles)
    assert sf.measure.blanked_share(published, original) == pytest.approx(1 / 3)
    assert sf.measure.blanked_share(published.replace_frame(published.frame[:2]), original, [0, 1]) == 0.5


def test_k_anonymity_is_not_said_of_suppressed_rows() -> None:
    claim = sf.KAnonymity(k=3).claim({"starred_rows": "suppressed"})
    assert claim.meaning.startswith("Every published person who is not suppressed shares")
    assert sf.KAnonymity(k=3).claim({"starred_rows": "class"}).meaning.startswith("Every published person shares")


def test_the_loss_does_not_tell_how_many_rows_were_dropped(tmp_path: Path) -> None:
    method = sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=0.5, suppressed_rows="drop")
    run = sf.run(make_people(), method, out=tmp_path / "out", accept={"pay": "repeats"})
    body = read_certificate(run)
    assert "loss" not in body["losses"] and body["suppression"]["rows"] is None
    assert "loss" in run.record["losses"]


def test_a_missing_cell_is_no_value(tmp_path: Path) -> None:
    """Two diseases and gaps are two values, whether a method changes the column or not."""
    gaps = make_people(ill=[["flu", "cold", None][row % 3] for row in range(120)])
    run = sf.run(gaps, sf.RoundNumbers(columns="age", step=5), out=tmp_path / "out", accept={"pay": "repeats"})
    page = (run.out / "release" / "report.html").read_text(encoding="utf-8")
    rows = [row for row in page.split("<tr") if 'data-label="Values published"' in row and re.search(r">\s*ill\b", row)]
    assert re.findall(r'data-label="Values published" class="num">([^<]*)', rows[0]) == ["2"]


def test_a_column_of_blanks_shows_no_star(tmp_path: Path) -> None:
    private = [(row, "ill") for row in range(120)]
    method = sf.SuppressEntries(private=private, confidence=1.0, min_support=100)
    run = sf.run(make_people(), method, out=tmp_path / "out", accept={"pay": "repeats"})
    page = (run.out / "release" / "report.html").read_text(encoding="utf-8")
    rows = [row for row in page.split("<tr") if 'data-label="For example"' in row and re.search(r">\s*ill\b", row)]
    assert '<span class="chip">(empty)</span>' in rows[0] and '<span class="chip">*</span>' not in rows[0]


def test_what_two_methods_of_one_kind_keep_is_not_what_the_worst_keeps(tmp_path: Path) -> None:
    """A tile said "kept in the part with the largest loss" of the mean over the columns of both."""
    frame = pl.DataFrame({"ill": ["flu", "cold", "ache"] * 40, "job": ["x", "y"] * 60})
    table = sf.Table.of(frame, {"ill": "sensitive", "job": "sensitive"})
    methods = [
        sf.RandomizeResponse(column="ill", p=0.5, categories=("flu", "cold", "ache")),
        sf.RandomizeResponse(column="job", p=0.9, categories=("x", "y")),
    ]
    run = sf.run(table, methods, out=tmp_path / "out", randomness=sf.Randomness.seeded(1))
    page = (run.out / "private" / "report.html").read_text(encoding="utf-8")
    assert "kept in the part with the largest loss" not in page
    assert "By the methods: the largest of theirs. On the file: of all their columns together." in page


def test_unique_rows_beside_codes_say_what_is_not_counted(tmp_path: Path) -> None:
    """ "No original row by two columns" was said of originals of whom most are unique by a column that is coded."""
    method = sf.EncodeForTrees(target="ill", columns=("pay", "age"))
    run = sf.run(make_people(), method, out=tmp_path / "out", randomness=sf.Randomness.seeded(1))
    assert ", not counting columns of noise, drawn values or codes." in run.verdict.headline


def test_codes_are_not_said_to_be_safe_from_being_read(tmp_path: Path) -> None:
    """It was said that nobody can look up codes, beside a column of which sorting cracked every value."""
    method = sf.EncodeForTrees(target="ill", columns=("pay", "age"))
    run = sf.run(make_people(), method, out=tmp_path / "out", randomness=sf.Randomness.seeded(1))
    assert 'People were not looked up by what the codes of "age" stand for.' in run.verdict.unchecked
    for folder in ("release", "private"):
        page = unescape((run.out / folder / "report.html").read_text(encoding="utf-8"))
        assert "nobody can look up" not in page
        assert "because others do not know a person's noise, drawn values or codes: " in page
        assert 'codes of "age", "pay", "ill" may still learn the values, and look people up by them.' in page
    assert sf.verify(run.out).problems == ()


def test_codes_are_not_spoken_of_where_there_are_none(tmp_path: Path) -> None:
    noise = sf.AddNoise(columns=("pay",), privacy=0.5, ranges="from_data")
    run = sf.run(make_people(), noise, out=tmp_path / "out", randomness=sf.Randomness.seeded(1), accept={"pay": "test"})
    page = unescape((run.out / "release" / "report.html").read_text(encoding="utf-8"))
    assert 'noise, drawn values or codes: "pay".' in page and "may still learn" not in page
    assert not any("codes" in sentence for sentence in run.verdict.unchecked)


@pytest.mark.parametrize(("form", "words"), [("csv", "open the file as text"), ("parquet", "so nothing runs")])
def test_a_cell_like_a_formula_runs_only_where_it_can(tmp_path: Path, form: str, words: str) -> None:
    people = make_people(ill=["=1+1", "cold", "ache"] * 40)
    people.frame.write_csv(tmp_path / "people.csv")
    policy = {
        "data": {"path": str(tmp_path / "people.csv")},
        "roles": {"quasi_identifying": ["age", "sex"], "insensitive": ["pay"], "sensitive": ["ill"]},
        "protect": [{"method": "generalize", "models": [{"model": "k_anonymity", "k": 2}]}],
        "output": {"path": str(tmp_path / "out"), "format": form},
    }
    run = sf.run(sf.Policy.model_validate(policy), randomness=sf.Randomness.seeded(1))
    assert words in (run.out / "private" / "report.html").read_text(encoding="utf-8")
