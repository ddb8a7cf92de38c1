# SPDX-License-Identifier: MIT
"""Attacks on added noise: a million rows of fifty columns, beside the filter written down in numpy, and growth."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

import sfumato as sf
from bench.timing import show
from sfumato.attack.noise.bayes_estimate import BayesEstimate
from sfumato.attack.noise.likeliest_value import LikeliestValue
from sfumato.attack.noise.range_reveal import RangeReveal
from sfumato.attack.noise.spectral_filter import SpectralFilter
from sfumato.details import Details
from sfumato.published_law import read_laws
from sfumato.release import Release

Floats = npt.NDArray[np.float64]
ROWS, COLUMNS = 62_500, 50


def main() -> None:
    _golden()
    _growth()
    _one_column()


def noisy(rows: int, columns: int, rank: int, kind: str = "gaussian", seed: int = 1) -> tuple[sf.Table, Release]:
    """Columns of deviation 1 that some hidden causes explain, and noise of the same variance; drawn in blocks."""
    chance = np.random.default_rng(seed)
    mixing_matrix = chance.normal(size=(rank, columns)) if rank < columns else np.eye(columns)
    mixing_matrix /= np.sqrt((mixing_matrix**2).sum(axis=0))
    names = [f"c{number}" for number in range(columns)]
    true, noisy_frames = [], []
    for start in range(0, rows, 50_000):
        signal = chance.normal(size=(min(50_000, rows - start), rank)) @ mixing_matrix
        noise = (
            chance.normal(size=signal.shape) if kind == "gaussian" else chance.uniform(-(3**0.5), 3**0.5, signal.shape)
        )
        true.append(pl.DataFrame(signal, schema=names))
        noisy_frames.append(pl.DataFrame(signal + noise, schema=names))
    roles = dict.fromkeys(names, "sensitive")
    noise_details = {"kind": kind, "scale": 1.0 if kind == "gaussian" else 3**0.5, "step": 0}
    release = Release(
        sf.Table.of(pl.concat(noisy_frames), roles),
        None,
        (),
        {},
        Details(public=read_laws(dict.fromkeys(names, noise_details))),
    )
    return sf.Table.of(pl.concat(true), roles), release


def plain(release: Release) -> pl.DataFrame:
    """The filter as Giannotti et al. (2009) have it, in a few lines of numpy."""
    noisy_values = release.data.frame.to_numpy()
    mean = noisy_values.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(noisy_values.T, bias=True))
    signal_vectors = vectors[:, values > (1 + np.sqrt(noisy_values.shape[1] / noisy_values.shape[0])) ** 2]
    return pl.DataFrame(
        (noisy_values - mean) @ signal_vectors @ signal_vectors.T + mean, schema=release.data.frame.columns
    )


def error(frame: pl.DataFrame, truth: sf.Table) -> float:
    """The root of the mean squared error over all cells."""
    return float(np.sqrt(np.mean([((frame[c] - truth.frame[c]) ** 2).mean() for c in frame.columns])))


def _golden() -> None:
    rows = []
    for columns, rank, paper_text in ((10, 2, ".46"), (30, 2, ".26"), (10, 10, "1.00 (Bayes .71)")):
        truth, release = noisy(2_000, columns, rank)
        attack_errors = [error(attack.estimate(release), truth) for attack in (SpectralFilter(), BayesEstimate())]
        release_error, other = error(release.data.frame, truth), error(plain(release), truth)
        rows.append(
            (
                columns,
                rank,
                f"{release_error:.3f}",
                paper_text,
                f"{attack_errors[0]:.3f}",
                f"{other:.3f}",
                f"{attack_errors[1]:.3f}",
            )
        )
    head = ("columns", "rank", "RMSE as published", "golden", "spectral filter", "plain numpy", "Bayes estimate")
    show("Giannotti et al. (2009), signal and noise alike, 2,000 rows", head, rows)


def _growth() -> None:
    """Each in a process of its own, so that the peak of memory is its own."""
    rows = []
    for times in (1, 4, 16):
        for way in ("data alone", "spectral filter", "plain numpy", "Bayes estimate"):
            command = [sys.executable, "-m", "bench.spectral", way, str(times * ROWS)]
            output_words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            rows.append(
                (
                    f"{times * ROWS:,} × {COLUMNS}",
                    way,
                    f"{float(output_words[0]):.2f} s",
                    output_words[1],
                    f"{output_words[2]} MB",
                )
            )
    head = ("rows × columns", "way", "estimate()", "RMSE", "peak memory of the process")
    show("Growth, rank 5; all in float64, input and truth held beside", head, rows)


def measure_one(way: str, rows: int) -> None:
    """Time one way, once; print seconds, error and peak memory."""
    truth, release = noisy(rows, COLUMNS, 5)
    ways: dict[str, Callable[[], pl.DataFrame]] = {
        "data alone": lambda: release.data.frame,
        "spectral filter": lambda: SpectralFilter().estimate(release),
        "plain numpy": lambda: plain(release),
        "Bayes estimate": lambda: BayesEstimate().estimate(release),
    }
    start = time.perf_counter()
    estimate = ways[way]()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(seconds, f"{error(estimate, truth):.3f}", peak)


def _one_column() -> None:
    rows = []
    for times in (1, 4, 16):
        truth, release = noisy(times * ROWS, 1, 1, "uniform")
        for way, attack in (
            ("likeliest value", LikeliestValue()),
            ("likeliest value, mean", LikeliestValue(statistic="mean")),
            ("range reveal", RangeReveal()),
        ):
            start = time.perf_counter()
            estimate = attack.estimate(release)
            rows.append(
                (f"{times * ROWS:,}", way, f"{time.perf_counter() - start:.2f} s", f"{error(estimate, truth):.3f}")
            )
    show("One column, uniform noise", ("rows", "way", "estimate()", "RMSE"), rows)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure_one(sys.argv[1], int(sys.argv[2]))
    else:
        main()
