# SPDX-License-Identifier: MIT
"""The sections of the report about randomized columns.

One may be published: what can be estimated, made from the release alone. One is for the custodian: how close an analyst
and an attacker get to the originals.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import floor, log10
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats
from sfumato.attack.noise.bayes_estimate import BayesEstimate
from sfumato.bound_words import spell_at_most
from sfumato.data.cells.coded_cells import count_cells
from sfumato.details import Details
from sfumato.errors import count_noun
from sfumato.mine.answers.proportions import estimate_proportions
from sfumato.mine.noise.reconstruction import Reconstruction, reconstruct_distribution
from sfumato.public.answer_channel import AnswerLaw, get_channel, list_answered_columns
from sfumato.public.noise_law import get_noise, list_noisy_columns, read_numbers
from sfumato.published_law import PublishedLaw
from sfumato.release import Release
from sfumato.report.pictures.noise_pictures import (
    AnswerShare,
    draw_answer_shares,
    draw_densities,
    draw_recovered_values,
)
from sfumato.report.pictures.number_bins import format_fixed_digits
from sfumato.report.run_account import ReportFigure, ReportSection
from sfumato.report.words import wording
from sfumato.table import Table

COLUMNS = 12
"""How many columns are drawn."""
BINS = 30
"""How many bins a distribution is drawn in."""
DOTS = 300
"""How many people are drawn in the picture of what an attacker recovers."""
ANSWERS = 12
"""How many answers of a column are drawn, most frequent first."""
_LAW_WORDS = {
    "uniform": "uniform noise in ±{scale}",
    "gaussian": "Gaussian noise, standard deviation {scale}",
    "correlated": "Gaussian noise correlated like the data, standard deviation about {scale} (estimated)",
    "discretize": "intervals of width {scale}",
    "warner": "the true answer with probability {p}, else the other one",
    "k_ary": "the true answer with probability {p}, else any other",
    "unary": "one bit per answer: the true one is set with probability {p}, any other with {q}",
}


def build_estimates_section(public: Mapping[str, PublishedLaw], published_table: Table) -> ReportSection:
    """What an analyst can estimate: made from the release alone, so it may be published."""
    noisy_columns = _NoisyColumns.of(public, published_table)
    return ReportSection(
        "estimates",
        "What can be estimated",
        "Single values were randomized. Distributions can still be estimated, because it is published how.",
        (
            *(_build_reconstruction_figure(noisy_columns.release, n) for n in noisy_columns.numbers),
            *(_build_answers_figure(noisy_columns.release, n) for n in noisy_columns.answers),
        ),
        noisy_columns.notes,
    )


def build_filtered_section(release: Release, original: Table, published_table: Table) -> ReportSection:
    """What an analyst and an attacker estimate, next to the originals: it stays."""
    noisy_columns = _NoisyColumns.of(release.public, published_table)
    rows = release.details.rows
    kept_frame = original.frame if rows is None else original.frame[np.asarray(rows)]
    return ReportSection(
        "filtered",
        "What an analyst and an attacker learn from it",
        "The originals, the release, and estimates from it: for all people together, as an analyst makes them"
        + (
            ", and for each person, as an attacker does. On the diagonal, an estimate is the true value."
            if noisy_columns.numbers
            else "."
        ),
        (
            *(
                _build_filter_figures(noisy_columns.release, kept_frame, noisy_columns.numbers)
                if noisy_columns.numbers
                else ()
            ),
            *(
                _build_reconstruction_figure(noisy_columns.release, name, kept_frame[name])
                for name in noisy_columns.numbers
            ),
            *(_build_answers_figure(noisy_columns.release, name, kept_frame[name]) for name in noisy_columns.answers),
        ),
        noisy_columns.notes,
    )


class _NoisyColumns(NamedTuple):
    """The columns that are drawn, as a recipient of the release sees them."""

    release: Release
    numbers: tuple[str, ...]
    answers: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, public: Mapping[str, PublishedLaw], published_table: Table) -> _NoisyColumns:
        """The first noisy columns and the first answers."""
        release = Release(published_table, None, (), {}, Details(public=public))
        column_names = [name for name in release.public if published_table.frame[name].count()]
        numbers = [name for name in list_noisy_columns(release) if name in column_names]
        answer_names = [
            name
            for name in list_answered_columns(release)
            if name in column_names and get_channel(release, name).informative
        ]
        remaining_count = len(numbers[COLUMNS:]) + len(answer_names[COLUMNS:])
        notes = (
            (f"{count_noun(remaining_count, 'more column is', 'more columns are')} not drawn.",)
            if remaining_count
            else ()
        )
        return cls(release, tuple(numbers[:COLUMNS]), tuple(answer_names[:COLUMNS]), notes)


def _describe_how(release: Release, column: str) -> str:
    law = release.public[column]
    if isinstance(law, AnswerLaw):
        values = {"p": wording.format_parameter(law.p), "q": wording.format_parameter(law.q)}
    else:
        unit = _find_unit(release.data.frame[column])
        values = {"scale": f"{wording.format_parameter(get_noise(release, column).scale)}{unit}"}
    return _LAW_WORDS[law.kind].format(**values)


def _find_unit(column: pl.Series) -> str:
    """What numbers of a column count: dates are read as days."""
    return "" if column.dtype.is_numeric() else " days"


def _build_reconstruction_figure(release: Release, column: str, truth: pl.Series | None = None) -> ReportFigure:
    """The distribution of one column."""
    values = release.data.frame[column]
    are_days = bool(_find_unit(values))
    estimate: Reconstruction = reconstruct_distribution(release, column=column, bins=BINS)
    edges = estimate.edges
    densities: dict[str, tuple[Floats, Floats]] = {}
    if truth is not None:
        densities["originals"] = _compute_histogram_density(_read_plotted_numbers(truth), edges)
    densities["release"] = _compute_histogram_density(
        _read_plotted_numbers(values), _widen_edges(edges, _read_plotted_numbers(values))
    )
    densities["estimate"] = (edges, estimate.probabilities / np.diff(edges))
    shares = (wording.format_percent(share) for share in estimate.probabilities)
    rows = tuple(zip(_name_bins(estimate), shares, strict=True))
    return ReportFigure(
        f"{wording.shorten_label(column)}: {_describe_how(release, column)}",
        draw_densities(column, densities, are_days=are_days),
        f"The distribution of {wording.shorten_label(column)} in the release, and as reconstructed from it.",
        f"The original distribution, estimated from the published values in {count_noun(estimate.iterations, 'step')}.",
        ("Values", "Estimated share"),
        rows,
    )


def _name_bins(estimate: Reconstruction) -> list[str]:
    """The first and the last number or day in each bin; the ends of a bin of decimals, to as many digits as differ."""
    edges = estimate.edges
    if estimate.dates or estimate.step == 1:
        starts = np.ceil(edges[:-1])
        last_numbers = np.maximum(starts, np.append(starts[1:] - 1, np.floor(edges[-1])))
        ends = [[_spell_whole(number, estimate) for number in pair] for pair in zip(starts, last_numbers, strict=True)]
    else:
        digits = max(0, 1 - floor(log10(float(np.diff(edges).min()))))
        texts = [format_fixed_digits(float(edge), digits) for edge in edges]
        ends = [[low, high if high == texts[-1] else f"under {high}"] for low, high in pairwise(texts)]
    return [" to ".join(dict.fromkeys(pair)) for pair in ends]


def _spell_whole(number: float, estimate: Reconstruction) -> str:
    return str(np.datetime64(int(number), "D")) if estimate.dates else format_fixed_digits(float(number), 0)


def _build_filter_figures(release: Release, truth: pl.DataFrame, numbers: tuple[str, ...]) -> list[ReportFigure]:
    """For each noisy column, values of some people: true, published, and as estimated by an attacker."""
    estimates = BayesEstimate().estimate(release)
    figures = []
    for name in numbers:
        true, published_numbers, guessed_numbers = (
            _read_plotted_numbers(numbers, drop=False)
            for numbers in (truth[name], release.data.frame[name], estimates[name])
        )
        known_rows = np.flatnonzero(np.isfinite(true) & np.isfinite(published_numbers) & np.isfinite(guessed_numbers))
        sample_rows = known_rows[:: max(1, len(known_rows) // DOTS)][:DOTS]
        published_error, estimated_error = (
            float(np.sqrt(np.mean((numbers[known_rows] - true[known_rows]) ** 2)))
            for numbers in (published_numbers, guessed_numbers)
        )
        unit = _find_unit(release.data.frame[name])
        figures.append(
            ReportFigure(
                f"{wording.shorten_label(name)}: what an attacker recovers",
                draw_recovered_values(
                    name,
                    true[sample_rows],
                    published_numbers[sample_rows],
                    guessed_numbers[sample_rows],
                    are_days=bool(unit),
                ),
                f"True values of {wording.shorten_label(name)} against the published ones and an attacker's estimates.",
                f"Root mean square error: published {wording.format_count(published_error)}{unit}, estimated "
                f"{wording.format_count(estimated_error)}{unit}.",
            )
        )
    return figures


def _build_answers_figure(release: Release, column: str, truth: pl.Series | None = None) -> ReportFigure:
    """The share of each answer: given, and estimated to be true."""
    proportions = estimate_proportions(release, column).sort("estimate", descending=True).head(ANSWERS)
    law = get_channel(release, column)
    is_asked = None in law.categories  # a missing answer is an answer, too
    given_shares = _count_value_shares(release.data.frame[column], is_asked) if law.one_answer else {}
    true = {} if truth is None else _count_value_shares(truth, is_asked)
    shares: list[AnswerShare] = []
    for row in proportions.iter_rows(named=True):
        value = _name_answer(row["value"])
        if truth is not None:
            shares.append(AnswerShare(value, "originals", true.get(value, 0.0)))
        if given_shares:
            shares.append(AnswerShare(value, "release", given_shares.get(value, 0.0)))
        shares.append(AnswerShare(value, "estimate", row["estimate"], row["low"], row["high"]))
    rows = tuple(
        (
            wording.shorten_label(_name_answer(row["value"]), 60),
            wording.format_percent(row["estimate"]),
            wording.format_span(row["low"], row["high"]),
        )
        for row in proportions.iter_rows(named=True)
    )
    remaining_count = len(law.categories) - proportions.height
    more = f" {count_noun(remaining_count, 'answer is', 'answers are')} not drawn." if remaining_count else ""
    return ReportFigure(
        f"{wording.shorten_label(column)}: {_describe_how(release, column)}",
        draw_answer_shares(shares),
        f"The share of each answer of {wording.shorten_label(column)} as given, and as estimated to be true.",
        f"ε = {spell_at_most(law.compute_epsilon())}. Lines: 95 % intervals of the estimates.{more}",
        ("Answer", "Estimated share", "95 % interval"),
        rows,
    )


def _name_answer(answer: Any) -> str:
    """An answer as text; one that reads like a missing cell stands in quotes."""
    missing = wording.NON_VALUES[0]
    return missing if answer is None else f'"{answer}"' if answer == missing else str(answer)


def _count_value_shares(column: pl.Series, is_missing_counted: bool) -> dict[str, float]:
    """The share of each value among the known ones, or among all if a missing cell is an answer."""
    cells = column if is_missing_counted else column.drop_nulls()
    answers, counts = count_cells(cells.cast(pl.String))
    return dict(zip(map(_name_answer, answers), (counts / max(len(cells), 1)).tolist(), strict=True))


def _read_plotted_numbers(column: pl.Series, *, drop: bool = True) -> Floats:
    """A column's values as numbers, dates as days."""
    numbers = read_numbers(column)
    return numbers[~np.isnan(numbers)] if drop else numbers


def _compute_histogram_density(values: Floats, edges: Floats) -> tuple[Floats, Floats]:
    bin_shares = np.histogram(values, edges)[0] / max(len(values), 1)
    return edges, bin_shares / np.diff(edges)


def _widen_edges(edges: Floats, values: Floats) -> Floats:
    """The same bins, and more on either side for noisy values."""
    width = float(edges[1] - edges[0])
    lower_bin_count = max(0, int(np.ceil((edges[0] - values.min()) / width))) if len(values) else 0
    upper_bin_count = max(0, int(np.ceil((values.max() - edges[-1]) / width))) if len(values) else 0
    return np.concatenate(
        [
            edges[0] - width * np.arange(lower_bin_count, 0, -1),
            edges,
            edges[-1] + width * np.arange(1, upper_bin_count + 1),
        ]
    )
