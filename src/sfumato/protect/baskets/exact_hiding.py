# SPDX-License-Identifier: MIT
"""Hiding as an integer program: fewest lost itemsets, then fewest changes, with a bound on any improvement.

Supports are sums of decisions, so a rule is hidden by a large enough sum, or, if its left side may get rarer too, by
one of two (support or confidence). Items are only removed, never added. Solved by HiGHS through scipy.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.protect.baskets.hiding_variables import (
    CriticalBaskets,
    HidingVariables,
    ItemRemoval,
    build_variables,
    list_removals,
)
from sfumato.protect.baskets.itemsets_at_risk import ItemsetsAtRisk
from sfumato.protect.baskets.secret_rules import HidingThresholds
from sfumato.protect.integer_program import IntegerProgram, solve_program

MOST_ENTRIES = 3_000_000
"""The largest program; with more numbers HiGHS does not check the clock for many minutes."""

FIRST_WHILE, SECOND_WHILE = 0.1, 0.6
"""Shares of the time for losing few itemsets, tried twice; the rest is for changing little."""


@dataclass(frozen=True)
class ExactHidingPlan:
    """What to remove, and how good that is."""

    removals: tuple[ItemRemoval, ...]
    """(basket, column)."""
    lost_count: int
    lost_bound: int
    """Whether no plan loses fewer itemsets."""
    changes: int
    bound: int
    """Whether no plan that loses as few itemsets has fewer changes."""

    @property
    def proven(self) -> bool:
        """Whether the plan is proven optimal."""
        return self.lost_count <= self.lost_bound and self.changes <= self.bound

    @property
    def gap(self) -> float:
        """How much better another plan could be at most, as a share: in lost itemsets, or else in changes."""
        if self.lost_count > self.lost_bound:
            return (self.lost_count - self.lost_bound) / self.lost_count
        return (self.changes - self.bound) / self.changes if self.changes > self.bound else 0.0


class _ReadyProgram(NamedTuple):
    """A program that is small enough to be solved, and its decisions."""

    variables: HidingVariables
    program: IntegerProgram


class _PlanCosts(NamedTuple):
    """What plans are judged by: the itemsets that they lose, and their changes."""

    losses: Floats
    changes: Floats


@dataclass(frozen=True, eq=False)
class _HidingTask:
    """The requirements of a plan, and the deadline."""

    critical: CriticalBaskets
    thresholds: HidingThresholds
    at_risk: ItemsetsAtRisk
    victims: frozenset[int]
    end: float

    def count_seconds_left(self) -> float:
        """Seconds."""
        return self.end - time.monotonic()

    def build_program(self, most_lost: int) -> _ReadyProgram | None:
        """The program of all plans that lose at most this many itemsets; None if it is too large."""
        variables = build_variables(self.critical, self.at_risk, self.victims, self.end, most_lost)
        if variables is None or variables.entries > MOST_ENTRIES:
            return None
        return _ReadyProgram(variables, _build_hiding_program(variables, self.critical, self.thresholds, self.at_risk))

    def build_costs(self, variables: HidingVariables) -> _PlanCosts:
        """The losses and the changes of plans."""
        rest = np.zeros(len(self.critical.rules))
        losses = np.concatenate([np.zeros(len(variables.cost)), self.at_risk.times, rest])
        return _PlanCosts(losses, np.concatenate([variables.cost, np.zeros(len(self.at_risk)), rest]))


def find_best_plan(
    critical: CriticalBaskets,
    thresholds: HidingThresholds,
    at_risk: ItemsetsAtRisk,
    victims: frozenset[int],
    end: float,
    most_lost: int = 0,
) -> ExactHidingPlan | None:
    """The best plan found before `end`; None if none was found. A plan that loses `most_lost` is known."""
    task = _HidingTask(critical.drop_decided_sides(thresholds), thresholds, at_risk, victims, end)
    first = _minimize_lost_itemsets(task, most_lost)
    if first is None:
        return None
    ready = task.build_program(first.lost_count)
    if ready is None:
        return first if len(at_risk) else None
    variables, program = ready
    losses, changes = task.build_costs(variables)
    second = solve_program(
        program.limit_costs(losses, first.lost_count) if len(at_risk) else program, changes, task.count_seconds_left()
    )
    if second is None:
        return first if len(at_risk) else None
    removals = list_removals(variables, critical, second.values)
    return ExactHidingPlan(removals, first.lost_count, first.lost_bound, len(removals), second.bound)


def _minimize_lost_itemsets(task: _HidingTask, most_lost: int) -> ExactHidingPlan | None:
    """A plan that loses few itemsets: a first result makes the program smaller for a second attempt."""
    if not len(task.at_risk):
        return ExactHidingPlan((), 0, 0, 0, 0)
    best: ExactHidingPlan | None = None
    for share in (FIRST_WHILE, SECOND_WHILE):
        ready = task.build_program(most_lost)
        if ready is None:
            break
        variables, program = ready
        losses, _ = task.build_costs(variables)
        solution = solve_program(program, losses, share * task.count_seconds_left())
        if solution is None:
            continue
        removals = list_removals(variables, task.critical, solution.values)
        fewest = round(float(losses @ solution.values))
        bound = solution.bound if best is None else max(solution.bound, best.lost_bound)
        if best is None or fewest < best.lost_count:
            best = ExactHidingPlan(removals, fewest, 0, len(removals), 0)
        best = replace(best, lost_bound=min(bound, best.lost_count))
        if best.lost_bound == best.lost_count:
            break
        most_lost = min(most_lost, best.lost_count)
    return best


def _build_hiding_program(
    variables: HidingVariables, critical: CriticalBaskets, thresholds: HidingThresholds, at_risk: ItemsetsAtRisk
) -> IntegerProgram:
    """Variables: the decisions, then which itemsets are lost, then the route of each rule."""
    count = len(variables.upper)
    program = IntegerProgram.of(
        np.concatenate([variables.upper, np.ones(len(at_risk) + len(critical.rules))]).astype(np.float64)
    )
    for rows, numbers in zip(variables.groups, variables.shared_variables, strict=True):
        if len(numbers) > 1:
            program.require_at_most(np.array(numbers), np.ones(len(numbers)), float(len(rows)))
    for helper, part_numbers, upward in variables.any_of:
        _link_helper(program, helper, part_numbers, upward)
    for number, hitting_numbers in enumerate(variables.list_hitting_variables("risk", len(at_risk))):
        most = float(at_risk.most[number] - at_risk.spare[number])
        weights = np.append(np.ones(len(hitting_numbers)), -most)
        program.require_at_most(np.append(hitting_numbers, count + number), weights, float(at_risk.spare[number]))
    wholes, lefts = (variables.list_hitting_variables(kind, len(critical.rules)) for kind in ("whole", "left"))
    for u in range(len(critical.rules)):
        _constrain_rule(program, wholes[u], lefts[u], critical, thresholds, u, count + len(at_risk) + u)
    return program


def _link_helper(program: IntegerProgram, helper: int, part_numbers: tuple[int, ...], upward: bool) -> None:
    """The helper is whether any of its variables is 1; only the side that could be exploited is bounded."""
    if upward:
        for number in part_numbers:
            program.require_at_least(np.array([helper, number]), np.array([1.0, -1.0]), 0.0)
    else:
        weights = np.append(np.ones(len(part_numbers)), -1.0)
        program.require_at_least(np.append(np.array(part_numbers), helper), weights, 0.0)


def _constrain_rule(
    program: IntegerProgram,
    wholes: Ints,
    lefts: Ints,
    critical: CriticalBaskets,
    thresholds: HidingThresholds,
    u: int,
    route: int,
) -> None:
    """Rule `u` must end below one of the thresholds; `route` is 1 for the support, 0 for the confidence."""
    whole, left_count = int(critical.whole[u]), int(critical.left_counts[u])
    # Either route needs this many baskets: stated explicitly, since half of both routes would need fewer.
    fewest, support_surplus = thresholds.count_surplus(whole, left_count), whole + 1 - thresholds.least
    if not len(lefts) or fewest >= support_surplus:
        program.require_at_least(wholes, np.ones(len(wholes)), float(fewest))
        return
    p, q = thresholds.confidence.numerator, thresholds.confidence.denominator
    program.require_at_least(
        np.append(wholes, route), np.append(np.ones(len(wholes)), -float(support_surplus - fewest)), float(fewest)
    )
    # q·(whole − Σ) ≤ p·(left − Σ) − 1, unless the route is the support.
    weights = np.zeros(len(program.upper))
    np.add.at(weights, wholes, float(q))
    np.add.at(weights, lefts, -float(p))
    required_sum = float(q * whole - p * left_count + 1)
    weights[route] = max(required_sum - q * support_surplus + p * float(critical.lefts[u].sum()), 0.0)
    columns = np.flatnonzero(weights)
    program.require_at_least(columns, weights[columns], required_sum)
