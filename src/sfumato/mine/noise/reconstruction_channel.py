# SPDX-License-Identifier: MIT
"""The channel of noise on bins: the probability that a true value of one bin is observed in another.

True values are uniform within their bin. All integrals are exact: for uniform and Gaussian noise by the integral of the
distribution function, for rounded noise by sums over whole numbers, for intervals by their overlap with the bins. Other
noise uses Gauss quadrature.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.errors import DataError, PolicyError
from sfumato.public.noise_law import Noise

FAR = 4.0
"""How many deviations of Gaussian noise the noisy bins reach beyond the true ones; the last bins take everything
further.
"""
FINE = 50
"""The minimum number of bins of an estimate, before it is summed up to the requested ones."""
_HUGE = 1e150
_MANY = 400
_IN_DEVIATION = {"gaussian": 32}
_IN_DEVIATION_SHARP = 128
_MOST_STEPS = 4_000_000
_NODES = 16


def parse_noise(notation: Any) -> Any:
    """A `Noise` from any of its notations; a frozen continuous scipy distribution is kept as it is."""
    if not (hasattr(notation, "cdf") and hasattr(notation, "ppf")):
        return Noise.of(notation)
    if hasattr(notation, "freeze"):
        raise PolicyError(
            "give a scipy distribution with its parameters: scipy.stats.norm(0, 2.5), not scipy.stats.norm"
        )
    if hasattr(notation, "pmf") and not hasattr(getattr(notation, "dist", notation), "pdf"):
        raise PolicyError(
            "noise cannot be a discrete distribution; if the noise is rounded, give "
            'Noise(kind="gaussian", scale=2.5, step=1)'
        )
    return notation


def build_true_edges(low: float, high: float, bins: int, step: float = 0.0) -> Floats:
    """Edges of equally wide bins from `low` to `high`; if values are whole, between whole numbers.

    Whole numbers are distributed as evenly as possible, and there are never more bins than whole numbers.
    """
    refuse_bins(bins)
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise PolicyError("a range needs a smallest and a largest value, both finite")
    if not step:
        if low == high:
            low, high = low - 0.5, high + 0.5
        return np.linspace(low, high, int(bins) + 1)
    first, last = np.floor(low / step), np.ceil(high / step) + 1
    edges = np.rint(np.linspace(first, last, int(min(bins, last - first)) + 1))
    return np.asarray((edges - 0.5) * step)


def refuse_bins(bins: Any) -> None:
    """Reject an invalid number of bins."""
    if (
        isinstance(bins, bool)
        or not isinstance(bins, int | float | np.integer | np.floating)
        or not bins >= 1
        or bins % 1
    ):
        raise PolicyError("bins must be a number of bins, 1 or more, or their edges")


def refuse_overflowing_sizes(noise: Any, *magnitudes: Any) -> None:
    """Reject magnitudes whose square overflows; anything but numbers is rejected elsewhere."""
    numbers = (
        np.asarray(numbers_given, dtype=np.float64)
        for numbers_given in (getattr(noise, "scale", 0.0), *magnitudes)
        if _is_numeric(numbers_given)
    )
    if any((np.abs(numbers_given[np.isfinite(numbers_given)]) >= _HUGE).any() for numbers_given in numbers):
        raise PolicyError("values, range or noise are beyond 1e150; divide them all by the same number")


def _is_numeric(numbers: Any) -> bool:
    return bool(np.asarray(numbers).dtype.kind in "iuf")


def compute_even_shares(edges: Floats) -> Floats:
    """The probability of each bin under a uniform distribution: the start of the iteration."""
    return np.asarray(np.diff(edges) / (edges[-1] - edges[0]))


class FineEdges(NamedTuple):
    """Edges of parts of bins."""

    edges: Floats
    starts: Ints
    """The first part of each bin."""


def refine_edges(edges: Floats, noise: Any) -> FineEdges:
    """Edges with each bin cut into equal parts, so that there are about fifty in total, and the first part of each bin.

    Values are assumed to be uniform within a bin. In wide bins they are not, and the estimate would suffer. Intervals
    reveal nothing about what is within them, and are not cut.
    """
    parts = -(-FINE // (len(edges) - 1))
    if parts < 2 or getattr(noise, "kind", "") == "discretize":
        return FineEdges(edges, np.arange(len(edges) - 1, dtype=np.int64))
    cuts, step = [], _get_step(noise)
    ends = edges
    if step:  # between whole numbers
        ends = np.asarray((_find_first_whole_numbers(edges, step) - 0.5) * step, dtype=np.float64)
    for low, high in pairwise(ends):
        inner = np.linspace(low, high, parts + 1)[:-1]
        cuts.append(np.unique((np.floor(inner / step + 0.5 + 1e-9) - 0.5) * step) if step else inner)
    starts = np.cumsum([0, *(len(part) for part in cuts[:-1])])
    return FineEdges(np.append(np.concatenate(cuts), ends[-1]), starts.astype(np.int64))


def build_noisy_edges(noise: Any, true_edges: Floats) -> Floats:
    """Edges of noisy bins: as wide as the true ones on average, and beyond them as far as the noise reaches.

    With more than 400 true bins, noisy ones are at least as wide as a 32nd of the deviation of Gaussian noise, a 128th
    of that of other noise: the noise hides anything finer.
    """
    parsed_noise, step = parse_noise(noise), _get_step(noise)
    width = (true_edges[-1] - true_edges[0]) / (len(true_edges) - 1)
    inner = true_edges
    if len(true_edges) > _MANY and (wide := _find_finest_width(parsed_noise)) > width:
        inner = np.linspace(true_edges[0], true_edges[-1], int(np.ceil((true_edges[-1] - true_edges[0]) / wide)) + 1)
        width = inner[1] - inner[0]
    reach_below, reach_above = _measure_noise_reach(parsed_noise)
    bins_below, bins_above = (int(np.ceil(far / width - 1e-9)) for far in (reach_below, reach_above))
    outer = (inner[0] - width * np.arange(bins_below, 0, -1), inner[-1] + width * np.arange(1, bins_above + 1))
    edges = np.concatenate([outer[0], inner, outer[1]])
    if step:  # between whole numbers, so that every bin is a set of them
        edges = (np.unique(np.rint(edges / step + 0.5)) - 0.5) * step
    return np.asarray(edges, dtype=np.float64)


def _find_finest_width(noise: Any) -> float:
    """The largest width of noisy bins that loses no information."""
    if getattr(noise, "kind", "") == "discretize":
        return 0.0
    deviation = np.sqrt(noise.variance) if isinstance(noise, Noise) else float(noise.std())
    wide = deviation / _IN_DEVIATION.get(getattr(noise, "kind", ""), _IN_DEVIATION_SHARP)
    return float(wide) if np.isfinite(wide) else 0.0


def count_in_bins(values: Floats, edges: Floats) -> Ints:
    """The number of values in each bin; the first and the last one include what lies beyond."""
    inner = edges[1:-1]
    if len(values) < 2 or not len(inner):
        return np.bincount(np.searchsorted(inner, values, side="right"), minlength=len(edges) - 1).astype(np.int64)
    width = (edges[-1] - edges[0]) / (len(edges) - 1)
    if np.ptp(np.diff(edges)) < 1e-9 * width:  # equally wide: one division per value
        places = np.clip((values - edges[0]) / width, 0, len(edges) - 2).astype(np.int64)
    else:
        places = np.searchsorted(inner, values, side="right")
    return np.bincount(places, minlength=len(edges) - 1).astype(np.int64)


def build_channel(noise: Any, true_edges: Any, noisy_edges: Any) -> Floats:
    """`channel[i, j]`: the probability that a value of true bin j is observed in noisy bin i.

    The first and the last noisy bins include everything beyond them, so every column sums to 1. With a `step`, true and
    published values are whole numbers of steps, and a bin holds those from its lower edge to below its upper one; the
    last true bin includes its upper edge, as in a histogram.
    """
    parsed_noise = parse_noise(noise)
    true, noisy = check_rising_edges(true_edges, "true"), check_rising_edges(noisy_edges, "noisy")
    if isinstance(parsed_noise, Noise) and parsed_noise.kind == "discretize":
        shares_below = _compute_intervals_below(parsed_noise, true, noisy[1:-1])
    elif _get_step(parsed_noise) and (true[-1] - true[0]) / _get_step(parsed_noise) < _MOST_STEPS:
        shares_below = _compute_whole_below(parsed_noise, true, noisy[1:-1])
    else:
        shares_below = _compute_smooth_below(parsed_noise, true, noisy[1:-1])
    ends = np.zeros((1, shares_below.shape[1])), np.ones((1, shares_below.shape[1]))
    probabilities = np.diff(np.concatenate([ends[0], shares_below, ends[1]]), axis=0)
    probabilities[probabilities < 1e-14] = 0.0  # the rounding error of a difference
    return np.asarray(probabilities / probabilities.sum(axis=0))


def check_rising_edges(numbers: Any, word: str) -> Floats:
    """Edges of bins, or an error."""
    edges = np.ascontiguousarray(numbers, dtype=np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise PolicyError(f"the edges of {word} bins must be two or more ascending finite numbers")
    return edges


def _get_step(noise: Any) -> float:
    return float(getattr(noise, "step", 0.0) or 0.0)


def _measure_noise_reach(noise: Any) -> tuple[float, float]:
    """How far noise moves a value, down and up."""
    if isinstance(noise, Noise):
        far = {"uniform": 1.0, "gaussian": FAR, "discretize": 0.5}[noise.kind] * noise.scale + noise.step / 2
        return far, far
    low, high = (float(end) for end in noise.ppf([1e-5, 1 - 1e-5]))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise PolicyError("the noise has no finite spread")
    return max(-low, 0.0), max(high, 0.0)


def _compute_smooth_below(noise: Any, true: Floats, cuts: Floats) -> Floats:
    """P(x + y < cut) for x uniform in each true bin: the mean of the distribution function over the bin."""
    if not isinstance(noise, Noise):
        return _integrate_by_quadrature(noise, true, cuts)
    integral = _integrate_noise(noise, cuts[:, None] - true[None, :])
    return np.asarray((integral[:, :-1] - integral[:, 1:]) / np.diff(true))


def _integrate_noise(noise: Noise, differences: Floats) -> Floats:
    """∫ F up to some differences, F the noise's distribution function."""
    if noise.kind == "gaussian":
        from scipy.special import ndtr

        return np.asarray(
            differences * ndtr(differences / noise.scale) + noise.scale * (noise.scale * noise.density(differences))
        )
    clipped_differences = np.clip(differences, -noise.scale, noise.scale) + noise.scale
    return np.asarray(clipped_differences**2 / (4 * noise.scale) + np.maximum(differences - noise.scale, 0.0))


