# SPDX-License-Identifier: MIT
"""Secure sums: all sites learn the total, and nothing else.

Every site splits its number into random parts that add up to it modulo a prime, one for each site, and every site opens
only the sum of the parts that it got. Any group of colluding sites learns from the messages only what follows from the
total and its own numbers; with two sites, that is the other's number. Semi-honest: a site that lies about its number
changes the total, and is not noticed.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Ints, Words
from sfumato.errors import PartyError, count_noun
from sfumato.parties.arithmetic.field import (
    PRIME,
    add,
    check_residues,
    draw_uniform,
    subtract,
    unwrap_signed,
    wrap_signed,
)
from sfumato.parties.transport.network import Network
from sfumato.randomness import Randomness


async def add_residues(network: Network, values: Words, step: str) -> Words:
    """The total of all sites' arrays, modulo the prime; all arrays have one shape."""
    randomness, flat = Randomness.secure(), values.ravel()
    own_share = flat
    for receiver in network.other_sites:
        part = draw_uniform(randomness, flat.size)
        own_share = subtract(own_share, part)
        await network.send(receiver, f"{step}/part", {"part": part})
    for message in (await network.gather(f"{step}/part")).values():
        own_share = add(own_share, check_residues(message.get_array("part", np.uint64, flat.size)))
    total = np.zeros_like(flat)
    for message in (await network.exchange(f"{step}/total", {"total": own_share})).values():
        total = add(total, check_residues(message.get_array("total", np.uint64, flat.size)))
    return total.reshape(values.shape)


async def add_integers(network: Network, values: Ints, step: str = "sum") -> Ints:
    """The exact total of all sites' arrays of whole numbers, each below 2^60 divided by the number of sites."""
    if len(network.sites) < 3:
        raise PartyError("with two sites, the total minus one's own number is the other's; use three or more sites")
    limit = (PRIME // 2) // len(network.sites)
    large = int((np.abs(values) > limit).sum())
    if large:
        raise PartyError(
            f"{count_noun(large, 'number is', 'numbers are')} too large for a secure sum; scale all below {limit:,}"
        )
    total = unwrap_signed(await add_residues(network, wrap_signed(values), step))
    network.learn(f"the totals of {count_noun(values.size, 'number')} over all sites")
    return total
