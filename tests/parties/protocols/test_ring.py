# SPDX-License-Identifier: MIT
"""The textbook's ring sum and its comparison, against plain sums; and its leak."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.arrays import Flags, Ints
from sfumato.errors import PartyError
from sfumato.parties.protocols.ring import compare_ring_sums
from sfumato.parties.transport.message import decode_frame
from sfumato.parties.transport.network import Network, Tap, run_sites


def compare(terms: list[list[int]], bits: int, tap: Tap | None = None) -> list[Flags]:
    async def run(network: Network, site_terms: Ints) -> Flags:
        return await compare_ring_sums(network, site_terms, bits, "compare")

    return run_sites(run, [np.array(row, dtype=np.int64) for row in terms], tap=tap)


def test_comparisons_equal_plain_sums() -> None:
    """All sums of four bits, over three sites; random numbers differ from run to run."""
    sums = np.arange(-8, 8)
    terms = [(sums - 3).tolist(), [5] * 16, [-2] * 16]
    for flags in compare(terms, bits=4):
        assert flags.tolist() == (sums >= 0).tolist()


def test_large_sums_and_more_sites() -> None:
    terms = [[2**38, -(2**38)], [2**37, -(2**37)], [-(2**38), 2**38], [-(2**37), 2**37 - 1]]
    assert compare(terms, bits=41)[1].tolist() == [True, False]
    assert compare([[], [], []], bits=8)[0].tolist() == []


def test_two_sites_are_refused_with_the_reason() -> None:
    with pytest.raises(PartyError, match="learn the other's"):
        compare([[1], [2]], bits=8)
    with pytest.raises(PartyError, match="bits"):
        compare([[1], [2], [3]], bits=63)


def test_colluding_neighbours_find_the_term_between_them() -> None:
    """The named leak: what site 3 got minus what site 1 sent is the term of site 2."""
    frames: list[bytes] = []
    compare([[11], [-7], [3]], bits=16, tap=frames.append)
    rings = [message for _, message in map(decode_frame, frames) if message.kind == "compare/ring"]
    sent_sum, got = (int(message.get_array("sums", np.uint64, 1)[0]) for message in rings)
    assert (got - sent_sum) % 2**16 == -7 % 2**16