def _integrate_by_quadrature(noise: Any, true: Floats, cuts: Floats) -> Floats:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    middles, halves = (true[:-1] + true[1:]) / 2, np.diff(true) / 2
    return np.asarray(
        sum(
            weight / 2 * np.asarray(noise.cdf(cuts[:, None] - (middles + node * halves)[None, :]))
            for node, weight in zip(nodes, weights, strict=True)
        )
    )


def _compute_whole_below(noise: Any, true: Floats, cuts: Floats) -> Floats:
    """P(published < cut) for x uniform among the whole numbers of each true bin.

    x + rounded y < cut means that y < m + ½ for m the last whole number below cut − x. Summed over all x of a bin it is
    a difference of running sums of F(m + ½), one table for all bins and cuts.
    """
    step = _get_step(noise)
    firsts = _find_first_whole_numbers(true, step)
    sizes = np.diff(firsts)
    lasts = np.ceil(cuts / step - 1e-9).astype(np.int64) - 1
    if not len(lasts):
        return np.zeros((0, len(sizes)))
    least, most = int(lasts.min() - firsts[-1]), int(lasts.max() - firsts[0])
    halves = np.arange(least, most + 1, dtype=np.float64) + 0.5
    sums = np.concatenate([[0.0], np.cumsum(_compute_below(noise, np.asarray(halves * step)))])
    # Σ over x from a to b − 1 of F(m − x + ½) = sums up to m − a minus sums up to m − b
    end_sums = sums[lasts[:, None] - firsts[None, :] - least + 1]
    return np.asarray((end_sums[:, :-1] - end_sums[:, 1:]) / sizes)


