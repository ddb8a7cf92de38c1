# SPDX-License-Identifier: MIT
"""Attacks, one module each.

An attack that a policy can name has its line in `_ATTACKS`, anything else in `_HOME`; then `__all__`, and the typing
block for those who read types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.lazy import fetching

if TYPE_CHECKING:
    from sfumato.attack.attack import Attack, Outcome, wilson
    from sfumato.attack.background import BackgroundKnowledge
    from sfumato.attack.bayes_estimate import BayesEstimate
    from sfumato.attack.bloom_dictionary import BloomDictionary
    from sfumato.attack.composition import Composition
    from sfumato.attack.copied_records import CopiedRecords
    from sfumato.attack.curve_fitting import CurveCombination, CurveFitting
    from sfumato.attack.fill_unknowns import FillUnknowns
    from sfumato.attack.frequency_matching import FrequencyMatching
    from sfumato.attack.homogeneity import Homogeneity
    from sfumato.attack.inference import Inference
    from sfumato.attack.item_frequency import ItemFrequency
    from sfumato.attack.learned_inference import LearnedInference
    from sfumato.attack.likeliest_answer import LikeliestAnswer
    from sfumato.attack.likeliest_value import LikeliestValue
    from sfumato.attack.linkability import Linkability
    from sfumato.attack.linking import Linking, Links, linked
    from sfumato.attack.minimality import Minimality
    from sfumato.attack.quantile_matching import QuantileMatching
    from sfumato.attack.range_reveal import RangeReveal
    from sfumato.attack.remining import Remining
    from sfumato.attack.repeated_answers import RepeatedAnswers
    from sfumato.attack.rule_inference import RuleInference
    from sfumato.attack.similarity import Similarity
    from sfumato.attack.singling_out import SinglingOut
    from sfumato.attack.sorting import Sorting
    from sfumato.attack.spectral_filter import SpectralFilter
    from sfumato.attack.support_inference import SupportInference
    from sfumato.attack.swap_linkage import SwapLinkage

    ATTACKS: tuple[type[Attack], ...]
    """Every attack a policy can name."""

# Name → module. Modules are loaded on first use: each one builds its models, and most jobs need one or two.
_ATTACKS = {
    "Linking": "linking",
    "Homogeneity": "homogeneity",
    "Similarity": "similarity",
    "BackgroundKnowledge": "background",
    "Minimality": "minimality",
    "Composition": "composition",
    "SinglingOut": "singling_out",
    "Linkability": "linkability",
    "Inference": "inference",
    "RuleInference": "rule_inference",
    "LearnedInference": "learned_inference",
    "CurveFitting": "curve_fitting",
    "CurveCombination": "curve_fitting",
    "Sorting": "sorting",
    "QuantileMatching": "quantile_matching",
    "FrequencyMatching": "frequency_matching",
    "ItemFrequency": "item_frequency",
    "BloomDictionary": "bloom_dictionary",
    "SwapLinkage": "swap_linkage",
    "SpectralFilter": "spectral_filter",
    "BayesEstimate": "bayes_estimate",
    "LikeliestValue": "likeliest_value",
    "RangeReveal": "range_reveal",
    "RepeatedAnswers": "repeated_answers",
    "LikeliestAnswer": "likeliest_answer",
    "CopiedRecords": "copied_records",
    "Remining": "remining",
    "FillUnknowns": "fill_unknowns",
    "SupportInference": "support_inference",
}
_HOME = {
    **_ATTACKS,
    "Attack": "attack",
    "Outcome": "attack",
    "wilson": "attack",
    "Links": "linking",
    "linked": "linking",
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
