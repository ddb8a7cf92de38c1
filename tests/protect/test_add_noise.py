# SPDX-License-Identifier: MIT
"""Added noise: types, missing cells, ranges, chance, and what is refused."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.measure.checks import Evidence
from sfumato.measure.noise import evidence_checks
from sfumato.mine.noises import Noise, noise_covariance, privacy_level
from sfumato.mine.reconstruction import reconstruct_distribution
from sfumato.protect.add_noise import AddNoise
from sfumato.protect.noise_columns import number_column
from sfumato.protect.noise_scales import intervals_for, least_level, middles
from sfumato.randomness import Randomness

KINDS = ("uniform", "gaussian", "correlated", "discretize")
ROLES = {
    "name": "identifying",
    "age": "quasi_identifying",
    "pay": "sensitive",
    "born": "insensitive",
    "sex": "insensitive",
}


def people(count: int = 600) -> sf.Table:
    chance = np.random.default_rng(11)
    age = chance.integers(18, 90, count)
    frame = pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(count)],
            "age": age,
            "pay": age * 500.0 + chance.normal(0, 8_000, count),
            "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(days)) for days in chance.integers(0, 20_000, count)],
            "sex": chance.choice(["f", "m"], count),
        }
    )
    holed = pl.when(pl.int_range(count) % 17 == 0).then(None).otherwise(pl.col("pay")).alias("pay")
    return sf.Table.of(frame.with_columns(holed), ROLES)


def one_column(values: Any, name: str = "x") -> sf.Table:
    return sf.Table.of(pl.DataFrame({name: values}), {name: "sensitive"})


def kept(release: sf.Release, original: sf.Table, published: sf.Table | None = None) -> list[bool]:
    """Whether each claim that this method makes of its noise holds."""
    evidence = Evidence(published or release.data, original, release.details["rows"])
    checks = evidence_checks()
    mine = [claim for claim in release.claims if claim.measure in checks]
    return [claim.holds(checks[claim.measure](evidence, claim.arguments)) for claim in mine]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("privacy", [0.1, 1.0, 2.0])
def test_claims_hold_and_the_originals_break_them(kind: str, privacy: float) -> None:
    table = people()
    release = AddNoise(columns=("age", "pay", "born"), kind=kind, privacy=privacy).protect(table)
    assert all(kept(release, table))
    assert not all(kept(release, table, table.with_frame(table.frame.drop("name"))))
    assert release.claims[-1].measure == "named_columns"
    assert 0 <= release.losses["loss"] <= release.losses["largest_loss"] <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_types_order_and_missing_cells_stay(kind: str) -> None:
    table = people(80)
    release = AddNoise(columns=("age", "pay", "born"), kind=kind, privacy=0.5).protect(table)
    frame = release.data.frame
    assert frame.schema == table.frame.drop("name").schema
    assert (frame["pay"].is_null() == table.frame["pay"].is_null()).all()
    assert frame["sex"].equals(table.frame["sex"])
    assert (frame["age"] != table.frame["age"]).sum() > 40
    assert release.details["rows"].tolist() == list(range(80))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_public_is_json_and_enough_to_reconstruct(kind: str) -> None:
    table = people()
    release = AddNoise(columns=("age", "born"), kind=kind, privacy=0.25).protect(table, Randomness.seeded(3))
    told = json.loads(json.dumps(release.public))
    assert set(told) == {"age", "born"}
    assert told["age"]["kind"] == kind
    assert told["age"]["range"] == [table.frame["age"].min(), table.frame["age"].max()]
    assert told["age"]["step"] == 1
    assert ("covariance" in told["age"]) == (kind == "correlated")
    analyst = sf.Release(release.data, None, (), {}, {"public": told})
    found = reconstruct_distribution(analyst, column="age", bins=6)
    assert found.mean == pytest.approx(table.frame["age"].mean(), abs=4)


def test_chance_repeats_with_a_seed_and_not_without() -> None:
    table, method = people(50), AddNoise(columns="age")
    assert method.protect(table, Randomness.seeded(1)).data == method.protect(table, Randomness.seeded(1)).data
    assert method.protect(table, Randomness.seeded(1)).data != method.protect(table, Randomness.seeded(2)).data
    assert method.protect(table).data != method.protect(table).data


@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
def test_the_scale_is_the_level_of_the_range(kind: str) -> None:
    table = one_column([0.0, 3.0, 10.0])
    for confidence in (0.5, 0.95, 0.999):
        release = AddNoise(columns="x", kind=kind, privacy=0.6, confidence=confidence).protect(table)
        noise = Noise.of(release.public["x"])
        assert privacy_level(noise, (0, 10), confidence) == pytest.approx(0.6)
        given_range = AddNoise(columns="x", kind=kind, privacy=0.6, confidence=confidence, ranges={"x": (-10, 30)})
        assert Noise.of(given_range.protect(table).public["x"]).scale == pytest.approx(4 * noise.scale)


def test_correlated_noise_is_the_least_multiple_of_the_covariance_that_gives_every_level() -> None:
    table = people()
    release = AddNoise(columns=("age", "pay"), kind="correlated", privacy=0.5).protect(table)
    noise = noise_covariance(release, ("age", "pay"))
    whole = table.frame.drop_nulls(["age", "pay"]).select("age", "pay").to_numpy().T.astype(float)
    times = noise / np.cov(whole, bias=True)
    assert times == pytest.approx(np.full((2, 2), times[0, 0]))
    told = release.public
    levels = [privacy_level(told[name], told[name]["range"], 0.95) for name in ("age", "pay")]
    assert min(levels) == pytest.approx(0.5)


def test_correlated_noise_where_one_column_follows_from_another() -> None:
    frame = pl.DataFrame({"x": np.arange(50.0), "y": 2 * np.arange(50.0) + 1})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "sensitive"))
    release = AddNoise(columns=("x", "y"), kind="correlated").protect(table)
    added = release.data.frame - frame
    assert np.abs((added["y"] - 2 * added["x"]).to_numpy()).max() < 1e-3
    assert all(kept(release, table))


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 200), st.integers(-50, 50), st.floats(0.01, 3.0), st.floats(0.3, 0.99))
def test_whole_intervals_tell_no_less_than_the_level(span: int, low: int, privacy: float, confidence: float) -> None:
    """By counting: of the whole numbers of every interval within the range, the confidence's share is wide enough."""
    values = list(range(low, low + span + 1))
    column = number_column(one_column(values), "x", None)
    noise = intervals_for(column, privacy * span, confidence)
    shown = middles(column, noise).tolist()
    groups: dict[int, list[int]] = {}
    for value, middle in zip(values, shown, strict=True):
        groups.setdefault(middle, []).append(value)
    for middle, members in groups.items():
        whole = int(noise.scale)
        assert members[0] <= middle <= members[-1] or whole > len(members)
        # one interval may be wider than the range; nobody can hide better than in all of it
        wide = whole if len(groups) == 1 else len(members)
        assert confidence * wide >= privacy * span - 1e-6


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=30).filter(lambda values: max(values) - min(values) > 1e-3),
    st.floats(0.01, 2.0),
    st.floats(0.3, 0.99),
)
def test_intervals_hold_their_values(values: list[float], privacy: float, confidence: float) -> None:
    column = number_column(one_column(values), "x", None)
    noise = intervals_for(column, privacy * column.span, confidence)
    shown = middles(column, noise)
    assert np.abs(shown - column.numbers).max() <= noise.scale * (0.5 + 1e-9)
    assert confidence * noise.scale >= privacy * column.span * (1 - 1e-9)
    # cut by the range, the intervals are still as wide
    assert noise.scale >= column.span or column.span / noise.scale == pytest.approx(round(column.span / noise.scale))


