# SPDX-License-Identifier: MIT
"""Trees on noisy data compared with scikit-learn's on the originals: seconds, accuracy, growth."""

from __future__ import annotations

import resource
import time

import numpy as np

import sfumato as sf
from bench.timing import best_of, show
from sfumato.data.generators.quest_people import GROUP, RANGES, generate_quest_people, list_quest_roles
from sfumato.mine.noise.tree_on_noise import Reconstruct, train_tree_on_noise
from sfumato.protect.noise.add_noise import AddNoise
from sfumato.randomness import Randomness

ROWS = 100_000
WAYS: tuple[Reconstruct, ...] = ("none", "global", "by_class", "local")


def main() -> None:
    _ways("Fn1")
    _ways("Fn2")
    _growth()


def _people(rows: int, function: str, seed: int = 1) -> sf.Table:
    return sf.Table.of(generate_quest_people(rows, function, seed), list_quest_roles())


def _noisy(table: sf.Table) -> sf.Release:
    return AddNoise(columns=tuple(RANGES), privacy=1.0, ranges=dict(RANGES)).protect(table, Randomness.seeded(1))


def _plain(table: sf.Table) -> object:
    from sklearn.tree import DecisionTreeClassifier

    numbers = table.frame.select(tuple(RANGES)).to_numpy().astype(np.float32)
    return DecisionTreeClassifier(min_samples_leaf=50).fit(numbers, table.frame[GROUP].to_numpy())


def _ways(function: str) -> None:
    table, test = _people(ROWS, function), _people(5_000, function, 1001)
    release = _noisy(table)
    plain = best_of(3, lambda: _plain(table))
    whole = train_tree_on_noise(table, GROUP, "none").measure_accuracy(test)
    rows: list[tuple[object, ...]] = [("scikit-learn on the originals", f"{plain:.2f} s", "", f"{whole:.3f}", "", "")]
    for way in WAYS:
        seconds = best_of(2, lambda way=way: train_tree_on_noise(release, GROUP, way))  # type: ignore[misc]
        tree = train_tree_on_noise(release, GROUP, way)
        rows.append(
            (
                way,
                f"{seconds:.2f} s",
                f"{seconds / plain:.1f}×",
                f"{tree.measure_accuracy(test):.3f}",
                tree.n_leaves,
                tree.depth,
            )
        )
    head = ("reconstruct", "train_tree_on_noise()", "ratio", "accuracy", "leaves", "depth")
    show(f"{function}, {ROWS:,} × 9, Gaussian noise at 100 % privacy", head, rows)


def _growth() -> None:
    train_tree_on_noise(_noisy(_people(1_000, "Fn2")), GROUP)  # what is imported at first is not counted
    rows: list[tuple[object, ...]] = []
    for size in (ROWS // 4, ROWS, 4 * ROWS):
        release = _noisy(_people(size, "Fn2"))
        for way in ("by_class", "local"):
            start = time.perf_counter()
            train_tree_on_noise(release, GROUP, way)
            seconds = time.perf_counter() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            rows.append((f"{size:,}", way, f"{seconds:.2f} s", f"{peak:.0f} MB"))
    show("Growth, Fn2, nine noisy columns", ("rows", "reconstruct", "seconds", "peak memory of the process"), rows)


if __name__ == "__main__":
    main()
