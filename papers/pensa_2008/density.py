# SPDX-License-Identifier: MIT
"""What BF-P2kA leaves of the frequent patterns: F-measure and SupSim by k and by support, sparse and dense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from papers.plots import Axis, Curve, draw_curves
from papers.study import Findings, Grid, Plot, Setting, Statement, frame_of
from papers.tracks import TRACKS, Walks, keep_dense, measure_mean_length, read_tracks
from sfumato.data.generators.movements import generate_cars
from sfumato.measure.sequences.pattern_changes import pattern_changes
from sfumato.measure.sequences.sequence_checks import measure_least_containing, sequence_anonymity
from sfumato.protect.sequences.anonymize_sequences import AnonymizeSequences
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences

SHARES = {"sparse": 0.05, "dense": 0.3}
"""Which share of the trajectories must pass a cell that is kept."""
KS = (2, 3, 5, 7, 10)
SUPPORTS = (0.1, 0.15, 0.2, 0.25, 0.3)
SUPPORT, K = 0.1, 5
"""Where the other one varies."""
_REMARK = (
    "Above the support k the release may have frequent patterns that the originals have not: sequences that were moved "
    "to the same path add up. Only at the support k is there none."
)
_MISSING = "The tracks of Milan are not available, and its authors' slides show curves without numbers."


class Choice(NamedTuple):
    """A point of the curves."""

    k: int
    support: float


def cars(setting: Setting) -> Findings:
    """Generated cars."""
    return _compare({"cars": generate_cars()}, setting)


def tracks(setting: Setting) -> Findings:
    """Real tracks."""
    return _compare({name: read_tracks(setting.folder, name) for name in TRACKS}, setting)


def _compare(several: Mapping[str, Walks], setting: Setting) -> Findings:
    choices = _list_choices(setting)
    rows = [
        row
        for name, walks in several.items()
        for density, share in SHARES.items()
        for row in _measure(name, density, keep_dense(walks, share), choices)
    ]
    frame = frame_of(rows)
    return Findings(
        statements=(_judge_lost(frame), _judge_similar(frame), _judge_subset(frame), _judge_anonymous(frame)),
        grids=(
            Grid("sequences", "The sequences of regions of interest", frame_of(_describe(several))),
            Grid(
                "measures",
                "Frequent patterns before and after anonymization",
                frame,
                "SupSim is undefined where no pattern is frequent both before and after. The k found is the smallest "
                "support of anything that occurs in the release.",
            ),
        ),
        plots=_draw(frame),
        remarks=(_REMARK,),
    )


def _list_choices(setting: Setting) -> list[Choice]:
    ks, supports = (KS[1:3], SUPPORTS[:3:2]) if setting.quick else (KS, SUPPORTS)
    return sorted({*(Choice(k, SUPPORT) for k in ks), *(Choice(K, support) for support in supports)})


def _describe(several: Mapping[str, Walks]) -> list[dict[str, Any]]:
    return [
        {
            "data": name,
            "density": density,
            "sequences": len(walks),
            "regions": len({cell for walk in dense_walks for cell in walk}),
            "mean_length": round(measure_mean_length(dense_walks), 1),
            "distinct": len(set(map(tuple, dense_walks))),
        }
        for name, walks in several.items()
        for density, share in SHARES.items()
        for dense_walks in [keep_dense(walks, share)]
    ]


def _measure(name: str, density: str, walks: Walks, choices: Sequence[Choice]) -> list[dict[str, Any]]:
    """A row for each choice; the releases are made once for each k."""
    data = Sequences.of(walks)
    rows: list[dict[str, Any]] = []
    for k in sorted({choice.k for choice in choices}):
        report_progress(f"{name}, {density}, k = {k}", len(rows), len(choices))
        release = AnonymizeSequences(k=k).protect(data)
        single_pass = AnonymizeSequences(k=k, literal=True).protect(data)
        measures = {
            "originals_that_contain_each": measure_least_containing(release.data, data),
            "k_found": sequence_anonymity(release.data),
            "k_found_after_one_pass": sequence_anonymity(single_pass.data),
        }
        for choice in choices:
            if choice.k != k:
                continue
            changes = pattern_changes(data, release.data, choice.support)
            rows.append(
                {
                    "data": name,
                    "density": density,
                    "k": k,
                    "support": choice.support,
                    "before": changes.before,
                    "after": changes.after,
                    "lost": changes.lost_patterns,
                    "new": changes.ghosts,
                    "f_measure": changes.f_measure,
                    "sup_sim": changes.sup_sim,
                    "dropped_sequences": int(release.losses["dropped_sequences"]),
                    "share_of_elements_changed": release.losses["loss"],
                    **measures,
                }
            )
    return rows


def _judge_lost(frame: pl.DataFrame) -> Statement:
    shares = _list_means(frame, pl.col("lost") / pl.col("before"))
    return Statement(
        "Sparse data: some frequent patterns of D are missing in D'.",
        "Of the patterns, are missing on average: " + _write_means(shares),
        None,
        _MISSING,
    )


def _judge_similar(frame: pl.DataFrame) -> Statement:
    means = _list_means(frame, pl.col("f_measure"))
    return Statement(
        "At a higher density threshold, the patterns before and after are similar.",
        "Mean F-measure: " + _write_means(means),
        None,
        _MISSING,
    )


def _list_means(frame: pl.DataFrame, value: pl.Expr) -> pl.DataFrame:
    return frame.group_by("data", "density", maintain_order=True).agg(value.mean().alias("mean"))


def _write_means(means: pl.DataFrame) -> str:
    return "; ".join(f"{name}, {density}: {mean:.2f}" for name, density, mean in means.rows()) + "."


def _judge_subset(frame: pl.DataFrame) -> Statement:
    violations = frame.filter(pl.col("originals_that_contain_each") < pl.col("k")).height
    return Statement(
        "S(D', k) ⊆ S(D, k): no pattern becomes k-frequent.",
        f"Every published sequence is contained in at least k originals in {frame.height - violations} of "
        f"{frame.height} settings.",
        violations == 0,
        cases=frame.height,
    )


def _judge_anonymous(frame: pl.DataFrame) -> Statement:
    short = frame.filter(pl.col("k_found_after_one_pass") < pl.col("k"))
    failures = frame.filter(pl.col("k_found") < pl.col("k"))
    return Statement(
        "D' is k-anonymous: no sequence is linked with a probability above 1/k.",
        f"After the published single pass, some sequence is in fewer than k published ones in {short.height} of "
        f"{frame.height} settings; after its repetition in {failures.height}.",
        short.is_empty(),
        "Definition 3 is weaker than Theorem 1: see the example.",
        cases=frame.height,
    )


def _draw(frame: pl.DataFrame) -> tuple[Plot, ...]:
    """Each measure by k and by support, a line for each set of sequences."""
    by_k, by_support = frame.filter(pl.col("support") == SUPPORT), frame.filter(pl.col("k") == K)
    words = {"f_measure": "F-measure", "sup_sim": "SupSim"}
    return tuple(
        draw_curves(f"{word} by {variable_name}, {setting_text}", x, Axis(word), _list_curves(rows, column, measure))
        for measure, word in words.items()
        for rows, column, variable_name, setting_text, x in (
            (by_k, "k", "k", f"support {SUPPORT:.0%}", Axis("k")),
            (by_support, "support", "support", f"k = {K}", Axis("support", percent=True, zero=False)),
        )
    )


def _list_curves(rows: pl.DataFrame, column: str, measure: str) -> list[Curve]:
    curves = []
    for (name, density), part in rows.group_by("data", "density", maintain_order=True):
        points = part.drop_nulls(measure).sort(column).select(column, measure).rows()
        if points:
            curves.append(Curve(f"{name}, {density}", points))
    return curves