def test_correlated_noise_on_whole_columns_that_are_the_same() -> None:
    """They are rounded together, which no covariance foretells."""
    values = np.random.default_rng(1).integers(0, 10, 40_000)
    table = sf.Table.of(pl.DataFrame({"x": values, "y": values}), {"x": "sensitive", "y": "sensitive"})
    release = AddNoise(columns=("x", "y"), kind="correlated", privacy=0.4).protect(table)
    assert release.data.frame["x"].equals(release.data.frame["y"].alias("x"))
    assert all(kept(release, table))


def test_small_and_unsigned_types() -> None:
    tiny = AddNoise(columns="x", privacy=2.0).protect(one_column(pl.Series([0, 250, 255] * 30, dtype=pl.UInt8)))
    assert tiny.data.frame["x"].dtype == pl.Int64  # noise does not fit into the type
    assert tiny.data.frame["x"].to_numpy().min() < 0
    wide = AddNoise(columns="x", kind="discretize", privacy=0.1).protect(
        one_column(pl.Series([0, 250], dtype=pl.UInt8))
    )
    assert wide.data.frame["x"].dtype == pl.UInt8
    single = AddNoise(columns="x").protect(one_column(pl.Series([0.5, 1.5], dtype=pl.Float32)))
    assert single.data.frame["x"].dtype == pl.Float32


def test_whole_numbers_as_far_as_floats_hold_them_are_moved_exactly() -> None:
    far = 2**53 - 1_000
    table = one_column([far + number for number in range(0, 400, 2)])
    release = AddNoise(columns="x", kind="uniform", privacy=0.05).protect(table)
    assert np.abs((release.data.frame["x"] - table.frame["x"]).to_numpy()).max() <= 11
    assert all(kept(release, table))
    with pytest.raises(sf.ImpossibleRelease, match="too large"):
        AddNoise(columns="x", privacy=1e6).protect(one_column([-(2**53), 2**53]))


def test_dates_spelt_as_text_are_dates() -> None:
    texts = [str(dt.date(2001, 1, 1) + dt.timedelta(days=7 * number)) for number in range(60)]
    table = one_column([*texts, None])
    release = AddNoise(columns="x", privacy=0.5, ranges={"x": (dt.date(2000, 1, 1), dt.date(2003, 1, 1))}).protect(
        table
    )
    assert release.data.frame["x"].dtype == pl.Date
    assert release.data.frame["x"].null_count() == 1
    assert release.public["x"]["range"] == [10957, 12053]
    assert all(kept(release, table))


