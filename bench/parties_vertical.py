# SPDX-License-Identifier: MIT
"""Mining together with attributes split between sites: private products and comparisons, alignment, and whole runs.

All sites run in this process, on this machine's cores, so processor seconds are those of all sites together.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np

from bench.timing import show
from sfumato.arrays import Flags
from sfumato.baskets import Baskets
from sfumato.mine import association_rules
from sfumato.parties import Network, mine_vertical, run_sites
from sfumato.parties.protocols.row_matching import align_by_key
from sfumato.parties.protocols.scalar_product import PackedProducts, Pair, compare_shares, open_products
from sfumato.randomness import Randomness

SUPPORT, CONFIDENCE = 0.1, 0.6
COSTS = ("seconds", "processor seconds", "bytes of the first site", "bytes of the last site")


def main() -> None:
    """Steps by size, then whole runs by protocol."""
    show(
        "One private product of 0/1 columns, key and all",
        ("rows", *COSTS),
        [_multiply(n) for n in (1_000, 10_000, 100_000)],
    )
    show("Comparisons of two sites' shares", ("comparisons", *COSTS), [_compare(count) for count in (10, 100)])
    show("Rows aligned by keys, half of them common", ("rows a site", *COSTS), [_align(n) for n in (1_000, 10_000)])
    heads = ("sites", "rows", "items", "seconds", "pooled", "itemsets", "rules", "bytes of the first site")
    show(f"Whole runs at {SUPPORT:.0%}, confidence {CONFIDENCE:.0%}", heads, [_mine(2, 10_000), _mine(3, 10_000)])


def _spend(
    protocol: Callable[[Network, Any], Awaitable[Any]], inputs: Sequence[Any]
) -> tuple[list[Any], tuple[str, ...]]:
    """The results, and what they cost."""

    async def run(network: Network, site_input: Any) -> tuple[Any, int]:
        result = await protocol(network, site_input)
        return result, network.state("bench", "", ()).bytes_sent

    wall, processor = time.perf_counter(), time.process_time()
    results = run_sites(run, inputs)
    durations = (f"{time.perf_counter() - wall:.2f}", f"{time.process_time() - processor:.2f}")
    return [result for result, _ in results], (*durations, *(f"{bytes_sent:,}" for _, bytes_sent in results))


def _multiply(rows: int) -> Sequence[object]:
    chance = Randomness.seeded(1).generator()
    vectors: list[Flags] = [chance.random(rows) < 0.2 for _ in range(2)]

    async def multiply(network: Network, vector: Flags) -> tuple[int, int]:
        products: PackedProducts[int] = await open_products(network, rows, rows)
        return (await products.share([Pair(0, 0)], lambda _: vector, "bench"))[0], products.modulus

    results, costs = _spend(multiply, vectors)
    assert sum(share for share, _ in results) % results[0][1] == int((vectors[0] & vectors[1]).sum())
    return f"{rows:,}", *costs


def _compare(count: int) -> Sequence[object]:
    modulus = 1_785_857  # 21 bits: 100,000 rows and a confidence in fifths
    shares = [Randomness.seeded(seed).generator().integers(0, modulus, count).tolist() for seed in (1, 2)]

    async def compare(network: Network, site_shares: list[int]) -> Flags:
        return await compare_shares(network, site_shares, modulus, "bench")

    results, costs = _spend(compare, shares)
    sums = [(left + right) % modulus for left, right in zip(*shares, strict=True)]
    assert results[0].tolist() == [total <= modulus // 2 for total in sums]
    return f"{count:,}", *costs


def _align(rows: int) -> Sequence[object]:
    keys = [[str(number).encode() for number in range(start, start + rows)] for start in (0, rows // 2)]
    results, costs = _spend(align_by_key, keys)
    assert {order.size for order in results} == {rows - rows // 2}
    return f"{rows:,}", *costs


def _mine(sites: int, rows: int, items: int = 4) -> Sequence[object]:
    chance = np.random.default_rng(sites)
    row_levels = chance.random(rows)
    matrix = chance.random((rows, sites * items)) < 0.6 * row_levels[:, None]
    names = [f"{'abc'[number // items]}{number % items}" for number in range(sites * items)]
    lists = [[name for name, has in zip(names, row, strict=True) if has] for row in matrix.tolist()]
    pooled_baskets = Baskets.of(lists)
    association_rules(pooled_baskets, SUPPORT, CONFIDENCE)
    begin = time.perf_counter()
    expected_rules = association_rules(pooled_baskets, SUPPORT, CONFIDENCE)
    plain = time.perf_counter() - begin
    split = [Baskets.of([[name for name in row if name[0] == site] for row in lists]) for site in "abc"[:sites]]
    begin = time.perf_counter()
    result = mine_vertical(split, SUPPORT, CONFIDENCE)
    seconds = time.perf_counter() - begin
    assert result.rules.height == expected_rules.height
    counts = (result.itemsets.height, result.rules.height, f"{result.statements[0].bytes_sent:,}")
    return sites, f"{rows:,}", sites * items, f"{seconds:.1f}", f"{plain:.3f}", *counts


if __name__ == "__main__":
    main()
