# SPDX-License-Identifier: MIT
"""Encoding for trees: pieces by brute force, codes that keep what they must, and keys that stay home."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.protect.codes.column_pieces import (
    MIXED_CLASS,
    ValuePieces,
    choose_bp,
    choose_max_mp,
    find_pure_runs,
    find_value_classes,
)
from sfumato.protect.codes.encode_for_trees import EncodeForTrees, RankedColumn
from sfumato.protect.codes.tree_codes import CURVES, GRID, PieceCurves, draw_value_codes
from sfumato.public.codes.learner_columns import flag_indistinct_values, look_up_cells, rank_cells
from sfumato.public.codes.tree_key import ColumnKey, TreeKey

quick = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
labels = st.lists(st.sampled_from([MIXED_CLASS, 0, 1, 2]), min_size=1, max_size=40)


def chance(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def table_of(columns: Mapping[str, Any], **roles: str) -> sf.Table:
    return sf.Table.of(dict(columns), {name: roles.get(name, "insensitive") for name in columns})


def some_table(rows: int = 60, seed: int = 1) -> sf.Table:
    lot = chance(seed)
    age = lot.integers(18, 90, rows)
    pay = np.round(lot.normal(30, 9, rows), 2)
    return table_of({"age": age, "pay": pay, "risk": np.where(age + pay > 80, "high", "low").tolist()})


@quick
@given(labels, st.integers(1, 6))
def test_pure_pieces_are_the_maximal_runs(classes: list[int], min_width: int) -> None:
    """By brute force: stretches of one class that cannot grow, and are wide enough."""
    expected = []
    for begin in range(len(classes)):
        for end in range(begin + 1, len(classes) + 1):
            whole = set(classes[begin:end])
            grows = (begin > 0 and classes[begin - 1] in whole) or (end < len(classes) and classes[end] in whole)
            if len(whole) == 1 and MIXED_CLASS not in whole and not grows and end - begin >= min_width:
                expected.append((begin, end - begin))
    starts, lengths = find_pure_runs(np.array(classes), min_width)
    assert list(zip(starts.tolist(), lengths.tolist(), strict=True)) == expected


@quick
@given(labels, st.integers(1, 30), st.integers(1, 5), st.integers(0, 5))
def test_pieces_cover_the_values_and_are_as_many_as_asked(
    classes: list[int], pieces: int, width: int, seed: int
) -> None:
    grown_pieces = choose_max_mp(np.array(classes), pieces, width, chance(seed))
    starts, _ = find_pure_runs(np.array(classes), width)
    assert grown_pieces.starts[0] == 0 and (np.diff(grown_pieces.starts) > 0).all()
    assert grown_pieces.sizes.sum() == len(classes)
    assert grown_pieces.starts[grown_pieces.pure].tolist() == starts.tolist()
    mixed = len(classes) - int(grown_pieces.sizes[grown_pieces.pure].sum())
    assert len(grown_pieces.starts) >= min(pieces, mixed + len(starts))
    drawn_pieces = choose_bp(np.array(classes), pieces, chance(seed))
    assert len(drawn_pieces.starts) == min(pieces, len(classes)) and not drawn_pieces.pure.any()


@quick
@given(labels, st.booleans(), st.booleans(), st.integers(0, 3), st.sampled_from([1, 0.01, 1e6, 1e-9, 3.7e30]))
def test_codes_keep_the_order_of_pieces_and_stay_apart(
    classes: list[int], rising: bool, permute: bool, seed: int, scale: float
) -> None:
    """Definition 8: all codes of a piece before all of the next; mixed pieces in order; distinct as 32-bit floats."""
    values = np.asarray(np.sort(chance(seed).choice(10_000, len(classes), replace=False)) * scale, dtype=np.float64)
    pieces = choose_max_mp(np.array(classes), 5, 2, chance(seed))
    codes = draw_value_codes(values, pieces, is_rising=rising, permute=permute, curves=CURVES, chance=chance(seed))
    numbers = codes.numbers.astype(np.float32) * (1 if rising else -1)
    assert len(set(numbers.tolist())) == len(values) and np.isfinite(numbers).all()
    assert not flag_indistinct_values(np.sort(numbers)).any()
    assert np.abs(codes.steps).max() < GRID
    for index in range(len(pieces.starts) - 1):
        piece_codes = numbers[pieces.starts[index] : pieces.ends[index]]
        assert piece_codes.max() < numbers[pieces.starts[index + 1] : pieces.ends[index + 1]].min()
    for start, end, pure in zip(pieces.starts, pieces.ends, pieces.pure, strict=True):
        if not (pure and permute):
            assert (np.diff(numbers[start:end]) > 0).all()


def test_values_of_pure_pieces_change_places_evenly() -> None:
    """Three values in one pure piece: six orders, each as likely. χ² with 5 degrees, fails by chance once in 10⁵."""
    pieces = ValuePieces(np.array([0]), np.array([True]), 3)
    lot, orders = chance(5), []
    for _ in range(1200):
        codes = draw_value_codes(np.arange(3.0), pieces, is_rising=True, permute=True, curves=CURVES, chance=lot)
        orders.append(tuple(np.argsort(codes.numbers).tolist()))
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    assert sum((count - 200) ** 2 / 200 for count in counts) < 30.9


def test_widths_of_pieces_do_not_tell_what_they_hold() -> None:
    """Two pieces, one of ten values and one of a hundred: which is wider is a matter of chance."""
    pieces = ValuePieces(np.array([0, 10]), np.array([False, False]), 110)
    lot, wider = chance(3), 0
    for _ in range(300):
        codes = draw_value_codes(np.arange(110.0) * 50, pieces, is_rising=True, permute=True, curves=CURVES, chance=lot)
        steps = codes.steps
        wider += (steps[9] - steps[0]) > (steps[109] - steps[10])
    assert 75 < wider < 225


@pytest.mark.parametrize("curve", CURVES)
def test_every_curve_rises_from_0_to_1(curve: Any) -> None:
    share = np.linspace(0, 1, 50)
    for seed in range(20):
        bends = PieceCurves.draw(1, (curve,), chance(seed))
        bent_shares = bends.bend_shares(share, np.zeros(50, dtype=np.int64))
        assert bent_shares[0] == pytest.approx(0) and bent_shares[-1] == pytest.approx(1)
        assert (np.diff(bent_shares) >= 0).all() and (np.diff(bent_shares) > 0).sum() > 10


def test_codes_look_like_the_column() -> None:
    """Whole numbers stay whole, decimals as many, nothing negative where nothing was, sizes alike."""
    table = table_of({"n": [1000, 2000, 3000] * 9, "x": [0.25, 1.5, 7.75] * 9, "y": ["a", "b", "a"] * 9})
    method = EncodeForTrees(target="y")
    for seed in range(20):
        frame = method.protect(table, method.new_key(table, sf.Randomness.seeded(seed))).data.frame
        assert frame["n"].dtype == pl.Int64 and frame["n"].min() >= 0 and frame["n"].max() < 20_000
        assert frame["x"].dtype == pl.Float64 and frame["x"].min() >= 0 and frame["x"].max() < 100
        assert (frame["x"].round(2) == frame["x"]).all()


def test_a_new_key_gives_new_codes_and_the_same_key_the_same() -> None:
    table, method = some_table(), EncodeForTrees(target="risk")
    key, other = method.new_key(table), method.new_key(table)
    first = method.protect(table, key).data.frame
    assert first.equals(method.protect(table, key).data.frame)
    second = method.protect(table, other).data.frame
    assert not first["age"].equals(second["age"]) and not first["risk"].equals(second["risk"])


def test_equal_cells_get_equal_codes_and_missing_stays_missing() -> None:
    table = table_of(
        {"x": [1.5, None, 1.5, 2.5, None], "t": ["u", None, "u", "w", "u"], "y": ["a", "b", "a", "b", "b"]}
    )
    method = EncodeForTrees(target="y")
    release = method.protect(table, method.new_key(table))
    frame = release.data.frame
    assert frame["x"].is_null().to_list() == [False, True, False, False, True]
    assert frame["x"][0] == frame["x"][2] != frame["x"][3]
    assert frame["t"].is_null().to_list() == [False, True, False, False, False]
    assert frame["t"][0] == frame["t"][2] == frame["t"][4] != frame["t"][3]
    assert table.frame["x"].to_list() == [1.5, None, 1.5, 2.5, None]


def test_every_kind_of_class_is_renamed() -> None:
    from datetime import date

    for classes in ([1, 2, 1], [True, False, True], [0.5, 1.0, 0.5], [date(2020, 1, 1), date(2021, 1, 1)] * 1 + [None]):
        table = table_of({"x": [1, 2, 3], "y": classes})
        method = EncodeForTrees(target="y")
        if classes[-1] is None:
            with pytest.raises(sf.DataError, match="missing in 1 row;"):
                method.new_key(table)
            continue
        frame = method.protect(table, method.new_key(table)).data.frame
        assert frame["y"].dtype == pl.String and frame["y"][0] == frame["y"][2] != frame["y"][1]
        assert frame["y"].str.starts_with("class ").all()


def test_identifying_columns_do_not_leave() -> None:
    table = table_of({"name": ["a", "b"], "x": [1, 2], "y": ["u", "w"]}, name="identifying")
    method = EncodeForTrees(target="y")
    release = method.protect(table, method.new_key(table))
    assert release.data.frame.columns == ["x", "y"]
    assert {claim.property for claim in release.claims} == {"identifying_columns", "trees_that_differ", "rows_kept"}


def test_the_key_is_in_nothing_that_leaves(tmp_path: Path) -> None:
    """No value of the table, and no list of codes, in data, claims, losses or the method's description."""
    table = table_of({"x": [91234, 45678, 91234, 77777], "y": ["yes", "no", "yes", "no"]})
    method = EncodeForTrees(target="y")
    key = method.new_key(table)
    release = method.protect(table, key)
    path = key.save(tmp_path / "key.json")
    assert path.stat().st_mode & 0o777 == 0o600
    claims = " ".join(claim.model_dump_json() for claim in release.claims)
    text = claims + str(dict(release.losses)) + release.method.model_dump_json() + repr(key) + repr(release)
    text += release.data.frame.write_csv()
    for value in ("91234", "45678", "77777", "yes", '"no"', str(key.secret["seal"])):
        assert value not in text
    assert sf.Key.load(path).secret == key.secret


