# SPDX-License-Identifier: MIT
"""Frequent subsequences beside prefixspan (PyPI) and SPMF's figures; itemsets, kinds, growth.

prefixspan takes lists and gives tuples, this package takes sequences and gives a frame. prefixspan is left out with a
word about it where it is not installed, and takes no itemsets: those are mined in plain Python instead, and in plain
Java where there is one, which takes about as long as SPMF's figures on single items. SPMF's and Java's times are warm,
with reading and writing files. Times are processor time, and by the clock where it says so.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sfumato as sf
from bench.plain_prefixspan import PlainPrefixSpan
from bench.timing import best_of, shared_data, show
from sfumato.data.generators.movements import generate_cars

# File, share, seconds of SPMF 2.66 PrefixSpan on a like machine, whether prefixspan is fast enough to be waited for.
SETTINGS: tuple[tuple[str, float, float | None, bool], ...] = (
    ("SIGN.txt", 0.4, 0.047, True), ("LEVIATHAN.txt", 0.1, 0.158, True), ("MSNBC.txt", 0.1, 0.308, True),
    ("bms-webview-1.seq.txt", 0.001, 0.184, True), ("kosarak10k.txt", 0.01, None, True),
    ("SIGN.txt", 0.2, None, False), ("LEVIATHAN.txt", 0.02, None, False), ("MSNBC.txt", 0.02, None, False),
    ("bms-webview-1.seq.txt", 0.0006, None, False), ("kosarak10k.txt", 0.003, None, False),
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
        _itemsets_beside_plain(folder / "sequences")
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
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _time_best(times: int, work: Callable[[], object]) -> float:
    """Processor time of the fastest of several runs, after a warm-up."""
    work()
    return min(_time_once(work) for _ in range(times))


def _beside_peers(folder: Path) -> None:
    peer = _load_prefixspan()
    rows = []
    for name, share, spmf, is_waited_for in SETTINGS:
        sequences = sf.Sequences.read(folder / name)
        subsequences = sf.mine.frequent_subsequences(sequences, share)
        clock = best_of(7, lambda s=sequences, m=share: sf.mine.frequent_subsequences(s, m))  # type: ignore[misc]
        own_time = _time_best(7, lambda s=sequences, m=share: sf.mine.frequent_subsequences(s, m))  # type: ignore[misc]
        peer_text, speedup = "–", "–"
        if peer is not None and is_waited_for:
            least = int(subsequences["support"].min())  # type: ignore[arg-type]
            miner = peer(sequences.to_lists())
            counts: list[Any] = []
            plain_seconds = _time_once(lambda m=miner, c=counts, n=least: c.extend(m.frequent(n)))  # type: ignore[misc]
            assert len(counts) == subsequences.height, "the miners disagree"
            peer_text, speedup = f"{1000 * plain_seconds:.0f}", f"{plain_seconds / own_time:.0f}×"
        spmf_speedup = f"{spmf / clock:.0f}×" if spmf else "–"
        times = (f"{1000 * own_time:.1f}", f"{1000 * clock:.1f}")
        rows.append((f"{name} {100 * share:g} %", f"{subsequences.height:,}", *times, peer_text, speedup, spmf_speedup))
    head = ("data", "patterns", "frame, ms", "by the clock", "prefixspan, ms", "ahead", "SPMF's figure, by the clock")
    show("Frequent subsequences, warm, best of several", head, rows)


def _itemsets_beside_plain(folder: Path) -> None:
    """The same data with two neighbouring items in each element, and generated customers."""
    several = [(f"{name} {100 * share:g} %", pair_items(folder / name), share) for name, share, _, _ in SETTINGS[:5]]
    _beside_java(folder, several)
    rows = []
    for name, sequences, share in [*several, ("20,000 customers 1 %", draw_customers(20_000), 0.01)]:
        subsequences = sf.mine.frequent_subsequences(sequences, share)
        clock = best_of(15, lambda s=sequences, m=share: sf.mine.frequent_subsequences(s, m))  # type: ignore[misc]
        own_time = _time_best(15, lambda s=sequences, m=share: sf.mine.frequent_subsequences(s, m))  # type: ignore[misc]
        miner, counts, least = PlainPrefixSpan(sequences.to_lists()), [], int(subsequences["support"].min())  # type: ignore[var-annotated, arg-type]
        plain_seconds = _time_once(lambda m=miner, c=counts, n=least: c.extend(m.frequent(n)))  # type: ignore[misc]
        assert len(counts) == subsequences.height, "the miners disagree"
        times = (f"{1000 * own_time:.1f}", f"{1000 * clock:.1f}", f"{1000 * plain_seconds:.0f}")
        rows.append(
            (
                name,
                f"{subsequences.height:,}",
                *times,
                f"{plain_seconds / own_time:.0f}×",
                f"{plain_seconds / clock:.0f}×",
            )
        )
    head = ("data", "patterns", "frame, ms", "by the clock", "plain Python, ms", "ahead", "by the clock")
    show("Sequences of itemsets, warm, best of several", head, rows)


def _beside_java(folder: Path, pairs: list[tuple[str, sf.Sequences, float]]) -> None:
    """Single items, beside SPMF's figures, and itemsets: by the clock, alone, and with reading and writing files."""
    java = shutil.which("java")
    if java is None:
        print("sequences: there is no java, what it would show is left out")
        return
    singles = [
        (f"{name} {100 * share:g} %", sf.Sequences.read(folder / name), share) for name, share, _, _ in SETTINGS[:5]
    ]
    several = [*pairs, ("20,000 customers 1 %", draw_customers(20_000), 0.01)]
    rows = []
    for kind, name, named_sequences, share in [("single", *data) for data in singles] + [
        ("itemsets", *data) for data in several
    ]:
        sequences = sf.Sequences(
            tuple(range(len(named_sequences.items))),
            named_sequences.offsets,
            named_sequences.element_offsets,
            named_sequences.codes,
        )
        with tempfile.TemporaryDirectory() as folder_name:
            path, output = Path(folder_name, "sequences.txt"), Path(folder_name, "patterns.txt")
            sequences.write(path)
            clock = best_of(15, lambda s=sequences, m=share: sf.mine.frequent_subsequences(s, m))  # type: ignore[misc]
            file_seconds = best_of(15, lambda p=path, o=output, m=share: _mine_file(p, o, m))  # type: ignore[misc]
            subsequences = sf.mine.frequent_subsequences(sequences, share)
            program = Path(__file__).with_name("PlainPrefixSpan.java")
            command: list[str | Path] = [java, program, path, str(subsequences["support"].min()), output, "15"]
            output_words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert int(output_words[0]) == subsequences.height, "the miners disagree"
        speedups = (f"{float(output_words[1]) / 1000 / duration:.1f}×" for duration in (clock, file_seconds))
        times = (f"{1000 * clock:.1f}", f"{1000 * file_seconds:.1f}", f"{float(output_words[1]):.0f}")
        rows.append((name, kind, f"{subsequences.height:,}", *times, *speedups))
    head = (
        "data",
        "elements",
        "patterns",
        "frame, ms",
        "with files, ms",
        "plain Java with files, ms",
        "ahead",
        "with files",
    )
    show("Beside plain Java, by the clock, warm, best of several", head, rows)


