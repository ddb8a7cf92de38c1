# SPDX-License-Identifier: MIT
"""Attacks, one module each.

An attack that a policy can name has its line in `_ATTACKS`, anything else in `_HOME`; then `__all__`, and the typing
block for those who read types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.lazy import fetching

if TYPE_CHECKING:
    from sfumato.attack.anonymity.background import BackgroundKnowledge
    from sfumato.attack.anonymity.composition import Composition
    from sfumato.attack.anonymity.homogeneity import Homogeneity
    from sfumato.attack.anonymity.inference import Inference
    from sfumato.attack.anonymity.linkability import Linkability
    from sfumato.attack.anonymity.linking import Linking, Links, linked
    from sfumato.attack.anonymity.minimality import Minimality
    from sfumato.attack.anonymity.similarity import Similarity
    from sfumato.attack.anonymity.singling_out import SinglingOut
    from sfumato.attack.answers.likeliest_answer import LikeliestAnswer
    from sfumato.attack.answers.repeated_answers import RepeatedAnswers
    from sfumato.attack.attack import Attack, Outcome, wilson
    from sfumato.attack.baskets.fill_unknowns import FillUnknowns
    from sfumato.attack.baskets.remining import Remining
    from sfumato.attack.codes.bloom_dictionary import BloomDictionary
    from sfumato.attack.codes.curve_fitting import CurveCombination, CurveFitting
    from sfumato.attack.codes.frequency_matching import FrequencyMatching
    from sfumato.attack.codes.item_frequency import ItemFrequency
    from sfumato.attack.codes.quantile_matching import QuantileMatching
    from sfumato.attack.codes.sorting import Sorting
    from sfumato.attack.entries.learned_inference import LearnedInference
    from sfumato.attack.entries.rule_inference import RuleInference
    from sfumato.attack.noise.bayes_estimate import BayesEstimate
    from sfumato.attack.noise.likeliest_value import LikeliestValue
    from sfumato.attack.noise.range_reveal import RangeReveal
    from sfumato.attack.noise.spectral_filter import SpectralFilter
    from sfumato.attack.patterns.support_inference import SupportInference
    from sfumato.attack.swapping.swap_linkage import SwapLinkage
    from sfumato.attack.synthesis.copied_records import CopiedRecords

    ATTACKS: tuple[type[Attack], ...]
    """Every attack a policy can name."""

# Name → module. Modules are loaded on first use: each one builds its models, and most jobs need one or two.
_ATTACKS = {
    "Linking": "anonymity.linking",
    "Homogeneity": "anonymity.homogeneity",
    "Similarity": "anonymity.similarity",
    "BackgroundKnowledge": "anonymity.background",
    "Minimality": "anonymity.minimality",
    "Composition": "anonymity.composition",
    "SinglingOut": "anonymity.singling_out",
    "Linkability": "anonymity.linkability",
    "Inference": "anonymity.inference",
    "RuleInference": "entries.rule_inference",
    "LearnedInference": "entries.learned_inference",
    "CurveFitting": "codes.curve_fitting",
    "CurveCombination": "codes.curve_fitting",
    "Sorting": "codes.sorting",
    "QuantileMatching": "codes.quantile_matching",
    "FrequencyMatching": "codes.frequency_matching",
    "ItemFrequency": "codes.item_frequency",
    "BloomDictionary": "codes.bloom_dictionary",
    "SwapLinkage": "swapping.swap_linkage",
    "SpectralFilter": "noise.spectral_filter",
    "BayesEstimate": "noise.bayes_estimate",
    "LikeliestValue": "noise.likeliest_value",
    "RangeReveal": "noise.range_reveal",
    "RepeatedAnswers": "answers.repeated_answers",
    "LikeliestAnswer": "answers.likeliest_answer",
    "CopiedRecords": "synthesis.copied_records",
    "Remining": "baskets.remining",
    "FillUnknowns": "baskets.fill_unknowns",
    "SupportInference": "patterns.support_inference",
}
_HOME = {
    **_ATTACKS,
    "Attack": "attack",
    "Outcome": "attack",
    "wilson": "attack",
    "Links": "anonymity.linking",
    "linked": "anonymity.linking",
}

__all__ = [
    "ATTACKS",
    "Attack",
    "BackgroundKnowledge",
    "BayesEstimate",
    "BloomDictionary",
    "Composition",
    "CopiedRecords",
    "CurveCombination",
    "CurveFitting",
    "FillUnknowns",
    "FrequencyMatching",
    "Homogeneity",
    "Inference",
    "ItemFrequency",
    "LearnedInference",
    "LikeliestAnswer",
    "LikeliestValue",
    "Linkability",
    "Linking",
    "Links",
    "Minimality",
    "Outcome",
    "QuantileMatching",
    "RangeReveal",
    "Remining",
    "RepeatedAnswers",
    "RuleInference",
    "Similarity",
    "SinglingOut",
    "Sorting",
    "SpectralFilter",
    "SupportInference",
    "SwapLinkage",
    "linked",
    "wilson",
]

__getattr__ = fetching(__name__, _HOME, {"ATTACKS": _ATTACKS})


def __dir__() -> list[str]:
    return sorted(__all__)
