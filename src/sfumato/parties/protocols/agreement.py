# SPDX-License-Identifier: MIT
"""What sites agree on before they start, and that they found the same at the end.

Parameters are not secret: each site tells its own, and the first difference ends the run with an error that names it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from sfumato.baskets import Baskets
from sfumato.errors import PartyError
from sfumato.parties.transport.message import VERSION
from sfumato.parties.transport.network import Network


async def agree_on_parameters(network: Network, parameters: Mapping[str, str]) -> None:
    """Raise an error unless all sites have the same parameters."""
    own_parameters = {"version": str(VERSION), "sites": ", ".join(network.sites), **parameters}
    messages = await network.exchange("start/parameters", facts=own_parameters)
    for site, message in messages.items():
        for name in sorted({*own_parameters, *message.facts}):
            if message.facts.get(name) != own_parameters.get(name):
                raise PartyError(
                    f'site "{site}" has another {name} than this site; agree on one and give it to every site'
                )


async def agree_on_item_kind(network: Network, baskets: Baskets) -> bool:
    """Whether items are text, at all sites that have any: "text", "integers" or "none"."""
    kind = "none" if not baskets.items else "text" if isinstance(baskets.items[0], str) else "integers"
    messages = await network.exchange("start/items", facts={"kind": kind})
    kinds = {site: message.get_fact("kind", str) for site, message in messages.items()}
    if not set(kinds.values()) <= {"text", "integers", "none"}:
        raise PartyError("a site names its items in a way that is not known")
    if {"text", "integers"} <= set(kinds.values()):
        text = [site for site, site_kind in kinds.items() if site_kind == "text"]
        raise PartyError(
            f"the items of {len(text)} sites are text and those of others integers; name items the same way everywhere"
        )
    network.learn("whether the items of each site are text, integers or none at all")
    return "text" in kinds.values()


async def confirm_result(network: Network, result: str) -> None:
    """Raise an error unless all sites found the same; until then, no site gives out its result."""
    digest = hashlib.sha256(f"{network.session} {result}".encode()).hexdigest()
    messages = await network.exchange("end/confirm", facts={"digest": digest})
    if any(message.get_fact("digest", str) != digest for message in messages.values()):
        raise PartyError("the sites found different results, so none is given; a site did not follow the protocol")
