# SPDX-License-Identifier: MIT
"""The search alone, on many weighted tuples: what is left of a hundred million rows once they are counted.

`python -m bench.search [TUPLES …]`, by default one and six million: for each, k = 10, and k = 10 with l = 2 on two to
three sensitive values for each tuple. Every search is a process of its own: CPU seconds of the search, and the peak of
the process with the tuples.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

import sfumato as sf
from bench.timing import show
from sfumato.arrays import Ints
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.models.sensitive_values import SensitiveColumn
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.lattice import find_optimal_node
from sfumato.table import Missing

BY_NAME_ONLY = "it measures a part of hundred_million, on more tuples than other tables have"
SIZES = (1_000_000, 6_000_000)
WIDTHS: dict[str, tuple[int, tuple[int, ...]]] = {
    "age": (100, (5, 10, 20, 40)),
    "sex": (2, ()),
    "zip": (1000, (5, 10, 50, 100, 500)),
    "education": (16, (2, 4, 8)),
    "occupation": (24, (2, 6, 12)),
    "marital_status": (8, (2, 4)),
}
ROWS_A_TUPLE = 16
VALUES = 12


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1] in ("k", "l"):
        print(json.dumps(measure_search(int(sys.argv[2]), diverse=sys.argv[1] == "l")))
        return
    rows = []
    for size in [int(argument) for argument in sys.argv[1:]] or SIZES:
        for model in ("k", "l"):
            command = (sys.executable, "-m", "bench.search", model, str(size))
            rows.append(tuple(json.loads(subprocess.run(command, check=True, capture_output=True).stdout).values()))
    head = ("tuples", "pairs", "CPU", "peak", "nodes", "checked", "levels", "suppressed")
    show("Optimal search, k = 10 (with pairs: and l = 2), suppression limit 5 %", head, rows)


def measure_search(tuples: int, *, diverse: bool) -> dict[str, object]:
    """Search once, with warm kernels: those of large tables are others than those of small ones."""
    import sfumato.kernels.anonymity.lattice  # noqa: F401

    _search(draw_tuples(20_000, diverse=diverse), diverse=diverse)
    grouping = draw_tuples(tuples, diverse=diverse)
    begin = time.process_time()
    best, check_count = _search(grouping, diverse=diverse)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pairs = sum(len(column.rows) for column in grouping.sensitive.values())
    return {
        "tuples": f"{grouping.distinct_rows:,}", "pairs": f"{pairs:,}", "cpu": f"{seconds:.1f} s",
        "peak": f"{peak:.0f} MB", "nodes": int(np.prod(grouping.shape)), "checked": check_count,
        "levels": " ".join(map(str, best.levels)), "suppressed": best.suppressed,
    }  # fmt: skip


def _search(grouping: Grouping, *, diverse: bool):  # type: ignore[no-untyped-def]
    models = (sf.KAnonymity(k=10), *([sf.LDiversity(l=2, column="disease")] if diverse else []))
    result = find_optimal_node(grouping, ModelJudge(models), "loss", grouping.rows // 20)
    assert result.best is not None
    return result.best, result.checked_count


def draw_tuples(tuples: int, *, diverse: bool) -> Grouping:
    """About this many distinct tuples of skewed columns, sorted, each with some rows and sensitive values."""
    chance = np.random.default_rng(1)
    widths = [width for width, _ in WIDTHS.values()]
    keys = np.zeros(0, dtype=np.int64)
    while len(keys) < tuples:
        tuple_keys = np.zeros(tuples, dtype=np.int64)
        for width in widths:
            tuple_keys = tuple_keys * width + (width * chance.random(tuples) ** 2).astype(np.int64)
        keys = np.unique(np.concatenate([keys, tuple_keys]))
    keys = np.sort(chance.choice(keys, tuples, replace=False))
    codes, rest = np.zeros((len(widths), tuples), dtype=np.int32), keys
    for column in range(len(widths) - 1, -1, -1):
        codes[column], rest = rest % widths[column], rest // widths[column]
    weights = chance.geometric(1 / ROWS_A_TUPLE, tuples).astype(np.int64)
    hierarchies = tuple(_build_hierarchy(width, steps) for width, steps in WIDTHS.values())
    grouping = Grouping(hierarchies, codes, Missing.OWN_VALUE, None, weights, distinct=True)
    if diverse:
        grouping.sensitive = {"disease": _draw_values(weights, chance)}
    return grouping


def _draw_values(weights: Ints, chance: np.random.Generator) -> SensitiveColumn:
    """One to four values for each tuple, at most as many as it has rows."""
    counts = np.minimum(chance.integers(1, 5, len(weights)), weights)
    rows = np.repeat(np.arange(len(weights), dtype=np.int32), counts)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    codes = (np.repeat(chance.integers(0, VALUES - 4, len(weights)), counts) + places).astype(np.int32)
    first = np.repeat(weights - counts + 1, counts)
    return SensitiveColumn(
        "disease", tuple(f"{n:02d}" for n in range(VALUES)), rows, codes, np.where(places == 0, first, 1), None
    )


def _build_hierarchy(width: int, steps: tuple[int, ...]) -> sf.Hierarchy:
    return sf.Hierarchy.of([(f"{n:04d}", *(f"{step}:{n // step:04d}" for step in steps), "*") for n in range(width)])


if __name__ == "__main__":
    main()
