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
from sfumato.data.generators.quest_people import GROUP, RANGES, generate_quest_people
from sfumato.details import Details
from sfumato.measure.checks import CHECKS, Evidence
from sfumato.mine.noise.reconstruction import reconstruct_distribution
from sfumato.mine.noise.tree_on_noise import train_tree_on_noise
from sfumato.protect.noise.add_noise import AddNoise
from sfumato.protect.noise.noise_columns import read_number_column
from sfumato.protect.noise.noise_scales import choose_intervals, compute_interval_middles, compute_least_level
from sfumato.public.noise_law import Noise, get_noise_covariance, privacy_level
from sfumato.randomness import Randomness
from sfumato.runtime.lazy import find_checks

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


def judge_claims(release: sf.Release, original: sf.Table, published: sf.Table | None = None) -> list[bool]:
    """Whether each claim that this method makes of its noise holds."""
    evidence = Evidence(published or release.data, original, release.details["rows"])
    mine = [claim for claim in release.claims if find_checks()[claim.measure] == "sfumato.measure.noise.noise_checks"]
    return [claim.holds(CHECKS[claim.measure](evidence, claim.arguments)) for claim in mine]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("privacy", [0.1, 1.0, 2.0])
def test_claims_hold_and_the_originals_break_them(kind: str, privacy: float) -> None:
    table = people()
    release = AddNoise(columns=("age", "pay", "born"), kind=kind, privacy=privacy).protect(table)
    assert all(judge_claims(release, table))
    assert not all(judge_claims(release, table, table.replace_frame(table.frame.drop("name"))))
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
    public_facts = json.loads(json.dumps({name: law.describe() for name, law in release.public.items()}))
    assert set(public_facts) == {"age", "born"}
    assert public_facts["age"]["kind"] == kind
    assert "range" not in public_facts["age"]  # it is taken from the data, whose ends are someone's
    assert public_facts["age"]["domain"] == "data"
    assert public_facts["age"]["grid"] == (0 if kind == "discretize" else 1)
    assert public_facts["age"]["step"] == 1
    assert ("covariance" in public_facts["age"]) == (kind == "correlated")
    analyst = sf.Release(release.data, None, (), {}, Details(public=public_facts))
    distribution = reconstruct_distribution(analyst, column="age", bins=6)
    assert distribution.mean == pytest.approx(table.frame["age"].mean(), abs=4)


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
    public_facts = release.public
    times = public_facts["age"]["times"]
    assert times == public_facts["pay"]["times"] == float(f"{times:.2g}")
    frame = pl.DataFrame({"a": table.frame["age"], "p": table.frame["pay"]}).drop_nulls()
    whole = frame.to_numpy().T.astype(float)
    spread = np.cov(whole, bias=True)
    added = release.data.frame.select("age", "pay").drop_nulls().to_numpy().T - whole
    assert np.cov(added) == pytest.approx(times * spread, rel=0.25)
    # What is told of its covariance is estimated from the release, to within chance.
    assert get_noise_covariance(release, ("age", "pay")) == pytest.approx(times * spread, rel=0.25)
    levels: list[Any] = [claim.arguments for claim in release.claims if claim.property == "noise_privacy"]
    least = [Noise.of_privacy("gaussian", 0.5 * (level["high"] - level["low"]), 0.95).scale for level in levels]
    needed = [scale**2 / spread[index, index] for index, scale in enumerate(least)]
    assert max(needed) <= times <= 1.1 * max(needed)


