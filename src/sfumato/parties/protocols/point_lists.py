# SPDX-License-Identifier: MIT
"""Lists of points between sites: received with a check, and opened by every site in turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.parties.arithmetic.group import Group, multiply_all, pack_points, unpack_points
from sfumato.parties.transport.network import Network, compute


async def receive_points(
    network: Network, group: Group, sender: str, kind: str, count: int | None = None
) -> list[bytes]:
    """The points of a message, of which there must be `count` if it is given."""
    message = await network.receive(sender, kind)
    return await compute(unpack_points, group, message.get_array("points", np.uint8, count, 32))


async def open_in_turn(
    network: Network, group: Group, scalar: bytes, points: list[bytes], turns: Sequence[str], step: str, result: str
) -> list[bytes]:
    """Every site of `turns` takes off its scalar and sorts; the last one sends the bare points to all sites.

    `points` are those of the first of them; `result` names the last message.
    """
    if network.site in turns:
        turn = turns.index(network.site)
        if turn > 0:
            points = await receive_points(network, group, turns[turn - 1], f"{step}/open")
        points = sorted(await compute(multiply_all, group, group.invert(scalar), points))
        if turn == len(turns) - 1:
            await network.broadcast(f"{step}/{result}", {"points": pack_points(points)})
            return points
        await network.send(turns[turn + 1], f"{step}/open", {"points": pack_points(points)})
    return await receive_points(network, group, turns[-1], f"{step}/{result}")
