# SPDX-License-Identifier: MIT
"""Noise, answers and caps on rows that stay where they are: those of memory, to the byte, however the rows are cut."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engine.spark.sent_task import pack_task, unpack_task
from sfumato.engine.stored_rows import MemoryRows
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import SfumatoError
from sfumato.protect.stored_method import explain_unstored_method, plan_stored
from sfumato.protect.stored_plan import StoredPlan

ROLES = {"name": "identifying", "age": "quasi_identifying", **dict.fromkeys(("x", "y", "day", "word"), "sensitive")}
METHODS: dict[str, Any] = {
    "gaussian": sf.AddNoise(columns=("x", "y", "day"), ranges={"x": (-50.0, 50.0)}),
    "uniform": sf.AddNoise(columns=("y", "x"), kind="uniform", privacy=0.3, ranges={"y": (-100, 100)}),
    "exact": sf.AddNoise(columns="y", exact_range=True, privacy=20.0),
    "large": sf.AddNoise(columns="y", ranges={"y": (-(10**12), 10**12)}),
    "intervals": sf.AddNoise(columns=("x", "y"), kind="discretize", privacy=0.25),
    "cuts": sf.AddNoise(
        columns=("x", "y", "day"),
        kind="discretize",
        ranges={"y": (-60, 60)},
        discretize={"x": 3, "y": (-10, 10), "day": 4},
    ),
    "caps": sf.TopCode(columns=("x", "y"), k=3, ends="both"),
    "given caps": sf.TopCode(columns=("y", "x"), k=2, share=0.1, caps={"x": 5.25}),
    "answers": sf.RandomizeResponse(column=("word", "y"), p=0.7),
    "given": sf.RandomizeResponse(column="word", epsilon=1.0, categories=("a", "b", "c"), missing="answer"),
    "days": sf.RandomizeResponse(column="day", epsilon=0.5, kind="k_ary"),
}


class CutRows(MemoryRows):
    """Rows in batches of given lengths."""

    def __init__(self, frame: pl.DataFrame, lengths: Sequence[int]) -> None:
        super().__init__(frame)
        self.lengths = lengths

    def iterate_batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        selection = self.frame if columns is None else self.frame.select(columns)
        begin = turn = 0
        while begin < selection.height:
            length = self.lengths[turn % len(self.lengths)]
            yield selection.slice(begin, length)
            begin, turn = begin + length, turn + 1


def make_people(rows: int, seed: int, kind: pl.DataType) -> pl.DataFrame:
    chance = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "name": [f"p{number}" for number in range(rows)],
            "age": chance.integers(20, 30, rows),
            "x": chance.normal(0, 9, rows).round(2),
            "y": pl.Series(chance.integers(-40, 41, rows)).cast(kind),
            "day": [date(1990, 1, 1) + timedelta(days=int(day)) for day in chance.integers(0, 900, rows)],
            "word": chance.choice(["a", "b", "c"], rows),
        }
    )
    gaps = {name: pl.Series(chance.random(rows) < 0.1) for name in ("x", "y", "day", "word")}
    return frame.with_columns(pl.when(~gap).then(pl.col(name)).alias(name) for name, gap in gaps.items())


def publish(plan: StoredPlan) -> pl.DataFrame:
    first, parts = 0, [plan.outline.frame]
    for batch in plan.table.rows.iterate_batches():
        parts.append(plan.publish(batch, first))
        first += batch.height
    return pl.concat(parts)


@settings(max_examples=40)
@given(
    st.sampled_from(sorted(METHODS)),
    st.integers(2, 60),
    st.integers(0, 1000),
    st.lists(st.integers(1, 20), min_size=1, max_size=4),
    st.sampled_from([pl.Int64(), pl.Int8(), pl.Float64(), pl.Float32()]),
)
def test_the_release_of_memory(name: str, rows: int, seed: int, lengths: list[int], kind: pl.DataType) -> None:
    method, frame = METHODS[name], make_people(rows, seed, kind)
    stored = StoredTable.of(CutRows(frame, lengths), ROLES)
    try:
        release = method.protect(sf.Table.of(frame, ROLES), sf.Randomness.seeded(seed))
    except SfumatoError as error:
        with pytest.raises(type(error)) as error_info:
            plan_stored(method, stored, sf.Randomness.seeded(seed))
        assert str(error_info.value) == str(error)
        return
    plan = plan_stored(method, stored, sf.Randomness.seeded(seed))
    published = publish(plan)
    assert published.equals(release.data.frame)
    assert published.schema == release.data.frame.schema
    assert plan.claims == release.claims
    assert plan.changes == release.changes
    assert plan.losses == pytest.approx(release.losses)
    assert plan.details.public.keys() == release.details.public.keys()
    assert publish(plan).equals(published), "a batch that is done again"


@pytest.mark.parametrize("name", ["gaussian", "cuts", "answers"])
def test_another_process_that_is_sent_the_plan_publishes_the_same(name: str) -> None:
    frame = make_people(50, 2, pl.Int64())
    plan = plan_stored(METHODS[name], StoredTable.of(CutRows(frame, [9]), ROLES), sf.Randomness.secure())
    packed = pack_task(plan)
    plan_copy = unpack_task(packed)
    assert plan_copy.publish(frame[20:40], 20).equals(publish(plan)[20:40])
    (secret,) = packed.secrets
    assert len(secret) == 32 and secret not in packed.content, "what may get into files tells no noise"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(plan)
    assert repr(plan_copy.draws.secret) == "RunSecret(…)"
    assert not plan_copy.claims and not plan_copy.details.public, "it needs no more"


def test_rows_that_are_alike_get_noise_of_their_own() -> None:
    frame = pl.DataFrame({"x": [5.0] * 4_000})
    plan = plan_stored(
        sf.AddNoise(columns="x", ranges={"x": (0.0, 10.0)}),
        StoredTable.of(CutRows(frame, [7]), {"x": "sensitive"}),
        sf.Randomness.secure(),
    )
    noise = publish(plan)["x"].to_numpy() - 5.0
    assert len(np.unique(noise)) > 3_900, "the grid has a million steps a deviation"
    halves = noise.reshape(2, -1)
    assert abs(float(np.asarray(np.corrcoef(halves))[0, 1])) < 5 / np.sqrt(2_000)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (sf.AddNoise(columns="x", kind="correlated"), "kind = correlated"),
        (sf.RandomizeResponse(column="word", p=0.7, person=("name",)), "person"),
        (sf.RandomizeResponse(column="word", p=0.7, memory="key.json"), "memory"),
        (sf.RandomizeResponse(column="word", epsilon=1, kind="unary"), "unary"),
    ],
)
def test_what_does_not_run_is_named(method: Any, words: str) -> None:
    assert words in str(explain_unstored_method(method))


def test_answers_that_turn_out_to_be_bits_are_refused_before_they_are_drawn() -> None:
    frame = pl.DataFrame({"word": [str(number) for number in range(40)]})
    table = StoredTable.of(MemoryRows(frame), {"word": "sensitive"})
    with pytest.raises(sf.PolicyError, match=r"40 categories .* kind = k_ary, or use --engine memory"):
        plan_stored(sf.RandomizeResponse(column="word", epsilon=1.0), table, sf.Randomness.secure())