def test_a_key_that_was_changed_is_refused(tmp_path: Path) -> None:
    table, method = some_table(), EncodeForTrees(target="risk")
    key = method.new_key(table)
    for part, other in (("permuted", False), ("target", "age"), ("seal", "0" * 64), ("columns", {})):
        with pytest.raises(sf.DataError, match="changed or damaged"):
            method.protect(table, sf.Key(key.method, {**key.secret, part: other}))
    with pytest.raises(sf.DataError, match="changed or damaged"):
        method.protect(table, sf.Key("encode_items", key.secret))
    spoilt = {name: part for name, part in key.secret.items() if name not in ("seal", "labels")}
    with pytest.raises(sf.DataError, match="not a valid key"):
        method.protect(table, TreeKey.seal(spoilt))


def test_another_table_is_refused_or_encoded_where_that_is_exact() -> None:
    table, method = some_table(), EncodeForTrees(target="risk")
    key = method.new_key(table)
    first_rows = sf.Table.of(table.frame.head(20))
    assert method.protect(first_rows, key).data.frame.equals(method.protect(table, key).data.frame.head(20))
    with pytest.raises(sf.DataError, match='"age": the key has no code for 1 cell, and another'):
        method.protect(table_of({"age": [7], "pay": [table.frame["pay"][0]], "risk": ["low"]}), key)
    with pytest.raises(sf.DataError, match='another table, with the columns "pay"'):
        method.protect(table_of({"age": [20], "risk": ["low"]}), key)


