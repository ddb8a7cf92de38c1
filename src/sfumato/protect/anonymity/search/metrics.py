# SPDX-License-Identifier: MIT
"""The exact cost of a node of the lattice, and a lower bound before it is checked.

Upward in the lattice the loss without suppression rises and the part that suppression adds falls, so a checked node
bounds every finer one. Discernibility is bounded from both sides in the same way. Values are compared as exact
fractions; bounds are floats, and only rule a node out if they are clearly worse.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Literal, Protocol

import numpy as np

from sfumato.arrays import Floats
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.node_classes import Levels, NodeVerdict

MetricName = Literal["loss", "loss_geometric", "discernibility", "height"]


Weights = tuple[Fraction, ...]


def compute_loss(grouping: Grouping, verdict: NodeVerdict, weights: Weights | None = None) -> Fraction:
    """The mean over quasi-identifying cells of the share of leaves lost; a suppressed cell loses all.

    With weights, a heavy column is kept precise.
    """
    shares = [Fraction(c, s) for c, s in zip(verdict.costs, grouping.scales, strict=True)]
    if weights is None:
        return sum(shares, Fraction()) / (grouping.rows * len(shares))
    return sum((w * s for w, s in zip(weights, shares, strict=True)), Fraction()) / (grouping.rows * sum(weights))


def compute_geometric_product(grouping: Grouping, verdict: NodeVerdict) -> Fraction:
    """Π (1 + column loss): ARX's Loss is its n-th root minus one, which gives the same order."""
    shares = (Fraction(c, s * grouping.rows) for c, s in zip(verdict.costs, grouping.scales, strict=True))
    return prod((1 + share for share in shares), start=Fraction(1))


def compute_discernibility(grouping: Grouping, verdict: NodeVerdict) -> int:
    """Σ |class|² over published classes, and |D| for every suppressed row (Bayardo and Agrawal 2005)."""
    return verdict.squares + verdict.suppressed_count * grouping.rows


class Metric(Protocol):
    """A cost, with a lower bound for every node that grows as nodes are checked."""

    bound: Floats

    def compute_exactly(self, verdict: NodeVerdict) -> Fraction:
        """The exact cost of a checked node."""

    def approximate(self, verdict: NodeVerdict) -> float:
        """The same up to rounding, faster."""

    def learn(self, verdict: NodeVerdict) -> None:
        """Raise the bounds of other nodes after a node was checked."""


def slice_finer_nodes(levels: Levels) -> tuple[slice, ...]:
    """The nodes that are finer than a node, including it."""
    return tuple(slice(None, level + 1) for level in levels)


def slice_coarser_nodes(levels: Levels) -> tuple[slice, ...]:
    """The nodes that are coarser than a node, including it."""
    return tuple(slice(level, None) for level in levels)


def _shape_over_lattice(grouping: Grouping, per_level: list[Floats]) -> list[Floats]:
    """One array per column, shaped to broadcast over the lattice."""
    axes = len(grouping.shape)
    return [
        values.reshape([-1 if axis == column else 1 for axis in range(axes)]) for column, values in enumerate(per_level)
    ]


def _compute_column_losses(grouping: Grouping) -> list[Floats]:
    scaled_costs = [m / (s * grouping.rows) for m, s in zip(grouping.marginals, grouping.scales, strict=True)]
    return _shape_over_lattice(grouping, scaled_costs)


class _LossMetric:
    def __init__(self, grouping: Grouping, weights: Weights | None = None) -> None:
        self._grouping = grouping
        self._exact = weights
        whole = float(sum(weights)) if weights else len(grouping.shape)
        self._weights = [float(w) / whole for w in weights] if weights else [1 / whole] * len(grouping.shape)
        self._marginal: Floats = np.zeros(grouping.shape)
        for weight, losses in zip(self._weights, _compute_column_losses(grouping), strict=True):
            self._marginal += weight * losses
        self.bound = self._marginal.copy()

    def compute_exactly(self, verdict: NodeVerdict) -> Fraction:
        return compute_loss(self._grouping, verdict, self._exact)

    def approximate(self, verdict: NodeVerdict) -> float:
        column_terms = zip(self._weights, verdict.costs, self._grouping.scales, strict=True)
        return sum(weight * cost / (scale * self._grouping.rows) for weight, cost, scale in column_terms)

    def learn(self, verdict: NodeVerdict) -> None:
        if not any(verdict.lasting_costs):
            return
        column_terms = zip(self._weights, verdict.lasting_costs, self._grouping.scales, strict=True)
        added_loss = sum(weight * excess / (scale * self._grouping.rows) for weight, excess, scale in column_terms)
        finer_nodes = slice_finer_nodes(verdict.levels)
        np.maximum(self.bound[finer_nodes], self._marginal[finer_nodes] + added_loss, out=self.bound[finer_nodes])


