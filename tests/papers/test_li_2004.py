# SPDX-License-Identifier: MIT
"""The life insurance example of Li and Sarkar (2004) (Tables 1 and 3, Appendices A and B)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from papers.census import INCOME
from papers.li_2004 import STUDIES, experiment
from papers.li_2004.data import NUMBERS, SALARY, census, offers
from papers.li_2004.example import (
    AMOUNT,
    AMOUNTS,
    CUSTOMERS,
    DIFFERENCES,
    FIRST_CHANGES,
    LAST_CHANGES,
    PATTERN,
    POSTERIORS,
    Example,
    insurance,
)
from papers.li_2004.validated_trees import count_leaves, grow
from papers.study import Findings, Setting, Statement
from sfumato.protect.swapping.posteriors import UNIT
from sfumato.protect.swapping.swap_confidential import SwapConfidential
from sfumato.protect.swapping.swap_marginal import find_least_shift, solve_phase_one
from sfumato.protect.swapping.swap_optimal import find_best_answer
from sfumato.protect.swapping.swap_paper import run_phase_two
from sfumato.randomness import Randomness

EXAMPLE = Example.of(insurance())


def by_hand(number: int) -> list[Fraction]:
    """Appendix B in fractions, straight from Table 1."""
    x = CUSTOMERS[number - 1][:3]
    weights = []
    for amount in AMOUNTS:
        members = [customer for customer in CUSTOMERS if customer[3] == amount]
        weight = Fraction(len(members), len(CUSTOMERS))
        for index in range(3):
            weight *= Fraction(sum(customer[index] == x[index] for customer in members), len(members))
        weights.append(weight)
    return [weight / sum(weights) for weight in weights]


def test_table_1_who_is_identifiable() -> None:
    identifiable = EXAMPLE.identifiable
    assert [int(row) + 1 for row in identifiable.unique] == [1, 6, 7, 10, 13, 16]
    groups = [
        sorted(int(row) + 1 for row in part) for part in np.split(identifiable.members, identifiable.starts[1:-1])
    ]
    assert sorted(groups) == [[2, 3], [4, 5], [11, 12]]
    assert identifiable.count_by_status() == {"unique": 6, "collective": 6, "groups": 3, "unidentifiable": 4}


def test_table_3_all_27_posteriors() -> None:
    for number, chances in zip(EXAMPLE.numbers, EXAMPLE.records.chances, strict=True):
        assert [f"{chance / UNIT:.4f}" for chance in chances] == [
            f"{posterior:.4f}" for posterior in POSTERIORS[number]
        ]
        assert [int(chance) for chance in chances] == [round(posterior * UNIT) for posterior in by_hand(number)]


def test_appendix_b_the_first_record() -> None:
    """With 3/6 for the printed 3/16: 3/128, 5/64 and 1/576, normalized."""
    parts = [Fraction(3, 128), Fraction(5, 64), Fraction(1, 576)]
    assert by_hand(1) == [part / sum(parts) for part in parts]


def test_phase_1_keeps_the_counts_with_three_changes() -> None:
    flows = solve_phase_one(EXAMPLE.records.available, EXAMPLE.records.changes)
    assert flows.shift == 0 and flows.moves.sum() == 3
    assert (flows.moves.sum(axis=0) == flows.moves.sum(axis=1)).all()
    assert find_least_shift(EXAMPLE.records.available, 3, EXAMPLE.records.forced_counts) == 0


def test_phase_1_is_whole_where_the_linear_program_is_not() -> None:
    """Two records of one category and one each of two others, p |U| = 3: halves would do, whole numbers must too."""
    flows = solve_phase_one(np.array([2, 2]), 3)
    assert flows.moves.sum() == 3 and flows.shift == 2


def test_table_3_phase_2_from_its_own_start() -> None:
    start = EXAMPLE.answer(FIRST_CHANGES)
    assert f"{start.compute_cost(EXAMPLE.records) / UNIT:.4f}" == "4.0718"
    swapped = run_phase_two(EXAMPLE.records, start)
    swap_costs = [(EXAMPLE.numbers[s.first], EXAMPLE.numbers[s.other], f"{s.cost / UNIT:.4f}") for s in swapped.swaps]
    assert [(tuple(sorted((a, b))), cost) for a, b, cost in swap_costs] == [
        ((10, 13), "-1.1061"),
        ((6, 16), "-0.4817"),
        ((1, 7), "-0.0603"),
    ]
    assert swapped.answer.category.tolist() == EXAMPLE.answer(LAST_CHANGES).category.tolist()
    ended = EXAMPLE.differences(swapped.answer)
    assert {number: f"{difference:.4f}" for number, difference in ended.items()} == {
        number: f"{figures[1]:.4f}" for number, figures in DIFFERENCES.items()
    }
    exact = sum(
        by_hand(n)[AMOUNTS.index(CUSTOMERS[n - 1][3])] - by_hand(n)[AMOUNTS.index(a)] for n, a in LAST_CHANGES.items()
    )
    assert exact == Fraction(27934036, 11525115)
    assert swapped.answer.compute_cost(EXAMPLE.records) / UNIT == pytest.approx(float(exact), abs=1e-11)


def test_the_other_cycle_of_phase_1_ends_elsewhere() -> None:
    """2.7772; with three categories no swap across categories is admissible (rule 4)."""
    other = {1: "Low", 10: "High", 6: "Med", 2: "High", 4: "Low", 11: "Med"}
    swapped = run_phase_two(EXAMPLE.records, EXAMPLE.answer(other))
    assert f"{swapped.answer.compute_cost(EXAMPLE.records) / UNIT:.4f}" == "2.7772"


def test_the_optimum_of_problem_12() -> None:
    best = find_best_answer(EXAMPLE.records, 0, 60.0, np.random.default_rng(1))
    assert f"{best.objective / UNIT:.4f}" == "2.1353" and best.proven
    assert f"{EXAMPLE.compute_split_optimum():.4f}" == "2.4238"


@pytest.mark.parametrize("search", ["optimal", "paper", "random"])
def test_the_method_on_the_example(search: str) -> None:
    table = insurance()
    release = SwapConfidential(column=AMOUNT, share=0.5, search=search).protect(table, Randomness.seeded(3))
    old, new = table.frame[AMOUNT].to_list(), release.data.frame[AMOUNT].to_list()
    assert Counter(old) == Counter(new)
    changed = {row + 1 for row, (a, b) in enumerate(zip(old, new, strict=True)) if a != b}
    assert len(changed & {1, 6, 7, 10, 13, 16}) == 3
    assert [len(changed & group) for group in ({2, 3}, {4, 5}, {11, 12})] == [1, 1, 1]
    assert not changed & {8, 9, 14, 15}
    cost = sum(by_hand(n)[AMOUNTS.index(old[n - 1])] - by_hand(n)[AMOUNTS.index(new[n - 1])] for n in sorted(changed))
    assert release.details["objective"] == pytest.approx(float(cost), abs=1e-10)
    if search == "optimal":
        assert f"{release.details['objective']:.4f}" == "2.1353" and release.details["proven"]
    else:
        if search == "paper":
            assert release.details["bound"] == pytest.approx(2.135347543170, abs=1e-9)
        assert release.details["bound"] <= 2.135347543171
        assert release.details["gap"] > 0.2


def test_the_example_is_reproduced() -> None:
    findings = STUDIES[0].work(Setting())
    assert {statement.verdict for statement in findings.statements} == {"reproduced"}
    assert findings.grids[1].frame["ours"].to_list() == [4.0718, 2.4238, 2.4238, 2.1353]
    assert PATTERN == ("Age", "Gender", "Location")


def test_the_stand_in_for_the_offers_has_their_shape() -> None:
    """Section "Experimental Evaluation": 509 records, 13 columns, 478 uniquely identifiable, 502 in all."""
    table = offers()
    assert table.frame.shape == (509, 13) and table.frame[SALARY].n_unique() == 3
    release = SwapConfidential(column=SALARY, share=0.5).protect(table, Randomness.seeded(1))
    counts = release.details["identifiable"][SALARY]
    assert counts["unique"] == 478 and 490 <= counts["unique"] + counts["collective"] <= 509
    assert release.details["proven"] and release.losses["marginal_shift"] == 0


def test_nothing_on_the_stand_in_counts_as_reproduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even numbers that agree: the data are not the paper's."""

    def agree(*_: object) -> Findings:
        return Findings((Statement("error 30.84 %", "30.84 %", True), Statement("error 33.79 %", "42 %", False)))

    monkeypatch.setattr(experiment, "_experiment", agree)
    findings = STUDIES[1].work(Setting())
    assert {statement.verdict for statement in findings.statements} == {"not comparable"}
    assert all("invented data" in statement.explanation for statement in findings.statements)


