# SPDX-License-Identifier: MIT
"""Suppressing entries: what is published, what is told of it, odd tables and bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from papers.aggarwal_2006.zipf import zipf_table
from sfumato.mine.entries.cells import BLANK, TableCells
from sfumato.protect.entries.entry_ledger import RuleMining, RuleQuestion
from sfumato.protect.entries.exact_entries import find_exact_entries
from sfumato.protect.entries.grades import run_grades
from sfumato.protect.entries.grades_plus import run_grades_plus
from sfumato.protect.entries.suppress_entries import SuppressEntries
from sfumato.randomness import Randomness
from tests.brute_rules import adversarial

SEARCHES = ("grades", "grades+", "exact")
search_cases = pytest.mark.parametrize("search", SEARCHES)


def zipf(rows: int = 200, columns: int = 4, seed: int = 3) -> sf.Table:
    frame = zipf_table(rows, columns, 4, 1.5, seed)
    return sf.Table.of(frame, dict.fromkeys(frame.columns, "quasi_identifying"))


def suppress(table: sf.Table, **fields: Any) -> sf.Release:
    arguments = {"private": 0.05, "confidence": 0.7, "min_support": 3} | fields
    return SuppressEntries(**arguments).protect(table, Randomness.seeded(1))


def leftover(table: sf.Table, release: sf.Release, confidence: Fraction, least: int) -> set[Any]:
    """Rules by the book, on what was published and what is private."""
    names = release.data.frame.columns
    places = [[(row, names.index(name)) for row, name in release.details[key]] for key in ("private", "derived")]
    rows = table.frame.select(names).rows()
    return adversarial(rows, set(places[0]), set(places[1]), confidence, least)


@search_cases
def test_what_is_published(search: str) -> None:
    table = zipf()
    release = suppress(table, search=search)
    before, after = table.frame, release.data.frame
    assert after.schema == before.schema
    assert after.height == before.height
    blank = {(row, name) for name in after.columns for row in np.flatnonzero(after[name].is_null().to_numpy())}
    private, derived = release.details["private"], release.details["derived"]
    assert blank == {*private, *derived}
    assert len(blank) == len(private) + len(derived)
    assert len(private) == 40
    for name in after.columns:
        visible_mask = after[name].is_not_null()
        assert after[name].filter(visible_mask).equals(before[name].filter(visible_mask))
    assert leftover(table, release, Fraction(7, 10), 3) == set()


@search_cases
def test_what_is_told(search: str) -> None:
    table = zipf()
    release = suppress(table, search=search)
    details = release.details
    assert details["objective"] == len(details["derived"]) == release.losses["derived_entries"]
    assert 0 < details["bound"] <= details["objective"]
    assert details["proven"] == (details["bound"] == details["objective"])
    assert details["gap"] == pytest.approx(1 - details["bound"] / details["objective"])
    assert details["reasons"].height == details["objective"]
    assert set(details["reasons"]["kind"]) <= {"invalidation", "marginalization", "both"}
    assert (details["reasons"]["rules"] > 0).all()
    assert details["rules_before"].height > 0
    assert (details["rules_before"]["public_confidence"] >= 0.7).all()
    assert sum(details["exposed_entries"].values()) <= 40
    assert details["hidden"].height == 40
    row, name, value = details["hidden"].row(0)
    assert str(table.frame[name][row]) == value
    assert release.losses["loss"] == pytest.approx((40 + details["objective"]) / table.frame.height / 4)


@search_cases
def test_claims_hold_by_other_code(search: str) -> None:
    table = zipf()
    findings = sf.check(suppress(table, search=search), table)
    assert {"adversarial_rules", "private_entries_blanked", "identifying_columns"} <= {f.property for f in findings}
    assert all(finding.holds for finding in findings)


def test_a_release_with_a_rule_left_breaks_its_claim() -> None:
    table = zipf()
    release = suppress(table)
    row, name = release.details["derived"][0]
    forged_frame = release.data.frame.with_columns(
        pl.when(pl.arange(0, pl.len()) == row).then(pl.lit(table.frame[name][row])).otherwise(pl.col(name)).alias(name)
    )
    forged = sf.Release(
        release.data.replace_frame(forged_frame), release.method, release.claims, release.losses, release.details
    )
    broken_properties = [finding.property for finding in sf.check(forged, table) if finding.holds is False]
    assert "adversarial_rules" in broken_properties


def test_grades_plus_is_not_larger_and_exact_is_smallest() -> None:
    table = zipf(120)
    sizes = {search: suppress(table, search=search).losses["derived_entries"] for search in SEARCHES}
    assert sizes["exact"] <= sizes["grades+"] <= sizes["grades"]
    assert suppress(table, search="exact").details["proven"]


def test_a_larger_blanking_factor_blanks_whole_batches() -> None:
    table = zipf(400)
    single_count = suppress(table, search="grades").losses["derived_entries"]
    many = suppress(table, search="grades", blanking_factor=7).losses["derived_entries"]
    assert many % 7 == 0
    assert many >= single_count


@search_cases
def test_the_same_table_gives_the_same_release(search: str) -> None:
    release, two = suppress(zipf(), search=search), suppress(zipf(), search=search)
    assert release.data == two.data
    assert release.details["derived"] == two.details["derived"]


def test_identifying_columns_are_left_out_and_take_no_part() -> None:
    table = zipf()
    named_table = sf.Table.of(
        table.frame.with_columns(pl.Series("name", [f"n{number}" for number in range(200)])),
        {**table.roles, "name": "identifying"},
    )
    release = suppress(named_table, private=[(0, "D1"), (1, "D2")])
    assert release.data.frame.columns == table.frame.columns
    assert release.details["derived"] == suppress(table, private=[(0, "D1"), (1, "D2")]).details["derived"]


def test_continuous_columns_are_published_as_midpoints() -> None:
    frame = pl.DataFrame({"age": [20.0, 21.5, 39.0, 60.0, 58.5, 41.0], "sex": list("fffmmm")})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    release = suppress(table, private=[(1, "age"), (4, "age")], min_support=1, discretize={"age": 2})
    assert set(release.data.frame["age"].drop_nulls()) <= {30.0, 50.0}
    assert release.details["hidden"]["value"].to_list() == ["30", "50"]
    assert len(release.details["derived"]) > 0
    assert all(finding.holds for finding in sf.check(release, table))
    cut = suppress(table, private=[(1, "age")], min_support=1, discretize={"age": (40.0,)})
    assert cut.data.frame["age"].drop_nulls().n_unique() <= 2


def test_beside_intervals_a_forged_cell_breaks_a_claim() -> None:
    frame = pl.DataFrame({"age": [20.0, 21.5, 39.0, 60.0, 58.5, 41.0], "sex": list("fffmmm")})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    release = suppress(table, private=[(1, "age")], min_support=3, discretize={"age": 2})
    published = release.data.frame
    forged = published.with_columns(sex=pl.Series(list("fffmmf")))
    leaking_frame = published.with_columns(age=table.frame["age"])
    cases: tuple[tuple[pl.DataFrame, list[str]], ...] = (
        (published, []),
        (forged, ["changed_in_other_columns"]),
        (leaking_frame, ["private_entries_blanked", "distinct_numbers", "wrong_midpoints"]),
        (published.with_columns(age=pl.Series([50.0, None, 30.0, 50.0, 50.0, 50.0])), ["wrong_midpoints"]),
        (published.with_columns(age=pl.Series([30.0, None, 30.0, 50.0, 50.0, None])), []),
    )
    for frame, broken_properties in cases:
        findings = sf.check(replace(release, data=release.data.replace_frame(frame)), table)
        assert [finding.property for finding in findings if not finding.holds] == broken_properties


def test_midpoints_do_not_tell_the_extremes() -> None:
    """Two tables that differ in the youngest and the oldest person have the same midpoints."""
    midpoints = []
    for youngest, oldest in ((20.3, 60.9), (21.7, 62.2)):
        frame = pl.DataFrame({"age": [youngest, 31.5, 39.0, oldest, 58.5, 41.0], "sex": list("fffmmm")})
        table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
        for how in (2, (40.0,)):
            release = suppress(table, private=[(1, "age")], min_support=3, discretize={"age": how})
            midpoints.append(release.data.frame["age"].drop_nulls().unique().sort().to_list())
    assert midpoints[0] == midpoints[2]
    assert midpoints[1] == midpoints[3]


def test_missing_entries_are_neither_seen_nor_hidden() -> None:
    frame = pl.DataFrame({"a": ["x", "x", "x", None], "b": ["u", "u", "u", "u"], "c": [None, "v", "v", "v"]})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    release = suppress(table, private=[(0, "a"), (3, "a"), (0, "c")], min_support=1)
    assert release.details["private"] == [(0, "a")]
    assert leftover(table, release, Fraction(7, 10), 1) == set()


@search_cases
@pytest.mark.parametrize(
    "fields",
    [
        {"private": np.ones((30, 3), dtype=bool)},
        {"private": [(4, "D1"), (4, "D2"), (4, "D3")]},
        {"private": ["D1"]},
        {"confidence": 1.0},
        {"confidence": Fraction(1, 1000)},
        {"min_support": 31},
        {"min_support": 1.0},
        {"min_support": 0.1},
        {"max_length": 1},
        {"prior": True},
        {"confidence": 0.1 + 0.2},
    ],
    ids=str,
)
def test_odd_requests(search: str, fields: dict[str, Any]) -> None:
    table = zipf(30, 3)
    release = suppress(table, search=search, **fields)
    assert all(finding.holds for finding in sf.check(release, table))


@pytest.mark.parametrize("private", [[], 0.001, {"where": {"D1": "nobody"}}, np.zeros((30, 3), dtype=bool)], ids=str)
def test_a_release_in_which_nothing_is_private_is_refused(private: Any) -> None:
    with pytest.raises(sf.PolicyError, match="nothing would be private"):
        suppress(zipf(30, 3), private=private)


@search_cases
def test_a_column_of_one_value(search: str) -> None:
    frame = pl.DataFrame({"same": ["x"] * 12, "other": list("aabbccddeeff")})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    release = suppress(table, private=[(0, "same"), (5, "same")], min_support=1, search=search)
    assert len(release.details["derived"]) == 2
    assert leftover(table, release, Fraction(7, 10), 1) == set()


def test_more_columns_than_marks() -> None:
    """Columns share marks from the 65th on; counts must not."""
    chance = np.random.default_rng(5)
    frame = pl.DataFrame({f"c{index}": chance.integers(0, 2, 40) for index in range(70)})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    private = [(1, "c0"), (2, "c66"), (3, "c64"), (8, "c1")]
    for search in ("grades", "grades+"):
        release = suppress(table, private=private, confidence=0.75, min_support=8, max_length=2, search=search)
        assert len(release.details["derived"]) > 0
        assert all(finding.holds for finding in sf.check(release, table))


def test_rows_of_many_columns_are_solved_exactly_too() -> None:
    """Beyond six columns a row's entries become binaries of their own; the optimum is the same either way."""
    frame = zipf_table(60, 8, 3, 1.0, 4)
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    cells = TableCells.of(table, np.random.default_rng(3).random((60, 8)) < 0.02)
    question = RuleQuestion(Fraction(7, 10), 3, max_length=3)
    solution = find_exact_entries(RuleMining(cells, question), 30)
    assert solution.proven
    assert len(solution.entries) <= len(run_grades_plus(RuleMining(cells, question), 0.1).entries)
    assert len(solution.entries) <= len(run_grades(RuleMining(cells, question)).entries)
    assert (solution.states == BLANK).sum() == len(solution.entries)


