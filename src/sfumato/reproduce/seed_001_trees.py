# SPDX-License-Identifier: MIT
"""Seed 001's trees on noisy data: accuracy by function and way of reconstruction, and by how much noise there is.

The slides show bars and curves without numbers. All nine attributes get noise, as real numbers, and trees are tested on
5,000 people without noise.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import polars as pl

from sfumato.data.quest_people import GROUP, RANGES, quest_people, quest_roles
from sfumato.mine.noise.tree_on_noise import Reconstruct, train_tree_on_noise
from sfumato.progress import tell
from sfumato.protect.noise.add_noise import AddNoise
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.reproduce.plots import Curve
from sfumato.reproduce.seed_001_plots import against_level, bars
from sfumato.reproduce.study import Findings, Grid, Plot, Setting, Statement, frame_of
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
LEVELS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
_UNPRUNED = (
    "Randomized is the plain tree that anyone would grow; those that reconstruct are pruned by rows that are held out. "
    "What pruning alone would give is told beside it."
)


@cache
def _people(rows: int, function: str, seed: int) -> Table:
    frame = quest_people(rows, function, seed).with_columns(pl.col(list(RANGES)).cast(pl.Float64))
    return Table.of(frame, quest_roles())


def noisy(table: Table, kind: Kind, privacy: float) -> Release:
    """All nine attributes with noise of a level at a confidence of 95 %."""
    method = AddNoise(columns=tuple(RANGES), kind=kind, privacy=privacy, ranges=dict(RANGES))
    return method.protect(table, Randomness.seeded(SEED))


def original(rows: int, function: str) -> float:
    """The accuracy of a tree on the originals."""
    tree = train_tree_on_noise(_people(rows, function, SEED), GROUP, "none")
    return tree.accuracy(_people(TEST, function, TEST_SEED))


def _of(release: Release, way: str, function: str) -> float:
    reconstruct, prune = WAYS[way]
    tree = train_tree_on_noise(release, GROUP, reconstruct, prune=prune)
    return tree.accuracy(_people(TEST, function, TEST_SEED))


def accuracy(setting: Setting) -> Findings:
    """Bars of five functions and ways at 25 % and 100 % privacy."""
    rows = 10_000 if setting.quick else 100_000
    found: dict[float, dict[str, dict[str, float]]] = {}
    for privacy in (0.25, 1.0):
        found[privacy] = {}
        for done, function in enumerate(FUNCTIONS):
            tell(f"trees at {privacy:.0%} privacy", done, len(FUNCTIONS))
            release = noisy(_people(rows, function, SEED), "gaussian", privacy)
            ways = {way: _of(release, way, function) for way in WAYS}
            found[privacy][function] = {"Original": original(rows, function), **ways}
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
    shown = {of: {way: one[way] for way in one if "pruned" not in way} for of, one in functions.items()}
    seen = "Per function: Original is highest, then ByClass and Local, then Global, then Randomized."
    return bars(f"Gaussian noise, {privacy:.0%} privacy: per cent right", seen, shown, ("Original", "Randomized"))


def _stated(found: dict[float, dict[str, dict[str, float]]]) -> tuple[Statement, ...]:
    low, high = found[0.25], found[1.0]

    def lost(functions: dict[str, dict[str, float]], way: str) -> float:
        return max(one["Original"] - one[way] for one in functions.values())

    def mean(way: str) -> float:
        return sum(one[way] for one in high.values()) / len(high)

    near = max(lost(low, way) for way in ("ByClass", "Local"))
    apart = max(abs(high["Fn4"][way] - high["Fn5"][way]) for way in ("ByClass", "Local", "Global"))
    return (
        Statement("at 25 % ByClass and Local are close to Original (bars)", f"at most {near:.1%} below", near < 0.1),
        Statement(
            "at 100 % too they beat Randomized by far (bars)",
            f"means: Original {mean('Original'):.1%}, ByClass {mean('ByClass'):.1%}, Local {mean('Local'):.1%}, "
            f"Global {mean('Global'):.1%}, Randomized {mean('Randomized'):.1%}",
            min(mean("ByClass"), mean("Local")) > mean("Global") > mean("Randomized"),
        ),
        Statement(
            "Earlier count: Fn1 at 100 % has original 1.000, randomized .717, ByClass .964",
            " / ".join(f"{high['Fn1'][way]:.3f}" for way in ("Original", "Randomized", "ByClass")),
            abs(high["Fn1"]["Original"] - 1) < 0.005
            and high["Fn1"]["ByClass"] > 0.944
            and abs(high["Fn1"]["Randomized"] - 0.717) < 0.06,
        ),
        Statement("function 4 gives almost the same results as function 5", f"at most {apart:.1%} apart", apart < 0.06),
    )


def privacy_levels(setting: Setting) -> Findings:
    """Accuracy by privacy from 10 % to 200 %, uniform and Gaussian."""
    rows = 6_000 if setting.quick else 30_000
    functions = ("Fn1", "Fn3") if setting.quick else ("Fn1", "Fn2", "Fn3", "Fn5")
    levels = (0.1, 1.0, 2.0) if setting.quick else LEVELS
    table, pictures = [], []
    for done, function in enumerate(functions):
        tell("trees by privacy", done, len(functions))
        lines: dict[str, list[tuple[float, float]]] = {}
        whole = original(rows, function)
        for kind in ("gaussian", "uniform"):
            for privacy in levels:
                release = noisy(_people(rows, function, SEED), kind, privacy)
                for name, way in (("ByClass", "ByClass"), ("Random", "Randomized")):
                    right = _of(release, way, function)
                    lines.setdefault(f"{name}({kind[0].upper()})", []).append((privacy, right))
                    table.append({"function": function, "way": f"{name}({kind[0].upper()})", "privacy": privacy,
                                  "accuracy": right, "original": whole})  # fmt: skip
        seen = "ByClass falls slowly as privacy grows, Random falls fast; Original is a level line above them."
        ordered = [Curve(name, lines[name]) for name in ("ByClass(G)", "ByClass(U)", "Random(G)", "Random(U)")]
        pictures.append(
            against_level(f"{function}: accuracy by privacy", seen, "privacy", ordered, ("Original", whole))
        )
    frame = frame_of(table)
    return Findings(
        _levels_stated(frame),
        (Grid("levels", f"Accuracy on 5,000 people without noise, {rows:,} to learn from", frame),),
        tuple(pictures),
        (_UNPRUNED,),
    )


def _levels_stated(frame: pl.DataFrame) -> tuple[Statement, ...]:
    wide = frame.with_columns(pl.col("way").str.head(1).alias("first"))
    least, *_, most = sorted(set(wide["privacy"].to_list()))

    def mean(first: str, privacy: float) -> float:
        return float(wide.filter((pl.col("first") == first) & (pl.col("privacy") == privacy))["accuracy"].mean())  # type: ignore[arg-type]

    at_full = wide.filter(pl.col("privacy") == 1.0).group_by("first").agg(pl.col("accuracy").mean()).sort("first")
    by_class, random = at_full["accuracy"].to_list()
    original = float(wide["original"].mean())  # type: ignore[arg-type]
    return (
        Statement(
            "Random falls as privacy grows (curves)",
            f"from {mean('R', least):.1%} at {least:.0%} to {mean('R', most):.1%} at {most:.0%}, in the mean",
            mean("R", most) < mean("R", least) - 0.1,
        ),
        Statement(
            "ByClass stays close to Original (curves)",
            f"at 100 %: {by_class:.1%} beside {original:.1%}, Random {random:.1%}",
            original - by_class < 0.6 * (original - random),
        ),
    )
