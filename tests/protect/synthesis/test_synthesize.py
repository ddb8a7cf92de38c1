# SPDX-License-Identifier: MIT
"""Synthetic tables: types, the smallest leaf, missing cells, people set aside, and everything that is refused."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.checks import CHECKS, Evidence
from sfumato.measure.synthesis.synthesis_checks import count_foreign_values
from sfumato.protect.number_spelling import NumberSpelling
from sfumato.protect.synthesis.sequential_trees import ColumnModel, TreeGrowth
from sfumato.protect.synthesis.synthesis_columns import SynthesisColumn, number_target_classes, order_by_classes
from sfumato.protect.synthesis.synthesize import Synthesize
from sfumato.runtime.lazy import find_checks

ROLES = {
    "name": "identifying",
    "age": "quasi_identifying",
    "town": "quasi_identifying",
    "born": "quasi_identifying",
    "married": "insensitive",
    "price": "insensitive",
    "ill": "sensitive",
}


def mixed(rows: int = 600, seed: int = 1) -> sf.Table:
    """Every kind of column, and cells that are missing where someone is old."""
    chance = np.random.default_rng(seed)
    age = chance.integers(18, 90, rows)
    town = chance.choice(["Ulm", "Trier", "Kiel"], rows, p=[0.5, 0.3, 0.2])
    ill = np.where(chance.random(rows) < np.where(age > 60, 0.8, 0.2), "yes", "no")
    price = np.round(age * 2.5 + chance.normal(0, 5, rows), 2)
    frame = pl.DataFrame(
        {
            "name": [f"p{number}" for number in range(rows)],
            "age": pl.Series(age, dtype=pl.Int16),
            "town": town,
            "born": [date(2000, 1, 1) - timedelta(days=int(years) * 365) for years in age],
            "married": (age > 30) & (chance.random(rows) < 0.7),
            "price": pl.Series(price).set(pl.Series((age > 60) & (chance.random(rows) < 0.6)), None),
            "ill": ill,
        }
    )
    return sf.Table.of(frame, ROLES)


def checked(release: sf.Release, original: sf.Table) -> dict[str, Any]:
    """Every claim measured again; whether it holds."""
    outcomes = {}
    for claim in release.claims:
        if find_checks()[claim.measure] in ("sfumato.measure.synthesis.synthesis_checks", "sfumato.measure.truth"):
            evidence = Evidence(release.data, original, release.details["rows"], None, release.details)
            outcomes[claim.property] = claim.holds(CHECKS[claim.measure](evidence, claim.arguments))
    return outcomes


def make_release(table: sf.Table, seed: int = 3, **options: Any) -> sf.Release:
    return Synthesize(**{"min_leaf": 5, **options}).protect(table, sf.Randomness.seeded(seed))


@pytest.mark.parametrize("kind", ["full", "partial"])
def test_columns_keep_their_types_and_names_leave(kind: str) -> None:
    table = mixed()
    release = make_release(table, kind=kind)
    schema = table.frame.drop("name").schema
    assert release.data.frame.schema == schema
    assert len(release.data) == len(table)
    assert len(release.details["rows"]) == len(table)
    assert all(checked(release, table).values())
    assert count_foreign_values(table, release.data, release.data.frame.columns) == 0
    assert 0 <= release.losses["loss"] <= 1
    prices = release.data.frame["price"].drop_nulls()
    assert prices.round(2).equals(prices)


def test_claims_of_each_kind() -> None:
    table = mixed(200)
    names = [claim.property for claim in make_release(table).claims]
    assert names == ["people_at_extremes", "rare_words", "copied_uniques", "identifying_columns"]
    names = [claim.property for claim in make_release(table, kind="partial", columns=("town", "price")).claims]
    assert names == ["people_at_extremes", "rare_words", "kept_cells_changed", "identifying_columns"]
    options: dict[str, Any] = {"smooth": False, "copies": "allow", "most_nearer": 0.9, "rare": "keep"}
    assert [claim.property for claim in make_release(table, **options).claims] == [
        "nearer_training",
        "identifying_columns",
    ]


def test_claims_of_a_partial_release_are_about_the_drawn_columns() -> None:
    """By hand: 1 person is 89, and 1 lives in Rare; both columns stay as they are, so nothing may be said of them."""
    people = {
        "age": [*range(20, 59), 89],
        "town": ["Home"] * 39 + ["Rare"],
        "pay": [100 * (number % 8) for number in range(40)],
        "ill": ["flu", "cold"] * 20,
    }
    table = sf.Table.of(people, dict.fromkeys(people, "quasi_identifying"))
    release = make_release(table, kind="partial", columns=("pay", "ill"))
    claims = {claim.property: claim for claim in release.claims}
    extremes, words = claims["people_at_extremes"], claims["rare_words"]
    assert extremes.meaning == (
        'At least 5 people reach the highest and the lowest of every number drawn for "pay". Of other columns this is '
        "not claimed."
    )
    assert words.meaning == (
        'At least 5 people have every word that was drawn for "ill". Of other columns this is not claimed.'
    )
    assert (extremes.arguments["columns"], words.arguments["columns"]) == (("pay",), ("ill",))
    assert {"age", "town"} <= set(release.data.frame.columns) and "Rare" in release.data.frame["town"].to_list()
    assert all(checked(release, table).values())
    full = {claim.property: claim.meaning for claim in make_release(mixed(200)).claims}
    assert full["people_at_extremes"] == "At least 5 people reach the highest and the lowest of every number."
    assert full["rare_words"] == "At least 5 people have every word that was drawn."


def test_the_originals_break_the_claims() -> None:
    table = mixed(200)
    release = make_release(table)
    forged = sf.Release(
        table.replace_frame(table.frame.drop("name")), release.method, release.claims, {}, release.details
    )
    outcomes = checked(forged, table)
    assert not outcomes["copied_uniques"]
    assert not outcomes["people_at_extremes"]
    partial = make_release(table, kind="partial", columns=("ill",))
    turned = partial.data.replace_frame(partial.data.frame.with_columns(pl.col("age").reverse()))
    assert not checked(sf.Release(turned, None, partial.claims, {}, partial.details), table)["kept_cells_changed"]


def test_seeds_decide_everything_drawn() -> None:
    table = mixed(200)
    assert make_release(table, 1).data == make_release(table, 1).data
    assert make_release(table, 1).data != make_release(table, 2).data
    first_release, two = (
        make_release(table, 1, kind="partial", columns=("ill",)),
        make_release(table, 2, kind="partial", columns=("ill",)),
    )
    assert first_release.data.frame.drop("ill").equals(two.data.frame.drop("ill"))
    assert not first_release.data.frame["ill"].equals(two.data.frame["ill"])


def test_what_goes_together_still_does() -> None:
    table = mixed(4000)
    synthetic = make_release(table, holdout=0.0).data.frame
    shares = [
        frame.group_by(pl.col("age") > 60).agg((pl.col("ill") == "yes").mean()).sort("age")["ill"].to_numpy()
        for frame in (table.frame, synthetic)
    ]
    # Two independent shares of about 1,600 at the fewest: five standard errors are 0.09.
    assert np.abs(shares[0] - shares[1]).max() < 0.09
    correlations = [frame.drop_nulls().select(pl.corr("age", "price")).item() for frame in (table.frame, synthetic)]
    assert abs(correlations[0] - correlations[1]) < 0.02


def test_missing_cells_keep_their_pattern() -> None:
    table = mixed(4000)
    synthetic = make_release(table, holdout=0.0).data.frame
    assert synthetic.filter(pl.col("age") <= 60)["price"].null_count() == 0
    old = synthetic.filter(pl.col("age") > 60)
    truth = table.frame.filter(pl.col("age") > 60)
    gap = old["price"].null_count() / len(old) - truth["price"].null_count() / len(truth)
    assert abs(gap) < 0.09
    assert synthetic.drop("price").null_count().row(0) == (0,) * 5


def test_partial_keeps_all_but_the_columns_named() -> None:
    table = mixed()
    release = make_release(table, kind="partial", columns=("price", "ill"))
    assert release.data.frame.drop("price", "ill").equals(table.frame.drop("name", "price", "ill"))
    assert not release.data.frame["ill"].equals(table.frame["ill"])
    assert release.details["rows"].tolist() == list(range(len(table)))
    assert release.details["order"] == ["price", "ill"]
    assert "holdout" not in release.details
    usual = make_release(table, kind="partial")
    assert usual.details["order"] == ["age", "town", "born", "ill"]
    assert usual.data.frame["married"].equals(table.frame["married"])


def test_rows_and_order() -> None:
    table = mixed(300)
    release = make_release(table, rows=37, order=("ill", "age"))
    assert len(release.data) == 37
    assert len(release.details["rows"]) == 37
    assert release.details["order"] == ["ill", "age", "town", "born", "married", "price"]
    assert len(make_release(table, rows=1000).data) == 1000
    assert (
        make_release(table, columns=("age", "town", "born", "married", "price", "ill"), rows=5).data.frame.height == 5
    )


def test_people_set_aside_leave_no_trace() -> None:
    """Every person has a word of their own: only words of people learned from may be drawn."""
    table = mixed(400)
    frame = table.frame.with_columns(pl.Series("town", [f"t{number}" for number in range(400)]))
    table = sf.Table.of(frame, ROLES)
    with pytest.raises(sf.ImpossibleRelease, match=r'300 of the 300 people .* "town"'):
        make_release(table, holdout=0.25)
    release = make_release(table, holdout=0.25, rare="keep")
    training, aside = release.details["training"], release.details["holdout"]
    assert len(aside) == 100
    assert sorted([*training, *aside]) == list(range(400))
    assert set(release.data.frame["town"]) <= {f"t{number}" for number in training}
    assert set(release.details["rows"]) <= set(training.tolist())
    assert release.losses["rare_words"] == pytest.approx(1 / 3)  # of three columns of words or truth values
    assert release.details["order"][-1] == "town"  # it has more categories than a tree tells apart


def test_leaves_have_enough_people() -> None:
    table = mixed()
    for fewest in (1, 5, 40):
        release = make_release(table, min_leaf=fewest)
        assert min(release.details["smallest_leaf"].values()) >= fewest
    assert max(make_release(table, min_leaf=150).details["leaves"].values()) <= 3


def test_values_are_drawn_from_the_leaf_of_their_row() -> None:
    """Two words that decide a number: each row's number is that of someone with the same word."""
    frame = pl.DataFrame({"word": ["a"] * 30 + ["b"] * 30, "number": [*range(30), *range(100, 130)]})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    synthetic = make_release(table, smooth=False, copies="allow", holdout=0.0).data.frame
    assert set(synthetic.filter(pl.col("word") == "a")["number"]) <= set(range(30))
    assert set(synthetic.filter(pl.col("word") == "b")["number"]) <= set(range(100, 130))


