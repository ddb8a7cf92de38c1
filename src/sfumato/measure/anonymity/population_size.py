# SPDX-License-Identifier: MIT
"""Estimate how many people of the population share someone's values, from a sample of the population.

For the journalist, who does not know whether a person is in the sample. From the sizes of the sample's classes and the
sampled share of the population, a model estimates how many people of the population are unique, and how large a
person's class is if it has f members in the sample. None of the models sees the population: an estimate is an estimate.
The choice of model follows Dankar, El Emam, Neisa, Roffey (2012), as in ARX: for shares up to a tenth Pitman's (Hoshino
2001), above it the smaller of Zayatz's (1991) and the slide negative binomial's (Chen and McNulty 1998). Classes are
counted in fractions where missing cells make them overlap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Floats

_PITMAN_UP_TO = 0.1
_CLOSE = 1e-6
_NODES = 96
_EPSILON = np.finfo(np.float64).eps


@dataclass(frozen=True)
class ClassSizes:
    """How many classes of each size a sample has."""

    sizes: Floats
    """Every size that occurs, ascending."""
    classes: Floats
    """How many classes have it."""

    @property
    def rows(self) -> float:
        """The people in the sample."""
        return float(self.sizes @ self.classes)

    @property
    def number(self) -> float:
        """The classes in the sample."""
        return float(self.classes.sum())

    def count_classes(self, size: int) -> float:
        """The classes of one size."""
        return float(self.classes[self.sizes == size].sum())


@dataclass(frozen=True)
class PopulationEstimate:
    """A model's estimate of the population behind a sample."""

    estimator: str
    """The model's name, and after a colon the reason if the rule would have chosen another."""
    uniques: float
    """People who are alone in the population."""
    joint_uniques: float
    """People who are alone in the sample and in the population."""
    inverse: Floats
    """For each size in the sample, the expected 1 / size in the population: the chance of a correct guess."""
    mean: Floats
    """For each size in the sample, the expected size in the population."""


def estimate_population(sample: ClassSizes, sampling_share: float) -> PopulationEstimate:
    """The estimate that Dankar's rule chooses; without sample uniques, the negative binomial one."""
    if sampling_share >= 1:
        return _assume_whole_sample(sample, "none: the table is the whole population")
    if not sample.count_classes(1):
        return fit_negative_binomial(sample, sampling_share)
    if sampling_share <= _PITMAN_UP_TO:
        return fit_pitman(sample, sampling_share) or fit_zayatz(sample, sampling_share, ": pitman has no fit")
    by_sample, by_model = fit_zayatz(sample, sampling_share), fit_snb(sample, sampling_share)
    if by_model is None:
        return fit_zayatz(sample, sampling_share, ": snb has no fit")
    return by_sample if by_sample.uniques < by_model.uniques else by_model


def bound_population(sample: ClassSizes, reason: str) -> PopulationEstimate:
    """No estimate, but an upper bound on every risk: assume that the sample contains each class of the population
    entirely.
    """
    return _assume_whole_sample(sample, f"none: {reason}")


def _assume_whole_sample(sample: ClassSizes, estimator: str) -> PopulationEstimate:
    return PopulationEstimate(
        estimator, sample.count_classes(1), sample.count_classes(1), 1 / sample.sizes, sample.sizes
    )


def fit_pitman(sample: ClassSizes, sampling_share: float) -> PopulationEstimate | None:
    """Pitman's sampling formula fitted by likelihood (Hoshino 2001); None if all people are alike, or none are.

    The sample's classes grow as in Pitman's urn: the next person joins a class of f with probability (f − α) / (n + θ).
    The number of uniques is the formula's expectation itself, not its limit N^α. If the likelihood still grows towards
    α = 0, the edge is used, which is Ewens's formula.
    """
    people = _count_population(sample, sampling_share)
    if not 1 < sample.number < sample.rows:  # all alike, or all unique: the likelihood has no maximum
        return None
    solution = _solve_pitman(sample)
    alpha, theta = solution or (0.0, _fit_ewens(sample))
    log_ratio = _compute_log_gamma_ratio(theta + people - 1, alpha)
    uniques = people * float(np.exp(min(log_ratio - _compute_log_gamma_ratio(theta, alpha), 0.0)))
    # The chance that nobody joins a sample unique while the urn grows from the sample to the population.
    lone_chance = float(np.exp(min(log_ratio - _compute_log_gamma_ratio(theta + sample.rows - 1, alpha), 0.0)))
    share = (sample.rows + theta) / (people + theta)
    name = "pitman" if solution else "pitman: at its edge, alpha = 0"
    growth = _expect_class_growth(sample.sizes, alpha, share)
    return PopulationEstimate(name, uniques, sample.count_classes(1) * lone_chance, *growth)


