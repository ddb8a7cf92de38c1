# SPDX-License-Identifier: MIT
"""Aligning rows by a key: every site learns which of its people all sites have, and nothing about other people.

Private set intersection by commutative encryption (Huberman, Franklin and Hogg 1999; Agrawal, Evfimievski and Srikant
2003), for two or more sites:

1. Every site hashes its keys to points, fills up with random points to an agreed length, and multiplies by a secret
   scalar. Each list goes around all sites; each multiplies by its own scalar and sorts, which shuffles.
2. All lists are now under all scalars, and go to the first site: the points in all of them are the intersection.
3. In turn, every site takes off its scalar and sorts. All sites get the bare points and recognise their own keys. Their
   order, by bytes of a hash that depends on the session, is the order of the rows.

What is learned besides: how long each list is, up to a factor of two; with three or more sites, the first one how many
people any of them have in common, not who they are. Semi-honest. A site that invents keys learns whether the
others all have them: agree on keys that cannot be guessed, or on whom each site may ask about.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Ints
from sfumato.errors import PartyError, count_noun
from sfumato.parties.arithmetic.group import Group, get_group, map_over_points, multiply_all, pack_points
from sfumato.parties.protocols.point_lists import open_in_turn, receive_points
from sfumato.parties.transport.network import Network, compute

DOMAIN = "sfumato rows"
LONGEST_LIST = 1 << 24


async def align_by_number(network: Network, rows: int) -> Ints:
    """All rows in their order, after a check that every site has as many."""
    messages = await network.exchange("rows/count", facts={"rows": rows})
    counts = {site: message.get_fact("rows", int) for site, message in messages.items()}
    odd_sites = [site for site, count in counts.items() if count != rows]
    if odd_sites:
        raise PartyError(
            f'site "{odd_sites[0]}" has {counts[odd_sites[0]]:,} rows and this one {rows:,}, so they are not aligned '
            "by number; name a key column at every site"
        )
    network.learn("rows: that every site has as many rows")
    return np.arange(rows)


async def align_by_key(network: Network, keys: Sequence[bytes], step: str = "rows") -> Ints:
    """This site's rows whose keys all sites have, in an order that is the same at all sites."""
    repeat_count = len(keys) - len(set(keys))
    if repeat_count:
        raise PartyError(
            f"{count_noun(repeat_count, 'row repeats', 'rows repeat')} a key of another row; give each person one row"
        )
    length = await agree_on_longest(network, len(keys), step, "rows")
    group = get_group()
    scalar = group.draw_scalar()
    domain = f"{DOMAIN} {network.session}"
    points = await compute(map_over_points, lambda key: group.hash_entry(domain, key), list(keys))
    filler_points = [group.hash_to_point(secrets.token_bytes(64)) for _ in range(length - len(points))]
    own_points = sorted(await compute(multiply_all, group, scalar, [*points, *filler_points]))
    common = await _intersect(network, group, scalar, own_points, step)
    bare = await open_in_turn(network, group, scalar, common, network.sites, step, "common")
    places = {point: row for row, point in enumerate(points)}
    missing = sum(point not in places for point in bare)
    if missing:
        raise PartyError(
            f"this site lacks {count_noun(missing, 'row')} of the intersection; a site did not follow the protocol"
        )
    network.learn(
        f"{step}: which {len(bare):,} of this site's people all sites have, and so that each of its other "
        f"{len(keys) - len(bare):,} is missing at some site; of people that are not here nothing"
    )
    return np.array([places[point] for point in bare], dtype=np.int64)


async def agree_on_longest(network: Network, own_length: int, step: str, noun: str) -> int:
    """The smallest power of two that no list exceeds; each site tells its own power of two."""
    power = 1 << max(own_length - 1, 0).bit_length()
    if power > LONGEST_LIST:
        raise PartyError(f"{own_length:,} {noun} are too many for one list; at most {LONGEST_LIST:,} are possible")
    messages = await network.exchange(f"{step}/length", facts={"length": power})
    lengths: list[int] = [message.get_fact("length", int) for message in messages.values()]
    if any(not 1 <= length <= LONGEST_LIST for length in lengths):
        raise PartyError("a site announces a list of a length that is not possible")
    network.learn(f"{step}: how many {noun} each site has, up to the next power of two")
    return max(lengths)


async def _intersect(network: Network, group: Group, scalar: bytes, own_points: list[bytes], step: str) -> list[bytes]:
    """At the first site, the points that all lists share under all scalars; elsewhere nothing."""
    sites, kind = network.sites, f"{step}/round"
    successor, previous = sites[(network.index + 1) % len(sites)], sites[network.index - 1]
    hop_points = own_points
    for _ in range(len(sites) - 1):
        await network.send(successor, kind, {"points": pack_points(hop_points)})
        received_points = await receive_points(network, group, previous, kind, len(own_points))
        hop_points = sorted(await compute(multiply_all, group, scalar, received_points))
    if network.index > 0:
        await network.send(sites[0], f"{step}/list", {"points": pack_points(hop_points)})
        return []
    lists = [
        hop_points,
        *[await receive_points(network, group, site, f"{step}/list", len(own_points)) for site in network.other_sites],
    ]
    if len(sites) > 2:
        network.learn(f"{step}: how many people any two or more named sites have in common, not who they are")
    return sorted(set.intersection(*map(set, lists)))
