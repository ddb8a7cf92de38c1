# SPDX-License-Identifier: MIT
"""Vulnerability of noise: filtered off by its spectrum, and bounded noise that reveals the range."""

from __future__ import annotations

import numpy as np
import polars as pl

from papers.plots import Axis, Curve, draw_curves
from papers.study import Findings, Grid, Pair, Plot, Setting, Statement, Tolerance, compare, frame_of
from sfumato.attack.noise.bayes_estimate import BayesEstimate
from sfumato.attack.noise.range_reveal import RangeReveal
from sfumato.attack.noise.spectral_filter import SpectralFilter
from sfumato.details import Details
from sfumato.protect.noise.add_noise import AddNoise
from sfumato.published_law import read_laws
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

SEED = 2003
INDEPENDENT = {(10, 2): (0.46, None), (30, 2): (0.26, None), (10, 10): (1.0, 0.71), (30, 30): (1.0, 0.71)}
"""Columns and rank → RMSE after the spectral filter and the Bayes estimate, at a signal as strong as the noise."""
_OTHER_DRAWS = Tolerance(0.03, "other data and noise are drawn")
RATIOS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)


def low_rank(rows: int, columns: int, rank: int, ratio: float) -> tuple[Table, Release]:
    """Columns that follow from a few hidden causes, each of variance `ratio`, and Gaussian noise of variance 1."""
    chance = np.random.default_rng((SEED, columns, rank))
    if rank == columns:  # no column carries information about another
        data = chance.normal(size=(rows, columns))
    else:
        data = chance.normal(size=(rows, rank)) @ chance.normal(size=(rank, columns))
    data = np.sqrt(ratio) * (data - data.mean(axis=0)) / data.std(axis=0)
    names = [f"c{column_index}" for column_index in range(columns)]
    roles = dict.fromkeys(names, "sensitive")
    true = Table.of(pl.DataFrame(dict(zip(names, data.T, strict=True))), roles)
    noisy = pl.DataFrame(dict(zip(names, (data + chance.normal(size=data.shape)).T, strict=True)))
    public = {name: {"kind": "gaussian", "scale": 1.0, "step": 0} for name in names}
    return true, Release(Table.of(noisy, roles), None, (), {}, Details(public=read_laws(public)))


def _rmse(true: Table, estimate: pl.DataFrame) -> float:
    return float(np.sqrt(np.mean((true.frame.to_numpy() - estimate.to_numpy()) ** 2)))


def spectral(setting: Setting) -> Findings:
    """RMSE by strength of the signal and rank, and the eigenvalues."""
    rows = 2_000 if setting.quick else 20_000
    table, spectral_errors, bayes = [], {}, {}
    for shape_index, (columns, rank) in enumerate([*INDEPENDENT, (30, 5), (30, 15)]):
        report_progress("filtering", shape_index, len(INDEPENDENT) + 2)
        for ratio in RATIOS:
            true, release = low_rank(rows, columns, rank, ratio)
            spectral_error, bayes_error = (
                _rmse(true, SpectralFilter().estimate(release)),
                _rmse(true, BayesEstimate().estimate(release)),
            )
            spectral_errors[columns, rank, ratio], bayes[columns, rank, ratio] = spectral_error, bayes_error
            table.append({"columns": columns, "rank": rank, "signal_to_noise": ratio,
                          "released": round(_rmse(true, release.data.frame), 4),
                          "spectral_filter": round(spectral_error, 4),
                          "bayes_estimate": round(bayes_error, 4)})  # fmt: skip
    ranks = ((30, 2), (30, 5), (30, 15), (30, 30))
    lines = [
        Curve(f"rank {rank}", [(ratio, spectral_errors[columns, rank, ratio]) for ratio in RATIOS])
        for columns, rank in ranks
    ]
    by_ratio = draw_curves(
        "Spectral filter, 30 columns: RMSE in units of the noise",
        Axis("signal to noise", log=True), Axis("RMSE"), lines,
    )  # fmt: skip
    return Findings(
        _state_filters(spectral_errors, bayes),
        (Grid("rmse", f"Root mean square error in units of the noise, {rows:,} rows", frame_of(table)),),
        (by_ratio, _eigenvalues(rows)),
        (
            (
                "The slides name Wigner's law; for a sample covariance it is Marchenko and Pastur's, σ² (1 ± √(n/m))². "
                "Its expansion should end in VᵀV."
            ),
        ),
    )


