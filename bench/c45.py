# SPDX-License-Identifier: MIT
"""C4.5 on Adult and Covertype beside scikit-learn's fit, in CPU seconds, and whether codes decode to the same tree."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from bench.timing import shared_data, show
from sfumato.measure.codes.tree_equality import same_tree
from sfumato.mine.codes.c45 import train_c45
from sfumato.mine.codes.decoded_tree import decode_tree
from sfumato.protect.codes.encode_for_trees import EncodeForTrees

NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def cpu_seconds(work: Callable[[], Any], repeats: int) -> float:
    """The least CPU time of several runs: others may use the machine."""
    durations = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        durations.append(time.process_time() - begin)
    return min(durations)


def adult(folder: Path) -> tuple[sf.Table, str]:
    from papers.census import INCOME, read_adult

    frame = read_adult(folder)
    return sf.Table.of(frame.with_columns(pl.col(NUMBERS).cast(pl.Int64)), source="Adult"), INCOME


def covertype(folder: Path) -> tuple[sf.Table, str]:
    frame = pl.read_csv(folder / "covtype/covtype.csv.gz")
    return sf.Table.of(frame.select(*frame.columns[:10], "Cover_Type"), source="Covertype"), "Cover_Type"


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("c45: no real data (set SFUMATO_DATA), skipped")
        return
    _beside_scikit_learn(*adult(folder), repeats=5)
    _beside_scikit_learn(*covertype(folder), repeats=1)


def _beside_scikit_learn(table: sf.Table, target: str, repeats: int) -> None:
    """scikit-learn has no categories: their numbers, which it takes for an order, cost it nothing here."""
    from sklearn.tree import DecisionTreeClassifier

    words = table.frame.drop(target).with_columns(pl.col(pl.String).rank("dense"))
    cells, classes = words.fill_null(float("nan")).to_numpy().astype(np.float32), table.frame[target].to_numpy()
    own_time = cpu_seconds(lambda: train_c45(table, target), repeats)
    tree = train_c45(table, target)
    rows = [("C4.5, pruned", f"{own_time:.2f} s", "1", f"{tree.n_leaves:,}")]
    for criterion in ("entropy", "gini"):
        learner = DecisionTreeClassifier(criterion=criterion, random_state=0)
        peer_time = cpu_seconds(partial(learner.fit, cells, classes), repeats)
        rows.append(
            (
                f"scikit-learn, {criterion}",
                f"{peer_time:.2f} s",
                f"{own_time / peer_time:.2f}",
                f"{learner.get_n_leaves():,}",
            )
        )
    method = EncodeForTrees(target=target)
    key = method.new_key(table)
    theirs_tree = train_c45(method.protect(table, key).data, target)
    decoding = cpu_seconds(lambda: decode_tree(theirs_tree, key, table), repeats)
    rows.append(("decode_tree", f"{decoding:.2f} s", "", str(same_tree(decode_tree(theirs_tree, key, table), tree))))
    title = f"{table.source}, {len(table):,} × {cells.shape[1]}, CPU seconds, best of {repeats}"
    show(title, ("fit", "time", "C4.5 takes × of it", "leaves; decoded = direct"), rows)


if __name__ == "__main__":
    main()