def test_a_pure_piece_that_is_torn_is_refused() -> None:
    table = table_of({"x": list(range(20)), "y": ["a"] * 10 + ["b"] * 10})
    torn_table = table_of({"x": [3, 4], "y": ["a", "b"]})
    for permute in (True, False):
        method = EncodeForTrees(target="y", permute=permute)
        key = method.new_key(table)
        if permute:
            with pytest.raises(sf.DataError, match='1 pure pieces of "x"'):
                method.protect(torn_table, key)
        else:
            assert len(method.protect(torn_table, key).data) == 2


def test_bad_input() -> None:
    table = some_table()
    with pytest.raises(sf.PolicyError, match="not a column of the table"):
        EncodeForTrees(target="nothing").new_key(table)
    with pytest.raises(sf.PolicyError, match='"risk" is not a published column of numbers'):
        EncodeForTrees(target="age", columns=("risk",)).new_key(table)
    with pytest.raises(sf.PolicyError, match="create one with new_key"):
        EncodeForTrees(target="risk").protect(table)
    with pytest.raises(sf.DataError, match=r"exceeds? 32-bit floats"):
        EncodeForTrees(target="y").new_key(table_of({"x": [1e300, 2.0], "y": ["a", "b"]}))
    with pytest.raises(ValidationError):
        EncodeForTrees(target="y", pieces=0)
    with pytest.raises(sf.DataError, match=r'8\d values of "x" are within 1e-7'):
        EncodeForTrees(target="y").new_key(table_of({"x": np.arange(100) * 1e-8, "y": ["a", "b"] * 50}))