def test_correlated_noise_where_one_column_follows_from_another() -> None:
    frame = pl.DataFrame({"x": np.arange(50.0), "y": 2 * np.arange(50.0) + 1})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "sensitive"))
    release = AddNoise(columns=("x", "y"), kind="correlated").protect(table)
    added = release.data.frame - frame
    assert np.abs((added["y"] - 2 * added["x"]).to_numpy()).max() < 1e-3
    assert all(judge_claims(release, table))


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 200), st.integers(-50, 50), st.floats(0.01, 3.0), st.floats(0.3, 0.99))
def test_whole_intervals_tell_no_less_than_the_level(span: int, low: int, privacy: float, confidence: float) -> None:
    """By counting: of the whole numbers of every interval within the range, the confidence's share is wide enough."""
    values = list(range(low, low + span + 1))
    column = read_number_column(one_column(values), "x", None, exact=True)
    noise = choose_intervals(column, privacy * span, confidence)
    middles = compute_interval_middles(column, noise).tolist()
    groups: dict[int, list[int]] = {}
    for value, middle in zip(values, middles, strict=True):
        groups.setdefault(middle, []).append(value)
    for middle, members in groups.items():
        whole = int(noise.scale)
        assert members[0] <= middle <= members[-1] or whole > len(members)
        # nobody can hide better than in all of the range
        assert confidence * len(members) >= min(privacy, confidence) * span - 1e-6
        assert whole >= 2


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=30).filter(lambda values: max(values) - min(values) > 1e-3),
    st.floats(0.01, 2.0),
    st.floats(0.3, 0.99),
)
def test_intervals_hold_their_values(values: list[float], privacy: float, confidence: float) -> None:
    column = read_number_column(one_column(values), "x", None, exact=True)
    noise = choose_intervals(column, privacy * column.span, confidence)
    middles = compute_interval_middles(column, noise)
    assert np.abs(middles - column.numbers).max() <= noise.scale * (0.5 + 1e-9)
    assert confidence * noise.scale >= privacy * column.span * (1 - 1e-9)
    # cut by the range, the intervals are still as wide
    assert noise.scale >= column.span or column.span / noise.scale == pytest.approx(round(column.span / noise.scale))


def test_correlated_noise_on_whole_columns_that_are_the_same() -> None:
    """They are rounded together, which no covariance foretells."""
    values = np.random.default_rng(1).integers(0, 10, 40_000)
    table = sf.Table.of(pl.DataFrame({"x": values, "y": values}), {"x": "sensitive", "y": "sensitive"})
    release = AddNoise(columns=("x", "y"), kind="correlated", privacy=0.4).protect(table)
    assert release.data.frame["x"].equals(release.data.frame["y"].alias("x"))
    assert all(judge_claims(release, table))


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
    assert np.abs((release.data.frame["x"] - table.frame["x"]).to_numpy()).max() <= 13  # of a range of 500
    assert all(judge_claims(release, table))
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
    assert all(judge_claims(release, table))


def test_a_method_survives_json() -> None:
    method = AddNoise(columns=("x", "day"), ranges={"x": (0, 120), "day": (dt.date(2000, 1, 1), dt.date(2003, 1, 1))})
    assert AddNoise.model_validate_json(method.model_dump_json()) == method


