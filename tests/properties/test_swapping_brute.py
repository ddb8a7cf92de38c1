# SPDX-License-Identifier: MIT
"""Swapping against plain Python: all answers of small tables, a MILP over every record, the literal Table 2."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.protect import integer_program
from sfumato.protect.swapping import swap_optimal
from sfumato.protect.swapping.exchanges import list_exchanges
from sfumato.protect.swapping.posteriors import UNIT
from sfumato.protect.swapping.swap_confidential import SwapConfidential
from sfumato.protect.swapping.swap_draft import draft_answer
from sfumato.protect.swapping.swap_marginal import find_least_shift, solve_phase_one
from sfumato.protect.swapping.swap_optimal import find_best_answer
from sfumato.protect.swapping.swap_paper import draw_phase_one_answer, run_phase_two
from sfumato.protect.swapping.swap_prices import find_prices
from sfumato.protect.swapping.swap_random import draw_random_answer
from sfumato.protect.swapping.swap_records import SwapRecords
from sfumato.randomness import Randomness

Row = tuple[str | None, ...]


def small_tables(most: int = 9) -> st.SearchStrategy[list[Row]]:
    cell = st.sampled_from(["a", "b", "c", None])
    value = st.sampled_from(["x", "y", "z", None])
    return st.lists(st.tuples(cell, cell, value), min_size=2, max_size=most)


def statuses(rows: list[Row]) -> tuple[list[int], list[list[int]]]:
    """U and V by the book: everybody with the same pattern has the same known value."""
    likes: dict[Row, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        likes[row[:-1]].append(number)
    agree = [group for group in likes.values() if len({rows[n][-1] for n in group}) == 1]
    known_groups = [group for group in agree if rows[group[0]][-1] is not None]
    return sorted(g[0] for g in known_groups if len(g) == 1), [g for g in known_groups if len(g) > 1]


def chances(rows: list[Row], number: int, values: list[str]) -> dict[str, Fraction]:
    """Equation (10) in fractions; records without a value are not counted."""
    known_rows = [row for row in rows if row[-1] is not None]
    weights = {}
    for value in values:
        members = [row for row in known_rows if row[-1] == value]
        weight = Fraction(len(members), len(known_rows))
        for index, cell in enumerate(rows[number][:-1]):
            weight *= Fraction(sum(row[index] == cell for row in members), len(members))
        weights[value] = weight
    return {value: weight / sum(weights.values()) for value, weight in weights.items()}


def brute(rows: list[Row], share: float) -> tuple[int, Fraction] | None:
    """The least shift of counts, and with it the least Σ d, over all answers; None where there is none."""
    values = sorted({row[-1] for row in rows if row[-1] is not None})
    unique, groups = statuses(rows)
    changes = round(share * len(unique))
    units = unique + [group[0] for group in groups]
    chance = {number: chances(rows, number, values) for number in units}
    best = None
    for assignment in product(values, repeat=len(units)):
        moved = [(n, new) for n, new in zip(units, assignment, strict=True) if new != rows[n][-1]]
        if sum(n in unique for n, _ in moved) != changes or len(moved) - changes != len(groups):
            continue
        gained: Counter[str | None] = Counter(new for _, new in moved)
        gained.subtract(Counter(rows[n][-1] for n, _ in moved))
        shift = sum(abs(gain) for gain in gained.values())
        cost = sum((chance[n][rows[n][-1]] - chance[n][new] for n, new in moved), Fraction(0))  # type: ignore[index]
        best = min(best, (shift, cost)) if best else (shift, cost)
    return best


def table_of(rows: list[Row]) -> sf.Table:
    data = {name: [row[index] for row in rows] for index, name in enumerate(("p", "q", "secret"))}
    return sf.Table.of(data, {"p": "quasi_identifying", "q": "quasi_identifying", "secret": "sensitive"})


@settings(max_examples=120, deadline=None)
@given(small_tables(), st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_the_optimum_is_that_of_all_answers(rows: list[Row], share: float) -> None:
    unique, groups = statuses(rows)
    assume(len(unique) + len(groups) <= 7)
    method = SwapConfidential(column="secret", share=share)
    values = {row[-1] for row in rows if row[-1] is not None}
    best = brute(rows, share) if values else (0, Fraction(0))
    if len(values) == 2 and (share == 1 or 0 < round(share * len(unique)) == len(unique)):
        with pytest.raises(sf.PolicyError, match="reversing"):
            method.protect(table_of(rows))
        return
    if best is None:
        with pytest.raises(sf.ImpossibleRelease, match="one value"):
            method.protect(table_of(rows))
        return
    release = method.protect(table_of(rows), Randomness.seeded(1))
    shift, cost = best
    assert release.losses["marginal_shift"] == shift
    assert release.details["objective"] == pytest.approx(float(cost), abs=1e-10)
    assert release.details["proven"] and release.details["gap"] == 0
    new = release.data.frame["secret"].to_list()
    changed = {n for n, row in enumerate(rows) if row[-1] != new[n]}
    assert changed == set(release.details["changed_rows"].tolist())
    assert len(changed & set(unique)) == round(share * len(unique))
    assert all(len(changed & set(group)) == 1 for group in groups)
    assert changed <= set(unique) | {n for group in groups for n in group}
    assert [row[-1] is None for row in rows] == [cell is None for cell in new]


def random_records(seed: int, ties: bool = False) -> SwapRecords:
    """Records with up to 120 in U and V, two to six categories, groups with several to change."""
    chance = np.random.default_rng(seed)
    count, categories = int(chance.integers(5, 120)), int(chance.integers(2, 7))
    likely = chance.dirichlet(np.full(categories, 0.6), size=count)
    if ties:
        likely = np.round(likely * 4) / 4
    free = chance.random(count) < chance.uniform(0.3, 1)
    skew = chance.dirichlet(np.full(categories, chance.choice([0.3, 5.0])))
    return SwapRecords(
        np.rint(likely * UNIT).astype(np.int64),
        chance.choice(categories, count, p=skew),
        np.where(free, 1, chance.integers(1, 4, count)),
        free,
        round(chance.uniform(0, 1) * int(free.sum())),
    )


def by_milp(records: SwapRecords) -> tuple[int, float]:
    """The same two goals, one after the other, by HiGHS over every record and category."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    count, width = records.chances.shape
    size = count * width
    own_codes = records.own_categories
    rows, low, high = [], [], []

    def line(entries: dict[int, float], least: float, most: float) -> None:
        row = np.zeros(size + 2 * width)
        for index, coefficient in entries.items():
            row[index] += coefficient
        rows.append(row)
        low.append(least)
        high.append(most)

    for i in range(count):
        line({i * width + k: 1 for k in range(width)}, records.weight[i], records.weight[i])
    line(
        {i * width + k: 1 for i in range(count) if records.free[i] for k in range(width) if k != own_codes[i]},
        records.changes,
        records.changes,
    )
    for k in range(width):
        balance = {i * width + k: 1.0 for i in range(count)} | {size + k: -1.0, size + width + k: 1.0}
        category_weight = int(records.weight[own_codes == k].sum())
        line(balance, category_weight, category_weight)
    upper = np.repeat(records.weight, width).astype(float)
    upper[[i * width + own_codes[i] for i in range(count) if not records.free[i]]] = 0
    bounds = Bounds(0, np.concatenate([upper, np.full(2 * width, np.inf)]))
    shifts = np.concatenate([np.zeros(size), np.ones(2 * width)])

    def solved(costs: np.ndarray, extra: list[LinearConstraint]) -> float:
        limits = [LinearConstraint(np.array(rows), low, high), *extra]
        options: Any = {"mip_rel_gap": 0.0}
        result = milp(
            costs, integrality=np.ones(len(costs), dtype=int), bounds=bounds, constraints=limits, options=options
        )
        assert result.status == 0
        return float(result.fun)

    shift = round(solved(shifts, []))
    change_costs = (records.chances[np.arange(count), own_codes][:, None] - records.chances) / UNIT
    cost = solved(
        np.concatenate([change_costs.ravel(), np.zeros(2 * width)]), [LinearConstraint(shifts[None], 0, shift)]
    )
    return shift, cost


