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
from sfumato.public.noise_law import list_noisy_columns, read_numbers
from sfumato.release import Release
from sfumato.report import wording
from sfumato.report.noise_pictures import AnswerShare, draw_answer_shares, draw_densities, draw_recovered_values
from sfumato.report.run_account import ReportFigure, ReportSection
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


def build_estimates_section(public: Mapping[str, Any], published: Table) -> ReportSection:
    """What an analyst can estimate: made from the release alone, so it may leave."""
    noisy_columns = _NoisyColumns.of(public, published)
    return ReportSection(
        "estimates",
        "What can be estimated",
        "Single values were changed by chance; what is true of many can still be estimated, because it is told "
        "what chance did.",
        (
            *(_build_reconstruction_figure(noisy_columns.release, n) for n in noisy_columns.numbers),
            *(_build_answers_figure(noisy_columns.release, n) for n in noisy_columns.asked),
        ),
        noisy_columns.notes,
    )


def build_filtered_section(release: Release, original: Table, published: Table) -> ReportSection:
    """What an analyst and an attacker make of it, the originals beside it: it stays."""
    noisy_columns = _NoisyColumns.of(release.public, published)
    kept = original.frame[np.asarray(release.details["rows"])] if "rows" in release.details else original.frame
    return ReportSection(
        "filtered",
        "What an analyst and an attacker make of it",
        "The originals beside the release and what is estimated from it: of all people together, as an analyst "
        "wants to, and of each one, as an attacker does. Where true values are on the line nothing is hidden.",
        (
            *(
                _build_filter_figures(noisy_columns.release, kept, noisy_columns.numbers)
                if noisy_columns.numbers
                else ()
            ),
            *(_build_reconstruction_figure(noisy_columns.release, name, kept[name]) for name in noisy_columns.numbers),
            *(_build_answers_figure(noisy_columns.release, name, kept[name]) for name in noisy_columns.asked),
        ),
        noisy_columns.notes,
    )


class _NoisyColumns(NamedTuple):
    """The columns that are drawn, as whoever receives the release sees them."""

    release: Release
    numbers: tuple[str, ...]
    asked: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, public: Mapping[str, Any], published: Table) -> _NoisyColumns:
        """The first noisy columns and the first answers."""
        seen = Release(published, None, (), {}, read_details({"public": public}))
        column_names = [name for name in seen.public if published.frame[name].count()]
        numbers = [name for name in list_noisy_columns(seen) if name in column_names]
        asked = [name for name in column_names if seen.public[name]["kind"] in _ANSWERED and _is_telling(seen, name)]
        left = len(numbers[COLUMNS:]) + len(asked[COLUMNS:])
        notes = (f"{wording.count_noun(left, 'more column is', 'more columns are')} not drawn.",) if left else ()
        return cls(seen, tuple(numbers[:COLUMNS]), tuple(asked[:COLUMNS]), notes)


def _is_telling(release: Release, column: str) -> bool:
    """Whether answers depend on the truth at all: at p = 1/2 of two, nothing can be estimated."""
    facts = release.public[column]
    return abs(float(facts["p"]) - float(facts["q"])) > 1e-12


def _describe_how(release: Release, column: str) -> str:
    facts = release.public[column]
    numbers = {name: wording.format_count(value) for name, value in facts.items() if isinstance(value, int | float)}
    return _HOW[facts["kind"]].format(**{"scale": "", "p": "", "q": "", **numbers})


def _build_reconstruction_figure(release: Release, column: str, truth: pl.Series | None = None) -> ReportFigure:
    """How the values of one column lie."""
    values = release.data.frame[column]
    estimate: Reconstruction = reconstruct_distribution(release, column=column, bins=BINS)
    edges = estimate.edges
    densities: dict[str, tuple[Floats, Floats]] = {}
    if truth is not None:
        densities["originals"] = _compute_histogram_density(_read_plotted_numbers(truth), edges)
    densities["release"] = _compute_histogram_density(
        _read_plotted_numbers(values), _widen_edges(edges, _read_plotted_numbers(values))
    )
    densities["estimate"] = (edges, estimate.probabilities / np.diff(edges))
    rows = tuple(
        (f"{wording.format_count(low)} to {wording.format_count(high)}", wording.format_percent(share))
        for low, high, share in zip(edges, edges[1:], estimate.probabilities, strict=False)
    )
    return ReportFigure(
        f"{wording.shorten_label(column)}: {_describe_how(release, column)}",
        draw_densities(column, densities),
        f"How the values of {wording.shorten_label(column)} lie in the release, and as reconstructed from it.",
        f"Reconstructed in {wording.count_noun(estimate.iterations, 'step')}; the estimate fits what is published.",
        ("Values", "Estimated share"),
        rows,
    )


