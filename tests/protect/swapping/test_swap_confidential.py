# SPDX-License-Identifier: MIT
"""SwapConfidential: what it promises, what it refuses, what it leaves as it was."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from papers.li_2004.data import offers
from sfumato.measure.swapping.swap_checks import (
    compare_value_shares,
    count_cells_changed_elsewhere,
    count_unbroken_groups,
    count_uniques_off_share,
    identifiable_records,
    measure_marginal_shift,
)
from sfumato.protect.swapping.swap_confidential import SwapConfidential
from sfumato.randomness import Randomness

SEEDED = Randomness.seeded(1)


def people(rows: int = 300, seed: int = 5, missing: float = 0.05) -> sf.Table:
    """Some columns that foretell a disease and a wage, with holes; a name that is dropped."""
    chance = np.random.default_rng(seed)
    sick = chance.integers(0, 4, rows)
    frame = pl.DataFrame(
        {
            "name": [f"person {n}" for n in range(rows)],
            "age": chance.integers(20, 29, rows) + sick,
            "sex": chance.choice(["f", "m"], rows),
            "town": chance.choice(["Ulm", "Bonn", "Jena"], rows),
            "disease": pl.Series([["flu", "gout", "mumps", "rash"][code] for code in sick]),
            "wage": (sick + chance.integers(0, 2, rows)) * 1000,
            "visit": [date(2020, 1, 1 + int(day)) for day in chance.integers(0, 3, rows)],
        }
    )
    holes = chance.random((rows, 3)) < missing
    frame = frame.with_columns(
        pl.when(pl.Series(holes[:, index])).then(None).otherwise(pl.col(name)).alias(name)
        for index, name in enumerate(("town", "disease", "wage"))
    )
    roles = dict.fromkeys(("age", "sex", "town"), "quasi_identifying")
    return sf.Table.of(
        frame, roles | {"name": "identifying", "disease": "sensitive", "wage": "sensitive", "visit": "insensitive"}
    )


PATTERN = ("age", "sex", "town")


@pytest.mark.parametrize("search", ["optimal", "paper", "random", "proportional"])
@pytest.mark.parametrize(("share", "group_share"), [(0.5, 1), (0.3, 0.5), (1.0, 2), (0.0, 1.0)])
def test_everything_promised_holds(search: str, share: float, group_share: float) -> None:
    table = people()
    method = SwapConfidential(column="disease", share=share, group_share=group_share, search=search)
    release = method.protect(table, Randomness.seeded(2))
    published = release.data
    assert count_uniques_off_share(table, published, "disease", PATTERN, share) == 0
    assert count_unbroken_groups(table, published, "disease", PATTERN, group_share) == 0
    assert count_cells_changed_elsewhere(table, published, "disease", PATTERN) == 0
    assert measure_marginal_shift(table, published, "disease") == release.losses["marginal_shift"]
    assert published.frame.columns == table.frame.columns[1:]
    assert published.frame.schema == table.frame.drop("name").schema
    counts = identifiable_records(table, "disease", PATTERN)["status"].drop_nulls().value_counts()
    status_counts = dict(counts.iter_rows())
    identifiable = release.details["identifiable"]["disease"]
    assert (identifiable["unique"], identifiable["collective"]) == (
        status_counts["unique"],
        status_counts["collective"],
    )
    assert release.details["objective"] >= release.details["bound"] - 1e-9
    assert release.losses["loss"] == pytest.approx(
        len(release.details["changed_rows"]) / table.frame["disease"].count()
    )


def test_the_optimum_costs_least_and_moves_the_joint_least() -> None:
    table = offers()
    releases = {
        search: SwapConfidential(column="salary", share=0.5, search=search).protect(table, Randomness.seeded(1))
        for search in ("optimal", "paper", "random")
    }
    costs = [releases[strategy].details["objective"] for strategy in ("optimal", "paper", "random")]
    assert costs == sorted(costs) and costs[0] < costs[1] < costs[2]
    moved = [releases[strategy].losses["joint_total_variation"] for strategy in ("optimal", "paper", "random")]
    assert moved == sorted(moved) and moved[0] < moved[2] / 2
    assert releases["paper"].details["bound"] <= costs[0] + 1e-9
    assert releases["optimal"].details["proven"] and not releases["random"].details["proven"]


def test_swaps_lead_from_the_original_to_the_release() -> None:
    table = people()
    release = SwapConfidential(column="disease", share=0.5).protect(table, Randomness.seeded(1))
    values = table.frame["disease"].to_list()
    for row, other in release.details["swaps"]:
        values[row], values[other] = values[other], values[row]
    assert values == release.data.frame["disease"].to_list()
    assert not len(release.details["by_column"]["disease"]["replaced"])


def test_several_columns_are_swapped_in_turn_and_their_correlation_is_told() -> None:
    table = people(missing=0)
    release = SwapConfidential(column=("disease", "wage"), share=0.5).protect(table, Randomness.seeded(4))
    for name in ("disease", "wage"):
        assert count_uniques_off_share(table, release.data, name, PATTERN, 0.5) == 0
        assert count_cells_changed_elsewhere(table, release.data, name, PATTERN, confidential=("disease", "wage")) == 0
    (correlation,) = release.details["correlations"]
    assert correlation["columns"] == ("disease", "wage")
    assert 0 < correlation["after"] < correlation["before"] <= 1
    assert set(release.details["by_column"]) == {"disease", "wage"}
    assert len({claim.arguments.get("column") for claim in release.claims}) == 3  # and one that names nobody


def test_the_correlation_is_that_of_a_table_by_hand() -> None:
    """χ² of [[2, 0], [1, 1]] is 4/3 over 4 records: V = √(1/3)."""
    table = sf.Table.of(
        {"k": [1, 1, 2, 2], "a": ["x", "x", "y", "y"], "b": ["p", "p", "p", "q"]},
        {"k": "quasi_identifying", "a": "sensitive", "b": "sensitive"},
    )
    release = SwapConfidential(column=("a", "b"), share=0.0).protect(table, SEEDED)
    assert release.details["correlations"][0]["before"] == pytest.approx((1 / 3) ** 0.5)


@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64, pl.Boolean, pl.Date, pl.String])
def test_types_stay_and_missing_stays_missing(kind: Any) -> None:
    values: list[Any] = {  # type: ignore[assignment]
        pl.Int64: [1, 2, 3],
        pl.Float64: [0.5, 1.5, 2.5],
        pl.Boolean: [True, False, True],
        pl.Date: [date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 3)],
        pl.String: ["a", "b", "c"],
    }[kind]
    column = pl.Series("secret", [*values, *values, None, None, *values], dtype=kind)
    table = sf.Table.of(
        pl.DataFrame([pl.Series("id", range(len(column))), column]), {"id": "quasi_identifying", "secret": "sensitive"}
    )
    release = SwapConfidential(column="secret", share=0.5).protect(table, SEEDED)
    new = release.data.frame["secret"]
    assert new.dtype == kind
    assert new.is_null().to_list() == column.is_null().to_list()
    assert new.drop_nulls().sort().to_list() == column.drop_nulls().sort().to_list()
    assert int(new.ne_missing(column).sum()) == 4  # round(0.5 × 9): halves to even
    assert table.frame["secret"].to_list() == column.to_list()


def test_two_values_and_a_share_of_one_are_refused_with_the_seed_s_reason() -> None:
    table = sf.Table.of(
        {"id": list(range(6)), "secret": ["yes", "no"] * 3}, {"id": "quasi_identifying", "secret": "sensitive"}
    )
    for share in (1.0, 0.95):
        with pytest.raises(sf.PolicyError, match="reversing them restores all originals; choose a share below 1"):
            SwapConfidential(column="secret", share=share).protect(table)
    assert SwapConfidential(column="secret", share=0.5).protect(table).losses["marginal_shift"] == 2  # three is odd
    three = sf.Table.of(
        {"id": list(range(6)), "secret": ["yes", "no", "?"] * 2}, {"id": "quasi_identifying", "secret": "sensitive"}
    )
    release = SwapConfidential(column="secret", share=1.0).protect(three)
    assert len(release.details["changed_rows"]) == 6


def test_counts_that_cannot_stay_shift_as_little_as_can_be() -> None:
    """Nine of ten have the same value and five must change: four go at least, one at most comes back."""
    table = sf.Table.of(
        {"id": list(range(10)), "secret": ["a"] * 9 + ["b"]}, {"id": "quasi_identifying", "secret": "sensitive"}
    )
    release = SwapConfidential(column="secret", share=0.5).protect(table, SEEDED)
    assert release.losses["marginal_shift"] == 6  # a → b four times, b → a once
    assert "marginal_shift" not in {claim.property for claim in release.claims}  # it is a loss, not a promise
    assert len(release.details["by_column"]["secret"]["replaced"]) == 3


def test_who_is_changed_in_a_group_and_among_equals_is_drawn_by_lot() -> None:
    table = sf.Table.of(
        {"k": [1] * 6 + [2] * 6 + [3] * 6, "secret": ["a"] * 6 + ["b"] * 6 + ["c"] * 6},
        {"k": "quasi_identifying", "secret": "sensitive"},
    )
    method = SwapConfidential(column="secret", share=0.5)
    draws = {tuple(method.protect(table).details["changed_rows"].tolist()) for _ in range(20)}
    assert len(draws) > 5
    assert all(first < 6 <= two < 12 <= three for first, two, three in draws)
    same = [method.protect(table, Randomness.seeded(9)).data.frame for _ in range(2)]
    assert same[0].equals(same[1])


def test_the_pattern_can_be_named_and_missing_rows_dropped() -> None:
    table = people()
    release = SwapConfidential(column="disease", share=0.5, pattern=("age", "visit")).protect(table, SEEDED)
    assert count_uniques_off_share(table, release.data, "disease", ("age", "visit"), 0.5) == 0
    dropped = sf.Table.of(table.frame, dict(table.roles), missing="drop")
    release = SwapConfidential(column="disease", share=0.5).protect(dropped, SEEDED)
    rows = release.details["rows"]
    assert release.losses["dropped_rows"] == table.frame["town"].null_count() == len(table) - len(rows)
    assert count_cells_changed_elsewhere(dropped, release.data, "disease", PATTERN, rows=rows) == 0
    assert count_uniques_off_share(dropped, release.data, "disease", PATTERN, 0.5, rows=rows) == 0


def test_a_missing_value_is_not_identifiable_and_makes_others_undetermined() -> None:
    table = sf.Table.of(
        {"k": [1, 1, 2, 2, 3, 4, 5], "secret": ["a", None, "b", "b", None, "a", "c"]},
        {"k": "quasi_identifying", "secret": "sensitive"},
    )
    release = SwapConfidential(column="secret", share=1.0).protect(table, SEEDED)
    assert release.details["identifiable"]["secret"] == {
        "unique": 2,
        "collective": 2,
        "groups": 1,
        "unidentifiable": 3,
    }
    assert {5, 6} < set(release.details["changed_rows"].tolist()) <= {2, 3, 5, 6}


def test_nothing_to_swap_is_no_error() -> None:
    table = sf.Table.of(
        {"k": [1, 1, 1, 1], "secret": ["a", "b", "a", None]}, {"k": "quasi_identifying", "secret": "sensitive"}
    )
    for search in ("optimal", "paper", "random"):
        release = SwapConfidential(column="secret", share=0.5, search=search).protect(table)
        assert release.data.frame.equals(table.frame) and release.details["proven"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"column": "nowhere"}, "column"),
        ({"column": "name"}, "published"),
        ({"column": ()}, "nothing"),
        ({"column": ("disease", "disease")}, "different"),
        ({"column": "disease", "pattern": ("disease",)}, "confidential"),
        ({"column": "disease", "pattern": ("name",)}, "pattern"),
        ({"column": "disease", "pattern": ()}, "pattern"),
    ],
)
def test_bad_names_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(sf.PolicyError, match=message):
        SwapConfidential(share=0.5, **fields).protect(people())


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(ValidationError):
        SwapConfidential(column="a", share=1.5)
    with pytest.raises(ValidationError):
        SwapConfidential(column="a", share=0.5, group_share=0)
    with pytest.raises(sf.DataError, match="no rows"):
        SwapConfidential(column="disease", share=0.5).protect(people().replace_frame(people().frame.clear()))
    with pytest.raises(sf.PolicyError, match="matches_any"):
        any_value = sf.Table.of(people().frame, dict(people().roles), missing="matches_any")
        SwapConfidential(column="disease", share=0.5).protect(any_value)
    alike = sf.Table.of({"k": [1, 2], "s": ["a", "a"]}, {"k": "quasi_identifying", "s": "sensitive"})
    with pytest.raises(sf.ImpossibleRelease, match="one value"):
        SwapConfidential(column="s", share=1.0).protect(alike)


def test_too_many_values_are_refused_with_a_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.protect.swapping.swap_confidential.MOST_CELLS", 10)
    with pytest.raises(sf.PolicyError, match="group the values first"):
        SwapConfidential(column="disease", share=0.5).protect(people())


@pytest.mark.parametrize(
    "method",
    [
        SwapConfidential(column="a", share=0.5),
        SwapConfidential(column=("a", "b"), share=0.25, group_share=0.5, pattern=("c",), search="paper"),
        SwapConfidential(column="a", share=0.5, group_share=2),
        SwapConfidential(column="a", share=0.5, group_share=1.0),
    ],
)
def test_json_round_trip_keeps_counts_and_shares_apart(method: SwapConfidential) -> None:
    method_copy = SwapConfidential.model_validate_json(method.model_dump_json())
    assert method_copy == method and type(method_copy.group_share) is type(method.group_share)


def test_its_maturity_says_whether_it_can_be_read_back() -> None:
    assert SwapConfidential(column="a", share=0.5).maturity == "for study"
    assert SwapConfidential(column="a", share=0.5, search="random").maturity == "stable"
    assert SwapConfidential(column="a", share=0.5, search="proportional").maturity == "for study"


def test_a_skewed_column_does_not_keep_its_counts_and_nothing_claims_that_it_does() -> None:
    """12 of 100 are ill and 50 change: all 12 become healthy and 38 healthy people ill."""
    table = sf.Table.of(
        {"id": list(range(100)), "ill": ["yes"] * 12 + ["no"] * 88}, {"id": "quasi_identifying", "ill": "sensitive"}
    )
    release = SwapConfidential(column="ill", share=0.5).protect(table, SEEDED)
    assert compare_value_shares(table, release.data, "ill").rows() == [("no", 0.88, 0.62), ("yes", 0.12, 0.38)]
    assert release.losses["marginal_total_variation"] == pytest.approx(0.26)
    assert "marginal_shift" not in {claim.property for claim in release.claims}
    assert not [claim for claim in release.claims if "as often" in claim.meaning]


def test_random_swaps_spare_no_value() -> None:
    """Of each value about half is changed, and half of what is published is true, so that none is certain.

    Once in ten million runs, less than 0.2 or more than 0.8 of the records of a value are changed.
    """
    chance = np.random.default_rng(3)
    true = pl.Series(chance.choice(list("uvwxyz"), 600))
    table = sf.Table.of({"who": list(range(600)), "ill": true}, {"who": "quasi_identifying", "ill": "sensitive"})
    method = SwapConfidential(column="ill", share=0.5, search="random", seconds=1.0)
    draws = [method.protect(table).data.frame["ill"] for _ in range(2)]
    for published in draws:
        assert published.value_counts().sort("ill").equals(true.alias("ill").value_counts().sort("ill"))
        for value in "uvwxyz":
            changed = (published != true).filter(true == value).mean()
            assert 0.2 < float(str(changed)) < 0.8
    assert 0.15 < (draws[0] == draws[1]).mean() < 0.45, "two draws are independent: 0.25 + 0.25 / 5"


@pytest.mark.parametrize("search", ["optimal", "paper", "random", "proportional"])
def test_only_a_search_is_said_to_be_proven_or_not(search: Any, tmp_path: Path) -> None:
    """Of random swaps the report said "not proven: costs 6.91; the lower bound is -2.00"."""
    ills = ["flu", "cold", "ache", "flu", "cough", "flu"]
    table = sf.Table.of({"who": list(range(60)), "ill": ills * 10}, {"who": "quasi_identifying", "ill": "sensitive"})
    method = SwapConfidential(column="ill", share=0.5, search=search)
    run = sf.run(table, method, SEEDED, out=tmp_path / "out", accept={"who": "invented"})
    page = (tmp_path / "out" / "private" / "report.html").read_text(encoding="utf-8")
    is_searched = search in ("optimal", "paper")
    assert (run.release.details.find_optimality() is not None) == is_searched
    assert ("<dt>Optimality</dt>" in page) == is_searched
    assert is_searched or "lower bound" not in page


def test_random_swaps_of_many_values_solve_no_linear_program(monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy import optimize

    monkeypatch.setattr(optimize, "linprog", lambda *_, **__: pytest.fail("a program was solved"))
    chance = np.random.default_rng(4)
    days = pl.Series(chance.integers(0, 9000, 120).astype(np.int32)).cast(pl.Date)
    table = sf.Table.of({"who": list(range(120)), "ill": days}, {"who": "quasi_identifying", "ill": "sensitive"})
    release = SwapConfidential(column="ill", share=0.5, search="random").protect(table, SEEDED)
    assert len(release.details["changed_rows"]) == 60
    assert release.details["bound"] <= release.details["objective"]


def test_the_papers_rival_draws_values_in_proportion_to_the_column() -> None:
    """Nine shares, each within five standard errors: about five seeds in a million would fail."""
    rows, parts = 6_000, {"low": 0.1, "mid": 0.3, "high": 0.6}
    values = np.repeat(list(parts), [round(part * rows) for part in parts.values()])
    table = sf.Table.of(
        {"person": list(range(rows)), "pay": values.tolist()}, {"person": "quasi_identifying", "pay": "sensitive"}
    )
    release = SwapConfidential(column="pay", share=0.5, search="proportional").protect(table, Randomness.seeded(3))
    new_values = release.data.frame["pay"].to_numpy()
    moved = new_values != values
    assert moved.sum() == rows / 2
    for own_value, part in parts.items():
        assert_share((moved & (values == own_value)).sum(), (values == own_value).sum(), 0.5)
        for new in set(parts) - {own_value}:
            value_moves = moved & (values == own_value)
            assert_share((new_values[value_moves] == new).sum(), value_moves.sum(), parts[new] / (1 - part))
    assert release.losses["marginal_shift"] == measure_marginal_shift(table, release.data, "pay") > 0
    assert "marginal_shift" not in {claim.property for claim in release.claims}
    assert all(finding.holds for finding in sf.check(release, table))


def assert_share(successes: int, tries: int, share: float) -> None:
    assert abs(successes - tries * share) <= 5 * np.sqrt(tries * share * (1 - share))


def test_the_loss_is_a_share_of_the_values_that_are_known() -> None:
    """Of ten unique people, four without a value, a share of a half of the six others is changed."""
    values = ["a", "b", None, "a", None, "b", None, "a", None, "b"]
    frame = pl.DataFrame({"age": list(range(20, 30)), "disease": values})
    table = sf.Table.of(frame, {"age": "quasi_identifying", "disease": "sensitive"})
    release = sf.SwapConfidential(column="disease", share=0.5).protect(table, sf.Randomness.seeded(1))
    changed = sum(was != new_value for was, new_value in zip(values, release.data.frame["disease"], strict=True))
    assert changed and release.losses["loss"] == pytest.approx(changed / 6)
