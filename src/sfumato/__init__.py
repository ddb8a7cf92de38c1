# SPDX-License-Identifier: MIT
"""sfumato: anonymize data, attack the result, and sign a report of what held.

A method turns data into a release that carries claims; measures check the claims; attacks try to break them;
a certificate says what was found.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.lazy import fetching

if TYPE_CHECKING:
    from sfumato import attack, measure, mine, protect
    from sfumato.attack.attack import Attack, Outcome
    from sfumato.baskets import Baskets
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
    from sfumato.mine.codes.decoded_tree import decode_tree
    from sfumato.mine.codes.encoded_items import decode_itemsets
    from sfumato.patterns import Patterns
    from sfumato.protect.anonymity.generalize import Generalize
    from sfumato.protect.anonymity.k_optimize import KOptimize
    from sfumato.protect.anonymity.microaggregate import Microaggregate
    from sfumato.protect.anonymity.models import (
        AlphaKAnonymity,
        BetaLikeness,
        DeltaDisclosure,
        DeltaPresence,
        KAnonymity,
        KMap,
        LDiversity,
        TCloseness,
    )
    from sfumato.protect.anonymity.partition import Partition
    from sfumato.protect.answers.randomize_response import RandomizeResponse
    from sfumato.protect.baskets.hide_items import HideItems
    from sfumato.protect.baskets.hide_rules import HideRules
    from sfumato.protect.codes.encode_bloom import EncodeBloom
    from sfumato.protect.codes.encode_for_trees import EncodeForTrees
    from sfumato.protect.codes.encode_items import EncodeItems
    from sfumato.protect.entries.suppress_entries import SuppressEntries
    from sfumato.protect.method import Method
    from sfumato.protect.noise.add_noise import AddNoise
    from sfumato.protect.patterns.publish_patterns import PublishPatterns
    from sfumato.protect.swapping.swap_confidential import SwapConfidential
    from sfumato.protect.synthesis.synthesize import Synthesize
    from sfumato.randomness import Randomness
    from sfumato.release import Claim, Finding, Release
    from sfumato.sequences import Sequences
    from sfumato.table import Missing, Table
    from sfumato.workflow.audit import Audit, audit
    from sfumato.workflow.certificate import Certificate, Verification, check, read_release, verify
    from sfumato.workflow.compare import compare
    from sfumato.workflow.pipeline import Run, run
    from sfumato.workflow.policy import Policy

# Names are fetched on first use, so that `import sfumato` and `sfumato --help` stay quick.
_HOME = {
    "AlphaKAnonymity": "protect.anonymity.models",
    "BetaLikeness": "protect.anonymity.models",
    "DeltaDisclosure": "protect.anonymity.models",
    "DeltaPresence": "protect.anonymity.models",
    "KMap": "protect.anonymity.models",
    "LDiversity": "protect.anonymity.models",
    "TCloseness": "protect.anonymity.models",
    "KOptimize": "protect.anonymity.k_optimize",
    "Microaggregate": "protect.anonymity.microaggregate",
    "Partition": "protect.anonymity.partition",
    "HideItems": "protect.baskets.hide_items",
    "HideRules": "protect.baskets.hide_rules",
    "Patterns": "patterns",
    "PublishPatterns": "protect.patterns.publish_patterns",
    "SuppressEntries": "protect.entries.suppress_entries",
    "SwapConfidential": "protect.swapping.swap_confidential",
    "EncodeBloom": "protect.codes.encode_bloom",
    "EncodeForTrees": "protect.codes.encode_for_trees",
    "EncodeItems": "protect.codes.encode_items",
    "AddNoise": "protect.noise.add_noise",
    "RandomizeResponse": "protect.answers.randomize_response",
    "Synthesize": "protect.synthesis.synthesize",
    "decode_itemsets": "mine.codes.encoded_items",
    "decode_tree": "mine.codes.decoded_tree",
    "Attack": "attack.attack",
    "Audit": "workflow.audit",
    "Baskets": "baskets",
    "Certificate": "workflow.certificate",
    "CertificateRefused": "errors",
    "Claim": "release",
    "ClaimBroken": "errors",
    "DataError": "errors",
    "Finding": "release",
    "Generalize": "protect.anonymity.generalize",
    "Hierarchy": "data.hierarchy",
    "ImpossibleRelease": "errors",
    "KAnonymity": "protect.anonymity.models",
    "Key": "key",
    "Method": "protect.method",
    "Missing": "table",
    "Outcome": "attack.attack",
    "PartyError": "errors",
    "Policy": "workflow.policy",
    "PolicyError": "errors",
    "Randomness": "randomness",
    "Release": "release",
    "Role": "data.roles",
    "Run": "workflow.pipeline",
    "Sequences": "sequences",
    "SfumatoError": "errors",
    "Table": "table",
    "Verification": "workflow.certificate",
    "audit": "workflow.audit",
    "check": "workflow.certificate",
    "read_release": "workflow.certificate",
    "compare": "workflow.compare",
    "run": "workflow.pipeline",
    "verify": "workflow.certificate",
}
_ROOMS = ("attack", "measure", "mine", "protect")

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
    "run",
    "verify",
]


_fetch = fetching(__name__, _HOME)


def __getattr__(name: str) -> Any:
    return import_module(f"sfumato.{name}") if name in _ROOMS else _fetch(name)


def __dir__() -> list[str]:
    return sorted(__all__)