def test_values_that_trees_take_for_equal_share_a_code() -> None:
    """1 and its 32-bit neighbour are 1.2e-7 apart, and scikit-learn still does not part them."""
    near_value = float(np.nextafter(np.float32(1), np.float32(2)))
    table = table_of({"x": [1.0, near_value, 2.0, 2.0 + 1e-12], "y": ["a", "b", "a", "a"]})
    method = EncodeForTrees(target="y", min_width=1)
    key = method.new_key(table)
    codes = method.protect(table, key).data.frame["x"].to_list()
    assert codes[0] == codes[1] < codes[2] == codes[3]
    column = TreeKey.open(key, table).columns["x"]
    assert column.has_merged_values
    assert column.decode(np.array(codes), "x").tolist() == [1.0, 1.0, 2.0, 2.0]


@quick
@given(st.lists(st.one_of(st.integers(-50, 50), st.floats(-9, 9, width=32)), min_size=1, max_size=50), st.booleans())
def test_places_are_those_of_sorting(given_cells: list[float], missing: bool) -> None:
    cells = np.array([*given_cells, *([np.nan] if missing else [])], dtype=np.float32) + np.float32(0)
    values, ranks = rank_cells(cells)
    expected = sorted({float(cell) for cell in cells if not np.isnan(cell)})
    assert values.tolist() == expected
    assert [UNKNOWN if np.isnan(c) else expected.index(float(c)) for c in cells] == ranks.tolist()
    half_values = values[::2]
    indices = look_up_cells(cells, half_values)
    assert all(
        (p == UNKNOWN and float(c) not in half_values.tolist()) or half_values[p] == c
        for c, p in zip(cells, indices, strict=True)
    )


UNKNOWN = -1


def test_many_values_are_placed_by_sorting() -> None:
    cells = chance().normal(size=50_000).astype(np.float32)
    values, ranks = rank_cells(cells)
    assert np.array_equal(look_up_cells(cells, values), ranks)
    assert (look_up_cells(np.array([99.0, np.nan], dtype=np.float32), values) == UNKNOWN).all()


def test_the_class_of_a_value_by_hand() -> None:
    ranks, classes = np.array([0, 0, 1, 2, 2, -1]), np.array([1, 1, 0, 0, 1, 1])
    assert find_value_classes(ranks, classes, 4).tolist() == [1, 0, MIXED_CLASS, MIXED_CLASS]


def test_a_column_key_survives_a_file() -> None:
    ranks = RankedColumn.of(some_table(), "pay", (some_table().frame["risk"] == "low").cast(pl.Int64).to_numpy())
    column_key = EncodeForTrees(target="risk").draw_key(ranks, chance())
    other = ColumnKey.read_secret("pay", column_key.dump_secret())
    for name in ("values", "codes", "starts", "pure"):
        assert np.array_equal(getattr(column_key, name), getattr(other, name))
    assert (column_key.rising, column_key.decimals) == (other.rising, other.decimals)


def test_progress_is_told() -> None:
    from sfumato.runtime.progress import listen_to_progress

    steps: list[str] = []
    with listen_to_progress(lambda step, count, total: steps.append(step)):
        EncodeForTrees(target="risk").new_key(some_table())
    assert {"sorting values", "drawing codes"} <= set(steps)


@pytest.mark.parametrize("order", ["as_read", "shuffled"])
@pytest.mark.parametrize("words", [True, False], ids=["words alone", "numbers and words"])
def test_codes_are_released_in_any_order_and_without_numbers(tmp_path: Path, order: str, words: bool) -> None:
    """Trees were compared row by row although the rows were shuffled, and words alone have no tree of scikit-learn."""
    chance = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "ill": chance.choice(["flu", "gout", "ulcer"], 60),
            "sex": chance.choice(["f", "m"], 60),
            **({} if words else {"age": chance.integers(20, 60, 60)}),
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    policy = {
        "data": {"path": str(tmp_path / "people.csv")},
        "roles": {"sensitive": ["sex"], "insensitive": [name for name in frame.columns if name != "sex"]},
        "protect": [{"method": "encode_for_trees", "target": "sex"}],
        "output": {"order": order},
    }
    result = sf.run(sf.Policy.model_validate(policy), tmp_path / "out")
    assert result.published
    assert [finding.measured for finding in result.findings if finding.property == "trees_that_differ"] == [0]


@pytest.mark.parametrize("values", [[0.0], [7.0], [0.0, 1.0], [-3.0]])
def test_few_numbers_are_never_their_own_codes(values: list[float]) -> None:
    numbers, pieces = np.array(values), ValuePieces(np.array([0]), np.array([True]), len(values))
    for seed in range(100):
        codes = draw_value_codes(
            numbers, pieces, is_rising=True, permute=True, curves=CURVES, chance=chance(seed)
        ).numbers
        assert not np.array_equal(numbers, codes)