def test_a_method_survives_json() -> None:
    method = AddNoise(columns=("x", "day"), ranges={"x": (0, 120), "day": (dt.date(2000, 1, 1), dt.date(2003, 1, 1))})
    assert AddNoise.model_validate_json(method.model_dump_json()) == method


@pytest.mark.parametrize(
    ("values", "asked", "error", "words"),
    [
        ([1.0, float("inf"), 3.0], {}, sf.DataError, "1 cells"),
        ([5, 5, 5], {}, sf.ImpossibleRelease, "ranges="),
        ([5, 5, 5], {"kind": "correlated", "ranges": {"x": (0, 9)}}, sf.ImpossibleRelease, "leave the column out"),
        ([1, None], {}, sf.ImpossibleRelease, "ranges="),
        (["a", "b"], {}, sf.PolicyError, "holds text"),
        ([True, False], {}, sf.PolicyError, "boolean"),
        ([dt.datetime(2001, 1, 1), dt.datetime(2002, 1, 1)], {}, sf.PolicyError, "holds text"),
        ([1, 2, 300], {"ranges": {"x": (0, 120)}}, sf.DataError, "1 values outside"),
        ([-5, -3, 2], {"ranges": {"x": (0, 120)}}, sf.DataError, "2 values outside"),
        ([1, 2], {"ranges": {"y": (0, 1)}}, sf.PolicyError, "«y»"),
        ([1, 2], {"ranges": {"x": (1, 1)}}, sf.PolicyError, "least to a greatest"),
        ([1, 2], {"columns": "z"}, sf.PolicyError, "«z»"),
        ([1, 2], {"columns": ()}, sf.PolicyError, "nothing"),
        ([1, 2], {"columns": ("x", "x")}, sf.PolicyError, "different"),
        ([0, 10], {"privacy": 0.1}, sf.ImpossibleRelease, "above 0.1"),
        ([0, 10], {"privacy": 0.05, "kind": "discretize"}, sf.ImpossibleRelease, "above 0.1"),
        ([0, 10, 0, 10], {"privacy": 0.2, "kind": "correlated"}, sf.ImpossibleRelease, "above 0.294"),
        ([2**64 - 1, 1], {}, sf.DataError, "1 whole numbers beyond"),
        ([-(2**54), 1], {}, sf.DataError, "1 whole numbers beyond"),
    ],
)
def test_refused(values: Any, asked: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        AddNoise(**({"columns": "x"} | asked)).protect(one_column(values))


def test_refused_tables_and_parameters() -> None:
    with pytest.raises(sf.DataError, match="no rows"):
        AddNoise(columns="age").protect(people().with_frame(people().frame.clear()))
    with pytest.raises(sf.DataError, match="no roles"):
        AddNoise(columns="age").protect(sf.Table.of(people().frame))
    with pytest.raises(sf.PolicyError, match="«name»"):
        AddNoise(columns="name").protect(people())
    for strange in ({"privacy": 0.0}, {"confidence": 1.0}, {"kind": "loud"}, {"privacy": float("inf")}):
        with pytest.raises(ValidationError):
            AddNoise(columns="age", **strange)


def test_a_column_of_one_value_with_a_range_and_nearly_no_rows() -> None:
    for values in ([5, 5, 5], [5]):
        table = one_column(values)
        release = AddNoise(columns="x", ranges={"x": (0, 120)}).protect(table)
        assert all(kept(release, table))
        assert release.losses["loss"] == 1.0
        same = AddNoise(columns="x", kind="discretize", privacy=0.2, ranges={"x": (0, 120)}).protect(table)
        assert all(kept(same, table))


def test_maturity_says_where_noise_comes_off() -> None:
    assert AddNoise(columns=("x", "y")).maturity == "for study"
    assert AddNoise(columns="x").maturity == "stable"
    assert AddNoise(columns="x", kind="uniform").maturity == "for study"
    assert AddNoise(columns=("x", "y"), kind="correlated").maturity == "stable"


@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
@pytest.mark.parametrize("count", [3, 20, 300])
def test_honest_noise_is_never_accused(kind: str, count: int) -> None:
    """The least level holds in 2,000 tries; a level that is a third higher does not, so it is no idle bound."""
    chance = np.random.default_rng(count)
    noise = Noise.for_privacy(kind, 1.0, 0.9)  # type: ignore[arg-type]
    added = np.sort(noise.draw(chance, 2_000 * count).reshape(2_000, count), axis=1)
    held = int(np.ceil(0.9 * count - 1e-9))
    widths = (added[:, held - 1 :] - added[:, : count - held + 1]).min(axis=1)
    least = least_level(kind, 0.9, count)
    assert widths.min() >= least > 0
    assert least_level(kind, 0.9, 100 * count) > least
