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

from sfumato.errors import count_noun
from sfumato.parties.arithmetic.group import Group, get_group, multiply_all, pack_points
from sfumato.parties.protocols.point_lists import open_in_turn, receive_points
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
    hop_points = sorted(await compute(multiply_all, group, scalar, list(points)))
    predecessor, successor = (network.sites[(network.index + move) % len(network.sites)] for move in (-1, 1))
    for hop in range(1, len(network.sites)):
        await network.send(successor, f"{step}/pass {hop}", {"points": pack_points(hop_points)})
        received_points = await receive_points(network, group, predecessor, f"{step}/pass {hop}", length)
        hop_points = sorted(await compute(multiply_all, group, scalar, received_points))
    union = await open_in_turn(
        network, group, scalar, await _collect(network, group, hop_points, step), network.sites, step, "union"
    )
    all_entries = await reveal_entries(network, points, union, width, step)
    network.learn(
        f"{step}: {count_noun(len(all_entries), 'entry', 'entries')} that some site has; "
        f"{count_noun(len(union) - len(all_entries), 'point')} of filling"
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
        *[await receive_points(network, group, site, kind, len(passed_points)) for site in network.other_sites],
    ]
    common_counts = sorted(len(set(left) & set(right)) for left, right in combinations(lists, 2))
    network.learn(f"{step}: how many entries any two sites have in common ({', '.join(map(str, common_counts))})")
    return sorted({point for part in lists for point in part})
