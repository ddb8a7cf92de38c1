# SPDX-License-Identifier: MIT
"""The part of the report about columns that chance changed: what is left to estimate, and what an attacker filters out.

Two parts: one that may leave, made from the release alone, and one for the custodian, with the originals beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats
from sfumato.attack.noise.bayes_estimate import BayesEstimate
from sfumato.details import read_details
from sfumato.mine.answers.proportions import estimate_proportions
from sfumato.mine.noise.reconstruction import Reconstruction, reconstruct_distribution
from sfumato.public.noise_law import noisy_columns, numbers_of
from sfumato.release import Release
from sfumato.report import words
from sfumato.report.account import Figure, Section
from sfumato.report.noise_pictures import Share, answers, recovered, shapes
from sfumato.table import Table

COLUMNS = 12
"""How many columns are drawn."""
BINS = 30
"""How many bins a distribution is drawn in."""
DOTS = 300
"""How many people stand in the picture of what an attacker gets back."""
ANSWERS = 12
"""How many answers of a column are drawn, the most frequent first."""
_ANSWERED = ("warner", "k_ary", "unary")
_HOW = {
    "uniform": "uniform noise of at most ±{scale}",
    "gaussian": "Gaussian noise of deviation {scale}",
    "correlated": "Gaussian noise of deviation {scale}, shaped like the data",
    "discretize": "intervals of width {scale}",
    "warner": "the true answer with probability {p}, else the other one",
    "k_ary": "the true answer with probability {p}, else any other",
    "unary": "one bit an answer: the true one is set with probability {p}, any other with {q}",
}


def estimates_section(public: Mapping[str, Any], published: Table) -> Section:
    """What an analyst can estimate: made from the release alone, so it may leave."""
    drawn = _Drawn.of(public, published)
    return Section(
        "estimates",
        "What can be estimated",
        "Single values were changed by chance; what is true of many can still be estimated, because it is told "
        "what chance did.",
        (
            *(_reconstructed(drawn.release, n) for n in drawn.numbers),
            *(_answers(drawn.release, n) for n in drawn.asked),
        ),
        drawn.notes,
    )


def filtered_section(release: Release, original: Table, published: Table) -> Section:
    """What an analyst and an attacker make of it, the originals beside it: it stays."""
    drawn = _Drawn.of(release.public, published)
    kept = original.frame[np.asarray(release.details["rows"])] if "rows" in release.details else original.frame
    return Section(
        "filtered",
        "What an analyst and an attacker make of it",
        "The originals beside the release and what is estimated from it: of all people together, as an analyst "
        "wants to, and of each one, as an attacker does. Where true values are on the line nothing is hidden.",
        (
            *(_filtered(drawn.release, kept, drawn.numbers) if drawn.numbers else ()),
            *(_reconstructed(drawn.release, name, kept[name]) for name in drawn.numbers),
            *(_answers(drawn.release, name, kept[name]) for name in drawn.asked),
        ),
        drawn.notes,
    )


class _Drawn(NamedTuple):
    """The columns that are drawn, as whoever receives the release sees them."""

    release: Release
    numbers: tuple[str, ...]
    asked: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, public: Mapping[str, Any], published: Table) -> _Drawn:
        """The first noisy columns and the first answers."""
        seen = Release(published, None, (), {}, read_details({"public": public}))
        told = [name for name in seen.public if published.frame[name].count()]
        numbers = [name for name in noisy_columns(seen) if name in told]
        asked = [name for name in told if seen.public[name]["kind"] in _ANSWERED and _telling(seen, name)]
        left = len(numbers[COLUMNS:]) + len(asked[COLUMNS:])
        notes = (f"{words.several(left, 'more column is', 'more columns are')} not drawn.",) if left else ()
        return cls(seen, tuple(numbers[:COLUMNS]), tuple(asked[:COLUMNS]), notes)


def _telling(release: Release, column: str) -> bool:
    """Whether answers depend on the truth at all: at p = 1/2 of two, nothing can be estimated."""
    told = release.public[column]
    return abs(float(told["p"]) - float(told["q"])) > 1e-12


def _how(release: Release, column: str) -> str:
    told = release.public[column]
    said = {name: words.number(value) for name, value in told.items() if isinstance(value, int | float)}
    return _HOW[told["kind"]].format(**{"scale": "", "p": "", "q": "", **said})


def _reconstructed(release: Release, column: str, truth: pl.Series | None = None) -> Figure:
    """How the values of one column lie."""
    values = release.data.frame[column]
    found: Reconstruction = reconstruct_distribution(release, column=column, bins=BINS)
    edges = found.edges
    drawn: dict[str, tuple[Floats, Floats]] = {}
    if truth is not None:
        drawn["originals"] = _dense(_numbers(truth), edges)
    drawn["release"] = _dense(_numbers(values), _widened(edges, _numbers(values)))
    drawn["estimate"] = (edges, found.probabilities / np.diff(edges))
    rows = tuple(
        (f"{words.number(low)} to {words.number(high)}", words.percent(share))
        for low, high, share in zip(edges, edges[1:], found.probabilities, strict=False)
    )
    return Figure(
        f"{words.short(column)}: {_how(release, column)}",
        shapes(column, drawn),
        f"How the values of {words.short(column)} lie in the release, and as reconstructed from it.",
        f"Reconstructed in {words.several(found.iterations, 'step')}; the estimate fits what is published.",
        ("Values", "Estimated share"),
        rows,
    )


def _filtered(release: Release, truth: pl.DataFrame, numbers: tuple[str, ...]) -> list[Figure]:
    """For each noisy column, some people's values: true, published, and as an attacker estimates them."""
    estimates = BayesEstimate().estimate(release)
    made = []
    for name in numbers:
        true, seen, guessed = (
            _numbers(one, drop=False) for one in (truth[name], release.data.frame[name], estimates[name])
        )
        known = np.flatnonzero(np.isfinite(true) & np.isfinite(seen) & np.isfinite(guessed))
        some = known[:: max(1, len(known) // DOTS)][:DOTS]
        before, after = (float(np.sqrt(np.mean((one[known] - true[known]) ** 2))) for one in (seen, guessed))
        made.append(
            Figure(
                f"{words.short(name)}: what filtering takes away",
                recovered(name, true[some], seen[some], guessed[some]),
                f"True values of {words.short(name)} against the published ones and an attacker's estimates.",
                f"Root mean square error: published {words.number(before)}, estimated {words.number(after)}.",
            )
        )
    return made


def _answers(release: Release, column: str, truth: pl.Series | None = None) -> Figure:
    """How often each answer was given, and how often it is true."""
    found = estimate_proportions(release, column).sort("estimate", descending=True).head(ANSWERS)
    told = release.public[column]
    counted = _counted(release.data.frame[column]) if told["kind"] != "unary" else {}
    true = {} if truth is None else _counted(truth)
    shares: list[Share] = []
    for one in found.iter_rows(named=True):
        value = str(one["value"])
        if truth is not None:
            shares.append(Share(value, "originals", true.get(value, 0.0)))
        if counted:
            shares.append(Share(value, "release", counted.get(value, 0.0)))
        shares.append(Share(value, "estimate", one["estimate"], one["low"], one["high"]))
    rows = tuple(
        (words.short(str(one["value"]), 60), words.percent(one["estimate"]), words.span(one["low"], one["high"]))
        for one in found.iter_rows(named=True)
    )
    left = len(told["categories"]) - found.height
    more = f" {words.several(left, 'answer is', 'answers are')} not drawn." if left else ""
    return Figure(
        f"{words.short(column)}: {_how(release, column)}",
        answers(shares),
        f"How often each answer of {words.short(column)} was given, and how often it is estimated to be true.",
        f"ε = {told['epsilon']:.3g}. Lines: 95 % intervals of the estimates.{more}",
        ("Answer", "Estimated share", "95 % interval"),
        rows,
    )


def _counted(column: pl.Series) -> dict[str, float]:
    """The share of each value among those that are not missing; yes and no as Python spells them elsewhere."""
    told = column.drop_nulls()
    counts = told.cast(pl.String).value_counts()
    return dict(zip(counts[told.name], counts["count"] / max(len(told), 1), strict=True))


def _numbers(column: pl.Series, *, drop: bool = True) -> Floats:
    """A column's values as numbers, dates as days."""
    found = numbers_of(column)
    return found[~np.isnan(found)] if drop else found


def _dense(values: Floats, edges: Floats) -> tuple[Floats, Floats]:
    inside = np.histogram(values, edges)[0] / max(len(values), 1)
    return edges, inside / np.diff(edges)


def _widened(edges: Floats, values: Floats) -> Floats:
    """The same bins, and as many more on either side as noisy values need."""
    width = float(edges[1] - edges[0])
    below = max(0, int(np.ceil((edges[0] - values.min()) / width))) if len(values) else 0
    above = max(0, int(np.ceil((values.max() - edges[-1]) / width))) if len(values) else 0
    return np.concatenate(
        [edges[0] - width * np.arange(below, 0, -1), edges, edges[-1] + width * np.arange(1, above + 1)]
    )
