# SPDX-License-Identifier: MIT
"""What a certificate says about chance, compared with itself: the privacy budget, and the laws of columns or items.

Only a method that draws by chance has a law, only a claim bounds a budget, and each of them says both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isclose
from typing import Any

from sfumato.change_kinds import ChangeKind
from sfumato.errors import quote_names
from sfumato.protect.method import Method
from sfumato.public.answer_channel import AnswerLaw
from sfumato.published_law import PublishedLaw, read_laws
from sfumato.runtime.lazy import find_tagged_class
from sfumato.workflow.restated_methods import rebuild_methods

_BUDGETS = ("epsilon", "epsilon_in_all")
_ROUNDING = 1e-6


def list_chance_problems(body: Mapping[str, Any]) -> list[str]:
    """Budgets and laws that no method draws by, or that the claims contradict."""
    return _list_draw_problems(body) + _list_budget_problems(body) + _list_law_problems(body)


def _list_draw_problems(body: Mapping[str, Any]) -> list[str]:
    """A budget or a law without a method of chance, and a law of a column that none of them changed."""
    kinds = {str(method["method"]): find_tagged_class("method", str(method["method"])) for method in body["methods"]}
    chance_tags = {tag for tag, kind in kinds.items() if kind is not None and kind.by_chance}
    if not chance_tags and (body["losses"] or body["public"]):
        return ["the certificate states a distribution or a privacy budget, but no method uses randomness"]
    drawn_columns = {
        change["column"]
        for change in body["changes"]
        if change["method"] in chance_tags and change["kind"] != ChangeKind.KEPT
    }
    if body["data"]["shape"] == "table" and not body["public"].keys() <= drawn_columns:
        return ["the certificate states a distribution of a column that no method draws"]
    return []


def _list_budget_problems(body: Mapping[str, Any]) -> list[str]:
    """Compare the privacy budget with the claims about it."""
    budgets = [float(claim["threshold"]) for claim in body["claims"] if claim["property"] in _BUDGETS]
    stated_budget = body["losses"].get("epsilon")
    # Answers of one person in several columns are all published: their budgets add up, by whichever methods.
    in_sum = sum(float(claim["threshold"]) for claim in body["claims"] if _bounds_answer(claim))
    basket_budgets = [float(claim["threshold"]) for claim in body["claims"] if _bounds_basket(claim)]
    budget = max([0.0, *budgets, in_sum + max(basket_budgets, default=0.0)])
    if budgets and (stated_budget is None or stated_budget < budget * (1 - _ROUNDING)):
        return ["the certificate states a smaller privacy budget (epsilon) than its claims"]
    if stated_budget is not None and not budgets:
        return ["the certificate states a privacy budget (epsilon), and no claim does"]
    if stated_budget is not None and stated_budget > budget * (1 + _ROUNDING) + _ROUNDING:
        return ["the certificate states a larger privacy budget (epsilon) than its claims"]
    return []


def _list_law_problems(body: Mapping[str, Any]) -> list[str]:
    """Compare the laws of chance with the claims about them, and with the parameters of the methods."""
    budgets = [float(claim["threshold"]) for claim in body["claims"] if claim["property"] in _BUDGETS]
    laws_by_column = read_laws(body["public"])
    problems = _list_method_law_problems(laws_by_column, rebuild_methods(body))
    laws = laws_by_column.values()
    law_budgets = [law.privacy_budget for law in laws if law.privacy_budget is not None]
    if any(not any(isclose(law_budget, budget, rel_tol=_ROUNDING) for budget in budgets) for law_budget in law_budgets):
        problems.append("the certificate states a law of chance with another epsilon than any claim")
    channels = [
        tuple(claim["arguments"].get(name) for name in ("kind", "p", "q"))
        for claim in body["claims"]
        if _bounds_answer(claim)
    ]
    stated_channels = [(law.kind, law.p, law.q) for law in laws if isinstance(law, AnswerLaw)]
    if any(channel not in stated_channels for channel in channels):
        problems.append("the certificate states another law of chance than its claims")
    return problems


def _list_method_law_problems(laws: Mapping[str, PublishedLaw], methods: Iterable[Method]) -> list[str]:
    """Compare the laws of columns with the methods that draw by them."""
    problems = []
    for method in methods:
        columns = set(method.list_law_columns()) if method.draws_by_law else set()
        if missing_columns := sorted(columns - laws.keys()):
            problems.append(f"the certificate states no law of chance of {quote_names(missing_columns)}")
        if other_columns := sorted(name for name in columns & laws.keys() if not _has_parameters(laws[name], method)):
            problems.append(f"the law of chance of {quote_names(other_columns)} is not the one that its method states")
    return problems


def _has_parameters(law: PublishedLaw, method: Method) -> bool:
    """Whether a law has the numbers that the method was given under the same names, such as ε or p."""
    parameters, facts = method.describe(), law.describe()
    return all(
        isclose(parameters[name], facts[name], rel_tol=_ROUNDING)
        for name in parameters.keys() & facts.keys()
        if isinstance(parameters[name], int | float) and isinstance(facts[name], int | float)
    )


def _bounds_answer(claim: Mapping[str, Any]) -> bool:
    """Whether a claim bounds the answers in one column."""
    return bool(claim["property"] == "epsilon" and claim["measure"] == "answer_epsilon")


def _bounds_basket(claim: Mapping[str, Any]) -> bool:
    """Whether a claim bounds what a basket tells."""
    return bool(claim["property"] in _BUDGETS and claim["measure"] != "answer_epsilon")
