# SPDX-License-Identifier: MIT
"""Randomized answers: a million asked and estimated, beside a loop and beside multi-freq-ldpy where it is installed."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from bench.timing import best_of, show
from sfumato.mine.answers.proportions import estimate_joint, estimate_proportions
from sfumato.protect.answers.randomize_response import RandomizeResponse
from sfumato.public.answer_channel import design_channel
from sfumato.randomness import Randomness


def main() -> None:
    _side_by_side()
    _growth()


def people(rows: int, categories: int, seed: int = 1) -> sf.Table:
    """Names, a yes or no, and a category, commoner ones first."""
    chance = np.random.default_rng(seed)
    shares = 1 / np.arange(1, categories + 1)
    frame = pl.DataFrame(
        {
            "name": pl.Series(np.arange(rows)).cast(pl.String),
            "yes": chance.random(rows) < 0.3,
            "kind": chance.choice(categories, rows, p=shares / shares.sum()),
        }
    )
    return sf.Table.of(frame, {"name": "identifying", "yes": "sensitive", "kind": "sensitive"})


def _side_by_side(rows: int = 1_000_000, sample: int = 100_000) -> None:
    table_rows = []
    for kind, categories, epsilon in (("warner", 2, 0.847), ("k_ary", 16, 2.0), ("unary", 64, 1.0)):
        table = people(rows, max(categories, 3))
        column = "yes" if categories == 2 else "kind"
        method = RandomizeResponse(column=column, epsilon=epsilon, kind=kind)
        release = method.protect(table, Randomness.seeded(1))
        protect_seconds = best_of(2, partial(method.protect, table, Randomness.seeded(1)))
        estimate_seconds = best_of(2, partial(estimate_proportions, release, column))
        values = table.frame[column].cast(pl.Int64).to_numpy()
        loop = _time_work(partial(_by_loop, values[:sample].tolist(), categories, epsilon, kind)) * rows / sample
        peer = _peer(values, categories, epsilon, kind)
        errors = estimate_proportions(release, column)["variance"].max()
        table_rows.append(
            (
                kind,
                categories,
                f"{protect_seconds:.2f} s",
                f"{estimate_seconds:.2f} s",
                f"{loop:.1f} s ({loop / (protect_seconds + estimate_seconds):.1f}×)",
                "not installed"
                if peer is None
                else f"{peer:.1f} s ({peer / (protect_seconds + estimate_seconds):.1f}×)",
                f"{float(errors) ** 0.5:.5f}",  # type: ignore[arg-type]
            )
        )
    head = (
        "kind",
        "categories",
        "protect()",
        "estimate",
        "plain loop, both",
        "multi-freq-ldpy, both",
        "standard error",
    )
    show(f"{rows:,} answers (the loop is timed on {sample:,} and scaled)", head, table_rows)


def _by_loop(values: list[int], categories: int, epsilon: float, kind: str) -> list[float]:
    """One answer after the other, and the raw estimate, in plain Python."""
    channel = design_channel(kind, [str(category) for category in range(categories)], None, epsilon)  # type: ignore[arg-type]
    counts = [0] * categories
    for value in values:
        if channel.one_answer:
            if random.random() < channel.p:
                counts[value] += 1
            else:
                other = random.randrange(categories - 1)
                counts[other + (other >= value)] += 1
        else:
            for category in range(categories):
                counts[category] += random.random() < (channel.p if category == value else channel.q)
    return [(count / len(values) - channel.q) / (channel.p - channel.q) for count in counts]


def _peer(values: Any, categories: int, epsilon: float, kind: str, sample: int = 50_000) -> float | None:
    """Seconds of multi-freq-ldpy's client, called for each person as its manual does, and its aggregator."""
    try:
        direct = import_module("multi_freq_ldpy.pure_frequency_oracles.GRR")
        bits = import_module("multi_freq_ldpy.pure_frequency_oracles.UE")
    except ImportError:
        return None

    def work() -> object:
        sample_values = values[:sample]
        if kind == "unary":
            return bits.UE_Aggregator_MI(
                [bits.UE_Client(value, categories, epsilon, True) for value in sample_values], epsilon, True
            )
        answers = [direct.GRR_Client(value, categories, epsilon) for value in sample_values]
        return direct.GRR_Aggregator_MI(answers, categories, epsilon)

    work()
    return _time_work(work) * len(values) / sample


def _time_work(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _growth() -> None:
    table_rows = []
    for rows in (62_500, 250_000, 1_000_000):
        table = people(rows, 60)
        times = []
        with TemporaryDirectory() as folder:
            memory = str(Path(folder) / "answers.key")
            for method in (
                RandomizeResponse(column="yes", p=0.7),
                RandomizeResponse(column="yes", p=0.7, memory=memory),
                RandomizeResponse(column="kind", epsilon=2.0, kind="k_ary"),
                RandomizeResponse(column="kind", epsilon=1.0, kind="unary"),
            ):
                name = str(method.column)
                release = method.protect(table)
                begin = time.perf_counter()
                release = method.protect(table)
                middle = time.perf_counter()
                estimate_proportions(release, name)
                times.append(f"{middle - begin:.2f} + {time.perf_counter() - middle:.2f} s")
            joint_release = RandomizeResponse(column=("yes", "kind"), epsilon=2.0, kind="k_ary").protect(table)
            times.append(f"{_time_work(partial(estimate_joint, joint_release, ('yes', 'kind'))):.2f} s")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        table_rows.append((f"{rows:,}", *times, f"{peak:.0f} MB"))
    head = (
        "rows",
        "two answers",
        "with memory",
        "60, k_ary",
        "60, unary",
        "joint 2 × 60",
        "peak memory of the process",
    )
    show("Growth: protect() + estimate", head, table_rows)


if __name__ == "__main__":
    main()
