# SPDX-License-Identifier: MIT
"""EncodeForTrees on Covertype: a key and the codes compared with scikit-learn's fit, decoding, growth, attacks."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from bench.timing import best_of, shared_data, show
from sfumato.attack.codes.curve_combination import CurveCombination
from sfumato.attack.codes.curve_fitting import CurveFitting
from sfumato.attack.codes.family_matching import FamilyMatching
from sfumato.attack.codes.frequency_matching import FrequencyMatching
from sfumato.attack.codes.quantile_matching import QuantileMatching
from sfumato.attack.codes.sorting import Sorting
from sfumato.measure.codes.tree_equality import same_tree
from sfumato.mine.codes.decoded_tree import decode_tree
from sfumato.protect.codes.encode_for_trees import EncodeForTrees

TARGET, NUMBERS = "Cover_Type", 10
METHOD = EncodeForTrees(target=TARGET)


def covertype(folder: Path) -> sf.Table:
    """The ten columns of numbers and the seven cover types."""
    frame = pl.read_csv(folder / "covtype/covtype.csv.gz")
    return sf.Table.of(frame.select(*frame.columns[:NUMBERS], TARGET), source="Covertype")


def time_once(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of one run, and what it gave."""
    begin = time.perf_counter()
    outcome = work()
    return time.perf_counter() - begin, outcome


def naive(table: sf.Table) -> pl.DataFrame:
    """The same codes the plain way: a dict of each value's code, cell by cell."""
    chance = np.random.default_rng(0)
    columns = []
    for name in table.frame.columns[:NUMBERS]:
        values = sorted(set(table.frame[name].to_list()))
        codes = dict(zip(values, np.sort(chance.choice(10**6, len(values), replace=False)).tolist(), strict=True))
        columns.append(pl.Series(name, [codes[cell] for cell in table.frame[name].to_list()]))
    return pl.DataFrame(columns)


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("encode_for_trees: no real data (set SFUMATO_DATA), skipped")
        return
    table = covertype(folder)
    _beside_the_fit(table)
    _growth(table)
    _attacks(table)


def _beside_the_fit(table: sf.Table) -> None:
    from sklearn.tree import DecisionTreeClassifier

    key = METHOD.new_key(table)
    release = METHOD.protect(table, key)
    key_seconds, protect_seconds = (
        best_of(3, lambda: METHOD.new_key(table)),
        best_of(3, lambda: METHOD.protect(table, key)),
    )
    plain, _ = time_once(lambda: naive(table))

    def fit(frame: pl.DataFrame) -> Any:
        return DecisionTreeClassifier(random_state=0).fit(frame.drop(TARGET).to_numpy(), frame[TARGET].to_numpy())

    fit_seconds, direct = time_once(lambda: fit(table.frame))
    provider = fit(release.data.frame)
    decoding = best_of(3, lambda: decode_tree(provider, key, table))
    is_same = same_tree(decode_tree(provider, key, table), direct)
    rows = [
        ("new_key", f"{key_seconds:.2f} s", f"{key_seconds / fit_seconds:.1%}"),
        ("protect", f"{protect_seconds:.2f} s", f"{protect_seconds / fit_seconds:.1%}"),
        (
            "new_key and protect",
            f"{key_seconds + protect_seconds:.2f} s",
            f"{(key_seconds + protect_seconds) / fit_seconds:.1%}",
        ),
        ("the plain way: dicts, cell by cell", f"{plain:.2f} s", f"{plain / fit_seconds:.1%}"),
        ("Bu et al. (2007), MATLAB, 3 GHz Pentium: 1 to 2 s a column", "10 to 20 s", ""),
        ("scikit-learn's fit on the originals", f"{fit_seconds:.1f} s", "100 %"),
        (f"decode_tree, {provider.tree_.node_count:,} nodes", f"{decoding:.2f} s", f"{decoding / fit_seconds:.1%}"),
        ("decoded = direct, node by node", str(is_same), ""),
    ]
    show(f"Covertype, {len(table):,} × {NUMBERS}, warm", ("step", "time", "of scikit-learn's fit"), rows)


def _growth(table: sf.Table) -> None:
    rows, first = [], 0.0
    base = len(table) // 16
    for times in (1, 4, 16):
        sample = sf.Table.of(table.frame.sample(base * times, seed=1))
        seconds = best_of(3, lambda sample=sample: METHOD.protect(sample, METHOD.new_key(sample)))  # type: ignore[misc]
        first = first or seconds
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append((f"{len(sample):,}", f"{seconds:.3f} s", f"{seconds / first:.1f} ×", f"{peak:.0f} MB"))
    show("Growth of new_key and protect", ("rows", "time", "of the first", "peak memory of the process"), rows)


def _attacks(table: sf.Table) -> None:
    column = table.frame.columns[NUMBERS - 1]
    release = METHOD.protect(table, METHOD.new_key(table, sf.Randomness.seeded(1)))
    attacks = (
        CurveFitting(column=column),
        CurveFitting(column=column, fit="regression"),
        CurveFitting(column=column, fit="spline"),
        CurveCombination(column=column),
        Sorting(column=column),
        QuantileMatching(column=column),
        FamilyMatching(column=column),
        FrequencyMatching(column=column, target=TARGET),
    )
    rows = []
    for attack in attacks:
        seconds, outcome = time_once(lambda attack=attack: attack.run(release, table))  # type: ignore[misc]
        fit = getattr(attack, "fit", "")
        rows.append((f"{attack.attack} {fit}", f"{seconds:.2f} s", f"{outcome.risk:.1%}"))
    show(f"500 trials on {column} ({len(table):,} rows), radius 2 %", ("attack", "time", "cracked"), rows)


if __name__ == "__main__":
    main()
