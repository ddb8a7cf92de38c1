# SPDX-License-Identifier: MIT
"""Publishing a classifier: leaves partition people, no count is small, and what is refused."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.items.rule_set_files import RuleCount
from sfumato.measure.patterns import classifier_rules as measures

ROLES = {"who": "identifying", "a": "quasi_identifying", "b": "quasi_identifying", "n": "insensitive", "y": "sensitive"}
CELLS = st.tuples(st.sampled_from(["p", "q", None]), st.sampled_from("rst"), st.integers(0, 9), st.sampled_from("uv"))


def make_table(rows: list[tuple[Any, ...]]) -> sf.Table:
    frame = pl.DataFrame(rows, schema=["a", "b", "n", "y"], orient="row", infer_schema_length=None)
    return sf.Table.of(frame.with_columns(who=pl.Series([f"p{row}" for row in range(len(rows))])), ROLES)


def grow(table: sf.Table, **fields: Any) -> sf.Release:
    given_fields: dict[str, Any] = {"target": "y", "k": 3, "cuts": {"n": (3, 6)}, "max_confidence": 1.0, **fields}
    return sf.PublishClassifier(**given_fields).protect(table)


@settings(max_examples=30, deadline=None)
@given(st.lists(CELLS, min_size=12, max_size=60), st.sampled_from([2, 3]), st.sampled_from([0.8, 1.0]))
def test_every_number_that_follows_is_large(rows: list[tuple[Any, ...]], k: int, most: float) -> None:
    table = make_table(rows)
    try:
        release = grow(table, k=k, max_confidence=most)
    except sf.ImpossibleRelease:
        return
    assert all(finding.holds for finding in sf.check(release, table))
    rules = release.data.list_counts()
    atoms = [rule.support for rule in rules]
    assert sum(atoms) == len(rows)
    for subset in chain.from_iterable(combinations(atoms, size) for size in range(1, min(4, len(atoms)) + 1)):
        assert sum(subset) >= k
    # Every row is in one leaf, and is counted there.
    predictions = sf.mine.classify(release.data, table)
    assert predictions.null_count() == 0
    wrong = (predictions != table.frame["y"]).sum()
    assert release.losses["loss"] == pytest.approx(wrong / len(rows))
    assert measures.measure_classification_error(release.data, table) == pytest.approx(wrong / len(rows))


def test_the_best_allowed_split_is_chosen() -> None:
    """By hand: b = r separates all u from all v; with one more v on the side of u, it would leave a count of 1."""
    rows = [("p", "r", 1, "u")] * 3 + [("q", "r", 1, "u")] * 3 + [("q", "s", 1, "v")] * 5
    release = grow(make_table(rows), k=2)
    assert release.data.rules.rows() == [(["b = r"], ["y = u"], 6, 1.0), (["not b = r"], ["y = v"], 5, 1.0)]
    assert grow(make_table(rows), k=2, max_confidence=0.9).losses["leaves"] == 1
    spoilt = grow(make_table([*rows, ("p", "r", 1, "v")]), k=2)
    assert spoilt.data.rules.rows() == [([], ["y = u"], 6, 0.5), ([], ["y = v"], 6, 0.5)]


def test_missing_cells_and_missing_classes() -> None:
    rows = [(None, "r", None, "u")] * 4 + [("p", "r", 1, "v")] * 4 + [("p", "r", 1, None)] * 2
    release = grow(make_table(rows))
    assert release.data.baskets == 8
    assert sf.mine.classify(release.data, make_table(rows)).to_list() == ["u"] * 4 + ["v"] * 6
    assert all(finding.holds for finding in sf.check(release, make_table(rows)))


def test_classes_that_are_not_told_apart() -> None:
    rows = [("p", "r", 1, "u")] * 6 + [("q", "r", 1, "v")] * 2 + [("q", "r", 1, "w")] * 3
    with pytest.raises(sf.ImpossibleRelease, match="name the common ones in classes"):
        grow(make_table(rows))
    release = grow(make_table(rows), classes=("u",))
    assert release.data.rules.rows() == [(["a = p"], ["y = u"], 6, 1.0), (["not a = p"], ["not y = u"], 5, 1.0)]
    assert set(sf.mine.classify(release.data, make_table(rows))) == {"u", "other"}
    assert all(finding.holds for finding in sf.check(release, make_table(rows)))


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({"target": "none"}, sf.PolicyError, "is not a column"),
        ({"target": "who"}, sf.PolicyError, "names people"),
        ({"columns": ("who",)}, sf.PolicyError, "cannot predict"),
        ({"columns": ("y",)}, sf.PolicyError, "cannot predict"),
        ({"cuts": {"b": (1,)}}, sf.PolicyError, "holds no numbers"),
        ({"classes": ("zebra",)}, sf.DataError, "correct classes"),
        ({"k": 30}, sf.ImpossibleRelease, "fewer than k = 30"),
        ({"max_confidence": 0.3}, sf.ImpossibleRelease, "raise max_confidence"),
    ],
)
def test_what_cannot_be_grown_is_refused(fields: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        grow(make_table([("p", "r", 1, "u"), ("q", "s", 2, "v")] * 6), **fields)


def test_names_that_look_like_conditions_are_refused() -> None:
    table = sf.Table.of({"a = b": ["x", "y"] * 5, "y": ["u", "v"] * 5}, dict.fromkeys(("a = b", "y"), "insensitive"))
    with pytest.raises(sf.PolicyError, match="mark conditions"):
        sf.PublishClassifier(target="y", k=2).protect(table)


def test_rules_about_another_table_are_refused() -> None:
    release = grow(make_table([("p", "r", 1, "u"), ("q", "s", 2, "v")] * 6))
    with pytest.raises(sf.DataError, match="does not have"):
        sf.mine.classify(release.data, sf.Table.of({"z": [1]}))
    with pytest.raises(sf.DataError, match="no rule"):
        sf.mine.classify(sf.Rules.of_counts([], 3), sf.Table.of({"z": [1]}))


def test_each_measure_notices_its_own_fault() -> None:
    left, right = ("a = p",), ("not a = p",)
    honest = [RuleCount(left, ("y = u",), 6, 6), RuleCount(right, ("y = v",), 4, 4)]
    assert measures.count_overlapping_rules(sf.Rules.of_counts(honest, 10)) == 0
    assert measures.count_overlapping_rules(sf.Rules.of_counts(honest, 11)) == 1
    rule_pair = [honest[0], RuleCount(("b = r",), ("y = v",), 4, 4)]
    assert measures.count_overlapping_rules(sf.Rules.of_counts(rule_pair, 10)) == 1
    hiding = sf.Rules.of_counts([RuleCount(left, ("y = u",), 5, 6), honest[1]], 10)
    assert measures.count_small_remainders(hiding, 2) == 1
    assert measures.count_small_remainders(hiding, 1) == 0
    assert measures.measure_top_confidence(hiding) == 1.0
    table = make_table([("p", "r", 1, "u")] * 6 + [("q", "r", 1, "v")] * 4)
    assert measures.count_untrue_rules(sf.Rules.of_counts(honest, 10), table) == 0
    assert measures.count_untrue_rules(hiding, table) == 1


def test_a_policy_publishes_the_rules_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No column leaves: accepting one changes nothing, and no identifying column has to be removed."""
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    make_table([("p", "r", 1, "u"), ("q", "s", 8, "v")] * 10).frame.write_csv(tmp_path / "people.csv")
    policy = {
        "data": {"path": str(tmp_path / "people.csv")},
        "roles": {"identifying": ["who"], "quasi_identifying": ["a", "b"], "insensitive": ["n"], "sensitive": ["y"]},
        "protect": [{"method": "publish_classifier", "target": "y", "k": 5, "max_confidence": 1.0, "columns": ["a"]}],
        "attack": [{"attack": "support_inference"}],
        "accept": {"n": "a number that nobody knows"},
        "output": {"path": str(tmp_path / "out")},
    }
    result = sf.run(sf.Policy.model_validate(policy))
    assert result.published
    assert sf.verify(tmp_path / "out").holds
    read = sf.read_release(tmp_path / "out")
    assert read.data.rules.rows() == [(["a = p"], ["y = u"], 10, 1.0), (["not a = p"], ["y = v"], 10, 1.0)]
    with pytest.raises(sf.PolicyError, match="zebra"):
        sf.run(sf.Policy.model_validate({**policy, "accept": {"zebra": "no such column"}}))


def test_a_column_that_reads_like_a_condition_is_not_taken_for_one() -> None:
    """A column "not a" that predicts nothing: the opposite of "a = p" is not about it."""
    frame = make_table([("p", "r", 1, "u")] * 9 + [("q", "r", 1, "v")] * 9).frame.with_columns(
        pl.lit("p").alias("not a")
    )
    table = sf.Table.of(frame, {**ROLES, "not a": "identifying"})
    release = grow(table, columns=("a",), cuts={})
    assert all(finding.holds for finding in sf.check(release, table))
    assert sf.mine.classify(release.data, table).to_list() == ["u"] * 9 + ["v"] * 9


def test_who_is_in_no_leaf_is_not_said_to_be_in_one() -> None:
    """Rows whose class is missing are left out, and the claim says so."""
    release = grow(make_table([("p", "r", 1, "u")] * 9 + [("q", "r", 1, "v")] * 9 + [("q", "r", 1, None)] * 9))
    assert release.data.baskets == 18
    meaning = next(claim.meaning for claim in release.claims if claim.property == "overlapping_rules")
    assert "Every person with a known class is in exactly one leaf" in meaning
