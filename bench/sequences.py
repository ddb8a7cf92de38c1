# SPDX-License-Identifier: MIT
"""Frequent subsequences beside prefixspan (PyPI) and SPMF's figures; itemsets, kinds, growth.

prefixspan takes lists and gives tuples, this package takes sequences and gives a frame. prefixspan is left out with a
word about it where it is not installed; SPMF's times are measured ones, warm, with reading and writing files.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sfumato as sf
from bench.timing import best_of, shared_data, show
from sfumato.data.movements import generate_cars

# File, share, seconds of SPMF 2.66 PrefixSpan on a like machine, whether prefixspan is fast enough to be waited for.
SETTINGS: tuple[tuple[str, float, float | None, bool], ...] = (
    ("SIGN.txt", 0.4, 0.115, True), ("LEVIATHAN.txt", 0.1, 0.28, True), ("MSNBC.txt", 0.1, 0.36, True),
    ("bms-webview-1.seq.txt", 0.001, 0.29, True), ("kosarak10k.txt", 0.01, None, True),
    ("SIGN.txt", 0.2, None, False), ("LEVIATHAN.txt", 0.02, None, False), ("MSNBC.txt", 0.02, None, False),
    ("bms-webview-1.seq.txt", 0.0005, None, False), ("kosarak10k.txt", 0.003, None, False),
)  # fmt: skip


def main() -> None:
    """Every table of this measurement."""
    folder = shared_data()
    if folder is None:
        print("sequences: no real data (set SFUMATO_DATA), only the generated ones")
    else:
        _beside_peers(folder / "sequences")
        _kinds(folder / "sequences")
        _growth(folder / "sequences")
        _anonymize(folder / "sequences")
        _hide(folder / "sequences")
    _itemsets()
    _attacks()


def _load_prefixspan() -> Any:
    try:
        return importlib.import_module("prefixspan").PrefixSpan
    except ImportError:
        print("sequences: prefixspan is not installed, what it would show is left out (pip install prefixspan)")
        return None


def _time_once(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _beside_peers(folder: Path) -> None:
    peer = _load_prefixspan()
    rows = []
    for name, share, spmf, is_waited_for in SETTINGS:
        sequences = sf.Sequences.read(folder / name)
        found = sf.mine.frequent_subsequences(sequences, share)
        ours = best_of(7, lambda s=sequences, m=share: sf.mine.frequent_subsequences(s, m))  # type: ignore[misc]
        theirs, ahead = "–", "–"
        if peer is not None and is_waited_for:
            least = int(found["support"].min())  # type: ignore[arg-type]
            miner = peer(sequences.to_lists())
            counts: list[Any] = []
            spent = _time_once(lambda m=miner, c=counts, n=least: c.extend(m.frequent(n)))  # type: ignore[misc]
            assert len(counts) == found.height, "the miners disagree"
            theirs, ahead = f"{1000 * spent:.0f}", f"{spent / ours:.0f}×"
        beyond = f"{spmf / ours:.0f}×" if spmf else "–"
        rows.append((f"{name} {100 * share:g} %", f"{found.height:,}", f"{1000 * ours:.1f}", theirs, ahead, beyond))
    head = ("data", "patterns", "frame, ms", "prefixspan, ms", "ahead", "SPMF's figure")
    show("Frequent subsequences, warm, best of several", head, rows)


def _kinds(folder: Path) -> None:
    rows = []
    for name, share in (("SIGN.txt", 0.4), ("bms-webview-1.seq.txt", 0.001)):
        sequences = sf.Sequences.read(folder / name)
        ways: dict[str, dict[str, Any]] = {
            "closed": {"kind": "closed"}, "maximal": {"kind": "maximal"}, "gaps up to 2": {"max_gap": 2},
            "window of 5": {"window": 5},
        }  # fmt: skip
        for label, arguments in ways.items():
            found = sf.mine.frequent_subsequences(sequences, share, **arguments)
            spent = best_of(2, lambda s=sequences, m=share, a=arguments: sf.mine.frequent_subsequences(s, m, **a))  # type: ignore[misc]
            rows.append((f"{name} {100 * share:g} %", label, f"{found.height:,}", f"{1000 * spent:.1f}"))
    show("Closed, maximal, and under limits", ("data", "patterns", "found", "ms"), rows)


def _growth(folder: Path) -> None:
    """The same sequences, shuffled within, so that they are not copies; 1, 4 and 16 times as many."""
    base = sf.Sequences.read(folder / "MSNBC.txt")
    rows = []
    for times in (1, 4, 16):
        sequences = multiply(base, times)
        found = sf.mine.frequent_subsequences(sequences, 0.1)
        spent = best_of(2, lambda s=sequences: sf.mine.frequent_subsequences(s, 0.1))  # type: ignore[misc]
        a_row = f"{1e6 * spent / len(sequences):.2f} µs"
        rows.append((f"{len(sequences):,}", f"{found.height:,}", f"{1000 * spent:.0f} ms", a_row))
    show("Growth, MSNBC 10 %", ("sequences", "patterns", "time", "a sequence"), rows)


def _anonymize(folder: Path) -> None:
    """Random walks with the steps of MSNBC's visitors, nearly all different; 1, 4 and 16 times as many."""
    base = sf.Sequences.read(folder / "MSNBC.txt")
    rows = []
    for times in (1, 4, 16):
        sequences = draw_walks(base, times * len(base))
        begin = time.process_time()
        release = sf.AnonymizeSequences(k=10).protect(sequences)
        spent = time.process_time() - begin
        a_row = f"{1e6 * spent / len(sequences):.1f} µs"
        rows.append((f"{len(sequences):,}", f"{release.losses['loss']:.3f}", f"{spent:.1f} s", a_row))
    show("Anonymizing random walks, k = 10, processor time", ("sequences", "loss", "time", "a sequence"), rows)