def test_a_stopped_search_is_never_certified() -> None:
    table = zipf(3_000, 8)
    release = suppress(table, mining_seconds=1e-9, min_support=1)
    assert not release.details["complete"]
    assert not release.details["proven"]
    assert not all(finding.holds for finding in sf.check(release, table))


def test_exact_tells_a_bound_when_it_is_stopped() -> None:
    table = zipf(400, 5)
    release = suppress(table, private=0.1, confidence=0.5, search="exact", seconds=0.3)
    assert 0 < release.details["bound"] <= release.details["objective"]
    assert release.details["gap"] >= 0
    assert all(finding.holds for finding in sf.check(release, table))


def test_learners_are_kept_off_too() -> None:
    chance = np.random.default_rng(2)
    signal = chance.integers(0, 3, 300)
    frame = pl.DataFrame({"a": signal, "b": (signal + (chance.random(300) < 0.2)) % 3, "c": chance.integers(0, 3, 300)})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    private = [(row, "a") for row in range(0, 300, 3)]
    plain = suppress(table, private=private, confidence=0.95, min_support=5)
    more = suppress(table, private=private, confidence=0.95, min_support=5, learner_risk=0.65)
    assert len(more.details["derived"]) > len(plain.details["derived"])
    findings = {finding.property: finding for finding in sf.check(more, table)}
    assert all(finding.holds for finding in findings.values())
    claim = findings["learner_success"]
    assert claim.threshold == 0.65
    assert claim.measured is not None and claim.measured <= 0.65
    assert sf.measure.learner_success(plain.data, plain.details["hidden"]) > 0.65


