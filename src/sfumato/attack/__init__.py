# SPDX-License-Identifier: MIT
"""Attacks, one module each.

Every class with a tag (`attack: Literal["…"]`) in a module of this package is registered automatically; the typing
block is for type checkers.
"""

from __future__ import annotations

from sfumato.runtime.lazy import make_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sfumato.attack.anonymity.background_knowledge import BackgroundKnowledge as BackgroundKnowledge
    from sfumato.attack.anonymity.composition import Composition as Composition
    from sfumato.attack.anonymity.homogeneity import Homogeneity as Homogeneity
    from sfumato.attack.anonymity.inference import Inference as Inference
    from sfumato.attack.anonymity.linkability import Linkability as Linkability
    from sfumato.attack.anonymity.linking import Linking as Linking
    from sfumato.attack.anonymity.links import Links as Links
    from sfumato.attack.anonymity.links import find_links as find_links
    from sfumato.attack.anonymity.minimality import Minimality as Minimality
    from sfumato.attack.anonymity.similarity import Similarity as Similarity
    from sfumato.attack.anonymity.singling_out import SinglingOut as SinglingOut
    from sfumato.attack.answers.likeliest_answer import LikeliestAnswer as LikeliestAnswer
    from sfumato.attack.answers.repeated_answers import RepeatedAnswers as RepeatedAnswers
    from sfumato.attack.attack import Attack as Attack
    from sfumato.attack.attack import Outcome as Outcome
    from sfumato.attack.attack import compute_wilson_interval as compute_wilson_interval
    from sfumato.attack.baskets.fill_unknowns import FillUnknowns as FillUnknowns
    from sfumato.attack.baskets.item_breach import ItemBreach as ItemBreach
    from sfumato.attack.baskets.remining import Remining as Remining
    from sfumato.attack.codes.bloom_dictionary import BloomDictionary as BloomDictionary
    from sfumato.attack.codes.curve_combination import CurveCombination as CurveCombination
    from sfumato.attack.codes.curve_fitting import CurveFitting as CurveFitting
    from sfumato.attack.codes.family_matching import FamilyMatching as FamilyMatching
    from sfumato.attack.codes.frequency_matching import FrequencyMatching as FrequencyMatching
    from sfumato.attack.codes.item_frequency import ItemFrequency as ItemFrequency
    from sfumato.attack.codes.quantile_matching import QuantileMatching as QuantileMatching
    from sfumato.attack.codes.sorting import Sorting as Sorting
    from sfumato.attack.entries.learned_inference import LearnedInference as LearnedInference
    from sfumato.attack.entries.rule_inference import RuleInference as RuleInference
    from sfumato.attack.noise.bayes_estimate import BayesEstimate as BayesEstimate
    from sfumato.attack.noise.likeliest_value import LikeliestValue as LikeliestValue
    from sfumato.attack.noise.range_reveal import RangeReveal as RangeReveal
    from sfumato.attack.noise.spectral_filter import SpectralFilter as SpectralFilter
    from sfumato.attack.parties.product_equations import RecoveredVector as RecoveredVector
    from sfumato.attack.parties.product_equations import recover_disguised_vector as recover_disguised_vector
    from sfumato.attack.parties.product_equations import recover_vector as recover_vector
    from sfumato.attack.patterns.support_inference import SupportInference as SupportInference
    from sfumato.attack.sequences.mark_guessing import MarkGuessing as MarkGuessing
    from sfumato.attack.sequences.sequence_linking import SequenceLinking as SequenceLinking
    from sfumato.attack.sequences.sequence_remining import SequenceRemining as SequenceRemining
    from sfumato.attack.swapping.swap_linkage import SwapLinkage as SwapLinkage
    from sfumato.attack.synthesis.copied_records import CopiedRecords as CopiedRecords

    ATTACKS: tuple[type[Attack], ...]
    """Every attack a policy can name."""

make_lazy(__name__, ATTACKS="attack")