class _GeometricLossMetric:
    def __init__(self, grouping: Grouping) -> None:
        self._grouping = grouping
        self._factors = [1 + losses.ravel() for losses in _compute_column_losses(grouping)]
        self.bound: Floats = _multiply_columns(self._factors)

    def compute_exactly(self, verdict: NodeVerdict) -> Fraction:
        return compute_geometric_product(self._grouping, verdict)

    def approximate(self, verdict: NodeVerdict) -> float:
        column_terms = zip(verdict.costs, self._grouping.scales, strict=True)
        return prod(1 + cost / (scale * self._grouping.rows) for cost, scale in column_terms)

    def learn(self, verdict: NodeVerdict) -> None:
        if not any(verdict.lasting_costs):
            return
        column_terms = zip(self._factors, verdict.levels, verdict.lasting_costs, self._grouping.scales, strict=True)
        least = _multiply_columns(
            [f[: level + 1] + more / (scale * self._grouping.rows) for f, level, more, scale in column_terms]
        )
        finer_bounds = self.bound[slice_finer_nodes(verdict.levels)]
        np.maximum(finer_bounds, least, out=finer_bounds)


def _multiply_columns(factors: list[Floats]) -> Floats:
    """The product of one factor per column, at every node."""
    product: Floats = factors[0].copy()  # bounds are raised in place, factors are not
    for factor in factors[1:]:
        product = np.multiply.outer(product, factor)
    return product


class _DiscernibilityMetric:
    """A node's cost is at least the sum of squares of all its classes, plus what suppression adds to it.

    The sum rises upward and the number of suppressed rows falls, so finer nodes bound the first and coarser ones the
    second. A suppressed row adds at least |D| − |D| = 0 whatever the model refuses.
    """

    def __init__(self, grouping: Grouping) -> None:
        self._grouping = grouping
        self._crowd: Floats = np.zeros(grouping.shape)
        self._suppressed_counts: Floats = np.zeros(grouping.shape)
        self.bound: Floats = np.zeros(grouping.shape)

    def compute_exactly(self, verdict: NodeVerdict) -> Fraction:
        return Fraction(compute_discernibility(self._grouping, verdict))

    def approximate(self, verdict: NodeVerdict) -> float:
        return float(compute_discernibility(self._grouping, verdict))

    def learn(self, verdict: NodeVerdict) -> None:
        coarser_nodes, finer_nodes = slice_coarser_nodes(verdict.levels), slice_finer_nodes(verdict.levels)
        np.maximum(self._crowd[coarser_nodes], verdict.crowd, out=self._crowd[coarser_nodes])
        np.maximum(self._suppressed_counts[finer_nodes], verdict.lasting_rows, out=self._suppressed_counts[finer_nodes])
        np.maximum(self._crowd, self._suppressed_counts * self._grouping.rows, out=self.bound)


class _HeightMetric:
    """Generalization steps; ties go to the smallest loss, which is therefore part of the bound."""

    def __init__(self, grouping: Grouping) -> None:
        self._grouping = grouping
        self._inner = _LossMetric(grouping)
        self._steps: Floats = np.zeros(grouping.shape)
        for steps in _shape_over_lattice(grouping, [np.arange(size, dtype=np.float64) for size in grouping.shape]):
            self._steps += steps
        self.bound = self._steps + self._inner.bound / 2

    def compute_exactly(self, verdict: NodeVerdict) -> Fraction:
        return sum(verdict.levels) + self._inner.compute_exactly(verdict) / 2

    def approximate(self, verdict: NodeVerdict) -> float:
        return sum(verdict.levels) + self._inner.approximate(verdict) / 2

    def learn(self, verdict: NodeVerdict) -> None:
        self._inner.learn(verdict)
        np.add(self._steps, self._inner.bound / 2, out=self.bound)


def compute_cost(
    name: MetricName, grouping: Grouping, verdict: NodeVerdict, weights: Weights | None = None
) -> Fraction:
    """The exact cost of a node under a metric, as `Metric.value` gives it."""
    if name == "loss":
        return compute_loss(grouping, verdict, weights)
    if name == "loss_geometric":
        return compute_geometric_product(grouping, verdict)
    if name == "discernibility":
        return Fraction(compute_discernibility(grouping, verdict))
    return sum(verdict.levels) + compute_loss(grouping, verdict) / 2


def make_metric(name: MetricName, grouping: Grouping, weights: Weights | None = None) -> Metric:
    """The metric of a name, over the lattice of a grouping; weights are for `loss` alone."""
    if name == "loss":
        return _LossMetric(grouping, weights)
    kinds: dict[str, Callable[[Grouping], Metric]] = {
        "loss_geometric": _GeometricLossMetric,
        "discernibility": _DiscernibilityMetric,
        "height": _HeightMetric,
    }
    return kinds[name](grouping)