def _build_filter_figures(release: Release, truth: pl.DataFrame, numbers: tuple[str, ...]) -> list[ReportFigure]:
    """For each noisy column, some people's values: true, published, and as an attacker estimates them."""
    estimates = BayesEstimate().estimate(release)
    made = []
    for name in numbers:
        true, seen, guessed = (
            _read_plotted_numbers(numbers, drop=False)
            for numbers in (truth[name], release.data.frame[name], estimates[name])
        )
        known = np.flatnonzero(np.isfinite(true) & np.isfinite(seen) & np.isfinite(guessed))
        some = known[:: max(1, len(known) // DOTS)][:DOTS]
        before, after = (float(np.sqrt(np.mean((numbers[known] - true[known]) ** 2))) for numbers in (seen, guessed))
        made.append(
            ReportFigure(
                f"{wording.shorten_label(name)}: what filtering takes away",
                draw_recovered_values(name, true[some], seen[some], guessed[some]),
                f"True values of {wording.shorten_label(name)} against the published ones and an attacker's estimates.",
                f"Root mean square error: published {wording.format_count(before)}, estimated "
                f"{wording.format_count(after)}.",
            )
        )
    return made


def _build_answers_figure(release: Release, column: str, truth: pl.Series | None = None) -> ReportFigure:
    """How often each answer was given, and how often it is true."""
    proportions = estimate_proportions(release, column).sort("estimate", descending=True).head(ANSWERS)
    facts = release.public[column]
    given_shares = _count_value_shares(release.data.frame[column]) if facts["kind"] != "unary" else {}
    true = {} if truth is None else _count_value_shares(truth)
    shares: list[AnswerShare] = []
    for row in proportions.iter_rows(named=True):
        value = str(row["value"])
        if truth is not None:
            shares.append(AnswerShare(value, "originals", true.get(value, 0.0)))
        if given_shares:
            shares.append(AnswerShare(value, "release", given_shares.get(value, 0.0)))
        shares.append(AnswerShare(value, "estimate", row["estimate"], row["low"], row["high"]))
    rows = tuple(
        (
            wording.shorten_label(str(row["value"]), 60),
            wording.format_percent(row["estimate"]),
            wording.format_span(row["low"], row["high"]),
        )
        for row in proportions.iter_rows(named=True)
    )
    left = len(facts["categories"]) - proportions.height
    more = f" {wording.count_noun(left, 'answer is', 'answers are')} not drawn." if left else ""
    return ReportFigure(
        f"{wording.shorten_label(column)}: {_describe_how(release, column)}",
        draw_answer_shares(shares),
        f"How often each answer of {wording.shorten_label(column)} was given, and how often it is estimated to be "
        "true.",
        f"ε = {facts['epsilon']:.3g}. Lines: 95 % intervals of the estimates.{more}",
        ("Answer", "Estimated share", "95 % interval"),
        rows,
    )


def _count_value_shares(column: pl.Series) -> dict[str, float]:
    """The share of each value among those that are not missing; yes and no as Python spells them elsewhere."""
    known = column.drop_nulls()
    counts = known.cast(pl.String).value_counts()
    return dict(zip(counts[known.name], counts["count"] / max(len(known), 1), strict=True))


def _read_plotted_numbers(column: pl.Series, *, drop: bool = True) -> Floats:
    """A column's values as numbers, dates as days."""
    numbers = read_numbers(column)
    return numbers[~np.isnan(numbers)] if drop else numbers


def _compute_histogram_density(values: Floats, edges: Floats) -> tuple[Floats, Floats]:
    inside = np.histogram(values, edges)[0] / max(len(values), 1)
    return edges, inside / np.diff(edges)


def _widen_edges(edges: Floats, values: Floats) -> Floats:
    """The same bins, and as many more on either side as noisy values need."""
    width = float(edges[1] - edges[0])
    below = max(0, int(np.ceil((edges[0] - values.min()) / width))) if len(values) else 0
    above = max(0, int(np.ceil((values.max() - edges[-1]) / width))) if len(values) else 0
    return np.concatenate(
        [edges[0] - width * np.arange(below, 0, -1), edges, edges[-1] + width * np.arange(1, above + 1)]
    )
