# SPDX-License-Identifier: MIT
"""Attacks, one module each."""

from sfumato.attack.attack import Attack, Outcome, wilson
from sfumato.attack.inference import Inference
from sfumato.attack.linkability import Linkability
from sfumato.attack.linking import Linking, Links, linked
from sfumato.attack.singling_out import SinglingOut

ATTACKS: tuple[type[Attack], ...] = (Linking, SinglingOut, Linkability, Inference)
"""Every attack a policy can name."""

__all__ = [
    "ATTACKS",
    "Attack",
    "Inference",
    "Linkability",
    "Linking",
    "Links",
    "Outcome",
    "SinglingOut",
    "linked",
    "wilson",
]