def _mine_file(path: Path, output: Path, share: float) -> None:
    sf.mine.save_subsequences(sf.mine.frequent_subsequences(sf.Sequences.read(path), share), output)


def pair_items(path: Path) -> sf.Sequences:
    """Sequences with two neighbouring items, or one that repeats, in each element."""
    rows = sf.Sequences.read(path).to_lists()
    return sf.Sequences.of([[sorted(set(row[start : start + 2])) for start in range(0, len(row), 2)] for row in rows])


def _kinds(folder: Path) -> None:
    rows = []
    for name, share in (("SIGN.txt", 0.4), ("bms-webview-1.seq.txt", 0.001)):
        sequences = sf.Sequences.read(folder / name)
        ways: dict[str, dict[str, Any]] = {
            "closed": {"kind": "closed"}, "maximal": {"kind": "maximal"}, "gaps up to 2": {"max_gap": 2},
            "window of 5": {"window": 5},
        }  # fmt: skip
        for label, arguments in ways.items():
            subsequences = sf.mine.frequent_subsequences(sequences, share, **arguments)
            duration = best_of(2, lambda s=sequences, m=share, a=arguments: sf.mine.frequent_subsequences(s, m, **a))  # type: ignore[misc]
            rows.append((f"{name} {100 * share:g} %", label, f"{subsequences.height:,}", f"{1000 * duration:.1f}"))
    show("Closed, maximal, and under limits", ("data", "patterns", "found", "ms"), rows)