def _fit_ewens(sample: ClassSizes) -> float:
    """θ for α = 0, such that the expected number of classes is that of the sample."""
    from scipy.optimize import brentq
    from scipy.special import digamma

    def compute_gap(log_theta: float) -> float:
        theta = np.exp(log_theta)
        return float(theta * (digamma(theta + sample.rows) - digamma(theta)) - sample.number)

    return float(np.exp(brentq(compute_gap, -50.0, 2 * np.log(sample.rows) + 5)))


def _compute_log_gamma_ratio(x: float, alpha: float) -> float:
    """log Γ(x + α) − log Γ(x + 1); for large x by its expansion, since the logarithms cancel."""
    from scipy.special import gammaln

    if x > 1e4:
        return (alpha - 1) * float(np.log(x + alpha / 2))
    return float(gammaln(x + alpha) - gammaln(x + 1))


def _solve_pitman(sample: ClassSizes) -> tuple[float, float] | None:
    from scipy.special import expit, logit

    def compute_slopes(point: Floats) -> Floats:
        # In α and log (θ + α): the derivative by θ itself vanishes far out, where the solver finds nothing.
        alpha, theta_plus_alpha = float(expit(point[0])), float(np.exp(point[1]))
        by_theta, by_alpha = _compute_pitman_scores(sample, alpha, theta_plus_alpha - alpha)
        return np.array([by_alpha - by_theta, by_theta * theta_plus_alpha])

    number = max(sample.number, 2.0)
    starts = [np.array([logit(alpha), np.log(theta)]) for alpha in (0.5, 0.1, 0.9) for theta in (number, 1.0)]
    solution = _find_root(compute_slopes, starts, np.full(2, sample.rows))
    if solution is None:
        return None
    alpha, theta_plus_alpha = float(expit(solution[0])), float(np.exp(solution[1]))
    # Reject a root at the edge: there the slopes lose their digits. No sample puts θ beyond n².
    is_interior = _CLOSE < alpha < 1 - _CLOSE and theta_plus_alpha < sample.rows**2
    return (alpha, theta_plus_alpha - alpha) if is_interior else None


def _compute_pitman_scores(sample: ClassSizes, alpha: float, theta: float) -> Floats:
    """The derivatives of the log-likelihood by θ and α, as sums of fractions by the digamma function."""
    from scipy.special import digamma

    classes, rows = sample.number, sample.rows
    class_term = (digamma(classes + theta / alpha) - digamma(1 + theta / alpha)) / alpha
    by_theta = class_term - (digamma(rows + theta) - digamma(1 + theta))
    size_term = sample.classes @ (digamma(sample.sizes - alpha) - digamma(1 - alpha))
    by_alpha = ((classes - 1) - theta * class_term) / alpha - size_term
    return np.array([by_theta, by_alpha])


def fit_zayatz(sample: ClassSizes, sampling_share: float, note: str = "") -> PopulationEstimate:
    """Zayatz (1991): the population has the sample's distribution of class sizes; the rest is sampling.

    The chance that a class of F gives f in the sample is hypergeometric; Bayes' rule inverts it.
    """
    people = _count_population(sample, sampling_share)
    rows = sample.rows
    inverse, mean = np.empty(len(sample.sizes)), np.empty(len(sample.sizes))
    lone_chance = 0.0
    for position, size in enumerate(sample.sizes):
        larger = sample.sizes[position:]
        weights = sample.classes[position:] * _compute_drawing_chance(people, larger, rows, float(size))
        weights /= weights.sum()
        inverse[position], mean[position] = weights @ (1 / larger), weights @ larger
        lone_chance = float(weights[0]) if size == 1 else lone_chance
    unique_in_both = sample.count_classes(1) * lone_chance
    return PopulationEstimate(f"zayatz{note}", unique_in_both * people / rows, unique_in_both, inverse, mean)


def _compute_drawing_chance(people: float, sizes: Floats, rows: float, drawn_people: float) -> Floats:
    """The chance that `drawn_people` members of a class are among `rows` sampled people, up to a common factor."""
    from scipy.special import gammaln

    with np.errstate(invalid="ignore"):
        ways = (gammaln(sizes + 1) - gammaln(sizes - drawn_people + 1)) + (
            gammaln(people - sizes + 1) - gammaln(np.maximum(people - sizes - rows + drawn_people, -0.5) + 1)
        )
    possible = people - sizes - rows + drawn_people >= 0
    ways = np.where(possible, ways, -np.inf)
    if not possible.any():
        return np.asarray(sizes == sizes[0], dtype=np.float64)
    return np.asarray(np.exp(ways - ways.max()))