def _find_first_whole_numbers(true: Floats, step: float) -> Ints:
    """The first whole number of each bin, and the first after the last one."""
    firsts = np.ceil(true / step - 1e-9).astype(np.int64)
    firsts[-1] = np.floor(true[-1] / step + 1e-9).astype(np.int64) + 1
    empty = int((np.diff(firsts) < 1).sum())
    if empty:
        raise PolicyError(f"{empty} true bins have no whole number in them; use fewer or wider bins")
    return firsts


def _compute_below(noise: Any, differences: Floats) -> Floats:
    return noise.cumulate(differences) if isinstance(noise, Noise) else np.asarray(noise.cdf(differences))


def _compute_intervals_below(noise: Noise, true: Floats, cuts: Floats) -> Floats:
    """P(middle < cut) for x uniform in each true bin: the share of the bin before the interval whose middle is not."""
    # The middle of interval i is origin + (i + ½) W, for whole numbers the lower one: below the cut while i < this.
    half = (
        (noise.scale - noise.step) / 2 if not noise.step else np.floor((noise.scale / noise.step - 1) / 2) * noise.step
    )
    ends = noise.origin + np.ceil((cuts - noise.origin - half) / noise.scale - 1e-9) * noise.scale
    if noise.step:
        true = np.asarray(_find_first_whole_numbers(true, noise.step) * noise.step, dtype=np.float64)
    return np.asarray(np.clip((ends[:, None] - true[:-1]) / np.diff(true), 0.0, 1.0))


def refuse_far_values(values: Floats, noise: Any, true: Floats) -> None:
    """Reject values further beyond the true bins than bounded noise reaches; the last noisy bins would include them."""
    if isinstance(noise, Noise) and noise.kind != "gaussian":
        reach_below, reach_above = _measure_noise_reach(noise)
        slack = 1e-9 * (true[-1] - true[0] + reach_below)
        _refuse_strange_values(
            int(((values < true[0] - reach_below - slack) | (values > true[-1] + reach_above + slack)).sum()),
            len(values),
        )


def refuse_impossible_values(counts: Ints, channel: Floats) -> None:
    """Reject values that no true value could have led to."""
    _refuse_strange_values(int(counts[channel.sum(axis=1) <= 0].sum()), int(counts.sum()))


def _refuse_strange_values(strange: int, count: int) -> None:
    if strange:
        raise DataError(
            f"{strange} of {count} values cannot come from this range with this noise; "
            "check the noise, or give a wider range"
        )