def _growth(folder: Path) -> None:
    """The same sequences, shuffled within, so that they are not copies; 1, 4 and 16 times as many."""
    base = sf.Sequences.read(folder / "MSNBC.txt")
    rows = []
    for times in (1, 4, 16):
        sequences = multiply(base, times)
        subsequences = sf.mine.frequent_subsequences(sequences, 0.1)
        duration = best_of(2, lambda s=sequences: sf.mine.frequent_subsequences(s, 0.1))  # type: ignore[misc]
        a_row = f"{1e6 * duration / len(sequences):.2f} µs"
        rows.append((f"{len(sequences):,}", f"{subsequences.height:,}", f"{1000 * duration:.0f} ms", a_row))
    show("Growth, MSNBC 10 %", ("sequences", "patterns", "time", "a sequence"), rows)


def _anonymize(folder: Path) -> None:
    """Parts of MSNBC, and more like it; walks with the steps of its visitors, nearly all different; walks on a grid.

    At a fixed k more sequences leave more paths, and a search reads more of them: time grows faster than the data. The
    page on speed says which counts grow.
    """
    base = sf.Sequences.read(folder / "MSNBC.txt")
    order = np.random.Generator(np.random.PCG64(2)).permutation(len(base))
    several = {
        "MSNBC, parts and whole": [base.take(np.sort(order[: len(base) // parts])) for parts in (16, 4, 1)],
        "MSNBC ten times": [multiply(base, 10)],
        "walks with its steps": [draw_walks(base, times * len(base)) for times in (1, 4, 16)],
        "walks on a grid of 10 × 10": [walk_on_grid(5_000 * times) for times in (1, 4, 16)],
    }
    sf.AnonymizeSequences(k=2).protect(sf.Sequences.of([list("ab"), list("ab"), list("ac")]))  # loads the kernels
    rows = []
    for name, sizes in several.items():
        for sequences in sizes:
            begin = time.process_time()
            release = sf.AnonymizeSequences(k=10).protect(sequences)
            duration = time.process_time() - begin
            times = (f"{duration:.2f} s", f"{1e6 * duration / len(sequences):.1f} µs")
            rows.append((name, f"{len(sequences):,}", f"{release.losses['loss']:.3f}", *times))
    show("Anonymizing, k = 10", ("data", "sequences", "loss", "time", "a sequence"), rows)


def walk_on_grid(rows: int, side: int = 10, mean: int = 20) -> sf.Sequences:
    """Random walks of about this many steps from cell to neighbouring cell."""
    chance = np.random.Generator(np.random.PCG64(1))
    lengths = np.maximum(chance.poisson(mean, rows), 1)
    places = np.empty((rows, lengths.max()), dtype=np.int32)
    x, y = chance.integers(0, side, (2, rows))
    for step in range(places.shape[1]):
        places[:, step] = x * side + y
        way = chance.integers(0, 4, rows)
        x = np.clip(x + (way == 0) - (way == 1), 0, side - 1)
        y = np.clip(y + (way == 2) - (way == 3), 0, side - 1)
    codes = places[np.arange(places.shape[1]) < lengths[:, None]]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return sf.Sequences(tuple(range(side * side)), offsets, np.arange(codes.size + 1), codes)


def draw_walks(base: sf.Sequences, rows: int) -> sf.Sequences:
    """A Markov chain with the steps of some sequences, beginnings and ends included."""
    chance = np.random.Generator(np.random.PCG64(5))
    nowhere = len(base.items)  # before the first item and after the last
    nonempty = np.diff(base.offsets) > 0
    starts, ends = base.offsets[:-1][nonempty], base.offsets[1:][nonempty] - 1
    steps = np.zeros((nowhere + 1, nowhere + 1))
    np.add.at(steps[nowhere], base.codes[starts], 1)
    np.add.at(steps[:, nowhere], base.codes[ends], 1)
    inner = np.setdiff1d(np.arange(base.codes.size), ends)
    np.add.at(steps, (base.codes[inner], base.codes[inner + 1]), 1)
    cumulative_steps = np.cumsum(steps / steps.sum(axis=1, keepdims=True), axis=1)
    walkers, cells = np.arange(rows), np.full(rows, nowhere)
    owners, items = [], []
    while walkers.size:
        cells = np.minimum((cumulative_steps[cells] < chance.random(walkers.size)[:, None]).sum(axis=1), nowhere)
        walkers, cells = walkers[cells < nowhere], cells[cells < nowhere]
        owners.append(walkers)
        items.append(cells)
    order = np.argsort(np.concatenate(owners), kind="stable")
    counts = np.bincount(np.concatenate(owners), minlength=rows)
    codes = np.concatenate(items)[order].astype(np.int32)
    return sf.Sequences(base.items, np.concatenate(([0], np.cumsum(counts))), np.arange(codes.size + 1), codes)


def _hide(folder: Path) -> None:
    """The ten most frequent patterns of two or three items."""
    sequences = sf.Sequences.read(folder / "bms-webview-1.seq.txt")
    subsequences = sf.mine.frequent_subsequences(sequences, 300, max_length=3)
    patterns = subsequences.sort("support", descending=True)["pattern"].to_list()
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
        subsequences = sf.mine.frequent_subsequences(sequences, 0.01)
        duration = best_of(2, lambda s=sequences: sf.mine.frequent_subsequences(s, 0.01))  # type: ignore[misc]
        rows.append((f"{customers:,}", f"{subsequences.height:,}", f"{1000 * duration:.0f} ms"))
    show("Sequences of itemsets, 1 %", ("customers", "patterns", "time"), rows)


def draw_customers(rows: int) -> sf.Sequences:
    """Visits that follow one of some hundred patterns, with single items between."""
    chance = np.random.Generator(np.random.PCG64(7))
    patterns = [[chance.choice(400, size=2, replace=False) for _ in range(4)] for _ in range(150)]
    pattern_indices = chance.integers(0, len(patterns), rows)
    codes = np.array(patterns)[pattern_indices].reshape(rows, 8)
    noise = chance.integers(0, 400, (rows, 4))
    visits = np.concatenate([codes.reshape(rows, 4, 2), noise.reshape(rows, 4, 1)], axis=2)
    keep = chance.random(visits.shape) < 0.8
    flat, sizes = visits[keep], keep.sum(axis=2).ravel()
    element_offsets = np.concatenate(([0], np.cumsum(sizes)))
    return sf.Sequences(tuple(range(400)), np.arange(rows + 1) * 4, element_offsets, flat.astype(np.int32))


def _attacks() -> None:
    cars = sf.Sequences.of(generate_cars(count=3000))
    release = sf.Release(cars, None, (), {})
    duration = best_of(2, lambda: sf.attack.SequenceLinking().run(release, cars))
    show("Sequence linking, 500 people, 1 to 4 points", ("sequences", "time"), [("3,000", f"{1000 * duration:.0f} ms")])


if __name__ == "__main__":
    main()