def test_the_people_of_a_leaf_are_drawn_alike() -> None:
    column = SynthesisColumn.of(pl.Series("x", ["a"] * 30 + ["b"] * 60 + ["c"] * 10), "test")
    model = ColumnModel.fit(column, (), TreeGrowth(5, True, 0), "test")
    sample = column.publish(model.draw({}, 30_000, np.random.default_rng(5)))
    counts = Counter(sample.to_list())
    for word, share in (("a", 0.3), ("b", 0.6), ("c", 0.1)):
        assert abs(counts[word] / 30_000 - share) < 5 * (share * (1 - share) / 30_000) ** 0.5


def test_smoothing_keeps_heaps_and_blurs_the_rare() -> None:
    chance = np.random.default_rng(4)
    numbers = np.concatenate([np.zeros(500), np.full(300, 1000.0), chance.uniform(0, 5000, 200), [1e9]])
    frame = pl.DataFrame({"x": numbers, "y": chance.integers(0, 3, len(numbers))})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    synthetic = make_release(table, holdout=0.0).data.frame["x"]
    assert (synthetic == 0).sum() > 400
    assert (synthetic == 1000).sum() > 230
    rare = {float(value) for value in numbers if value not in (0, 1000)}
    assert sum(value in rare for value in synthetic.to_list()) == 0
    # The fifth highest is someone's: they are pulled back to the grid below it.
    assert sorted(numbers)[-5] - 50 <= synthetic.max() < sorted(numbers)[-5]
    assert synthetic.max() % 50 == 0
    plain = make_release(table, holdout=0.0, smooth=False).data.frame["x"]
    assert set(plain) <= {float(value) for value in numbers}


