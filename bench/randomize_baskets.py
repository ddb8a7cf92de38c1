# SPDX-License-Identifier: MIT
"""Supports behind 88,162 randomized baskets: their error beside the standard deviation of theory, in seconds."""

from __future__ import annotations

import resource
import time

import numpy as np

import sfumato as sf
from bench.timing import shared_data, show

SUPPORT = 0.01
OF_FEW = 0.1
"""Cut and paste tells little of large baskets."""
METHODS = {
    "keep .9, add .01": sf.RandomizeBaskets(keep=0.9, add=0.01),
    "keep .9, add .02": sf.RandomizeBaskets(keep=0.9, add=0.02),
    "keep .9, add .1 (MASK, p = .9), frequent items": sf.RandomizeBaskets(keep=0.9),
    "cut and paste, 3, level .02": sf.RandomizeBaskets(operator="cut_and_paste", cutoff=3, level=0.02),
}


def main() -> None:
    """Mask and cut and paste on retail."""
    folder = shared_data()
    if folder is None:
        print("randomize_baskets: no real data (set SFUMATO_DATA), skipped")
        return
    retail = sf.Baskets.read(folder / "fimi" / "retail.dat.gz")
    rows = [row for name, method in METHODS.items() for row in _measure(name, method, retail)]
    head = (
        "method",
        "draw",
        "estimate",
        "items published",
        "length",
        "sets",
        "mean error",
        "theory",
        "covered at 95 %",
    )
    show(
        f"Retail, {len(retail):,} baskets, CPU time, itemsets of support {SUPPORT:g} or more, cut and paste {OF_FEW:g}",
        head,
        rows,
    )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _measure(name: str, method: sf.RandomizeBaskets, retail: sf.Baskets) -> list[tuple[object, ...]]:
    """For itemsets of one, two and three items, the root of the mean squared error, and what theory gives for it."""
    data = _keep_frequent(retail) if "frequent" in name else retail
    begin = time.process_time()
    release = method.protect(data)
    draw_seconds = time.process_time() - begin
    begin = time.process_time()
    support = OF_FEW if method.operator == "cut_and_paste" else SUPPORT
    itemsets = sf.mine.estimate_itemsets(release, support / 2, max_length=3)
    estimate_seconds = time.process_time() - begin
    estimates = {tuple(items): rest for items, *rest in itemsets.iter_rows()}
    true = {
        tuple(items): count / len(data)
        for items, count in sf.mine.frequent_itemsets(data, support, max_length=3).iter_rows()
    }
    rows: list[tuple[object, ...]] = []
    for length in (1, 2, 3):
        sets = [items for items in true if len(items) == length and items in estimates]
        first = (name, f"{draw_seconds:.1f} s", f"{estimate_seconds:.1f} s", f"{release.data.codes.size:,}")
        lead = first if length == 1 else ("",) * 4
        if not sets:
            rows.append((*lead, length, 0, "–", "–", "–"))
            continue
        error = [estimates[items][0] - true[items] for items in sets]
        coverage = [estimates[items][1] <= true[items] <= estimates[items][2] for items in sets]
        wide = [(estimates[items][2] - estimates[items][1]) / 2 / 1.96 for items in sets]
        theory = f"{np.sqrt(np.mean(np.square(wide))):.5f}"
        spread = f"{np.sqrt(np.mean(np.square(error))):.5f}"
        rows.append((*lead, length, len(sets), spread, theory, f"{np.mean(coverage):.2f}"))
    return rows


def _keep_frequent(baskets: sf.Baskets) -> sf.Baskets:
    """The baskets without items that one basket in a thousand holds, or fewer."""
    counts = np.bincount(baskets.codes, minlength=len(baskets.items))
    frequency_mask = counts[baskets.codes] > len(baskets) / 1000
    row = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))[frequency_mask]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(baskets)))])
    return sf.Baskets(baskets.items, offsets.astype(np.int64), baskets.codes[frequency_mask])


if __name__ == "__main__":
    main()