@pytest.mark.parametrize(
    ("values", "arguments", "error", "words"),
    [
        ([1.0, float("inf"), 3.0], {}, sf.DataError, "1 cell that is not a finite number"),
        ([5, 5, 5], {}, sf.ImpossibleRelease, "under `ranges`"),
        ([5, 5, 5], {"kind": "correlated", "ranges": {"x": (0, 9)}}, sf.ImpossibleRelease, "leave the column out"),
        ([1, None], {}, sf.ImpossibleRelease, "under `ranges`"),
        (["a", "b"], {}, sf.PolicyError, "holds text"),
        ([True, False], {}, sf.PolicyError, "boolean"),
        ([dt.datetime(2001, 1, 1), dt.datetime(2002, 1, 1)], {}, sf.PolicyError, "the day alone, or the minutes since"),
        ([dt.time(10, 5), None], {}, sf.PolicyError, "times of day in 1 row, .* the minutes since midnight"),
        ([1, 2, 300], {"ranges": {"x": (0, 120)}}, sf.DataError, "1 value outside"),
        ([-5, -3, 2], {"ranges": {"x": (0, 120)}}, sf.DataError, "2 values outside"),
        ([1, 2], {"ranges": {"y": (0, 1)}}, sf.PolicyError, '"y"'),
        ([1, 2], {"ranges": {"x": (1, 1)}}, sf.PolicyError, "the smaller first"),
        ([1, 2], {"columns": "z"}, sf.PolicyError, '"z"'),
        ([1, 2], {"columns": ()}, sf.PolicyError, "nothing"),
        ([1, 2], {"columns": ("x", "x")}, sf.PolicyError, "different"),
        (pl.Series([None] * 5, dtype=pl.Float64), {}, sf.ImpossibleRelease, "has no known value"),
        (pl.Series([None] * 5, dtype=pl.String), {}, sf.PolicyError, 'every cell of "x" is missing'),
        ([1e300, -1e300, 0.0], {}, sf.DataError, "2 values beyond"),
        ([1.0, 2.0], {"ranges": {"x": (0, 1e300)}}, sf.DataError, "range of another size"),
        ([1.0, 2.0, 3.0], {"privacy": 1e-17}, sf.ImpossibleRelease, "raise `privacy`"),
        ([1.0, 2.0, 3.0], {"privacy": 1e200}, sf.ImpossibleRelease, "3 noisy values are too large"),
        ([1.0, 2.0], {"confidence": 1e-17}, sf.PolicyError, "greater `confidence`"),
        ([1, 2, 3], {"privacy": 1e200, "kind": "discretize"}, sf.ImpossibleRelease, "lower `privacy`"),
        ([2**64 - 1, 1], {}, sf.DataError, "1 whole number beyond"),
        ([-(2**54), 1], {}, sf.DataError, "1 whole number beyond"),
    ],
)
def test_refused(values: Any, arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        AddNoise(**({"columns": "x"} | arguments)).protect(one_column(values))


def test_refused_tables_and_parameters() -> None:
    with pytest.raises(sf.DataError, match="no rows"):
        AddNoise(columns="age").protect(people().replace_frame(people().frame.clear()))
    with pytest.raises(sf.DataError, match="no roles"):
        AddNoise(columns="age").protect(sf.Table.of(people().frame))
    with pytest.raises(sf.PolicyError, match='"name"'):
        AddNoise(columns="name").protect(people())
    for strange in ({"privacy": 0.0}, {"confidence": 1.0}, {"kind": "loud"}, {"privacy": float("inf")}):
        with pytest.raises(ValidationError):
            AddNoise(columns="age", **strange)


def test_a_column_of_one_value_with_a_range_and_nearly_no_rows() -> None:
    for values in ([5, 5, 5], [5]):
        table = one_column(values)
        release = AddNoise(columns="x", ranges={"x": (0, 120)}).protect(table)
        assert all(judge_claims(release, table))
        assert 0 < release.losses["loss"] <= 1.0
        same = AddNoise(columns="x", kind="discretize", privacy=0.2, ranges={"x": (0, 120)}).protect(table)
        assert all(judge_claims(same, table))


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
    noise = Noise.of_privacy(kind, 1.0, 0.9)  # type: ignore[arg-type]
    added = np.sort(noise.draw(chance, 2_000 * count).reshape(2_000, count), axis=1)
    covered_count = int(np.ceil(0.9 * count - 1e-9))
    widths = (added[:, covered_count - 1 :] - added[:, : count - covered_count + 1]).min(axis=1)
    least = compute_least_level(kind, 0.9, count)
    assert widths.min() >= least > 0
    assert compute_least_level(kind, 0.9, 100 * count) > least


def two_columns(x: Any, w: Any) -> sf.Table:
    return sf.Table.of(pl.DataFrame({"x": x, "w": w}), {"x": "sensitive", "w": "sensitive"})


@pytest.mark.parametrize("kind", ["gaussian", "uniform"])
def test_forged_noise_is_found(kind: str) -> None:
    chance, count = np.random.default_rng(1), 3_000
    x, w = chance.normal(50, 10, (2, count))
    table = two_columns(x, w)
    release = AddNoise(columns=("x", "w"), kind=kind, privacy=0.5).protect(table, Randomness.seeded(1))
    noise, other = ((release.data.frame[name] - table.frame[name]).to_numpy() for name in ("x", "w"))
    points = np.quantile(noise, (np.arange(11) + 0.5) / 11)
    row_numbers = np.arange(count)
    forged = {
        "a fifth as it was": (np.where(row_numbers % 5 == 0, 0, noise), other),
        "3 % as they were": (np.where(row_numbers % 33 == 0, 0, noise), other),
        "3 % nearly as they were": (np.where(row_numbers % 33 == 0, 1e-9, noise), other),
        "the same noise": (noise, noise * other.std() / noise.std() * 0.999),
        "the other's value": (noise, (x - x.mean()) * other.std() / x.std()),
        "signs that tell": (np.sign(np.abs(x - 50) - 6.7) * np.abs(noise), other),
        "sizes that tell": (np.sign(noise) * np.sort(np.abs(noise))[np.argsort(np.argsort(x))], other),
        "five times": (5 * noise - 5 * noise.mean(), other),
        "another law": (chance.laplace(0, noise.std() / np.sqrt(2), count), other),
        "eleven points": (points[np.abs(noise[:, None] - points).argmin(axis=1)], other),
    }
    assert all(judge_claims(release, table))
    for name, (first_noise, two) in forged.items():
        assert not all(judge_claims(release, table, two_columns(x + first_noise, w + two))), name


def test_forged_whole_noise_is_found() -> None:
    chance, count = np.random.default_rng(1), 3_000
    x, w = chance.integers(0, 100, (2, count))
    table = two_columns(x, w)
    release = AddNoise(columns=("x", "w"), privacy=0.5).protect(table, Randomness.seeded(1))
    noise, other = ((release.data.frame[name] - table.frame[name]).to_numpy() for name in ("x", "w"))
    assert all(judge_claims(release, table))
    for first_noise, two in (
        (np.where(np.arange(count) % 20 == 0, 0, noise), other),
        (noise, noise),
        (noise // 9 * 9, other),
    ):
        assert not all(judge_claims(release, table, two_columns(x + first_noise, w + two)))


@pytest.mark.parametrize("kind", KINDS)
def test_honest_releases_keep_every_claim(kind: str) -> None:
    """Few rows and many, all types, holes, all levels."""
    chance = np.random.default_rng(KINDS.index(kind))
    for _ in range(40):
        count = int(10 ** chance.uniform(0.5, 3))
        frame = pl.DataFrame(
            {
                "tiny": chance.normal(size=count) * 1e-20,
                "far": 1e9 + chance.random(count),
                "single": pl.Series(chance.normal(1e5, 1e4, count), dtype=pl.Float32),
                "few": np.arange(count) % 3,
                "day": pl.Series(chance.integers(0, 9_999, count) + np.arange(count)).cast(pl.Int32).cast(pl.Date),
            }
        )
        holes = pl.when(pl.int_range(count) % 7 == 3).then(None).otherwise(pl.col("tiny")).alias("tiny")
        table = sf.Table.of(frame.with_columns(holes), dict.fromkeys(frame.columns, "sensitive"))
        method = AddNoise(columns=tuple(frame.columns), kind=kind, privacy=float(10 ** chance.uniform(-1.5, 0.5)))
        assert all(judge_claims(method.protect(table), table))


def test_correlated_noise_beside_much_larger_numbers_is_not_lost() -> None:
    """Eigenvectors of a covariance of very different sizes would round the small column's noise off."""
    chance = np.random.default_rng(2)
    table = two_columns(chance.normal(size=500) * 1e-9, chance.normal(size=500) * 1e9)
    release = AddNoise(columns=("x", "w"), kind="correlated").protect(table)
    added = (release.data.frame["x"] - table.frame["x"]).to_numpy()
    assert added.std() == pytest.approx(release.public["x"]["scale"], rel=0.15)
    assert all(judge_claims(release, table))


def test_intervals_claim_no_more_than_the_range_leaves_open() -> None:
    """One interval of 200 over a range of 100 that everybody knows: at 50 % a value is told to within 50."""
    table = one_column(np.linspace(0, 100, 1_001))
    release = AddNoise(columns="x", kind="discretize", privacy=1.0, confidence=0.5).protect(table)
    assert release.public["x"]["scale"] == 200
    assert release.public["x"]["achieved"] == 0.5
    assert release.claims[0].threshold == pytest.approx(0.5)
    assert "is impossible" in release.claims[0].meaning
    assert all(judge_claims(release, table))
    level_release = AddNoise(columns="x", kind="discretize", privacy=0.4, confidence=0.5).protect(table)
    assert level_release.public["x"]["achieved"] == 0.4
    assert "is impossible" not in level_release.claims[0].meaning


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "correlated"])
def test_dates_stay_in_the_calendar(kind: str) -> None:
    days = [dt.date(2000, 1, 1) + dt.timedelta(days=number) for number in range(50)]
    late_dates = one_column([*days, dt.date(9999, 12, 31), dt.date(9999, 12, 31)])
    with pytest.raises(
        sf.ImpossibleRelease, match=r'"x": noise moves 52 dates outside the calendar.*missing.*`ranges`'
    ):
        AddNoise(columns="x", kind=kind, privacy=0.5).protect(late_dates)
    with pytest.raises(sf.ImpossibleRelease, match="50 dates out"):
        AddNoise(columns="x", kind=kind, privacy=1e5).protect(one_column(days))
    last = one_column([dt.date(9990 + number % 10, 1, 1 + number) for number in range(20)])
    with pytest.raises(sf.ImpossibleRelease, match="outside the calendar"):
        AddNoise(columns="x", kind=kind).protect(last)
    assert AddNoise(columns="x", kind="discretize").protect(late_dates).data.frame["x"].dt.year().max() < 9_999


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "values", [[1e300, -1e300, 0.0], [1.7e308, -1.7e308, 0.0], [1e-300, 2e-300, 3e-300] * 10, [0.0, 5e-324] * 10]
)
def test_extreme_numbers_are_refused_with_a_sentence(kind: str, values: list[float]) -> None:
    with pytest.raises(sf.DataError, match=r"divide|multiply"):
        AddNoise(columns="x", kind=kind).protect(one_column(values))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("privacy", [5e-324, 1e-300, 1e-20, 1e195, 1e300, 1.7e308])
