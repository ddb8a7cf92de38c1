# SPDX-License-Identifier: MIT
"""Hiding as an integer program: fewest lost itemsets, then fewest changes, with a bound on any improvement.

Supports are sums of decisions, so a rule is hidden by a large enough sum, or, if its left side may get rarer too, by
one of two (support or confidence). Items are only removed, never added. Solved by HiGHS through scipy.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.protect.baskets.hiding_variables import CriticalBaskets, HidingVariables, build_variables, list_removals
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

    removals: tuple[tuple[int, int], ...]
    """(basket, column)."""
    lost: int
    lost_bound: int
    """Whether no plan loses fewer itemsets."""
    changes: int
    bound: int
    """Whether no plan that loses as few itemsets has fewer changes."""

    @property
    def proven(self) -> bool:
        """Whether the plan is proven optimal."""
        return self.lost <= self.lost_bound and self.changes <= self.bound

    @property
    def gap(self) -> float:
        """How much better another plan could be at most, as a share: in lost itemsets, or else in changes."""
        if self.lost > self.lost_bound:
            return (self.lost - self.lost_bound) / self.lost
        return (self.changes - self.bound) / self.changes if self.changes > self.bound else 0.0


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

    def build_program(self, most_lost: int) -> tuple[HidingVariables, IntegerProgram] | None:
        """The program of all plans that lose at most this many itemsets; None if it is too large."""
        made = build_variables(self.critical, self.at_risk, self.victims, self.end, most_lost)
        if made is None or made.entries > MOST_ENTRIES:
            return None
        return made, _build_hiding_program(made, self.critical, self.thresholds, self.at_risk)

    def build_costs(self, made: HidingVariables) -> tuple[Floats, Floats]:
        """The losses and the changes of plans."""
        rest = np.zeros(len(self.critical.rules))
        lost = np.concatenate([np.zeros(len(made.cost)), self.at_risk.times, rest])
        return lost, np.concatenate([made.cost, np.zeros(len(self.at_risk)), rest])


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
    ready = task.build_program(first.lost)
    if ready is None:
        return first if len(at_risk) else None
    made, program = ready
    lost, changes = task.build_costs(made)
    second = solve_program(
        program.limit_costs(lost, first.lost) if len(at_risk) else program, changes, task.count_seconds_left()
    )
    if second is None:
        return first if len(at_risk) else None
    gone = list_removals(made, critical, second.values)
    return ExactHidingPlan(gone, first.lost, first.lost_bound, len(gone), second.bound)


def _minimize_lost_itemsets(task: _HidingTask, most_lost: int) -> ExactHidingPlan | None:
    """A plan that loses few itemsets: a first result makes the program smaller for a second attempt."""
    if not len(task.at_risk):
        return ExactHidingPlan((), 0, 0, 0, 0)
    best: ExactHidingPlan | None = None
    for share in (FIRST_WHILE, SECOND_WHILE):
        ready = task.build_program(most_lost)
        if ready is None:
            break
        made, program = ready
        lost, _ = task.build_costs(made)
        solution = solve_program(program, lost, share * task.count_seconds_left())
        if solution is None:
            continue
        gone = list_removals(made, task.critical, solution.values)
        fewest = round(float(lost @ solution.values))
        bound = solution.bound if best is None else max(solution.bound, best.lost_bound)
        if best is None or fewest < best.lost:
            best = ExactHidingPlan(gone, fewest, 0, len(gone), 0)
        best = replace(best, lost_bound=min(bound, best.lost))
        if best.lost_bound == best.lost:
            break
        most_lost = min(most_lost, best.lost)
    return best


def _build_hiding_program(
    made: HidingVariables, critical: CriticalBaskets, thresholds: HidingThresholds, at_risk: ItemsetsAtRisk
) -> IntegerProgram:
    """Variables: the decisions, then which itemsets are lost, then the route of each rule."""
    count = len(made.upper)
    program = IntegerProgram.of(
        np.concatenate([made.upper, np.ones(len(at_risk) + len(critical.rules))]).astype(np.float64)
    )
    for rows, numbers in zip(made.groups, made.sharing, strict=True):
        if len(numbers) > 1:
            program.require_at_most(np.array(numbers), np.ones(len(numbers)), float(len(rows)))
    for helper, among, upward in made.any_of:
        _link_helper(program, helper, among, upward)
    for number, own in enumerate(made.list_hitting_variables("risk", len(at_risk))):
        most = float(at_risk.most[number] - at_risk.spare[number])
        weights = np.append(np.ones(len(own)), -most)
        program.require_at_most(np.append(own, count + number), weights, float(at_risk.spare[number]))
    wholes, lefts = (made.list_hitting_variables(kind, len(critical.rules)) for kind in ("whole", "left"))
    for u in range(len(critical.rules)):
        _constrain_rule(program, wholes[u], lefts[u], critical, thresholds, u, count + len(at_risk) + u)
    return program


def _link_helper(program: IntegerProgram, helper: int, own: tuple[int, ...], upward: bool) -> None:
    """The helper is whether any of its variables is 1; only the side that could be exploited is bounded."""
    if upward:
        for number in own:
            program.require_at_least(np.array([helper, number]), np.array([1.0, -1.0]), 0.0)
    else:
        weights = np.append(np.ones(len(own)), -1.0)
        program.require_at_least(np.append(np.array(own), helper), weights, 0.0)


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
    whole, left = int(critical.whole[u]), int(critical.left[u])
    # Either route needs this many baskets: stated explicitly, since half of both routes would need fewer.
    fewest, enough = thresholds.count_surplus(whole, left), whole + 1 - thresholds.least
    if not len(lefts) or fewest >= enough:
        program.require_at_least(wholes, np.ones(len(wholes)), float(fewest))
        return
    p, q = thresholds.confidence.numerator, thresholds.confidence.denominator
    program.require_at_least(
        np.append(wholes, route), np.append(np.ones(len(wholes)), -float(enough - fewest)), float(fewest)
    )
    # q·(whole − Σ) ≤ p·(left − Σ) − 1, unless the route is the support.
    weights = np.zeros(len(program.upper))
    np.add.at(weights, wholes, float(q))
    np.add.at(weights, lefts, -float(p))
    wanted = float(q * whole - p * left + 1)
    weights[route] = max(wanted - q * enough + p * float(critical.lefts[u].sum()), 0.0)
    columns = np.flatnonzero(weights)
    program.require_at_least(columns, weights[columns], wanted)
