# SPDX-License-Identifier: MIT
"""The change of a class's entropy: against plain Python, and what protection does to it."""

from __future__ import annotations

from collections import Counter
from math import log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.generators.population import build_population_hierarchies, generate_population, list_population_roles

ROLES = {"a": "quasi_identifying", "b": "quasi_identifying", "y": "sensitive"}
Rows = list[tuple[Any, ...]]


def table_of(rows: Rows) -> sf.Table:
    return sf.Table.of({name: [row[index] for row in rows] for index, name in enumerate(ROLES)}, ROLES)


def by_the_book(rows: Rows, given_columns: tuple[int, ...]) -> float:
    """Σ over groups of their share times −Σ p log₂ p of the class in them."""
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        groups.setdefault(tuple(row[index] for index in given_columns), []).append(row[2])
    entropies = [
        (len(part), -sum(n / len(part) * log2(n / len(part)) for n in Counter(part).values()))
        for part in groups.values()
    ]  # fmt: skip
    return sum(size * entropy for size, entropy in entropies) / len(rows)


rows_of = st.lists(
    st.tuples(st.sampled_from(["u", "v", None]), st.sampled_from(["0", "1", "2"]), st.sampled_from(["x", "y", None])),
    min_size=1,
    max_size=15,
)


@given(before=rows_of, after=rows_of)
def test_entropies_by_the_book(before: Rows, after: Rows) -> None:
    entropies = sf.measure.class_entropy(table_of(before), table_of(after), "y")
    for change, columns in ((entropies.target, ()), (entropies.columns["a"], (0,)), (entropies.columns["b"], (1,)),
                            (entropies.joint, (0, 1))):  # fmt: skip
        assert change.original == pytest.approx(by_the_book(before, columns), abs=1e-9)
        assert change.release == pytest.approx(by_the_book(after, columns), abs=1e-9)
        assert change.change == pytest.approx(change.release - change.original)


@given(rows=rows_of)
def test_merging_values_tells_less(rows: Rows) -> None:
    """Generalization merges values, so no column can tell more about the class (the data processing inequality)."""
    merged = table_of([("u or v" if row[0] in ("u", "v") else row[0], "*", row[2]) for row in rows])
    entropies = sf.measure.class_entropy(table_of(rows), merged, "y")
    assert entropies.target.change == 0
    assert all(change.change >= -1e-12 for change in (*entropies.columns.values(), entropies.joint))
    assert entropies.columns["b"].release == pytest.approx(entropies.target.release)


def test_numbers_are_cut_alike_before_and_after() -> None:
    """100 numbers in two parts: y is the half, so nothing is left to guess, until noise moves numbers across."""
    numbers = list(range(100))
    halves = ["low" if number < 50 else "high" for number in numbers]
    roles = {"x": "quasi_identifying", "y": "sensitive"}
    table = sf.Table.of({"x": numbers, "y": halves}, roles)
    moved = sf.Table.of({"x": [number + 25.5 for number in numbers], "y": halves}, roles)
    entropies = sf.measure.class_entropy(table, moved, "y", bins=2)
    assert entropies.columns["x"].original == 0
    # 25 below the cut, all low; 75 above, of which 25 are low.
    assert entropies.columns["x"].release == pytest.approx(0.75 * (-(1 / 3) * log2(1 / 3) - (2 / 3) * log2(2 / 3)))


def test_more_anonymity_leaves_more_to_guess() -> None:
    people = sf.Table.of(generate_population(1000), list_population_roles(), build_population_hierarchies())
    changes = []
    for k in (2, 50):
        release = sf.Generalize(models=[sf.KAnonymity(k=k)]).protect(people)
        changes.append(sf.measure.class_entropy(people, release.data, "salary_level").joint.change)
    assert 0 < changes[0] < changes[1]


def test_bad_input_gets_a_sentence() -> None:
    table = table_of([("u", "0", "x")])
    with pytest.raises(sf.PolicyError, match="at least one part"):
        sf.measure.class_entropy(table, table, "y", bins=0)
    with pytest.raises(sf.DataError, match="no column to learn"):
        sf.measure.class_entropy(table, table, "y", ["y"])
    with pytest.raises(sf.DataError, match="has no rows"):
        sf.measure.class_entropy(table, table_of([]), "y")
    with pytest.raises(sf.DataError, match="nowhere"):
        sf.measure.class_entropy(table, table, "nowhere")
