# SPDX-License-Identifier: MIT
"""Frequent itemsets, closed and maximal ones, and rules, beside pyfim (C); growth, memory, the stream.

pyfim takes lists and gives tuples, this package takes baskets and gives a frame: each from what its users hold to what
they get. A peer is left out with a word about it where it is not installed; mlxtend's times are measured ones. Memory
is measured for whole processes, and without what imports alone take: most of ours is the compiler's.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sfumato as sf
from bench.timing import shared_data, show
from sfumato.mine.baskets.association_rules import association_rules
from sfumato.mine.baskets.itemsets import ItemsetKind, find_itemsets, frequent_itemsets
from sfumato.mine.baskets.mined_files import write_itemsets

# Share, itemsets, milliseconds of mlxtend 0.25 fpgrowth on a like machine: shared/PEERS_SPEED.md.
SETTINGS: tuple[tuple[str, float, float | None], ...] = (
    ("mushroom.dat", 0.2, 330), ("chess.dat", 0.7, 450), ("retail.dat.gz", 0.001, 6100),
    ("T10I4D100K.dat.gz", 0.001, 6100),
    ("mushroom.dat", 0.05, None), ("chess.dat", 0.5, None), ("retail.dat.gz", 0.0001, None),
    ("T10I4D100K.dat.gz", 0.0001, None),
)  # fmt: skip
RETAIL = ("retail.dat.gz", 0.001)
MLXTEND_RETAIL_MB = 1727
KINDS: tuple[tuple[ItemsetKind, str], ...] = (("all", "s"), ("closed", "c"), ("maximal", "m"))
SIZE = """
import resource, sys
from pathlib import Path

def peak():  # the peak of the parent is inherited by getrusage, not by VmHWM
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return int(status.read_text().partition("VmHWM:")[2].split()[0]) // 1024
"""
PEAK = f"""{SIZE}
import numba, polars, pyarrow
import sfumato as sf
from sfumato.kernels.baskets import itemsets_lists
from sfumato.kernels.baskets import itemsets_prepare
from sfumato.mine.baskets.itemsets import frequent_itemsets
before = peak()
baskets = sf.Baskets.read(sys.argv[1])
read = peak()
frequent_itemsets(baskets, float(sys.argv[2]))
print(before, read, peak())
"""
PEAK_MLXTEND = f"""{SIZE}
import gzip
import pandas
from mlxtend.frequent_patterns import fpgrowth
from mlxtend.preprocessing import TransactionEncoder
before = peak()
lists = [line.split() for line in gzip.open(sys.argv[1], "rt")]
read = peak()
coder = TransactionEncoder()
table = pandas.DataFrame(coder.fit_transform(lists), columns=coder.columns_, copy=False)
fpgrowth(table, float(sys.argv[2]), use_colnames=True)
print(before, read, peak())
"""


def peer(name: str) -> Any:
    """A module that is not one of ours, if it is installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"itemsets: {name} is not installed, what it would show is left out (pip install pyfim mlxtend)")
        return None


def in_turns(times: int, *works: Callable[[], object]) -> list[float]:
    """The best milliseconds of each, taken in turns so that a busy moment hits all alike."""
    best = [float("inf")] * len(works)
    for _ in range(times + 1):
        for number, work in enumerate(works):
            begin = time.perf_counter()
            result = work()
            best[number] = min(best[number], 1000 * (time.perf_counter() - begin))
            del result
    return best


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("itemsets: no real data (set SFUMATO_DATA), skipped")
        return
    _beside_peers(folder / "fimi")
    _memory(folder / "fimi")
    _growth()
    _rules_and_stream(folder / "fimi")


def _beside_peers(folder: Path) -> None:
    fim = peer("fim")
    rows = []
    for name, share, mlxtend in SETTINGS:
        baskets = sf.Baskets.read(folder / name)
        lists = baskets.to_lists() if fim else []
        for kind, target in KINDS:
            sets = frequent_itemsets(baskets, share, kind).height
            works: list[Callable[[], object]] = [
                lambda baskets=baskets, share=share, kind=kind: frequent_itemsets(baskets, share, kind),  # type: ignore[misc]
                lambda baskets=baskets, share=share, kind=kind: find_itemsets(baskets, share, kind),  # type: ignore[misc]
            ]
            if fim:
                works += [
                    lambda miner=miner, lists=lists, target=target, share=share: miner(  # type: ignore[misc]
                        lists, target=target, supp=100 * share, report="a"
                    )
                    for miner in (fim.fpgrowth, fim.eclat)
                ]
            frame, arrays, *peer_times = in_turns(3 if sets > 1_000_000 else 7, *works)
            peer_text = f"{min(peer_times):.1f}" if peer_times else "–"
            speedup = f"{min(peer_times) / frame:.1f}×" if peer_times else "–"
            mlxtend_speedup = f"{mlxtend / frame:.0f}×" if mlxtend and kind == "all" else "–"
            rows.append(
                (
                    f"{name} {100 * share:g} %",
                    kind,
                    f"{sets:,}",
                    f"{frame:.1f}",
                    f"{arrays:.1f}",
                    peer_text,
                    speedup,
                    mlxtend_speedup,
                )
            )
    head = (
        "data", "kind", "sets", "frame, ms", "arrays, ms", "pyfim (faster of two), ms", "ahead", "mlxtend's figure",
    )  # fmt: skip
    show("Frequent itemsets, warm, best of several taken in turns", head, rows)


