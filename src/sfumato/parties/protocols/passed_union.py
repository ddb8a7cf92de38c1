# SPDX-License-Identifier: MIT
"""The textbook's private union: each list travels around the ring and is encrypted by every site on its way.

After Kantarcioglu and Clifton (2002): commutative encryption makes equal entries equal, whatever the
order of encryption; the first site removes duplicates, and then every site decrypts. Lists are filled up to a common
length and sorted by their encrypted bytes, so that neither length nor order tells anything.

The leak, by which `union` mixes all lists instead: the first site knows from whom each encrypted list comes, and so how
many entries any two sites have in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sfumato.parties.arithmetic.group import Group, get_group, multiply_all, pack_points, unpack_points
from sfumato.parties.protocols.union import check_entries, fill_list, reveal_entries
from sfumato.parties.transport.network import Network, compute


async def unite_by_passing(
    network: Network, entries: Sequence[bytes], length: int, width: int, step: str = "union"
) -> list[bytes]:
    """The sorted union of all sites' entries, as `unite_privately` gives it."""
    check_entries(entries, length, width)
    group = get_group()
    scalar = group.draw_scalar()
    points = fill_list(group, network.session, entries, length)
    passing = sorted(await compute(multiply_all, group, scalar, list(points)))
    predecessor, successor = (network.sites[(network.index + move) % len(network.sites)] for move in (-1, 1))
    for hop in range(1, len(network.sites)):
        await network.send(successor, f"{step}/pass {hop}", {"points": pack_points(passing)})
        received_points = await _receive(network, group, predecessor, f"{step}/pass {hop}", length)
        passing = sorted(await compute(multiply_all, group, scalar, received_points))
    union = await _open_around(network, group, scalar, await _collect(network, group, passing, step), step)
    all_entries = await reveal_entries(network, points, union, width, step)
    network.learn(
        f"{step}: {len(all_entries)} entries that some site has; {len(union) - len(all_entries)} points of filling"
    )
    return all_entries


async def _collect(network: Network, group: Group, passed_points: list[bytes], step: str) -> list[bytes]:
    """At the first site, all lists under all scalars, without duplicates; elsewhere nothing."""
    first, kind = network.sites[0], f"{step}/passed"
    if network.site != first:
        await network.send(first, kind, {"points": pack_points(passed_points)})
        return []
    lists = [
        passed_points,
        *[await _receive(network, group, site, kind, len(passed_points)) for site in network.others],
    ]
    common_counts = sorted(len(set(left) & set(right)) for left, right in combinations(lists, 2))
    network.learn(f"{step}: how many entries any two sites have in common ({', '.join(map(str, common_counts))})")
    return sorted({point for part in lists for point in part})


async def _open_around(network: Network, group: Group, scalar: bytes, points: list[bytes], step: str) -> list[bytes]:
    """Take off all scalars, from the first site to the last, who tells the points of the union."""
    index, last, kind = network.index, network.sites[-1], f"{step}/open"
    if index > 0:
        points = await _receive(network, group, network.sites[index - 1], kind)
    points = sorted(await compute(multiply_all, group, group.invert(scalar), points))
    if network.site == last:
        await network.broadcast(f"{step}/union", {"points": pack_points(points)})
        return points
    await network.send(network.sites[index + 1], kind, {"points": pack_points(points)})
    return await _receive(network, group, last, f"{step}/union")


async def _receive(network: Network, group: Group, sender: str, kind: str, count: int | None = None) -> list[bytes]:
    message = await network.receive(sender, kind)
    return await compute(unpack_points, group, message.get_array("points", np.uint8, count, 32))
