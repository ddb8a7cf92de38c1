# SPDX-License-Identifier: MIT
"""The loops of the lattice search in numpy and compiled: the same results, to the last number."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.anonymity import lattice, lattice_choice, lattice_plain
from sfumato.kernels.anonymity.lattice_choice import LatticeLoops

BOTH = pytest.mark.parametrize("kernels", [lattice.LOOPS, lattice_plain.LOOPS], ids=["compiled", "numpy"])
quick = settings(max_examples=60, deadline=None)
Array = npt.NDArray[Any]


def grouped(kernels: LatticeLoops, keys: Array, weights: Array, radix: int, slots: int) -> tuple[list[Any], ...]:
    rows = len(keys)
    slot_key, slot_class = np.zeros(slots, dtype=np.int64), np.full(slots, -1, dtype=np.int32)
    of_row, sizes, first = np.zeros(rows, np.int32), np.zeros(2 * rows, np.int64), np.zeros(rows, np.int64)
    count = kernels.group_keys(keys, weights, radix, slot_key, slot_class, of_row, sizes, first)
    assert (slot_class == -1).all()  # ready for the next node, whichever loops run it
    return of_row.tolist(), sizes[:count].tolist(), first[:count].tolist()


@BOTH
@quick
@given(st.lists(st.tuples(st.integers(0, 1 << 61), st.integers(1, 9)), min_size=1, max_size=60), st.booleans())
def test_classes_are_numbered_as_they_first_appear(
    kernels: LatticeLoops, rows: list[tuple[int, int]], close: bool
) -> None:
    """By a dictionary; few slots, so that different keys meet in one."""
    keys = [key % 16 if close else key for key, _ in rows]
    number: dict[int, int] = {}
    of_row = [number.setdefault(key, len(number)) for key in keys]
    sizes, first = [0] * len(number), [keys.index(key) for key in number]
    for class_index, (_, weight) in zip(of_row, rows, strict=True):
        sizes[class_index] += weight
    radix, slots = (16, 128) if close else (1 << 62, 128)
    weights = np.array([weight for _, weight in rows], dtype=np.int64)
    assert grouped(kernels, np.array(keys, dtype=np.int64), weights, radix, slots) == (of_row, sizes, first)


@BOTH
@quick
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 5)), min_size=1, max_size=40))
def test_values_are_counted_by_class(kernels: LatticeLoops, rows: list[tuple[int, int, int]]) -> None:
    classes = {of_class: number for number, of_class in enumerate(sorted({of_class for of_class, _, _ in rows}))}
    for blocks in (1, 2):  # the same rows twice, as one block and as two that share no class
        counts: dict[tuple[int, int], int] = {}
        for block in range(2):
            for of_class, value, count in rows:
                count_key = (block * len(classes) + classes[of_class], value)
                counts[count_key] = counts.get(count_key, 0) + count
        of_row = np.array([b * len(classes) + classes[r[0]] for b in range(2) for r in rows], dtype=np.int32)
        values, weights = np.array([r[1] for r in rows * 2], np.int32), np.array([r[2] for r in rows * 2], np.int64)
        bounds = np.array([[0, len(rows), 2 * len(rows)], [0, len(classes), 2 * len(classes)]], dtype=np.int64)
        bounds = np.ascontiguousarray(bounds if blocks == 2 else bounds[:, ::2])
        dense = np.zeros(3 * len(classes) * (3 - blocks), dtype=np.int64)
        value_codes, sums = np.zeros(80, dtype=np.int32), np.zeros(80, dtype=np.int64)
        starts = np.zeros(2 * len(classes), dtype=np.int64)
        all_rows = np.arange(len(of_row), dtype=np.int32)
        pairs = kernels.count_class_values(
            of_row, all_rows, values, weights, 3, bounds, dense, value_codes, sums, starts
        )
        expected = sorted(counts)
        assert list(zip(value_codes[:pairs].tolist(), sums[:pairs].tolist(), strict=True)) == [
            (key[1], counts[key]) for key in expected
        ]
        assert starts.tolist() == [
            min(index for index, key in enumerate(expected) if key[0] == number) for number in range(2 * len(classes))
        ]
        assert not dense.any()


@quick
@given(st.integers(0, 2**32 - 1))
def test_both_choose_the_same_node(seed: int) -> None:
    chance = np.random.default_rng(seed)
    shape = tuple(chance.integers(1, 5, chance.integers(1, 5)).tolist())
    live = chance.random(shape) < chance.random()
    bound = chance.integers(0, 4, shape) / 4
    results = []
    for kernels in (lattice.LOOPS, lattice_plain.LOOPS):
        lower_nodes, histogram = np.zeros(live.size, dtype=np.int32), np.zeros(16, dtype=np.int64)
        node = kernels.choose_informative_node(live.ravel(), bound.ravel(), np.array(shape), lower_nodes, histogram)
        results.append((int(node), lower_nodes[live.ravel()].tolist()))
    assert results[0] == results[1]
    assert (results[0][0] >= 0) == live.any()


def test_what_suppression_adds_is_the_same() -> None:
    chance = np.random.default_rng(5)
    codes = chance.integers(0, 4, (3, 50)).astype(np.int32)
    spared, starts = chance.integers(0, 9, 12), np.array([0, 4, 8])
    first, refused_rows = np.arange(0, 50, 5), chance.integers(0, 2, 10) * 7
    lasting = chance.integers(0, 3, 10).astype(np.float64)
    results = []
    for kernels in (lattice.LOOPS, lattice_plain.LOOPS):
        excess, more = np.zeros(3, dtype=np.int64), np.zeros(3)
        kernels.add_suppression_costs(codes, starts, spared, first, refused_rows, lasting, excess, more)
        results.append((excess.tolist(), more.tolist()))
    assert results[0] == results[1]
    assert results[0][0] == [
        sum(
            int(spared[4 * column + codes[column, row]]) * int(rows)
            for row, rows in zip(first, refused_rows, strict=True)
        )
        for column in range(3)
    ]


@quick
@given(st.integers(0, 2**32 - 1))
def test_sums_over_finer_nodes(seed: int) -> None:
    chance = np.random.default_rng(seed)
    shape = tuple(chance.integers(1, 4, chance.integers(1, 4)).tolist())
    amounts = chance.integers(0, 9, (*shape, 2))
    summed = amounts.copy()
    lattice_plain.add_finer_nodes(summed, shape)
    for node in np.ndindex(shape):
        box = amounts[tuple(slice(level + 1) for level in node)]
        assert summed[node].tolist() == box.reshape(-1, 2).sum(axis=0).tolist()


def test_a_process_begins_in_numpy_and_changes_over_once_loading_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_choice, "_work_total", 0)
    monkeypatch.setattr(lattice_choice, "_COMPILED_MODULE", "no.such.module")  # as if nothing were loaded yet
    assert lattice_choice.choose_lattice_loops(lattice_choice._WORTH) is lattice_plain.LOOPS
    assert lattice_choice.choose_lattice_loops(1) is lattice.LOOPS
    monkeypatch.setattr(lattice_choice, "_work_total", 0)
    monkeypatch.setattr(lattice_choice, "_COMPILED_MODULE", "sfumato.kernels.anonymity.lattice")
    assert lattice_choice.choose_lattice_loops(1) is lattice.LOOPS  # it is loaded anyway