@pytest.mark.parametrize("numbers", [np.arange(0, 102, 2), np.arange(0, 70, 7)])
def test_numbers_of_a_hierarchy_stay_in_it(numbers: np.ndarray[Any, Any]) -> None:
    """Ages, which fill their range, and few numbers that many people have, beside others that few have."""
    chance = np.random.default_rng(8)
    x = [*chance.choice(numbers, 97).tolist(), *np.repeat(numbers[:10], 10).tolist(), 30, 44, 52, 58, 66, 100]
    frame = pl.DataFrame({"x": x, "y": chance.normal(size=203)})
    kinds = dict.fromkeys(frame.columns, "quasi_identifying")
    table = sf.Table.of(frame, kinds, {"x": {"kind": "intervals", "widths": [10, 1000]}})
    release = make_release(table, holdout=0.0, rows=3000)
    assert set(release.data.frame["x"]) <= set(x)
    assert "x" in release.data.hierarchies
    assert all(checked(release, table).values())
    assert not set(make_release(sf.Table.of(frame, kinds), holdout=0.0, rows=3000).data.frame["x"]) <= set(x)


def test_whole_numbers_of_few_people_come_to_lie_between() -> None:
    """Everybody has an even number of their own: but for those pulled back to the fifth extreme, all drawn are odd."""
    table = sf.Table.of({"x": [2 * number for number in range(100)]}, {"x": "quasi_identifying"})
    synthetic = make_release(table, holdout=0.0, rows=500).data.frame["x"]
    assert set(synthetic.filter(synthetic % 2 == 0)) <= {8, 190}
    assert synthetic.n_unique() > 80


