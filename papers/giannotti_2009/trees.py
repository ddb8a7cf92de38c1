# SPDX-License-Identifier: MIT
"""Trees on noisy data (Agrawal and Srikant 2000): accuracy by function, by way of reconstruction and by privacy.

The slides show bars and curves without numbers. All nine attributes get noise, as real numbers, and trees are tested on
5,000 people without noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise, product
from typing import Any, Literal

import polars as pl

from papers.plots import Axis, Curve, draw_bars, draw_curves
from papers.study import Findings, Grid, Pair, Plot, Setting, Statement, Tolerance, compare, frame_of
from sfumato.data.generators.quest_people import GROUP, RANGES, generate_quest_people, list_quest_roles
from sfumato.mine.noise.tree_on_noise import Reconstruct, train_tree_on_noise
from sfumato.protect.noise.add_noise import AddNoise
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
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
_PRUNING_NOTE = (
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
    return tree.measure_accuracy(_draw_people(TEST, function, TEST_SEED))


def _measure(release: Release, way: str, function: str) -> float:
    reconstruct, prune = WAYS[way]
    tree = train_tree_on_noise(release, GROUP, reconstruct, prune=prune)
    return tree.measure_accuracy(_draw_people(TEST, function, TEST_SEED))


def accuracy(setting: Setting) -> Findings:
    """Bars of five functions and ways at 25 % and 100 % privacy."""
    rows = 10_000 if setting.quick else 100_000
    accuracies: dict[float, dict[str, dict[str, float]]] = {}
    for privacy in (0.25, 1.0):
        accuracies[privacy] = {}
        for function_index, function in enumerate(FUNCTIONS):
            report_progress(f"trees at {privacy:.0%} privacy", function_index, len(FUNCTIONS))
            release = add_noise(_draw_people(rows, function, SEED), "gaussian", privacy)
            ways = {way: _measure(release, way, function) for way in WAYS}
            accuracies[privacy][function] = {"Original": measure_original(rows, function), **ways}
    table = [
        {
            "privacy": privacy,
            "function": function,
            **{way.lower().replace(", ", "_"): share for way, share in ways_shares.items()},
        }
        for privacy, functions in accuracies.items()
        for function, ways_shares in functions.items()
    ]
    return Findings(
        _state_accuracy(accuracies),
        (Grid("functions", f"Accuracy on 5,000 people without noise, {rows:,} to learn from", frame_of(table)),),
        tuple(_bars(privacy, functions) for privacy, functions in accuracies.items()),
        (_PRUNING_NOTE,),
    )


def _bars(privacy: float, functions: dict[str, dict[str, float]]) -> Plot:
    percent = {
        function: {way: 100 * shares[way] for way in shares if "pruned" not in way}
        for function, shares in functions.items()
    }
    return draw_bars(f"Gaussian noise, {privacy:.0%} privacy: per cent right", percent, ("Original", "Randomized"), 1)


_PICTURES = "The slides show bars and curves without numbers, and do not describe the learner."
INDEPENDENT = {"Original": 1.0, "Randomized": 0.717, "ByClass": 0.964}
"""Accuracies of Fn1 at 100 % privacy by an independent count."""


def _state_accuracy(accuracies: dict[float, dict[str, dict[str, float]]]) -> tuple[Statement, ...]:
    """What the bars show, with our numbers; nothing is judged by a picture."""
    high = accuracies[1.0]
    gaps = {
        privacy: max(abs(functions["Fn4"][way] - functions["Fn5"][way]) for way in ("Original", *WAYS))
        for privacy, functions in accuracies.items()
    }
    return (
        *(
            _show(
                f"Gaussian noise, {privacy:.0%} privacy: {way} stays close to Original (bars).",
                "Points below Original: "
                f"{_write_losses({f: shares['Original'] - shares[way] for f, shares in functions_shares.items()})}.",
            )
            for privacy, functions_shares in accuracies.items()
            for way in ("ByClass", "Local")
        ),
        *(_state_gain(privacy, functions) for privacy, functions in accuracies.items()),
        Statement(
            "Function 4 gives almost the same results as function 5.",
            "Farthest apart, over all ways: "
            + ", ".join(f"{100 * most:.1f} points at {privacy:.0%}" for privacy, most in gaps.items())
            + ".",
            None,
            'The slides give no number for "almost".',
        ),
        compare(
            "Fn1 at 100 %: Original, Randomized, ByClass",
            [Pair(paper_result, high["Fn1"][way]) for way, paper_result in INDEPENDENT.items()],
            Tolerance(0.02, "people and noise are drawn anew"),
            reason="That tree is not pruned.",
            source="independent count",
        ),
    )


def _show(paper_result: str, own_result: str) -> Statement:
    """A reading of a picture beside our numbers."""
    return Statement(paper_result, own_result, None, _PICTURES)


def _write_losses(losses: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {100 * points:.1f}" for name, points in losses.items())


def _state_gain(privacy: float, functions: dict[str, dict[str, float]]) -> Statement:
    """Reconstruction against none: how many functions gain."""
    gains = {
        way: sum(shares[way] > shares["Randomized"] for shares in functions.values())
        for way in ("Global", "ByClass", "Local")
    }
    return _show(
        f"At {privacy:.0%} Global, ByClass and Local are more accurate than Randomized (bars).",
        ", ".join(f"{way} for {count} of {len(functions)} functions" for way, count in gains.items()) + ".",
    )


def privacy_levels(setting: Setting) -> Findings:
    """Accuracy by privacy from 10 % to 200 %, uniform and Gaussian."""
    rows = 6_000 if setting.quick else 100_000
    functions = ("Fn1", "Fn3") if setting.quick else ("Fn1", "Fn2", "Fn3", "Fn5")
    levels = (0.1, 1.0, 2.0) if setting.quick else LEVELS
    table: list[dict[str, Any]] = []
    for function_index, function in enumerate(functions):
        report_progress("trees by privacy", function_index, len(functions))
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
        (_PRUNING_NOTE,),
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
    """What the curves show, with our numbers at every level; nothing is judged by a picture."""
    losses = frame.with_columns(lost=pl.col("original") - pl.col("accuracy"))
    return (
        *(
            _show(
                f"{way} stays close to Original (curves).",
                f"Points below Original, by level: {_write_levels(losses.filter(pl.col('way') == way))}.",
            )
            for way in ("ByClass(G)", "ByClass(U)")
        ),
        *(
            _show(f"{way} falls as privacy grows (curves).", _write_falls(frame.filter(pl.col("way") == way)))
            for way in ("Random(G)", "Random(U)")
        ),
    )


def _write_levels(losses: pl.DataFrame) -> str:
    """What every function loses at every level."""
    return "; ".join(
        f"{privacy:.0%}: {_write_losses(dict(part.select('function', 'lost').iter_rows()))}"
        for (privacy,), part in losses.sort("privacy").group_by("privacy", maintain_order=True)
    )


def _write_falls(frame: pl.DataFrame) -> str:
    """At how many of the steps from one level to the next each function's accuracy falls."""
    falls = []
    for (function,), part in frame.sort("privacy").group_by("function", maintain_order=True):
        accuracies = part["accuracy"].to_list()
        lower = sum(follower < earlier for earlier, follower in pairwise(accuracies))
        falls.append(f"{function} at {lower} of {len(accuracies) - 1}")
    return f"Lower than at the level before: {', '.join(falls)} steps."