@pytest.mark.parametrize("size", [1e-90, 1.0, 1e90])
def test_extreme_levels_are_refused_with_a_sentence(kind: str, privacy: float, size: float) -> None:
    with pytest.raises(sf.ImpossibleRelease, match=r"(raise|lower) `privacy`"):
        AddNoise(columns="x", kind=kind, privacy=privacy).protect(one_column([size, 2 * size, 3 * size]))


def test_chance_that_is_none() -> None:
    with pytest.raises(sf.PolicyError, match=r"sf\.Randomness\.seeded\(7\) for tests"):
        AddNoise(columns="age").protect(people(), randomness=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "discretize"])
def test_a_column_of_nothing_with_a_range_can_be_checked(kind: str) -> None:
    table = one_column(pl.Series([None] * 5, dtype=pl.Float64))
    release = AddNoise(columns="x", kind=kind, ranges={"x": (0, 1)}).protect(table)
    assert all(judge_claims(release, table))
    assert all(finding.holds for finding in sf.check(release, table))


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_at_every_level(kind: str) -> None:
    """Little noise on few whole numbers is made as much as rounding leaves; the level is then more than asked for."""
    frame = generate_quest_people(400)
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "sensitive"))
    for privacy in (0.1, 0.25, 0.5, 1.0, 2.0):
        release = AddNoise(columns=tuple(RANGES), kind=kind, privacy=privacy, ranges=RANGES).protect(table)
        assert all(judge_claims(release, table))
        if kind != "discretize":
            assert all(facts["achieved"] >= privacy for facts in release.public.values())
            assert (release.data.frame["elevel"] != table.frame["elevel"]).mean() > 0.35
        else:
            assert min(facts["scale"] for facts in release.public.values()) >= 2
    column_facts = AddNoise(columns="elevel", privacy=0.1, ranges={"elevel": (0, 4)}).protect(table).public["elevel"]
    assert column_facts["scale"] == 0.75
    law = Noise(kind="gaussian", scale=0.75, step=1)
    assert (
        column_facts["achieved"] == pytest.approx(privacy_level(law, (0, 4))) == pytest.approx(0.75 * 2 * 1.959964 / 5)
    )
    unknown = AddNoise(columns="elevel", privacy=0.1).protect(table)
    assert unknown.public["elevel"]["achieved"] == 0.1  # more would tell how wide the data's range is
    assert all(finding.holds for finding in sf.check(unknown, table))