def test_a_hierarchy_of_peoples_own_numbers_is_given_up() -> None:
    chance = np.random.default_rng(8)
    frame = pl.DataFrame({"x": chance.choice(np.arange(0, 30_000, 7), 200), "y": chance.normal(size=200)})
    kinds = dict.fromkeys(frame.columns, "quasi_identifying")
    table = sf.Table.of(frame, kinds, {"x": {"kind": "intervals", "widths": [100, 1000]}})
    release = make_release(table, holdout=0.0)
    assert release.data.frame["x"].is_in(frame["x"].implode()).mean() < 0.3
    assert not release.data.hierarchies
    assert all(checked(release, table).values())
    plain = make_release(table, holdout=0.0, smooth=False)
    assert set(plain.data.frame["x"]) <= set(frame["x"])
    assert list(plain.data.hierarchies) == ["x"]


def test_whole_numbers_of_any_size() -> None:
    big = 2**60
    frame = pl.DataFrame(
        {"x": [big + 2 * number for number in range(100)], "tiny": pl.Series([0, 255] * 50, dtype=pl.UInt8)}
    )
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    release = make_release(table, holdout=0.0)
    synthetic = release.data.frame["x"]
    assert synthetic.dtype == pl.Int64
    assert big + 8 <= synthetic.min() <= synthetic.max() <= big + 190
    assert set(release.data.frame["tiny"]) == {0, 255}
    assert all(checked(release, table).values())


def test_one_value_no_spread_and_nothing_at_all() -> None:
    frame = pl.DataFrame(
        {
            "one": ["x"] * 50,
            "still": [7] * 50,
            "never": pl.Series([None] * 50, dtype=pl.Float64),
            "blank": pl.Series([None] * 50, dtype=pl.String),
            "some": pl.Series([True, None] * 25),
        }
    )
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    for kind in ("full", "partial"):
        options: dict[str, Any] = {"columns": tuple(frame.columns)} if kind == "partial" else {}
        release = make_release(table, kind=kind, **options)
        synthetic = release.data.frame
        assert synthetic.schema == frame.schema
        assert set(synthetic["one"]) == {"x"}
        assert set(synthetic["still"]) == {7}
        assert synthetic["never"].null_count() == synthetic["blank"].null_count() == 50
        assert 0 < synthetic["some"].null_count() < 50
        assert all(checked(release, table).values())


