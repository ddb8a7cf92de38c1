# SPDX-License-Identifier: MIT
"""Attacks, one module each."""

from sfumato.attack.attack import Attack, Outcome, wilson
from sfumato.attack.linking import Linking, Links, linked

ATTACKS: tuple[type[Attack], ...] = (Linking,)
"""Every attack a policy can name."""

__all__ = ["ATTACKS", "Attack", "Linking", "Links", "Outcome", "linked", "wilson"]
