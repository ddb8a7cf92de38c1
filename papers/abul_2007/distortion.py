# SPDX-License-Identifier: MIT
"""What hiding two patterns costs, M1 to M3, by the threshold and by the way sequences and items are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from papers.plots import Axis, Curve, draw_curves
from papers.study import Findings, Grid, Plot, Setting, Statement, frame_of
from papers.tracks import TRACKS, Walks, measure_mean_length, read_tracks
from sfumato.data.generators.movements import generate_cars, generate_trucks
from sfumato.measure.sequences.changed_items import count_marks
from sfumato.measure.sequences.pattern_changes import PatternChanges, pattern_changes
from sfumato.mine.sequences.subsequences import frequent_subsequences
from sfumato.protect.sequences.hide_sequences import HideSequences
from sfumato.randomness import Randomness
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences

STRATEGIES = ("HH", "HR", "RH", "RR")
MEASURES = {"m1": "M1, marks", "m2": "M2, patterns lost", "m3": "M3, supports lost"}
RUNS = 10
THRESHOLDS = {
    "trucks": (0, 10, 20, 30, 40, 50),
    "cars": (0, 30, 50, 70, 90, 110),
    "Athens": (0, 10, 20, 30, 40),
    "Chicago": (0, 90, 140, 190, 240),
}
SIZES = {"trucks": (273, 6.8), "cars": (300, 20.1)}
"""The paper's data: how many trajectories, and their mean length."""
_REASON = "The paper's trajectories are not available, and its authors' slides show curves without numbers."


def trucks(setting: Setting) -> Findings:
    """Generated trucks."""
    return _compare({"trucks": generate_trucks()}, setting)


def cars(setting: Setting) -> Findings:
    """Generated cars."""
    return _compare({"cars": generate_cars()}, setting)


def tracks(setting: Setting) -> Findings:
    """Real tracks."""
    return _compare({name: read_tracks(setting.folder, name) for name in TRACKS}, setting)


def choose_patterns(data: Sequences) -> list[list[str]]:
    """The two most frequent pairs of cells that share none; pairs of equal support in the order of their names."""
    subsequences = frequent_subsequences(data, 2, max_length=2)
    pairs = [(-count, pattern) for pattern, count in subsequences.rows() if len(set(pattern)) == 2]
    first, *rest = [pattern for _, pattern in sorted(pairs)]
    return [first, next(pattern for pattern in rest if not set(pattern) & set(first))]


def list_thresholds(name: str, setting: Setting) -> Sequence[int]:
    """Fewer in a quick run."""
    return THRESHOLDS[name][1:3] if setting.quick else THRESHOLDS[name]


def list_seeds(strategy: str, setting: Setting) -> range:
    """One run where nothing is random."""
    return range(1, 1 + (1 if "R" not in strategy else 2 if setting.quick else RUNS))


def hide(data: Sequences, patterns: list[list[str]], threshold: int, strategy: str, seed: int) -> Sequences:
    """The sequences with marks."""
    method = HideSequences.model_validate(
        {"patterns": patterns, "threshold": threshold, "strategy": strategy, "mark": "Δ"}
    )
    release_data: Sequences = method.protect(data, Randomness.seeded(seed)).data
    return release_data


def _compare(several: Mapping[str, Walks], setting: Setting) -> Findings:
    rows: list[dict[str, Any]] = []
    descriptions = []
    for name, walks in several.items():
        data = Sequences.of(walks)
        patterns = choose_patterns(data)
        descriptions.append(_describe(name, walks, data, patterns))
        for threshold in list_thresholds(name, setting):
            report_progress(f"hiding in {name}, threshold {threshold}", len(rows))
            rows += [_measure(name, data, patterns, threshold, strategy, setting) for strategy in STRATEGIES]
    frame = frame_of(rows)
    return Findings(
        statements=tuple(_judge(frame, measure) for measure in MEASURES),
        grids=(
            Grid("sequences", "The sequences, and the patterns that are hidden", frame_of(descriptions)),
            Grid(
                "measures",
                "M1 to M3 by threshold and strategy",
                frame,
                "M2 and M3 are undefined at the threshold 0, where every sequence of cells would be frequent.",
            ),
        ),
        plots=tuple(_draw(frame, name, measure) for name in several for measure in MEASURES),
    )


def _describe(name: str, walks: Walks, data: Sequences, patterns: list[list[str]]) -> dict[str, Any]:
    from sfumato.mine.sequences.containment import support

    count, length = SIZES.get(name, (None, None))
    return {
        "data": name,
        "sequences": len(walks),
        "theirs": count,
        "mean_length": round(measure_mean_length(walks), 1),
        "their_mean_length": length,
        "cells": len(data.items),
        "hidden": "; ".join(f"{' → '.join(pattern)} ({support(data, pattern)})" for pattern in patterns),
    }


def _measure(
    name: str, data: Sequences, patterns: list[list[str]], threshold: int, strategy: str, setting: Setting
) -> dict[str, Any]:
    """The mean of some runs."""
    several = [hide(data, patterns, threshold, strategy, seed) for seed in list_seeds(strategy, setting)]
    row: dict[str, Any] = {"data": name, "threshold": threshold, "strategy": strategy}
    row["m1"] = sum(count_marks(data, release_data) for release_data in several) / len(several)
    changes = [pattern_changes(data, release_data, threshold) for release_data in several] if threshold else []
    return row | {"m2": _average(changes, "pattern_distortion"), "m3": _average(changes, "support_distortion")}


def _average(changes: Sequence[PatternChanges], measure: str) -> float | None:
    """The mean; none if it is undefined in some run."""
    values = [getattr(change, measure) for change in changes]
    return None if not values or None in values else sum(values) / len(values)


def _judge(frame: pl.DataFrame, measure: str) -> Statement:
    """At how many thresholds the heuristics distort no more than what chance does."""
    wide = frame.drop_nulls(measure).pivot("strategy", index=["data", "threshold"], values=measure)
    least = wide.filter(*(pl.col("HH") <= pl.col(other) + 1e-12 for other in STRATEGIES[1:])).height
    low_count = wide.filter(pl.col("HH") <= pl.col("RR") + 1e-12).height
    return Statement(
        f"{MEASURES[measure]}: the heuristics distort less at all thresholds.",
        f"HH is not above RR at {low_count} of {wide.height} thresholds, and not above any of the others at {least}.",
        None,
        _REASON,
    )


def _draw(frame: pl.DataFrame, name: str, measure: str) -> Plot:
    part = frame.filter(pl.col("data") == name).drop_nulls(measure)
    curves = [
        Curve(strategy, part.filter(pl.col("strategy") == strategy).select("threshold", measure).rows())
        for strategy in STRATEGIES
    ]
    y = Axis(MEASURES[measure], percent=measure != "m1")
    return draw_curves(f"{name}: {MEASURES[measure]}", Axis("threshold"), y, curves)
