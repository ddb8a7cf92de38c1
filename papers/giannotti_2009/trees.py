# SPDX-License-Identifier: MIT
"""Trees on noisy data (Agrawal and Srikant 2000): accuracy by function, by way of reconstruction and by privacy.

The slides show bars and curves without numbers. All nine attributes get noise, as real numbers, and trees are tested on
5,000 people without noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import product
from typing import Any, Literal

import polars as pl

from papers.plots import Axis, Curve, draw_bars, draw_curves
from papers.study import Findings, Grid, Pair, Plot, Setting, Statement, compare, frame_of
from sfumato.data.generators.quest_people import GROUP, RANGES, generate_quest_people, list_quest_roles
from sfumato.mine.noise.tree_on_noise import Reconstruct, train_tree_on_noise
from sfumato.progress import report_progress
from sfumato.protect.noise.add_noise import AddNoise
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table

Kind = Literal["uniform", "gaussian"]
FUNCTIONS = ("Fn1", "Fn2", "Fn3", "Fn4", "Fn5")
TEST, SEED, TEST_SEED = 5_000, 1, 1001
WAYS: dict[str, tuple[Reconstruct, bool | None]] = {
    "Global": ("global", None),
    "ByClass": ("by_class", None),
    "Local": ("local", None),
    "Randomized": ("none", None),
    "Randomized, pruned": ("none", True),
}
"""What is reconstructed, and whether it is pruned (None: where something is)."""
KINDS: tuple[Kind, ...] = ("gaussian", "uniform")
LEVELS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
_UNPRUNED = (
    "Randomized is the plain tree that anyone would grow; those that reconstruct are pruned by rows that are held out. "
    "What pruning alone would give is shown beside it."
)


@cache
def _draw_people(rows: int, function: str, seed: int) -> Table:
    frame = generate_quest_people(rows, function, seed).with_columns(pl.col(list(RANGES)).cast(pl.Float64))
    return Table.of(frame, list_quest_roles())


def add_noise(table: Table, kind: Kind, privacy: float) -> Release:
    """All nine attributes with noise of a level at a confidence of 95 %."""
    method = AddNoise(columns=tuple(RANGES), kind=kind, privacy=privacy, ranges=dict(RANGES))
    return method.protect(table, Randomness.seeded(SEED))


def measure_original(rows: int, function: str) -> float:
    """The accuracy of a tree on the originals."""
    tree = train_tree_on_noise(_draw_people(rows, function, SEED), GROUP, "none")
    return tree.accuracy(_draw_people(TEST, function, TEST_SEED))


def _measure(release: Release, way: str, function: str) -> float:
    reconstruct, prune = WAYS[way]
    tree = train_tree_on_noise(release, GROUP, reconstruct, prune=prune)
    return tree.accuracy(_draw_people(TEST, function, TEST_SEED))


def accuracy(setting: Setting) -> Findings:
    """Bars of five functions and ways at 25 % and 100 % privacy."""
    rows = 10_000 if setting.quick else 100_000
    found: dict[float, dict[str, dict[str, float]]] = {}
    for privacy in (0.25, 1.0):
        found[privacy] = {}
        for done, function in enumerate(FUNCTIONS):
            report_progress(f"trees at {privacy:.0%} privacy", done, len(FUNCTIONS))
            release = add_noise(_draw_people(rows, function, SEED), "gaussian", privacy)
            ways = {way: _measure(release, way, function) for way in WAYS}
            found[privacy][function] = {"Original": measure_original(rows, function), **ways}
    table = [
        {
            "privacy": privacy,
            "function": function,
            **{way.lower().replace(", ", "_"): share for way, share in one.items()},
        }
        for privacy, functions in found.items()
        for function, one in functions.items()
    ]
    return Findings(
        _stated(found),
        (Grid("functions", f"Accuracy on 5,000 people without noise, {rows:,} to learn from", frame_of(table)),),
        tuple(_bars(privacy, functions) for privacy, functions in found.items()),
        (_UNPRUNED,),
    )


def _bars(privacy: float, functions: dict[str, dict[str, float]]) -> Plot:
    percent = {of: {way: 100 * one[way] for way in one if "pruned" not in way} for of, one in functions.items()}
    return draw_bars(f"Gaussian noise, {privacy:.0%} privacy: per cent right", percent, ("Original", "Randomized"), 1)


CLOSE = 5.0
"""Points of accuracy below Original that count as close; the slides give no number."""
_PICTURES = "The slides show bars and curves without numbers, and do not describe the learner."


def _stated(found: dict[float, dict[str, dict[str, float]]]) -> tuple[Statement, ...]:
    high = found[1.0]
    apart = max(abs(high["Fn4"][way] - high["Fn5"][way]) for way in ("Original", *WAYS))
    return (
        *(
            state_closeness(
                way,
                f"Gaussian noise, {privacy:.0%} privacy",
                {f: (one["Original"], one[way]) for f, one in functions.items()},
            )
            for privacy, functions in found.items()
            for way in ("ByClass", "Local")
        ),
        _state_gain(high),
        Statement(
            "Function 4 gives almost the same results as function 5.",
            f"At 100 % at most {100 * apart:.1f} points apart, over all ways (2 points count as almost the same).",
            apart <= 0.02,
            _PICTURES,
        ),
        compare(
            "Fn1 at 100 %: Original, Randomized, ByClass",
            [Pair(theirs, high["Fn1"][way]) for way, theirs in INDEPENDENT.items()],
            0.02,
            reason="That tree is not pruned, and people and noise are drawn anew.",
            source="independent count",
        ),
    )


INDEPENDENT = {"Original": 1.0, "Randomized": 0.717, "ByClass": 0.964}
"""Accuracies of Fn1 at 100 % privacy by an independent count."""


def state_closeness(way: str, where: str, accuracies: Mapping[str, tuple[float, float]]) -> Statement:
    """Whether a way comes close to Original for every function; accuracies are of Original and of the way."""
    lost = {function: 100 * (whole - part) for function, (whole, part) in accuracies.items()}
    numbers = ", ".join(f"{function} {points:.1f}" for function, points in lost.items())
    return Statement(
        f"{where}: {way} stays close to Original (pictures).",
        f"Points below Original: {numbers} (up to {CLOSE:g} counts as close).",
        max(lost.values()) <= CLOSE,
        _PICTURES,
    )


def _state_gain(functions: dict[str, dict[str, float]]) -> Statement:
    """Reconstruction against none: how many functions gain."""
    gains = {
        way: sum(one[way] > one["Randomized"] for one in functions.values()) for way in ("Global", "ByClass", "Local")
    }
    return Statement(
        "At 100 % Global, ByClass and Local are more accurate than Randomized (bars).",
        ", ".join(f"{way} for {count} of {len(functions)} functions" for way, count in gains.items()) + ".",
        all(count == len(functions) for count in gains.values()),
        _PICTURES,
    )


def privacy_levels(setting: Setting) -> Findings:
    """Accuracy by privacy from 10 % to 200 %, uniform and Gaussian."""
    rows = 6_000 if setting.quick else 100_000
    functions = ("Fn1", "Fn3") if setting.quick else ("Fn1", "Fn2", "Fn3", "Fn5")
    levels = (0.1, 1.0, 2.0) if setting.quick else LEVELS
    table: list[dict[str, Any]] = []
    for done, function in enumerate(functions):
        report_progress("trees by privacy", done, len(functions))
        whole = measure_original(rows, function)
        for kind, privacy in product(KINDS, levels):
            release = add_noise(_draw_people(rows, function, SEED), kind, privacy)
            for name, way in (("ByClass", "ByClass"), ("Random", "Randomized")):
                accuracy = _measure(release, way, function)
                table.append({"function": function, "way": f"{name}({kind[0].upper()})", "privacy": privacy,
                              "accuracy": accuracy, "original": whole})  # fmt: skip
    frame = frame_of(table)
    return Findings(
        state_privacy_levels(frame),
        (Grid("levels", f"Accuracy on 5,000 people without noise, {rows:,} to learn from", frame),),
        tuple(_draw_levels(function, frame.filter(pl.col("function") == function)) for function in functions),
        (_UNPRUNED,),
    )


def _draw_levels(function: str, frame: pl.DataFrame) -> Plot:
    """Accuracy by privacy of one function, and the level of Original."""
    lines = [
        Curve(str(way), part.select("privacy", "accuracy").rows())
        for (way,), part in frame.group_by("way", maintain_order=True)
    ]
    level = Curve("Original", frame.filter(pl.col("way") == frame["way"][0]).select("privacy", "original").rows())
    x, y = Axis("privacy", percent=True), Axis("accuracy", percent=True, zero=False)
    return draw_curves(f"{function}: accuracy by privacy", x, y, [*lines, level])


def state_privacy_levels(frame: pl.DataFrame) -> tuple[Statement, ...]:
    """What the curves show, judged at 100 % privacy for each kind of noise."""
    whole = dict(frame.select("function", "original").iter_rows())
    rows = {row[:3]: row[3] for row in frame.select("way", "function", "privacy", "accuracy").iter_rows()}
    least, most = (float(edge) for edge in (frame["privacy"].min(), frame["privacy"].max()))  # type: ignore[arg-type]
    lower = {
        way: sum(rows[way, function, most] < rows[way, function, least] for function in whole)
        for way in ("Random(G)", "Random(U)")
    }
    return (
        *(
            state_closeness(way, "100 % privacy", {f: (one, rows[way, f, 1.0]) for f, one in whole.items()})
            for way in ("ByClass(G)", "ByClass(U)")
        ),
        Statement(
            "Random falls as privacy grows (curves).",
            ", ".join(
                f"{way} is lower at {most:.0%} than at {least:.0%} for {count} of {len(whole)} functions"
                for way, count in lower.items()
            )
            + ".",
            all(count == len(whole) for count in lower.values()),
            _PICTURES,
        ),
    )