@pytest.mark.parametrize("seed", range(40))
def test_the_optimum_is_that_of_a_milp_over_all_records(seed: int) -> None:
    records = random_records(seed, ties=seed % 3 == 0)
    shift = find_least_shift(records.available, records.changes, records.forced_counts)
    expected, cost = by_milp(records)
    assert shift == expected
    best = find_best_answer(records, shift, 60.0, np.random.default_rng(seed))
    assert best.objective / UNIT == pytest.approx(cost, abs=2e-6)  # the tolerance of HiGHS
    assert best.proven
    assert np.abs(best.answer.shift(records)).sum() <= shift
    moved = best.answer.category != records.own_categories[best.answer.record]
    assert (moved & records.free[best.answer.record]).sum() == records.changes
    assert moved[~records.free[best.answer.record]].all()
    assert (np.bincount(best.answer.record, minlength=len(records.own_categories)) == records.weight).all()


@pytest.mark.parametrize("seed", range(60))
def test_small_cores_and_samples_find_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With cores of a few records the proof rests on prices and gaps, as it does in large tables."""
    records = random_records(100 + seed, ties=seed % 4 == 0)
    shift = find_least_shift(records.available, records.changes, records.forced_counts)
    whole = find_best_answer(records, shift, 60.0, np.random.default_rng(0))
    monkeypatch.setattr("sfumato.protect.swapping.swap_optimal._FEW", 2)
    monkeypatch.setattr("sfumato.protect.swapping.swap_prices._SAMPLE", 6)
    monkeypatch.setattr("sfumato.protect.swapping.swap_prices._FEW", 2)
    best = find_best_answer(records, shift, 60.0, np.random.default_rng(0))
    assert (best.objective, best.proven) == (whole.objective, True)


def circling(seed: int) -> SwapRecords:
    """Everybody would go round in threes, and twenty is no multiple of three: fractions do better than records can."""
    chance = np.random.default_rng(seed)
    own_codes = np.repeat(np.arange(3), 20)
    likely = np.array([[5, 4, 1], [1, 5, 4], [4, 1, 5]], dtype=np.int64)[own_codes] * (UNIT // 10)
    likely += chance.integers(0, UNIT // 200, likely.shape)
    return SwapRecords(likely, own_codes, np.ones(60, dtype=np.int64), np.ones(60, dtype=np.bool_), 20)


@pytest.mark.parametrize("seed", range(6))
def test_without_time_the_best_found_is_given_with_its_bound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    records = circling(seed)
    whole = find_best_answer(records, 0, 60.0, np.random.default_rng(0))
    assert whole.proven and whole.objective / UNIT == pytest.approx(by_milp(records)[1], abs=2e-6)
    solve = integer_program.solve_program

    def hasty(*arguments: Any) -> Any:
        solution = solve(*arguments)
        return None if solution is None else replace(solution, proven=False)

    monkeypatch.setattr(swap_optimal, "solve_program", hasty)
    hurried = find_best_answer(records, 0, 1e-9, np.random.default_rng(0))
    assert not hurried.proven and not hurried.answer.shift(records).any()
    assert hurried.bound < whole.objective <= hurried.objective


@pytest.mark.parametrize("seed", range(30))
def test_prices_never_promise_more_than_the_optimum(seed: int) -> None:
    records = random_records(seed)
    shift = find_least_shift(records.available, records.changes, records.forced_counts)
    bound = find_prices(records, shift, inf)[1].bound
    best = find_best_answer(records, shift, 60.0, np.random.default_rng(0))
    assert best.objective - 0.5 * UNIT < bound <= best.objective


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=4), st.floats(0, 1))
def test_the_least_shift_is_that_of_problem_1(counts: list[int], share: float) -> None:
    available = np.array(counts, dtype=np.int64)
    changes = round(share * sum(counts))
    zeros = np.zeros(len(counts), dtype=np.int64)
    flows = solve_phase_one(available, changes)
    assert flows.moves.sum() == changes and (flows.moves.sum(axis=1) <= available).all()
    assert flows.shift == np.abs(flows.moves.sum(axis=1) - flows.moves.sum(axis=0)).sum()
    assert flows.shift == find_least_shift(available, changes, zeros)
    assert flows.shift >= find_least_shift(zeros, 0, available) or changes < sum(counts)


def literally(records: SwapRecords, record: list[int], current: list[int]) -> list[int]:
    """Table 2 and Appendix A word by word, over all pairs."""
    own_codes = [int(records.own_categories[r]) for r in record]
    unique = [bool(records.free[r]) for r in record]

    def d(index: int, a: int, b: int) -> int:
        return int(records.chances[record[index], a] - records.chances[record[index], b])

    def shares() -> tuple[int, int]:
        moved = [c != o for c, o in zip(current, own_codes, strict=True)]
        return sum(m and u for m, u in zip(moved, unique, strict=True)), sum(
            m and not u for m, u in zip(moved, unique, strict=True)
        )

    def admissible(i: int, j: int) -> bool:
        """Definition 4, by trying: constraints (C1) and (C2) stay satisfied."""
        before = shares()
        current[i], current[j] = current[j], current[i]
        after = shares()
        current[i], current[j] = current[j], current[i]
        return before == after

    while True:
        costs = []
        for i in range(len(record)):
            for j in range(i):
                if current[i] != current[j] and admissible(i, j):
                    cost = d(i, current[i], current[j]) + d(j, current[j], current[i])
                    if cost < 0:
                        costs.append((cost, i, j))
        if not costs:
            return current
        assume(len({cost for cost, _, _ in costs}) == len(costs))  # ties may be broken either way
        touched: set[int] = set()
        for _, i, j in sorted(costs):
            if i not in touched and j not in touched:
                current[i], current[j] = current[j], current[i]
                touched |= {i, j}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_the_published_search_is_table_2_word_by_word(seed: int) -> None:
    """Rules 1 to 4 admit exactly the swaps that keep both shares, and classes find the same swaps as all pairs do."""
    chance = np.random.default_rng(seed)
    count, categories = int(chance.integers(4, 14)), int(chance.integers(2, 6))
    likely = np.rint(chance.dirichlet(np.ones(categories), size=count) * UNIT).astype(np.int64)
    free = chance.random(count) < 0.7
    unit_weights = np.ones(count, dtype=np.int64)
    records = SwapRecords(
        likely, chance.integers(0, categories, count), unit_weights, free, round(0.5 * int(free.sum()))
    )
    start = draw_phase_one_answer(records, chance)
    expected = literally(records, start.record.tolist(), start.category.tolist())
    result = run_phase_two(records, start)
    assert result.answer.category.tolist() == expected
    assert result.answer.compute_cost(records) == start.compute_cost(records) + sum(swap.cost for swap in result.swaps)
    shift = int(np.abs(start.shift(records)).sum())
    assert find_prices(records, shift, inf)[1].bound <= result.answer.compute_cost(records)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6))
def test_random_swaps_change_as_many_as_asked_and_shift_counts_least(seed: int) -> None:
    chance = np.random.default_rng(seed)
    count, categories = int(chance.integers(2, 20)), int(chance.integers(2, 6))
    free, weight = chance.random(count) < 0.7, chance.integers(1, 4, count)
    own_codes = chance.choice(categories, count, p=chance.dirichlet(np.ones(categories)))
    changes = int(chance.integers(0, int(free.sum()) + 1))
    records = SwapRecords(
        np.zeros((count, categories), dtype=np.int64), own_codes, np.where(free, 1, weight), free, changes
    )
    answer = draw_random_answer(records, chance)
    moved, loose = answer.category != own_codes[answer.record], free[answer.record]
    assert int((moved & loose).sum()) == changes
    assert moved[~loose].all()
    zeros = np.zeros(categories, dtype=np.int64)
    for part, available, change_count in (
        (loose, records.available, changes),
        (~loose, records.forced_counts, int(records.forced_counts.sum())),
    ):
        gained = np.bincount(answer.category[part], minlength=categories)
        shift = int(np.abs(gained - np.bincount(own_codes[answer.record[part]], minlength=categories)).sum())
        assert shift == find_least_shift(available, change_count, zeros)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_exchanges_lead_from_old_to_new(pairs: list[tuple[int, int]]) -> None:
    old, new = (np.array(codes, dtype=np.int64) for codes in zip(*pairs, strict=True))
    exchanges = list_exchanges(old, new, 4)
    current_codes = old.copy()
    for row, other in exchanges.swaps:
        current_codes[row], current_codes[other] = current_codes[other], current_codes[row]
    current_codes[exchanges.replaced_rows] = new[exchanges.replaced_rows]
    assert current_codes.tolist() == new.tolist()
    if sorted(old.tolist()) == sorted(new.tolist()):
        assert not len(exchanges.replaced_rows)
    assert len(exchanges.swaps) <= int((old != new).sum())


def test_records_that_are_all_alike_are_decided_at_once() -> None:
    """Ties without end: one kind of record a category, 3,600 of each."""
    own_codes = np.repeat(np.arange(3), 3600)
    likely = np.array([[5, 3, 2], [2, 5, 3], [3, 2, 5]], dtype=np.int64)[own_codes] * (UNIT // 10)
    records = SwapRecords(
        likely, own_codes, np.ones(len(own_codes), dtype=np.int64), np.ones(len(own_codes), dtype=np.bool_), 5000
    )
    best = find_best_answer(records, 0, 60.0, np.random.default_rng(0))
    assert best.proven
    # Circles of three cost 2/10 a record; 5,000 are 1,666 of them and one exchange of two, which costs 2/10 + 3/10.
    assert best.objective == (4998 * 2 + 5) * UNIT // 10
    lots = best.answer.record[best.answer.category != own_codes[best.answer.record]]
    assert len(set(lots.tolist())) == 5000 and lots.min() < 100


@pytest.mark.parametrize("seed", range(30))
def test_a_draft_meets_every_sum(seed: int) -> None:
    records = random_records(seed)
    shift = find_least_shift(records.available, records.changes, records.forced_counts)
    draft = draft_answer(records, shift, np.random.default_rng(seed))
    moved = draft.category != records.own_categories[draft.record]
    assert (moved & records.free[draft.record]).sum() == records.changes
    assert moved[~records.free[draft.record]].all()
    assert (np.bincount(draft.record, minlength=len(records.own_categories)) == records.weight).all()
    assert np.abs(draft.shift(records)).sum() <= shift


@pytest.mark.parametrize("values", [2, 6])
def test_records_whose_costs_nearly_tie_do_not_outlast_the_limit(values: int) -> None:
    """Equality knapsacks of nearly equal costs, on which an integer program can outlast its limit."""
    chance = np.random.default_rng(1)
    own_codes = chance.choice(values, 40_000, p=[0.117, 0.883] if values == 2 else None)
    likely = np.rint(chance.dirichlet(np.ones(values), size=len(own_codes)) * UNIT).astype(np.int64)
    unit_weights = np.ones(len(own_codes), dtype=np.int64)
    records = SwapRecords(likely, own_codes, unit_weights, unit_weights.astype(np.bool_), 8_000)
    best = find_best_answer(records, 0, 0.5, np.random.default_rng(0))
    assert best.bound <= best.objective and not best.answer.shift(records).any()
    assert best.proven or values > 2
