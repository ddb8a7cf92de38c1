# SPDX-License-Identifier: MIT
"""Mining together: retail baskets of several sites compared with pooled mining, and the steps that it consists of.

All sites run in this process, on this machine's cores: sites on machines of their own compute at the same time, and add
the time that messages travel.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from bench.timing import shared_data, show
from sfumato.arrays import Flags, Ints
from sfumato.baskets import Baskets
from sfumato.mine import association_rules
from sfumato.parties import Network, mine_horizontal, run_sites
from sfumato.parties.arithmetic.shamir import compare_shared_sums
from sfumato.parties.protocols.threshold import Protocol
from sfumato.parties.protocols.union import unite_privately
from sfumato.randomness import Randomness

SUPPORT, CONFIDENCE = 0.01, 0.5


def main() -> None:
    """Comparisons, unions, then whole runs on retail: by number of sites and by protocol."""
    show("Secure comparisons", ("comparisons", "sites", "seconds", "processor seconds", "bytes a site"), _compare())
    show("Private union", ("itemsets a site", "sites", "seconds", "processor seconds", "most bytes a site"), _unite())
    folder = shared_data()
    if folder is None:
        return
    retail = Baskets.read(folder / "fimi" / "retail.dat.gz").to_lists()
    sites = [Baskets.of(retail[start::3][:30_000]) for start in range(3)]
    heads = (
        "protocol",
        "sites",
        "baskets a site",
        "seconds",
        "processor seconds",
        "pooled",
        "ratio",
        "itemsets",
        "rules",
        "messages",
        "bytes",
    )
    more = [[Baskets.of(retail[start::count]) for start in range(count)] for count in (5, 7)]
    rows = [*(_mine(split, "shamir") for split in (sites, *more)), _mine(sites, "textbook"), _mine(sites, "counts")]
    show(f"Retail at {SUPPORT:.0%}; messages and bytes of the site that sends most", heads, rows)


def _compare() -> list[Sequence[object]]:
    async def compare(network: Network, site_values: Ints) -> tuple[Flags, int]:
        flags = await compare_shared_sums(network, site_values, "compare")
        return flags, network.state("shamir", "", ()).bytes_sent

    rows: list[Sequence[object]] = []
    for sites in (3, 5, 7):
        terms = [np.arange(-500, 500)] * sites
        wall, processor = time.perf_counter(), time.process_time()
        results = run_sites(compare, terms)
        assert all(int(flags.sum()) == 500 for flags, _ in results)
        durations = (f"{time.perf_counter() - wall:.2f}", f"{time.process_time() - processor:.2f}")
        rows.append((1_000, sites, *durations, f"{results[0][1]:,}"))
    return rows


def _unite() -> list[Sequence[object]]:
    chance = Randomness.seeded(1).generator()

    async def unite(network: Network, site_items: list[bytes]) -> tuple[int, int]:
        union = await unite_privately(network, site_items, len(site_items), 8)
        return len(union), network.state("union", "", ()).bytes_sent

    rows: list[Sequence[object]] = []
    for count in (1_000, 10_000):
        lists = [
            [int(number).to_bytes(8, "big") for number in chance.choice(2 * count, count, replace=False)]
            for _ in range(3)
        ]
        wall, processor = time.perf_counter(), time.process_time()
        results = run_sites(unite, lists)
        assert {union_size for union_size, _ in results} == {len(set().union(*lists))}
        durations = (f"{time.perf_counter() - wall:.2f}", f"{time.process_time() - processor:.2f}")
        rows.append((f"{count:,}", 3, *durations, f"{max(bytes_sent for _, bytes_sent in results):,}"))
    return rows


def _mine(sites: list[Baskets], protocol: Protocol) -> Sequence[object]:
    pooled_baskets = Baskets.of([row for site in sites for row in site.to_lists()])
    association_rules(pooled_baskets, SUPPORT, CONFIDENCE)
    begin = time.perf_counter()
    expected_rules = association_rules(pooled_baskets, SUPPORT, CONFIDENCE)
    plain = time.perf_counter() - begin
    begin, processor = time.perf_counter(), time.process_time()
    result = mine_horizontal(sites, SUPPORT, CONFIDENCE, protocol=protocol)
    joint, processor_seconds = time.perf_counter() - begin, time.process_time() - processor
    assert result.rules.height == expected_rules.height
    largest_statement = max(result.statements, key=lambda statement: statement.bytes_sent)
    return (
        *(protocol, len(sites), f"{len(sites[0]):,}", f"{joint:.1f}", f"{processor_seconds:.1f}"),
        *(f"{plain:.3f}", f"{joint / plain:.0f}"),
        *(
            result.itemsets.height,
            result.rules.height,
            largest_statement.messages_sent,
            f"{largest_statement.bytes_sent:,}",
        ),
    )


if __name__ == "__main__":
    main()