def _memory(folder: Path) -> None:
    rows: list[tuple[object, ...]] = []
    own_peaks = (0, 0, 0)
    for name, share, _ in SETTINGS:
        import_peak, read, mining_peak = peaks = _peaks(PEAK, folder / name, share)
        own_peaks = peaks if (name, share) == RETAIL else own_peaks
        rows.append((f"{name} {100 * share:g} %", import_peak, read, mining_peak, mining_peak - import_peak))
    mlxtend = _peaks(PEAK_MLXTEND, folder / RETAIL[0], RETAIL[1]) if peer("mlxtend") else None
    if mlxtend:
        rows.append(("mlxtend, retail 0.1 %", *mlxtend, mlxtend[2] - mlxtend[0]))
    whole = mlxtend[2] if mlxtend else MLXTEND_RETAIL_MB
    peak_ratio = f"{(mlxtend[2] - mlxtend[0]) / (own_peaks[2] - own_peaks[0]):.0f}×" if mlxtend else "–"
    rows.append(("mlxtend's times ours", "", "", f"{whole / own_peaks[2]:.1f}×", peak_ratio))
    head = ("data", "imported, MB", "and read, MB", "and mined to a frame, MB", "data and mining alone, MB")
    show("Peak memory of a fresh process", head, rows)


def _peaks(program: str, path: Path, share: float) -> tuple[int, int, int]:
    """Megabytes after the imports, after reading, and at the end."""
    words = [sys.executable, "-c", program, str(path), str(share)]
    process = subprocess.run(words, capture_output=True, text=True, check=True)
    import_peak, read, mining_peak = map(int, process.stdout.split())
    return import_peak, read, mining_peak


def _growth() -> None:
    """Like baskets, more of them; a tenth of a percent of each."""
    rows = []
    for times in (1, 4, 16):
        baskets = synthetic(25_000 * times)
        sets = frequent_itemsets(baskets, 0.002).height
        (duration,) = in_turns(2, lambda baskets=baskets: frequent_itemsets(baskets, 0.002))  # type: ignore[misc]
        rows.append((f"{len(baskets):,}", f"{sets:,}", f"{duration:.0f} ms", f"{1e6 * duration / len(baskets):.0f} ns"))
    show("Growth, synthetic baskets of 10 of 800 items, 0.2 %", ("baskets", "sets", "time", "a basket"), rows)


def synthetic(rows: int) -> sf.Baskets:
    """Baskets made of patterns of some items, as Agrawal and Srikant's generator makes them, and single items."""
    chance = np.random.Generator(np.random.PCG64(7))
    patterns = [np.sort(chance.choice(800, size=4, replace=False)) for _ in range(400)]
    pattern_indices = chance.integers(0, len(patterns), (rows, 2))
    codes = np.concatenate(
        [np.array(patterns)[pattern_indices].reshape(rows, 8), chance.integers(0, 800, (rows, 2))], axis=1
    )
    return sf.Baskets(tuple(range(800)), np.arange(rows + 1) * 10, codes.ravel().astype(np.int32))


def _rules_and_stream(folder: Path) -> None:
    retail, mushroom = sf.Baskets.read(folder / "retail.dat.gz"), sf.Baskets.read(folder / "mushroom.dat")
    rows = []
    for name, baskets, share, confidence in (("retail", retail, 0.001, 0.3), ("mushroom", mushroom, 0.3, 0.8)):
        count = association_rules(baskets, share, confidence).height
        (duration,) = in_turns(
            3,
            lambda baskets=baskets, share=share, confidence=confidence: association_rules(  # type: ignore[misc]
                baskets, share, confidence
            ),
        )
        rows.append((f"rules, {name} {100 * share:g} %, confidence {confidence}", f"{count:,}", f"{duration:.0f} ms"))
    with tempfile.TemporaryDirectory() as out:
        begin = time.perf_counter()
        count = write_itemsets(mushroom, 0.05, Path(out) / "sets.txt")
        duration = 1000 * (time.perf_counter() - begin)
        size = (Path(out) / "sets.txt").stat().st_size / 1e6
        rows.append((f"stream, mushroom 5 %, {size:.0f} MB of text", f"{count:,}", f"{duration:.0f} ms"))
    show("Rules, and sets written as they are found", ("what", "patterns", "time"), rows)


if __name__ == "__main__":
    main()
