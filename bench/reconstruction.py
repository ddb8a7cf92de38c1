# SPDX-License-Identifier: MIT
"""Reconstruction of a million values, beside the published sum over all values and PyUnfold; growth."""

from __future__ import annotations

import importlib
import importlib.util
import resource
import time
from typing import Any

import numpy as np

from bench.timing import best_of, show
from sfumato.mine.noise.reconstruction import (
    binned_em,
    build_channel,
    build_noisy_edges,
    build_true_edges,
    count_in_bins,
    reconstruct_distribution,
)
from sfumato.public.noise_law import Noise

KINDS = (
    ("uniform, 50 %", Noise.of_privacy("uniform", 0.5, 0.95)),
    ("uniform, 100 %", Noise.of_privacy("uniform", 1.0, 0.95)),
    ("Gaussian, 50 %", Noise.of_privacy("gaussian", 0.5, 0.95)),
    ("Gaussian, 100 %", Noise.of_privacy("gaussian", 1.0, 0.95)),
)
BINS = 50


def main() -> None:
    _growth()  # first: nothing else has taken memory yet
    _million()
    _against_the_sum()
    _against_a_peer()


def draw_values(count: int, noise: Noise, seed: int = 1) -> tuple[Any, Any]:
    """Two triangles, and the same with noise."""
    chance = np.random.default_rng(seed)
    hill = chance.triangular(0, 0.25, 0.5, count)
    true = np.where(chance.random(count) < 0.5, hill, hill + 0.5)
    return true, true + noise.draw(chance, count)


def error(probabilities: Any, true: Any) -> float:
    """Σ |estimate − truth| over the bins."""
    return float(np.abs(probabilities - np.histogram(true, BINS, (0, 1))[0] / len(true)).sum())


def _million() -> None:
    rows = []
    for name, noise in KINDS:
        true, noisy = draw_values(1_000_000, noise)
        for intervals in ("none", "bootstrap"):

            def work(noisy: Any = noisy, noise: Noise = noise, intervals: Any = intervals) -> Any:
                return reconstruct_distribution(noisy, noise, BINS, range=(0, 1), intervals=intervals)

            reconstruction, seconds = work(), best_of(3, work)
            error_text = f"{error(reconstruction.probabilities, true):.3f}"
            rows.append(
                (name, intervals, f"{seconds:.3f} s", reconstruction.iterations, reconstruction.stop_reason, error_text)
            )
    head = ("noise", "intervals", "reconstruct_distribution()", "steps", "stopped by", "L1 error")
    show(f"1,000,000 values, {BINS} bins", head, rows)


def _against_the_sum() -> None:
    rows = []
    noise = KINDS[3][1]
    for count in (10_000, 100_000, 1_000_000):
        true, noisy = draw_values(count, noise)
        start = time.perf_counter()
        naive = run_published_sum(noisy, noise, 20)
        slow = time.perf_counter() - start

        def work(noisy: Any = noisy) -> Any:
            return reconstruct_distribution(noisy, noise, BINS, 20, range=(0, 1), intervals="none")

        fast, estimate = best_of(3, work), work().probabilities
        rows.append(
            (
                f"{count:,}", f"{fast:.4f} s", f"{slow:.2f} s", f"{slow / fast:.0f}×",
                f"{np.abs(estimate - naive).sum():.4f}", f"{error(estimate, true):.3f} / {error(naive, true):.3f}",
            )
        )  # fmt: skip
    head = ("values", "on bins", "sum over values", "ratio", "L1 between the two", "L1 error of each")
    show("20 steps, 100 % Gaussian: EM on bins beside the published sum over all values (numpy)", head, rows)


def run_published_sum(noisy: Any, noise: Noise, steps: int) -> Any:
    """Step (3) of Agrawal and Srikant as it stands, in numpy, a hundred thousand values at a time."""
    middles = (np.arange(BINS) + 0.5) / BINS
    probabilities = np.full(BINS, 1 / BINS)
    for _ in range(steps):
        total = np.zeros(BINS)
        for part in np.array_split(noisy, max(1, len(noisy) // 100_000)):
            likely = noise.density(part[:, None] - middles) * probabilities
            total += (likely / likely.sum(axis=1, keepdims=True)).sum(axis=0)
        probabilities = total / len(noisy)
    return probabilities


def _against_a_peer() -> None:
    """PyUnfold 0.5 is the same iteration (D'Agostini's) for physicists; it starts from counts and a response matrix."""
    if importlib.util.find_spec("pyunfold") is None:
        print("reconstruction: PyUnfold is not installed, so it is left out (pip install pyunfold)")
        return
    iterative_unfold = importlib.import_module("pyunfold").iterative_unfold

    rows = []
    for name, noise in KINDS:
        true, noisy = draw_values(100_000, noise)
        edges = build_true_edges(0, 1, BINS)
        noisy_edges = build_noisy_edges(noise, edges)
        channel, counts = build_channel(noise, edges, noisy_edges), count_in_bins(noisy, noisy_edges)

        def peer(threshold: float, channel: Any = channel, counts: Any = counts) -> Any:
            return iterative_unfold(
                data=counts, data_err=np.sqrt(np.maximum(counts, 1)), response=channel, response_err=channel * 0 + 1e-9,
                efficiencies=np.ones(BINS), efficiencies_err=np.full(BINS, 1e-9), ts="ks",
                ts_stopping=threshold, max_iter=10,
            )  # fmt: skip

        start = time.perf_counter()
        peer_result = peer(1e-12)
        slow = time.perf_counter() - start
        steps = int(peer_result["num_iterations"])
        own_time = best_of(3, lambda c=counts, a=channel, s=steps: binned_em(c, a, stop=s))  # type: ignore[misc]
        gap = np.abs(
            peer_result["unfolded"] / peer_result["unfolded"].sum() - binned_em(counts, channel, stop=steps)
        ).sum()
        early = peer(0.01)["unfolded"]
        rows.append(
            (
                name, steps, f"{own_time * 1e3:.2f} ms", f"{slow * 1e3:.0f} ms", f"{gap:.1e}",
                f"{error(binned_em(counts, channel), true):.3f}", f"{error(early / early.sum(), true):.3f}",
            )
        )  # fmt: skip
    head = ("noise", "steps", "binned_em", "PyUnfold", "L1 between", "L1 error, our stop", "its default stop")
    show("100,000 values: the same steps beside PyUnfold 0.5, whose time goes into covariances", head, rows)


def _growth() -> None:
    rows = []
    noise = KINDS[1][1]
    for count in (250_000, 1_000_000, 4_000_000):
        _, noisy = draw_values(count, noise)
        start_memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

        def work(noisy: Any = noisy) -> Any:
            return reconstruct_distribution(noisy, noise, BINS, range=(0, 1))

        seconds = best_of(2, work)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append(
            (f"{count:,}", f"{seconds:.3f} s", work().iterations, f"{peak:.0f} MB", f"{peak - start_memory:.0f} MB")
        )
    head = ("values", "reconstruct_distribution()", "steps", "peak memory of the process", "of which ours")
    show("Growth, 100 % uniform, with intervals", head, rows)


if __name__ == "__main__":
    main()