def test_copies_of_unique_people_are_drawn_again() -> None:
    """Two columns that decide a third: nearly every row is someone's unless it is refused."""
    chance = np.random.default_rng(6)
    first_codes, two = chance.integers(0, 12, 150), chance.integers(0, 12, 150)
    frame = pl.DataFrame({"one": first_codes, "two": two}).cast(pl.String)
    frame = frame.with_columns("w" + pl.col("one"))
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "quasi_identifying"))
    uniques = {row for row, count in Counter(frame.rows()).items() if count == 1}
    allowed = make_release(table, copies="allow", holdout=0.0, rows=2000)
    assert any(row in uniques for row in allowed.data.frame.rows())
    release = make_release(table, holdout=0.0, rows=2000)
    assert release.losses["redrawn_rows"] > 0
    assert not any(row in uniques for row in release.data.frame.rows())
    unique_people = sf.Table.of({"id": [f"p{number}" for number in range(50)]}, {"id": "quasi_identifying"})
    with pytest.raises(sf.ImpossibleRelease, match="50 synthetic rows"):
        make_release(unique_people, rare="keep")


def test_rows_that_cannot_be_drawn_anew_take_others() -> None:
    """Ninety-nine of a hundred draws are someone unique: after some rounds the rest repeats what is nobody's."""
    words = [f"p{number}" for number in range(990)] + ["many"] * 10
    table = sf.Table.of({"id": words}, {"id": "quasi_identifying"})
    assert set(make_release(table, holdout=0.0, rare="keep").data.frame["id"]) == {"many"}


def test_drawing_again_keeps_the_share_of_groups() -> None:
    """Where c is x, b is missing, and most rows are someone's: they must not give way to rows of other groups."""
    chance = np.random.default_rng(3)
    frame = pl.DataFrame({"a": chance.integers(0, 100, 500), "b": chance.normal(size=500)})
    frame = frame.with_columns(pl.Series("c", chance.choice(list("xyz"), 500)))
    frame = frame.with_columns(pl.when(pl.col("c") != "x").then(pl.col("b")).alias("b"))
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    shares = []
    for copies in ("allow", "redraw"):
        releases = [make_release(table, seed, min_leaf=10, holdout=0.0, copies=copies) for seed in range(8)]
        shares.append(np.mean([(release.data.frame["c"] == "x").mean() for release in releases]))
    assert sum(release.losses["redrawn_rows"] for release in releases) > 100
    assert shares[0] == pytest.approx(shares[1], abs=0.004)


