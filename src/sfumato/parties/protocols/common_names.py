# SPDX-License-Identifier: MIT
"""Whether two sites name an item alike, without telling a name: mining would take them for different items.

Joined rows would hold one item where two sites use the same name, and its support would be that of either. So every
site hashes the names of all its items, frequent or not, and fills up with random points to the longest list. The lists
are mixed as in a private union (`union`), and the last site sees whether a point occurs twice. If so, the run ends.

What is learned: how many items each site has, up to a factor of two; that no name is common, or that some is, and by
the last site how many are. Semi-honest.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sfumato.errors import PartyError
from sfumato.parties.arithmetic.group import get_group, map_over_points
from sfumato.parties.protocols.row_matching import agree_on_longest
from sfumato.parties.protocols.union import SiteSecrets, mix_lists
from sfumato.parties.transport.network import Network, compute

STEP = "items"
DOMAIN = "sfumato items"
COMMON = "an item has the same name at two sites; put the site's name before its items"


async def refuse_common_names(network: Network, names: Sequence[bytes]) -> None:
    """Raise an error at every site if two of them have an item of the same name."""
    length = await agree_on_longest(network, len(names), STEP, "items")
    group = get_group()
    domain = f"{DOMAIN} {network.session}"
    points = await compute(map_over_points, lambda name: group.hash_entry(domain, name), list(names))
    filler_points = [group.hash_to_point(secrets.token_bytes(64)) for _ in range(length - len(points))]
    site_secrets = SiteSecrets(group.draw_scalar(), group.draw_scalar())
    mixed_points = await mix_lists(network, site_secrets, [*points, *filler_points], STEP, network.sites)
    if network.site == network.sites[-1]:
        is_common = len(set(mixed_points)) < len(mixed_points)
        await network.broadcast(f"{STEP}/common", facts={"is_common": is_common})
    else:
        message = await network.receive(network.sites[-1], f"{STEP}/common")
        is_common = message.get_fact("is_common", bool)
    if is_common:
        raise PartyError(COMMON)
    network.learn(f"{STEP}: that no two sites have an item of the same name, frequent or not")