def draw_walks(base: sf.Sequences, rows: int) -> sf.Sequences:
    """A Markov chain with the steps of some sequences, beginnings and ends included."""
    chance = np.random.Generator(np.random.PCG64(5))
    nowhere = len(base.items)  # before the first item and after the last
    held = np.diff(base.offsets) > 0
    starts, ends = base.offsets[:-1][held], base.offsets[1:][held] - 1
    steps = np.zeros((nowhere + 1, nowhere + 1))
    np.add.at(steps[nowhere], base.codes[starts], 1)
    np.add.at(steps[:, nowhere], base.codes[ends], 1)
    inner = np.setdiff1d(np.arange(base.codes.size), ends)
    np.add.at(steps, (base.codes[inner], base.codes[inner + 1]), 1)
    reached = np.cumsum(steps / steps.sum(axis=1, keepdims=True), axis=1)
    walkers, here = np.arange(rows), np.full(rows, nowhere)
    owners, items = [], []
    while walkers.size:
        here = np.minimum((reached[here] < chance.random(walkers.size)[:, None]).sum(axis=1), nowhere)
        walkers, here = walkers[here < nowhere], here[here < nowhere]
        owners.append(walkers)
        items.append(here)
    order = np.argsort(np.concatenate(owners), kind="stable")
    counts = np.bincount(np.concatenate(owners), minlength=rows)
    codes = np.concatenate(items)[order].astype(np.int32)
    return sf.Sequences(base.items, np.concatenate(([0], np.cumsum(counts))), np.arange(codes.size + 1), codes)


def _hide(folder: Path) -> None:
    """The ten most frequent patterns of two or three items."""
    sequences = sf.Sequences.read(folder / "bms-webview-1.seq.txt")
    found = sf.mine.frequent_subsequences(sequences, 300, max_length=3)
    patterns = found.sort("support", descending=True)["pattern"].to_list()
    secrets = [pattern for pattern in patterns if len(pattern) > 1][:10]
    rows = []
    for strategy in ("HH", "RR", "exact"):
        begin = time.process_time()
        release = sf.HideSequences(patterns=secrets, threshold=50, strategy=strategy).protect(sequences)
        bound = release.details.get("bound")
        least = "–" if bound is None else f"{bound:,}"
        rows.append((strategy, f"{release.losses['changes']:,}", least, f"{time.process_time() - begin:.1f} s"))
    show("Hiding ten patterns on BMS-WebView-1, processor time", ("strategy", "changes", "at least", "time"), rows)


def multiply(base: sf.Sequences, times: int) -> sf.Sequences:
    """Copies of sequences, each with two neighbouring items exchanged."""
    chance = np.random.Generator(np.random.PCG64(3))
    codes = np.tile(base.codes, times)
    lengths = np.tile(np.diff(base.offsets), times)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    first = offsets[:-1] + (chance.random(lengths.size) * np.maximum(lengths - 1, 1)).astype(np.int64)
    first = first[lengths > 1]
    codes[first], codes[first + 1] = codes[first + 1], codes[first].copy()
    return sf.Sequences(base.items, offsets, np.arange(codes.size + 1), codes)


def _itemsets() -> None:
    """Customers who buy a few things at each of some visits, as Agrawal and Srikant (1995) generate them."""
    rows = []
    for customers in (5_000, 20_000, 80_000):
        sequences = draw_customers(customers)
        found = sf.mine.frequent_subsequences(sequences, 0.01)
        spent = best_of(2, lambda s=sequences: sf.mine.frequent_subsequences(s, 0.01))  # type: ignore[misc]
        rows.append((f"{customers:,}", f"{found.height:,}", f"{1000 * spent:.0f} ms"))
    show("Sequences of itemsets, 1 %", ("customers", "patterns", "time"), rows)


def draw_customers(rows: int) -> sf.Sequences:
    """Visits that follow one of some hundred patterns, with single items between."""
    chance = np.random.Generator(np.random.PCG64(7))
    patterns = [[chance.choice(400, size=2, replace=False) for _ in range(4)] for _ in range(150)]
    picked = chance.integers(0, len(patterns), rows)
    codes = np.array(patterns)[picked].reshape(rows, 8)
    noise = chance.integers(0, 400, (rows, 4))
    visits = np.concatenate([codes.reshape(rows, 4, 2), noise.reshape(rows, 4, 1)], axis=2)
    keep = chance.random(visits.shape) < 0.8
    flat, sizes = visits[keep], keep.sum(axis=2).ravel()
    element_offsets = np.concatenate(([0], np.cumsum(sizes)))
    return sf.Sequences(tuple(range(400)), np.arange(rows + 1) * 4, element_offsets, flat.astype(np.int32))


def _attacks() -> None:
    cars = sf.Sequences.of(generate_cars(count=3000))
    release = sf.Release(cars, None, (), {})
    spent = best_of(2, lambda: sf.attack.SequenceLinking().run(release, cars))
    show("Sequence linking, 500 people, 1 to 4 points", ("sequences", "time"), [("3,000", f"{1000 * spent:.0f} ms")])


if __name__ == "__main__":
    main()
