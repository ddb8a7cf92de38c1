# SPDX-License-Identifier: MIT
"""sfumato: anonymize data, attack the result, and sign a report of what held.

A method turns data into a release that carries claims; measures check the claims; attacks try to break them;
a certificate states the results.
"""

from __future__ import annotations

from sfumato.runtime.lazy import make_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sfumato import attack as attack
    from sfumato import measure as measure
    from sfumato import mine as mine
    from sfumato import parties as parties
    from sfumato import protect as protect
    from sfumato.attack.attack import Attack as Attack
    from sfumato.attack.attack import Outcome as Outcome
    from sfumato.baskets import Baskets as Baskets
    from sfumato.data.hierarchies.hierarchy import Hierarchy as Hierarchy
    from sfumato.data.hierarchies.hierarchy_proposals import propose_hierarchy as propose_hierarchy
    from sfumato.data.places.regions import Cells as Cells
    from sfumato.data.places.regions import DenseRegions as DenseRegions
    from sfumato.data.places.regions import Grid as Grid
    from sfumato.data.places.regions import Polygons as Polygons
    from sfumato.data.roles.role import Role as Role
    from sfumato.errors import CertificateRefused as CertificateRefused
    from sfumato.errors import ClaimBroken as ClaimBroken
    from sfumato.errors import DataError as DataError
    from sfumato.errors import ImpossibleRelease as ImpossibleRelease
    from sfumato.errors import PartyError as PartyError
    from sfumato.errors import PolicyError as PolicyError
    from sfumato.errors import SfumatoError as SfumatoError
    from sfumato.key import Key as Key
    from sfumato.mine.codes.decoded_itemsets import decode_itemsets as decode_itemsets
    from sfumato.mine.codes.decoded_tree import decode_tree as decode_tree
    from sfumato.patterns import Patterns as Patterns
    from sfumato.protect.anonymity.generalize import Generalize as Generalize
    from sfumato.protect.anonymity.group_rare_values import GroupRareValues as GroupRareValues
    from sfumato.protect.anonymity.k_optimize import KOptimize as KOptimize
    from sfumato.protect.anonymity.microaggregate import Microaggregate as Microaggregate
    from sfumato.protect.anonymity.models.class_models import AlphaKAnonymity as AlphaKAnonymity
    from sfumato.protect.anonymity.models.class_models import BetaLikeness as BetaLikeness
    from sfumato.protect.anonymity.models.class_models import DeltaDisclosure as DeltaDisclosure
    from sfumato.protect.anonymity.models.class_models import KAnonymity as KAnonymity
    from sfumato.protect.anonymity.models.class_models import LDiversity as LDiversity
    from sfumato.protect.anonymity.models.class_models import TCloseness as TCloseness
    from sfumato.protect.anonymity.models.population_models import DeltaPresence as DeltaPresence
    from sfumato.protect.anonymity.models.population_models import KMap as KMap
    from sfumato.protect.anonymity.partition import Partition as Partition
    from sfumato.protect.anonymity.round_numbers import RoundNumbers as RoundNumbers
    from sfumato.protect.anonymity.top_code import TopCode as TopCode
    from sfumato.protect.answers.randomize_response import RandomizeResponse as RandomizeResponse
    from sfumato.protect.baskets.hide_items import HideItems as HideItems
    from sfumato.protect.baskets.hide_rules import HideRules as HideRules
    from sfumato.protect.baskets.randomize_baskets import RandomizeBaskets as RandomizeBaskets
    from sfumato.protect.codes.encode_bloom import EncodeBloom as EncodeBloom
    from sfumato.protect.codes.encode_for_trees import EncodeForTrees as EncodeForTrees
    from sfumato.protect.codes.encode_items import EncodeItems as EncodeItems
    from sfumato.protect.entries.suppress_entries import SuppressEntries as SuppressEntries
    from sfumato.protect.method import Method as Method
    from sfumato.protect.noise.add_noise import AddNoise as AddNoise
    from sfumato.protect.patterns.publish_classifier import PublishClassifier as PublishClassifier
    from sfumato.protect.patterns.publish_patterns import PublishPatterns as PublishPatterns
    from sfumato.protect.patterns.publish_rules import PublishRules as PublishRules
    from sfumato.protect.sequences.anonymize_sequences import AnonymizeSequences as AnonymizeSequences
    from sfumato.protect.sequences.hide_sequences import HideSequences as HideSequences
    from sfumato.protect.swapping.swap_confidential import SwapConfidential as SwapConfidential
    from sfumato.protect.synthesis.synthesize import Synthesize as Synthesize
    from sfumato.randomness import Randomness as Randomness
    from sfumato.release import Claim as Claim
    from sfumato.release import Finding as Finding
    from sfumato.release import Release as Release
    from sfumato.rules import Rules as Rules
    from sfumato.sequences import Sequences as Sequences
    from sfumato.table import Missing as Missing
    from sfumato.table import Table as Table
    from sfumato.workflow.audit import Audit as Audit
    from sfumato.workflow.audit import audit as audit
    from sfumato.workflow.certificate import Certificate as Certificate
    from sfumato.workflow.certificate import check as check
    from sfumato.workflow.compare import compare as compare
    from sfumato.workflow.data_run import run as run
    from sfumato.workflow.drafts.policy_draft import PolicyDraft as PolicyDraft
    from sfumato.workflow.drafts.policy_draft import draft_policy as draft_policy
    from sfumato.workflow.finished_run import Run as Run
    from sfumato.workflow.invented_people import invent_people as invent_people
    from sfumato.workflow.policy import Policy as Policy
    from sfumato.workflow.sequence_audit import SequenceAudit as SequenceAudit
    from sfumato.workflow.verification import Verification as Verification
    from sfumato.workflow.verification import read_release as read_release
    from sfumato.workflow.verification import verify as verify

__version__ = "0.1.0"

make_lazy(__name__, "method", "model")