def fit_snb(sample: ClassSizes, sampling_share: float) -> PopulationEstimate | None:
    """The slide negative binomial (Chen and McNulty 1998): class sizes minus one are negative binomial.

    The number of classes is Shlosser's estimate; α and β are such that the expected numbers of classes of size one and
    two are those of the sample. None if there are no such α and β.
    """
    share = sampling_share
    classes = _estimate_shlosser(sample, share)
    single_classes, twos = sample.count_classes(1), sample.count_classes(2)
    if not np.isfinite(classes) or not twos:
        return None
    solution = _solve_snb(classes, share, single_classes, twos)
    if solution is None:
        return None
    alpha, beta = solution
    residual_chance = (1 - beta) * (1 - share)
    shape = alpha + sample.sizes - 1
    expected_sizes = sample.sizes + shape * residual_chance / (1 - residual_chance)
    spread = shape * residual_chance / (1 - residual_chance) ** 2
    uniques = min(classes * beta**alpha, _count_population(sample, share))
    lone_chance = (1 - residual_chance) ** alpha / (1 + alpha * residual_chance / (1 - residual_chance))
    return PopulationEstimate(
        "snb", uniques, single_classes * lone_chance, 1 / expected_sizes, expected_sizes + spread / expected_sizes
    )


def _solve_snb(classes: float, share: float, single_classes: float, twos: float) -> tuple[float, float] | None:
    from scipy.special import expit, logit

    def compute_gaps(point: Floats) -> Floats:
        alpha, beta = float(np.exp(point[0])), float(expit(point[1]))
        residual_chance = (1 - beta) * (1 - share)
        common_factor = classes * (beta / (1 - residual_chance)) ** alpha
        first = common_factor * share * (1 + alpha * residual_chance / (1 - residual_chance))
        second = (
            common_factor
            * share**2
            * alpha
            * (1 - beta)
            * (2 - (1 - alpha) * residual_chance)
            / (2 * (1 - residual_chance) ** 2)
        )
        return np.array([first - single_classes, second - twos])

    starts = [np.array([np.log(alpha), logit(beta)]) for alpha in (0.5, 2.0, 0.05) for beta in (0.3, 0.05, 0.8)]
    solution = _find_root(compute_gaps, starts, np.array([single_classes, twos]))
    return None if solution is None else (float(np.exp(solution[0])), float(expit(solution[1])))


def _estimate_shlosser(sample: ClassSizes, share: float) -> float:
    """Shlosser's estimate of the classes of the population, in the form of Haas and Stokes (1998)."""
    sizes, classes = sample.sizes, sample.classes
    miss_chances = (1 - share) ** sizes
    first = (sizes * share**2 * (1 - share**2) ** (sizes - 1)) @ classes
    second = ((1 - share**2) ** sizes - miss_chances) @ classes
    unseen, single_draws = miss_chances @ classes, (sizes * share * (1 - share) ** (sizes - 1)) @ classes
    return float(sample.number + sample.count_classes(1) * (first / second) * (unseen / single_draws) ** 2)


def fit_negative_binomial(sample: ClassSizes, sampling_share: float) -> PopulationEstimate:
    """F given f is negative binomial (Benedetti and Franconi 1998): for a sample without uniques.

    There is nothing to estimate uniques from, and no record of the sample is unique: like ARX, we count none.
    """
    growth = _expect_class_growth(sample.sizes, 0.0, sampling_share)
    return PopulationEstimate("negative_binomial: no sample uniques", 0.0, 0.0, *growth)


def _expect_class_growth(sizes: Floats, alpha: float, share: float) -> tuple[Floats, Floats]:
    """E[1/F] and E[F] where F − f is negative binomial with shape f − α.

    E[1/F] is π ∫ (1 − w)ᶠ⁻¹ (1 − (1 − π) w)⁻¹⁻ᵅ dw over 0 to 1, a 2F1 of Gauss whose library version overflows for
    large f. Nothing in it is negative, so no digits are lost in a sum over nodes; y = log (1 − (1 − π) w) flattens
    the peak at w = 1 that small shares have, and beyond w = 50/f nothing is left.
    """
    rest = 1 - share
    low = np.log1p(-rest * np.minimum(1, 50 / sizes))[:, None]
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    y = low * (1 - nodes) / 2
    minus_w = np.maximum(np.expm1(y) / rest, _EPSILON - 1)  # rounding may reach −1, the edge itself
    height = np.exp((sizes[:, None] - 1) * np.log1p(minus_w) - alpha * y)
    inverse = share / rest * (-low[:, 0] / 2) * (height @ weights)
    return inverse, sizes + (sizes - alpha) * rest / share


def _count_population(sample: ClassSizes, sampling_share: float) -> float:
    return max(sample.rows, float(round(sample.rows / sampling_share)))


def _find_root(equations: Callable[[Floats], Floats], starts: list[Floats], scale: Floats) -> Floats | None:
    """The first root that a start leads to; scipy's success flag is not enough, so the equations are checked."""
    from scipy.optimize import root

    def compute_residuals(point: Any) -> Any:
        return equations(point) / scale

    for start in starts:
        with np.errstate(all="ignore"):
            solution: Any = root(compute_residuals, start, method="hybr")
            residuals = np.abs(compute_residuals(solution.x))
        if solution.success and np.isfinite(residuals).all() and residuals.max() < _CLOSE:
            return np.asarray(solution.x)
    return None