SPELT: dict[str, list[Any]] = {
    "date": [date(1940, 1, 1) + timedelta(days=day) for day in range(25_000)],
    "moment": [datetime(2000, 1, 1) + timedelta(minutes=3 * step) for step in range(25_000)],
    "time": [time(second // 3600, second // 60 % 60, second % 60) for second in range(0, 75_000, 3)],
    "decimal": [Decimal(number * 7) / 100 for number in range(-12_500, 12_500)],
}


@pytest.mark.parametrize("kind", list(SPELT))
@pytest.mark.parametrize("missing", [False, True])
def test_numbers_kept_as_text_are_moved_and_spelt_as_they_were(kind: str, missing: bool) -> None:
    """A file of text has dates as text, and a table keeps moments and amounts so: they are numbers all the same."""
    chance = np.random.default_rng(11)
    texts = pl.Series("x", SPELT[kind]).cast(pl.String)[np.sort(chance.choice(25_000, 400, replace=False))]
    texts = texts.set(pl.Series(np.arange(400) % 9 == 0), None) if missing else texts
    frame = pl.DataFrame({"x": texts, "y": np.arange(400) // 20})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "quasi_identifying"))
    for how in ("full", "partial"):
        release = make_release(table, kind=how)
        synthetic = release.data.frame["x"]
        assert synthetic.dtype == pl.String
        assert (synthetic.null_count() > 0) == missing
        assert set(synthetic.drop_nulls().str.replace_all(r"\d+", "0")) <= set(
            texts.drop_nulls().str.replace_all(r"\d+", "0")
        )
        assert synthetic.drop_nulls().is_in(texts.implode()).mean() < 0.25
        assert next(claim for claim in release.claims if claim.property == "people_at_extremes").arguments[
            "columns"
        ] == (
            "x",
            "y",
        )
        assert all(checked(release, table).values())
        assert not checked(sf.Release(table, None, release.claims, {}, release.details), table)["people_at_extremes"]
        assert release.losses["loss"] < 0.35


def test_a_date_is_drawn_alike_from_a_file_of_text_and_from_dates() -> None:
    table = mixed()
    text = sf.Table.of(table.frame.with_columns(pl.col("born").cast(pl.String)), ROLES)
    assert (
        make_release(table)
        .data.frame.with_columns(pl.col("born").cast(pl.String))
        .equals(make_release(text).data.frame)
    )
    partial_frame = make_release(text, kind="partial", columns=("ill",)).data.frame
    assert partial_frame["born"].equals(text.frame["born"])


@pytest.mark.parametrize(
    ("texts", "step"),
    [
        (["1980-02-03", "0001-01-01"], "1980-02-04"),
        (["1980-02-03 10:00", "1980-02-03 10:05"], "1980-02-03 10:01"),
        (["1980-02-03T10:00:00Z", "1981-02-03T11:00:00Z"], "1980-02-03T11:00:00Z"),
        (["1980-02-03T10:00:00.12+01:00"], "1980-02-03T10:00:00.13+01:00"),
        (["1980-02-03 00:00:00.000000000"], "1980-02-04 00:00:00.000000000"),
        (["10:30", "23:59"], "10:31"),
        (["-0.05", "100.00"], "-0.04"),
        (["1980-02-03", "1980-02-30"], None),
        (["1980-2-3"], None),
        (["1980-02-03 10:00+01:00", "1980-08-03 10:00+02:00"], None),
        (["12.50", "12.5"], None),
        (["-0.00"], None),
        (["02.50"], None),
        (["02139", "02140"], None),
        (["9980-02-03 10:00:00.123456789"], None),
        (["1980-02-03", "x"], None),
        ([None], None),
    ],
)
def test_how_text_spells_numbers(texts: list[str | None], step: str | None) -> None:
    column = pl.Series("x", texts, dtype=pl.String)
    spelling = NumberSpelling.of(column)
    if step is None:
        assert spelling is None
    else:
        assert spelling is not None
        numbers = spelling.read(column)
        assert spelling.write(numbers).equals(column)
        assert spelling.write(numbers + 1)[0] == step


def rare_town(rows: int = 400) -> sf.Table:
    """A column in which every tenth person has a word of their own, and truth values of which one is rare."""
    chance = np.random.default_rng(2)
    common = chance.choice(["Ulm", "Kiel", "Trier"], rows)
    town = [f"t{index}" if index % 10 == 0 else word for index, word in enumerate(common)]
    frame = pl.DataFrame(
        {"town": town, "odd": [index < 3 for index in range(rows)], "age": chance.integers(20, 60, rows)}
    )
    return sf.Table.of(frame, dict.fromkeys(frame.columns, "quasi_identifying"))


def test_words_that_few_people_have_are_not_drawn() -> None:
    table = rare_town()
    for how in ("full", "partial"):
        release = make_release(table, kind=how)
        assert set(release.data.frame["town"]) == {"Ulm", "Kiel", "Trier"}
        assert set(release.data.frame["odd"]) == {False}
        assert release.losses["rare_words"] == 0
        assert (
            0.02 < release.losses["replaced_words"] < 0.08
        )  # every tenth of one column of two, and hardly of the other
        assert release.details["words_left_out"]["town"] >= 25
        assert checked(release, table)["rare_words"]
        forged = sf.Release(table, None, release.claims, {}, release.details)
        assert not checked(forged, table)["rare_words"]
        full_release = make_release(table, kind=how, rare="keep")
        assert full_release.losses["rare_words"] > 0
        assert full_release.losses["replaced_words"] == 0
        assert "rare_words" not in [claim.property for claim in full_release.claims]


def test_words_of_columns_that_stay_are_nobodys_promise() -> None:
    table = rare_town()
    release = make_release(table, kind="partial", columns=("age", "odd"))
    assert release.data.frame["town"].equals(table.frame["town"])
    assert next(claim for claim in release.claims if claim.property == "rare_words").arguments["columns"] == ("odd",)
    assert checked(release, table)["rare_words"]


@pytest.mark.parametrize(("rare_count", "is_refused"), [(70, False), (80, True)])
def test_columns_of_words_that_few_people_have_are_refused(rare_count: int, is_refused: bool) -> None:
    words = [f"w{number}" for number in range(rare_count)] + ["many"] * (100 - rare_count)
    table = sf.Table.of({"x": words, "y": list(range(100))}, dict.fromkeys("xy", "insensitive"))
    if not is_refused:
        assert set(make_release(table, holdout=0.0).data.frame["x"]) == {"many"}
        return
    with pytest.raises(sf.ImpossibleRelease, match=r'80 of the 100 people .* "x" .* rare = .keep') as error_info:
        make_release(table, holdout=0.0)
    assert "w7" not in str(error_info.value)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_small_tables_keep_every_claim(data: st.DataObject) -> None:
    rows = data.draw(st.integers(12, 40))
    number = st.none() | st.integers(-5, 5)
    cells = {
        "n": pl.Series(data.draw(st.lists(number, min_size=rows, max_size=rows)), dtype=pl.Int64),
        "w": pl.Series(
            data.draw(st.lists(st.none() | st.sampled_from("abc"), min_size=rows, max_size=rows)), dtype=pl.String
        ),
        "b": pl.Series(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows))),
    }
    table = sf.Table.of(cells, {"n": "quasi_identifying", "w": "quasi_identifying", "b": "sensitive"})
    kind = data.draw(st.sampled_from(["full", "partial"]))
    fewest = data.draw(st.integers(1, 3))
    try:
        release = make_release(table, data.draw(st.integers(0, 9)), kind=kind, min_leaf=fewest)
    except sf.ImpossibleRelease:
        return
    synthetic = release.data.frame
    for name in cells:
        assert set(synthetic[name].drop_nulls()) <= set(range(-5, 6)) | set(table.frame[name].drop_nulls())
    known_numbers = [cell for cell in cells["n"].to_list() if cell is not None]
    drawn_numbers = [cell for cell in synthetic["n"].to_list() if cell is not None]
    if drawn_numbers:
        assert sum(cell >= max(drawn_numbers) for cell in known_numbers) >= fewest
        assert sum(cell <= min(drawn_numbers) for cell in known_numbers) >= fewest
    if kind == "full":
        uniques = {row for row, count in Counter(table.frame.rows()).items() if count == 1}
        assert not uniques & set(synthetic.rows())
    assert all(checked(release, table).values())


@pytest.mark.parametrize(
    ("options", "frame", "match"),
    [
        ({}, {"x": [1.0, float("inf")] * 20}, '"x" has 20 infinite cells'),
        ({}, {"x": [1, 2, 3]}, r"min_leaf = 5; add people"),
        ({}, {"x": ["a"] * 40, "y": [1, 2, 3] + [None] * 37}, '"y"'),
        ({"holdout": 0.0}, {"x": list(range(7))}, "at or below it and as many at or above it"),
        ({"columns": ("nothing",)}, {"x": [1] * 40}, '`columns` names "nothing"'),
        ({"columns": ("x",)}, {"x": [1] * 40, "y": [1] * 40}, "draws all 2 columns"),
        ({"order": ("x", "x")}, {"x": [1] * 40}, "`order` names a column twice"),
        ({"kind": "partial", "columns": ("x",), "order": ("y",)}, {"x": [1] * 40, "y": [1] * 40}, '`order` names "y"'),
        ({"kind": "partial"}, {"x": [1] * 40}, "there is nothing to draw"),
        ({}, {"x": pl.Series([2**63 + 5] * 40, dtype=pl.UInt64)}, "beyond 2⁶³"),
    ],
)
def test_bad_input_is_refused_by_name(options: dict[str, Any], frame: dict[str, Any], match: str) -> None:
    table = sf.Table.of(frame, dict.fromkeys(frame, "insensitive"))
    with pytest.raises(sf.SfumatoError, match=match):
        make_release(table, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "partial", "rows": 5},
        {"kind": "partial", "holdout": 0.1},
        {"kind": "partial", "copies": "redraw"},
        {"kind": "partial", "most_nearer": 0.6},
        {"most_nearer": 0.6, "holdout": 0.0},
        {"min_leaf": 0},
        {"holdout": 0.6},
        {"rows": 0},
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"partial|most_nearer|must be at (least|most)"):
        Synthesize(**options)


def test_nothing_to_publish_is_refused() -> None:
    with pytest.raises(sf.DataError, match="no columns to publish"):
        make_release(sf.Table.of({"x": [1, 2]}, {"x": "identifying"}))


def test_categories_are_ordered_by_the_share_of_one_class() -> None:
    """With two classes the order is that of their shares (Breiman and others 1984)."""
    groups = np.repeat(np.arange(4), 10)
    classes = np.concatenate([[1] * share + [0] * (10 - share) for share in (5, 1, 9, 3)])
    order = order_by_classes(groups, 4, classes, 2)
    assert np.argsort(order).tolist() in ([1, 3, 0, 2], [2, 0, 3, 1])


def test_only_the_commonest_categories_are_told_apart() -> None:
    column = SynthesisColumn.of(pl.Series("x", [f"w{number % 100:03}" for number in range(150)]), "test")
    classes, count = number_target_classes(column, column.known_people)
    assert count == 64
    assert len(np.unique(classes)) == 64
    assert len(np.unique(classes[50:100])) > 1


def test_the_bounds_of_what_is_drawn_are_nobodys_own() -> None:
    """Two tables that differ in the fifth highest and the fifth lowest pay, to whom those beyond are pulled back."""
    base = np.linspace(2_000.0, 8_000.0, 400).round(2)
    ends = []
    for fifth in (137.11, 131.77):
        numbers = np.concatenate(
            [base, [10.5, 20.5, 30.5, 40.5, fifth], [9_990.5, 9_991.5, 9_992.5, 9_993.5, 9_880.25]]
        )
        table = sf.Table.of({"x": numbers}, {"x": "insensitive"})
        release = make_release(table, holdout=0.0, rows=4_000)
        synthetic = release.data.frame["x"]
        assert fifth not in synthetic
        assert 9_880.25 not in synthetic
        assert all(finding.holds for finding in sf.check(release, table))
        ends.append((synthetic.min(), synthetic.max()))
    assert ends[0] == ends[1] == (200.0, 9_800.0)


def test_numbers_with_all_their_bits_are_drawn_without_their_last_ones() -> None:
    numbers = np.random.default_rng(1).normal(50, 10, 500)
    synthetic = make_release(sf.Table.of({"x": numbers}, {"x": "insensitive"}), holdout=0.0).data.frame["x"].to_numpy()
    assert np.array_equal(synthetic, np.round(synthetic, 5))
    assert len(np.unique(synthetic)) > 400


def test_rows_that_were_to_be_dropped_are_counted_whatever_was_drawn() -> None:
    """People who lack an age were learned from; how many drawn rows come from them is chance."""
    ages = [None, *range(59)]
    table = sf.Table.of(
        {"age": ages, "ill": ["flu", "cold"] * 30}, {"age": "quasi_identifying", "ill": "sensitive"}, missing="drop"
    )
    for seed in range(4):
        with pytest.raises(sf.PolicyError, match="1 row has a missing quasi-identifying cell"):
            sf.Synthesize(copies="allow", min_leaf=1).protect(table, randomness=sf.Randomness.seeded(seed))


@pytest.mark.parametrize("fields", [{}, {"kind": "partial", "columns": ["when"]}])
def test_months_are_drawn_and_checked_as_dates(fields: dict[str, Any]) -> None:
    months = [f"{1990 + row % 6}-{row % 12 + 1:02}" for row in range(60)]
    table = sf.Table.of({"when": months, "x": ["a", "b"] * 30}, {"when": "quasi_identifying", "x": "sensitive"})
    release = Synthesize(min_leaf=5, **fields).protect(table, sf.Randomness.seeded(1))
    findings = {finding.property: finding for finding in sf.check(release, table)}
    extremes = findings["people_at_extremes"].measured
    assert extremes is not None
    assert extremes >= 5
    assert all(finding.holds for finding in findings.values())
    assert release.data.frame["when"].str.contains(r"^199\d-(0[1-9]|1[0-2])$").all()