def test_adult_is_balanced_as_the_paper_says(shared_data: Path) -> None:
    """25,049 records, all 11,687 richer ones; near the paper's 18,278 identifiable and 11,470 unique ones."""
    table = census(shared_data)
    assert table.frame.shape == (25_049, 15)
    assert dict(table.frame[INCOME].value_counts().iter_rows()) == {">50K": 11_687, "<=50K": 13_362}
    assert max(table.frame[name].n_unique() for name in NUMBERS) == 3
    release = SwapConfidential(column=INCOME, share=0.5).protect(table, Randomness.seeded(1))
    counts = release.details["identifiable"][INCOME]
    assert abs(counts["unique"] + counts["collective"] - 18_278) < 1000 and abs(counts["unique"] - 11_470) < 1500
    assert release.details["proven"]
    assert release.losses["marginal_shift"] == 2  # an odd number of changes between two values


@pytest.mark.slow
def test_table_4_goes_the_papers_way(shared_data: Path) -> None:
    table_4 = STUDIES[2].work(Setting(quick=True, data=shared_data))
    nearer = next(statement for statement in table_4.statements if "nearer to the originals" in statement.paper_result)
    assert nearer.verdict == "reproduced"
    error = dict(table_4.grids[0].frame.select("data", "error").iter_rows())
    assert error["original"] < error["optimal"] < error["random"] - 10  # 19.01, 30.44, 50.10
    read = table_4.grids[1].frame.filter(pl.col("data") == "optimal").to_dicts()[0]
    assert read["undone_right"] > read["foretold_right"] + 0.05


def test_leaves_are_counted_as_c45_does() -> None:
    """One test of a column of three values, one of which goes to neither branch: three leaves, two of them reached."""
    frame = pl.DataFrame({"a": ["u"] * 6 + ["v"] * 6, "b": ["p", "q", "r"] * 4})
    codes = np.array([0, 0, 0, 0, 0, 1] + [1] * 6)
    new_frame = frame.with_columns(pl.when(pl.int_range(12) == 0).then(pl.lit("w")).otherwise(pl.col("a")).alias("a"))
    assert count_leaves(grow(frame, codes)) == grow(frame, codes).n_leaves == 2
    small_tree = grow(new_frame, codes)
    assert count_leaves(small_tree) == small_tree.n_leaves == 3
    nodes = replace(small_tree.nodes, children=np.where(small_tree.nodes.children == 3, 2, small_tree.nodes.children))
    assert count_leaves(replace(small_tree, nodes=nodes)) == 4
