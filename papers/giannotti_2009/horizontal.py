# SPDX-License-Identifier: MIT
"""Mining together, horizontally: the protocol of Kantarcioglu and Clifton (2002) as in the slides, and ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from papers.study import Findings, Grid, Setting, Statement, frame_of
from papers.wang_2004.data import draw_baskets
from sfumato.arrays import Flags, Ints
from sfumato.baskets import Baskets
from sfumato.mine.baskets.association_rules import association_rules
from sfumato.parties.arithmetic.group import get_group
from sfumato.parties.horizontal import mine_horizontal
from sfumato.parties.protocols.ring import compare_ring_sums
from sfumato.parties.protocols.threshold import Protocol
from sfumato.parties.transport.message import Message, decode_frame
from sfumato.parties.transport.network import Network, run_sites

SEED, SITES, ITEMS = 2002, 3, 12
BASKETS, QUICK_BASKETS = 3_000, 300
SUPPORT, CONFIDENCE = 0.2, 0.7
TERMS = [[0], [-1], [3]]
"""What three sites have above 5 % of their baskets: 5 of 100, 9 of 200, 18 of 300."""
RING_BITS = 16


def horizontal(setting: Setting) -> Findings:
    """Each step of the slides, what it leaks, and the whole run in three protocols."""
    group = get_group()
    point, first, second = group.hash_entry("slides", b"ABC"), group.draw_scalar(), group.draw_scalar()
    commutes = group.multiply(first, group.multiply(second, point)) == group.multiply(
        second, group.multiply(first, point)
    )
    is_large, term = _run_ring()
    rows, equal = _compare_protocols(QUICK_BASKETS if setting.quick else BASKETS)
    return Findings(
        statements=(
            Statement(
                "Commutative encryption: E_a(E_b(x)) = E_b(E_a(x)).",
                f"In {group.name}, both orders give {'the same point' if commutes else 'different points'}.",
                commutes,
            ),
            Statement(
                "Checking X.sup ≥ s · Σ|DB| is the same as checking Σ(X.sup_i − s·|DB_i|) ≥ 0.",
                f"For 5 of 100, 9 of 200 and 18 of 300 at 5 %: 32 ≥ 30, and the ring says {is_large}.",
                is_large,
            ),
            Statement(
                "The ring sum is secure in the semi-honest model.",
                f"What the third site got minus what the first one sent is {term}, the second site's term.",
                term != TERMS[1][0],
                "It is if no two sites collude. Neighbours that do have the term between them exactly; with two sites "
                "no collusion is needed. Ours shares terms, so that fewer than half the sites learn nothing.",
            ),
            Statement(
                "Exchanging support counts is enough to find the rules of all data.",
                f"All three protocols find the rules of the pooled baskets: {equal}.",
                equal,
            ),
        ),
        grids=(Grid("protocols", "What one of three sites sends, and whether its names can be read", frame_of(rows)),),
        remarks=(
            (
                "The slides warn that order and lengths of lists give information away, and propose redundancy. Ours "
                "fills lists up to a common length and sends them through all sites, which blind and shuffle them."
            ),
            "Local pruning is the same in all three: a site proposes only what is frequent in its own baskets.",
        ),
    )


def _run_ring() -> tuple[bool, int]:
    """The comparison of the slides, and what the neighbours of the second site find out."""
    messages: list[Message] = []

    async def compare(network: Network, site_values: Ints) -> Flags:
        return await compare_ring_sums(network, site_values, RING_BITS, "slides")

    terms = [np.array(row, dtype=np.int64) for row in TERMS]
    flags = run_sites(compare, terms, tap=lambda frame: messages.append(decode_frame(frame)[1]))
    sums = [int(message.get_array("sums", np.uint64, 1)[0]) for message in messages if message.kind.endswith("/ring")]
    difference = (sums[1] - sums[0]) % (1 << RING_BITS)
    return bool(flags[0][0]), difference - (1 << RING_BITS) if difference >> (RING_BITS - 1) else difference


def _name_items(baskets: Baskets) -> Baskets:
    """Names so long that random bytes do not hold one by chance."""
    return Baskets.of([[f"article {item}" for item in row] for row in baskets.to_lists()])


def _compare_protocols(baskets: int) -> tuple[list[dict[str, Any]], bool]:
    sites = [_name_items(draw_baskets(baskets, ITEMS, SEED + site)) for site in range(SITES)]
    pooled_baskets = Baskets.of([row for site in sites for row in site.to_lists()])
    expected_rules = association_rules(pooled_baskets, SUPPORT, CONFIDENCE).select("antecedent", "consequent")
    rows, equal = [], True
    protocols: tuple[Protocol, ...] = ("counts", "textbook", "shamir")
    for protocol in protocols:
        frames: list[bytes] = []
        result = mine_horizontal(sites, SUPPORT, CONFIDENCE, protocol=protocol, tap=frames.append)
        equal &= sorted(result.rules.rows()) == sorted(expected_rules.rows())
        wire = b"".join(frames)
        rows.append(
            {
                "protocol": protocol,
                "itemsets": result.itemsets.height,
                "rules": result.rules.height,
                "messages": result.statements[0].messages_sent,
                "bytes": result.statements[0].bytes_sent,
                "names_can_be_read": any(str(item).encode() in wire for item in pooled_baskets.items),
            }
        )
    return rows, equal