def _state_filters(
    spectral_errors: dict[tuple[int, int, float], float], bayes: dict[tuple[int, int, float], float]
) -> tuple[Statement, ...]:
    full = {shape: paper_error for shape, (_, paper_error) in INDEPENDENT.items() if paper_error is not None}
    return (
        Statement(
            "In many cases the originals can be accurately estimated.",
            f"30 columns of rank 2, signal ten times the noise: RMSE {spectral_errors[30, 2, 10.0]:.2f} of 3.16.",
            None,
            "The slides give neither data nor numbers.",
        ),
        compare(
            f"RMSE after the filter, columns and rank {', '.join(map(str, INDEPENDENT))}",
            [Pair(paper_error, spectral_errors[*shape, 1.0]) for shape, (paper_error, _) in INDEPENDENT.items()],
            _OTHER_DRAWS,
            source="independent count",
        ),
        compare(
            f"RMSE by the Bayes estimate, columns and rank {', '.join(map(str, full))}",
            [Pair(paper_error, bayes[*shape, 1.0]) for shape, paper_error in full.items()],
            _OTHER_DRAWS,
            source="independent count",
        ),
    )


def _eigenvalues(rows: int) -> Plot:
    _, release = low_rank(rows, 30, 5, 1.0)
    centred_data = release.data.frame.to_numpy() - release.data.frame.to_numpy().mean(axis=0)
    sizes = np.linalg.eigvalsh(centred_data.T @ centred_data / len(centred_data))[::-1]
    low, high = ((1 + sign * np.sqrt(30 / len(centred_data))) ** 2 for sign in (-1, 1))
    return draw_curves(
        "Eigenvalues of 30 noisy columns of rank 5, and where noise lies",
        Axis("eigenvalue, by size"), Axis("σ²", log=True),
        [
            Curve("eigenvalues", [(index + 1, float(size)) for index, size in enumerate(sizes)]),
            Curve("greatest of noise", [(1, high), (30, high)]),
            Curve("least of noise", [(1, low), (30, low)]),
        ],
    )  # fmt: skip


def range_reveal(setting: Setting) -> Findings:
    """Values in [0, 1] and [4, 5], and uniform noise of α = 1."""
    rows = 5_000 if setting.quick else 50_000
    chance = np.random.default_rng(SEED)
    half = chance.random(rows) < 0.5
    true = chance.random(rows) + np.where(half, 4.0, 0.0)
    table = Table.of({"x": true}, {"x": "sensitive"})
    confidence = 0.95
    method = AddNoise(
        columns="x", kind="uniform", privacy=2 * confidence / 5, confidence=confidence, ranges={"x": (0, 5)}
    )
    release = method.protect(table, Randomness.seeded(SEED))
    noisy_values = release.data.frame["x"].to_numpy()
    estimate = RangeReveal().estimate(release)["x"].to_numpy()
    half_hits = (estimate > 2.5) == half
    outcome = RangeReveal().run(release, table)
    before, after = (float(np.sqrt(np.mean((guess - true) ** 2))) for guess in (noisy_values, estimate))
    table_rows = [
        {
            "who": "reads the release",
            "rmse": round(before, 4),
            "half_told": float(((noisy_values > 2.5) == half).mean()),
        },
        {"who": "knows where values can be", "rmse": round(after, 4), "half_told": float(half_hits.mean())},
    ]
    scale = float(release.public["x"]["scale"])
    return Findings(
        (
            Statement(
                "α = 1 on [0, 1] ∪ [4, 5] reveals the half for every record.",
                f"α = {scale:.3f}; the half is told of {half_hits.mean():.2%} of {rows:,}",
                bool(half_hits.all()),
                source="independent count",
            ),
            Statement(
                "(privacy of 2 at 100 % confidence is what α = 1 promises)",
                f"{outcome.successes:,} of {outcome.attempts:,} records are told to within three quarters of it; RMSE "
                f"{before:.2f} → {after:.2f}",
                after < before,
                source="independent count",
            ),
        ),
        (Grid("half", "What is told", frame_of(table_rows)),),
    )
