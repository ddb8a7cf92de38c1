# SPDX-License-Identifier: MIT
"""sfumato: let data leave the house with the least damage that makes it safe, attack it, prove what was found.

A method turns data into a release that carries claims; measures check the claims; attacks try to break them;
a certificate says what was found.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.lazy import fetching

if TYPE_CHECKING:
    from sfumato import attack, measure, mine, protect, reproduce
    from sfumato.attack.attack import Attack, Outcome
    from sfumato.auditing import Audit, audit
    from sfumato.baskets import Baskets
    from sfumato.certificate import Certificate, Verification, check, read_release, verify
    from sfumato.comparing import compare
    from sfumato.data.hierarchy import Hierarchy
    from sfumato.data.roles import Role
    from sfumato.errors import (
        CertificateRefused,
        ClaimBroken,
        DataError,
        ImpossibleRelease,
        PartyError,
        PolicyError,
        SfumatoError,
    )
    from sfumato.key import Key
    from sfumato.mine.decoded_tree import decode_tree
    from sfumato.mine.encoded_items import decode_itemsets
    from sfumato.patterns import Patterns
    from sfumato.pipeline import Run, run
    from sfumato.policy import Policy
    from sfumato.protect.add_noise import AddNoise
    from sfumato.protect.encode_bloom import EncodeBloom
    from sfumato.protect.encode_for_trees import EncodeForTrees
    from sfumato.protect.encode_items import EncodeItems
    from sfumato.protect.generalize import Generalize
    from sfumato.protect.hide_items import HideItems
    from sfumato.protect.hide_rules import HideRules
    from sfumato.protect.k_optimize import KOptimize
    from sfumato.protect.method import Method
    from sfumato.protect.microaggregate import Microaggregate
    from sfumato.protect.models import (
        AlphaKAnonymity,
        BetaLikeness,
        DeltaDisclosure,
        DeltaPresence,
        KAnonymity,
        KMap,
        LDiversity,
        TCloseness,
    )
    from sfumato.protect.partition import Partition
    from sfumato.protect.publish_patterns import PublishPatterns
    from sfumato.protect.randomize_response import RandomizeResponse
    from sfumato.protect.suppress_entries import SuppressEntries
    from sfumato.protect.swap_confidential import SwapConfidential
    from sfumato.protect.synthesize import Synthesize
    from sfumato.randomness import Randomness
    from sfumato.release import Claim, Finding, Release
    from sfumato.sequences import Sequences
    from sfumato.table import Missing, Table

# Names are fetched on first use, so that `import sfumato` and `sfumato --help` stay quick.
_HOME = {
    "AlphaKAnonymity": "protect.models",
    "BetaLikeness": "protect.models",
    "DeltaDisclosure": "protect.models",
    "DeltaPresence": "protect.models",
    "KMap": "protect.models",
    "LDiversity": "protect.models",
    "TCloseness": "protect.models",
    "KOptimize": "protect.k_optimize",
    "Microaggregate": "protect.microaggregate",
    "Partition": "protect.partition",
    "HideItems": "protect.hide_items",
    "HideRules": "protect.hide_rules",
    "Patterns": "patterns",
    "PublishPatterns": "protect.publish_patterns",
    "SuppressEntries": "protect.suppress_entries",
    "SwapConfidential": "protect.swap_confidential",
    "EncodeBloom": "protect.encode_bloom",
    "EncodeForTrees": "protect.encode_for_trees",
    "EncodeItems": "protect.encode_items",
    "AddNoise": "protect.add_noise",
    "RandomizeResponse": "protect.randomize_response",
    "Synthesize": "protect.synthesize",
    "decode_itemsets": "mine.encoded_items",
    "decode_tree": "mine.decoded_tree",
    "Attack": "attack.attack",
    "Audit": "auditing",
    "Baskets": "baskets",
    "Certificate": "certificate",
    "CertificateRefused": "errors",
    "Claim": "release",
    "ClaimBroken": "errors",
    "DataError": "errors",
    "Finding": "release",
    "Generalize": "protect.generalize",
    "Hierarchy": "data.hierarchy",
    "ImpossibleRelease": "errors",
    "KAnonymity": "protect.models",
    "Key": "key",
    "Method": "protect.method",
    "Missing": "table",
    "Outcome": "attack.attack",
    "PartyError": "errors",
    "Policy": "policy",
    "PolicyError": "errors",
    "Randomness": "randomness",
    "Release": "release",
    "Role": "data.roles",
    "Run": "pipeline",
    "Sequences": "sequences",
    "SfumatoError": "errors",
    "Table": "table",
    "Verification": "certificate",
    "audit": "auditing",
    "check": "certificate",
    "read_release": "certificate",
    "compare": "comparing",
    "run": "pipeline",
    "verify": "certificate",
}
_ROOMS = ("attack", "measure", "mine", "protect", "reproduce")

__version__ = "0.1.0"
__all__ = [
    "AddNoise",
    "AlphaKAnonymity",
    "Attack",
    "Audit",
    "Baskets",
    "BetaLikeness",
    "Certificate",
    "CertificateRefused",
    "Claim",
    "ClaimBroken",
    "DataError",
    "DeltaDisclosure",
    "DeltaPresence",
    "EncodeBloom",
    "EncodeForTrees",
    "EncodeItems",
    "Finding",
    "Generalize",
    "HideItems",
    "HideRules",
    "Hierarchy",
    "ImpossibleRelease",
    "KAnonymity",
    "KMap",
    "KOptimize",
    "Key",
    "LDiversity",
    "Method",
    "Microaggregate",
    "Missing",
    "Outcome",
    "Partition",
    "PartyError",
    "Patterns",
    "Policy",
    "PolicyError",
    "PublishPatterns",
    "RandomizeResponse",
    "Randomness",
    "Release",
    "Role",
    "Run",
    "Sequences",
    "SfumatoError",
    "SuppressEntries",
    "SwapConfidential",
    "Synthesize",
    "TCloseness",
    "Table",
    "Verification",
    "attack",
    "audit",
    "check",
    "compare",
    "decode_itemsets",
    "decode_tree",
    "measure",
    "mine",
    "protect",
    "read_release",
    "reproduce",
    "run",
    "verify",
]


_fetch = fetching(__name__, _HOME)


def __getattr__(name: str) -> Any:
    return import_module(f"sfumato.{name}") if name in _ROOMS else _fetch(name)


def __dir__() -> list[str]:
    return sorted(__all__)
