# SPDX-License-Identifier: MIT
"""Outsourced mining there and back, through files: are the decoded itemsets and rules exactly those of the originals?

Market baskets: `groceries.csv` (9,835 baskets, from the R package arules) if the data folder has it; Retail;
BMS-WebView-1. Seconds are of the processor, so that other work on the machine does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

import sfumato as sf
from bench.timing import shared_data, show

CONFIDENCE = 0.3
DATA = (("groceries.csv", 0.01), ("fimi/retail.dat.gz", 0.01), ("fimi/bms-webview-1.dat", 0.005))
METHODS: tuple[tuple[str, sf.EncodeItems | sf.EncodeBloom], ...] = (
    ("padded, k = 10", sf.EncodeItems(k=10)),
    ("one-to-n, n = 2", sf.EncodeItems(kind="one_to_n", n=2)),
    ("Bloom, m = 1024, k = 4", sf.EncodeBloom(bits=1024, hashes=4)),
)


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("round_trip: no real data (set SFUMATO_DATA), skipped")
        return
    sf.mine.association_rules(sf.Baskets.of([["a", "b"]] * 3), 1, 0.5)  # compiled before anything is timed
    rows = []
    for name, share in DATA:
        if (folder / name).exists():
            baskets = sf.Baskets.read(folder / name)
            labels = (Path(name).name, f"{share:.1%}")
            rows += [(*labels, label, *go(method, baskets, share)) for label, method in METHODS]
    head = ("data", "support", "method", "encode", "mine", "decode", "and prove", "sets", "rules", "itemsets", "rules")
    show("Round trip, once each; exact: itemsets and rules are those of the originals", head, rows)


def go(method: sf.EncodeItems | sf.EncodeBloom, baskets: sf.Baskets, share: float) -> tuple[str, ...]:
    """Seconds of the steps, how much was found, and whether it is exact."""
    least = max(1, round(share * len(baskets)))
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o700)
        encoding = time_work(lambda: _encode(method, baskets, folder))
        mining = time_work(lambda: _mine(folder, least))
        key, itemsets = sf.Key.load(folder / "key.json"), sf.mine.read_itemsets(folder / "found.txt")
        decoding = time_work(lambda: sf.mine.decode_itemsets(itemsets, key, min_support=least))
        proven_decoding = time_work(lambda: sf.mine.decode_itemsets(itemsets, key, baskets, least))
        rules = sf.mine.decode_rules(itemsets, key, baskets, least, CONFIDENCE)
    true = sf.mine.frequent_itemsets(baskets, least)
    true_rules = sf.mine.association_rules(baskets, least, CONFIDENCE)
    seconds = [f"{step[1]:.2f} s" for step in (encoding, mining, decoding, proven_decoding)]
    sides = ["antecedent", "consequent", "support", "confidence"]
    return (
        *seconds,
        f"{itemsets.height} for {true.height}",
        str(true_rules.height),
        "exact"
        if list_rows(proven_decoding[0], ["items", "support"]) == list_rows(true, ["items", "support"])
        else "WRONG",
        "exact" if list_rows(rules, sides) == list_rows(true_rules, sides) else "WRONG",
    )


def time_work(work: Callable[[], Any]) -> tuple[Any, float]:
    """What came out, and the processor seconds it took."""
    begin = time.process_time()
    return work(), time.process_time() - begin


def list_rows(frame: pl.DataFrame, columns: list[str]) -> list[Any]:
    """The rows in a fixed order."""
    return sorted(frame.select(columns).rows())


def _encode(method: sf.EncodeItems | sf.EncodeBloom, baskets: sf.Baskets, folder: Path) -> None:
    key = method.new_key(baskets)
    key.save(folder / "key.json")
    method.protect(baskets, key).data.write(folder / "codes.dat")
    if isinstance(method, sf.EncodeBloom):
        sf.mine.filter_requests(key).write(folder / "requests.csv", "long")


def _mine(folder: Path, least: int) -> None:
    codes = sf.Baskets.read(folder / "codes.dat")
    if (folder / "requests.csv").exists():
        itemsets = sf.mine.mine_filters(codes, sf.Baskets.read(folder / "requests.csv", "long"), least)
    else:
        itemsets = sf.mine.frequent_itemsets(codes, least)
    sf.mine.save_itemsets(itemsets, folder / "found.txt")


if __name__ == "__main__":
    main()