@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
@pytest.mark.parametrize("ends", [(0, 1), (0, 4), (3, 12)])
@pytest.mark.parametrize("privacy", [0.5, 1.0, 2.0])
def test_as_many_whole_numbers_as_promised(kind: Any, ends: tuple[int, int], privacy: float) -> None:
    """The fewest whole numbers that hold 95 % of the noise, counted, as a share of those in the range."""
    table = sf.Table.of({"x": [ends[0], ends[1]] * 5}, {"x": "sensitive"})
    facts = AddNoise(columns="x", kind=kind, privacy=privacy, ranges={"x": ends}).protect(table).public["x"]
    law, steps = Noise(kind=kind, scale=facts["scale"], step=1), np.arange(-60.0, 61.0)
    chance = np.sort(np.diff(law.cumulate(np.append(steps, 61) - np.float64(0.5))))[::-1]
    fewest = int(np.searchsorted(np.cumsum(chance), 0.95 - 1e-12)) + 1
    assert fewest / (ends[1] - ends[0] + 1) >= privacy


def test_trees_grow_on_little_noise_in_few_whole_numbers() -> None:
    frame = generate_quest_people(2_000, "Fn3")
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "sensitive"))
    method = AddNoise(columns=tuple(RANGES), kind="uniform", privacy=0.25, ranges=RANGES)
    tree = train_tree_on_noise(method.protect(table, Randomness.seeded(1)), GROUP)
    assert tree.measure_accuracy(table) > 0.8
