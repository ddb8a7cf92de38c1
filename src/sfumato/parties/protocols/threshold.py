# SPDX-License-Identifier: MIT
"""Ways to unite lists and to test sums against zero, by the name of the protocol, and whom each protects against.

==========  ============================================================================================================
shamir      the default: shared secrets; fewer than half the sites may collude; nobody learns a count
textbook    lists passed around, ring sum, two-party comparison; colluding neighbours learn a site's terms; for study
counts      every site tells all others its candidates and terms; the baseline without protection, for study
==========  ============================================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.errors import PolicyError, count_noun
from sfumato.parties.arithmetic.shamir import compare_shared_sums, count_colluders
from sfumato.parties.protocols.passed_union import unite_by_passing
from sfumato.parties.protocols.ring import compare_ring_sums
from sfumato.parties.protocols.union import unite_privately
from sfumato.parties.transport.network import Network

Protocol = Literal["shamir", "textbook", "counts"]
MOST_BITS = 60
"""Sums of terms are below 2^59 in size, which all protocols can hold."""
LONGEST_LIST_BITS = 20
"""Lists of up to 2^20 candidates can be united."""


def check_protocol(protocol: str) -> Protocol:
    """The protocol of this name, or an error that names all."""
    for protocol_name in get_args(Protocol):
        if protocol == protocol_name:
            name: Protocol = protocol_name
            return name
    raise PolicyError('protocol must be "shamir", "textbook" or "counts"')


def describe_threshold_adversary(protocol: Protocol, sites: int) -> str:
    """Against whom the statement holds."""
    if protocol == "counts":
        return "Nobody is protected: every site tells the others its candidates and counts. For study only."
    colluders = count_colluders(sites)
    if protocol == "textbook":
        return (
            "Semi-honest sites that do not collude: two neighbours in the ring that do learn the terms of the site "
            "between them. For study."
        )
    return (
        f"Semi-honest sites (they follow the protocol and keep what they see), of which up to {colluders} of {sites} "
        "collude."
    )


async def compare_sums(network: Network, protocol: Protocol, terms: Ints, bits: int, step: str) -> Flags:
    """Whether the sums of all sites' terms, each sum below 2^(bits - 1) in size, are at least zero."""
    if protocol == "textbook":
        return await compare_ring_sums(network, terms, bits, step)
    if protocol == "shamir":
        return await compare_shared_sums(network, terms, step)
    messages = await network.exchange(f"{step}/terms", {"terms": terms})
    network.learn(
        f"{step}: every site's terms in {terms.size} sums; a term is its count, less its share of the threshold, so "
        "that its number of baskets follows if the threshold is a share"
    )
    total = np.zeros_like(terms)
    for message in messages.values():
        total += message.get_array("terms", np.int64, terms.size)
    flags: Flags = total >= 0
    return flags


async def unite(network: Network, protocol: Protocol, entries: Sequence[bytes], width: int, step: str) -> list[bytes]:
    """The sorted union of all sites' entries, none of more than `width` bytes."""
    if protocol == "counts":
        return await _unite_openly(network, entries, width, step)
    length = await agree_on_length(network, protocol, len(entries), step)
    if not length:
        return []
    unite_lists = unite_by_passing if protocol == "textbook" else unite_privately
    return await unite_lists(network, entries, length, width, step)


async def agree_on_length(network: Network, protocol: Protocol, own_length: int, step: str) -> int:
    """The smallest of 0, 1, 2, 4 … that no site's list exceeds; which site has the longest is not learned."""
    lengths = [0, *(1 << power for power in range(LONGEST_LIST_BITS + 1))]
    if own_length > lengths[-1]:
        raise PolicyError(f"this site has {own_length:,} candidates, above {lengths[-1]:,}; raise min_support")
    exceeds = np.array([own_length > length for length in lengths], dtype=np.int64)
    sites_bits = len(network.sites).bit_length() + 2
    terms = exceeds - (1 if network.index == 0 else 0)  # one site above the length makes the sum zero
    is_exceeded = await compare_sums(network, protocol, terms, sites_bits, f"{step}/length")
    length = lengths[int(is_exceeded.sum())]
    network.learn(f"{step}: {describe_length(length)}")
    return length


def describe_length(length: int) -> str:
    """What the agreed length tells about the lists."""
    if length < 2:
        return f"the longest list of a site has {count_noun(length, 'entry', 'entries')}"
    return f"the longest list of a site has at most {length:,} entries, and more than half of that"


async def _unite_openly(network: Network, entries: Sequence[bytes], width: int, step: str) -> list[bytes]:
    packed_entries = np.zeros((len(entries), 2 + width), dtype=np.uint8)
    for row, entry in enumerate(entries):
        text = len(entry).to_bytes(2, "big") + entry
        packed_entries[row, : len(text)] = np.frombuffer(text, dtype=np.uint8)
    messages = await network.exchange(f"{step}/entries", {"entries": packed_entries})
    rows = [
        row.tobytes()
        for message in messages.values()
        for row in message.get_array("entries", np.uint8, None, 2 + width)
    ]
    network.learn(f"{step}: every site's own entries")
    return sorted({row[2 : 2 + int.from_bytes(row[:2], "big")] for row in rows})