def test_a_certificate_names_no_entry() -> None:
    method = SuppressEntries(private=[(17, "D3")], confidence=0.8)
    text = json.dumps(method.describe())
    assert "17" not in text
    assert "cells" in text
    assert "17" not in repr(method)


def test_json_round_trip_keeps_the_confidence_exact() -> None:
    method = SuppressEntries(private=["D1"], confidence=Fraction(2, 3), discretize={"D1": 3})
    method_copy = SuppressEntries.model_validate_json(method.model_dump_json())
    assert method_copy == method
    assert method_copy.confidence == Fraction(2, 3)
    assert SuppressEntries(private=["D1"], confidence=0.8).confidence == Fraction(4, 5)


@pytest.mark.parametrize(
    "fields",
    [
        {"confidence": 0},
        {"confidence": 1.2},
        {"confidence": "4/0"},
        {"confidence": "much"},
        {"min_support": 0},
        {"min_support": 1.5},
        {"min_support": True},
        {"max_length": 0},
        {"blanking_factor": 0},
        {"search": "best"},
        {"seconds": 0},
        {"learner_risk": 1.5},
        {"private": 3},
    ],
    ids=str,
)
def test_bad_fields_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SuppressEntries(**{"private": ["D1"], "confidence": 0.8, **fields})


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"private": ["nowhere"]}, "nowhere"),
        ({"private": [(999, "D1")]}, "outside the table"),
        ({"private": np.ones((2, 2), dtype=bool)}, "shape"),
        ({"discretize": {"nowhere": 3}}, "nowhere"),
        ({"discretize": {"D1": 0}}, "interval"),
    ],
)
def test_bad_requests_are_refused(fields: dict[str, Any], word: str) -> None:
    with pytest.raises(sf.SfumatoError, match=word):
        suppress(zipf(), **fields)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "a rule with one column or more on its left side, support 2"),
        ({"max_length": 1}, "a rule with one column on its left side"),
        ({"max_length": 3}, "a rule with 1 to 3 columns on its left side"),
        ({"prior": True}, "a rule with any number of columns, or none, on its left side"),
        ({"prior": True, "max_length": 2}, "a rule with 1 to 2 columns, or none, on its left side"),
    ],
)
def test_the_claim_says_which_rules_are_left_out(fields: dict[str, Any], words: str) -> None:
    """A longer rule, or the most common value, may predict what no rule of the search does."""
    rows = {"a": list("llrr") * 6, "b": list("udud") * 6, "y": ["yes", "no", "no", "yes"] * 6}
    table = sf.Table.of(rows, {"a": "quasi_identifying", "b": "quasi_identifying", "y": "sensitive"})
    release = sf.SuppressEntries(private=[(0, "y")], confidence=0.9, min_support=2, **fields).protect(table)
    claim = next(claim for claim in release.claims if claim.property == "adversarial_rules")
    assert words in claim.meaning
