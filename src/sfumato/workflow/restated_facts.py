# SPDX-License-Identifier: MIT
"""What a certificate says that anyone can say again: promises, sentences, levels, class sizes, suppressed rows.

A signature shows who said something, not that it is so. Each of these facts follows from the data file or from another
field, so a certificate that says otherwise is refused, whoever signed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

from sfumato import protect
from sfumato.change_kinds import ChangeKind
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import quote_names
from sfumato.measure.anonymity.crowd_sizes import StarredRows
from sfumato.measure.checks import CHECKS
from sfumato.protect.anonymity.suppressed_rows import list_hidden_columns
from sfumato.protect.claim_sentences import list_common_meanings
from sfumato.protect.claims import explain_blanks
from sfumato.protect.method import Method
from sfumato.release import Claim
from sfumato.runtime.lazy import find_tagged_class
from sfumato.suppression import NOTHING_SUPPRESSED, SuppressedRows, Suppression
from sfumato.table import Missing, Table
from sfumato.workflow.chain import LEFT_OUT_ROWS, word_other_changes
from sfumato.workflow.outgoing import (
    COMPUTABLE,
    FEWEST,
    IN_STEPS,
    PUBLISHED_LOSSES,
    count_hidden_people,
    round_to_step,
    round_up_to_step,
)
from sfumato.workflow.policy_parts.points_section import POINT_CAVEATS
from sfumato.workflow.published_columns import AnyTable, get_outline
from sfumato.workflow.restated_chance import list_chance_problems
from sfumato.workflow.restated_claims import list_argument_problems
from sfumato.workflow.restated_methods import rebuild_methods
from sfumato.workflow.summary.class_sizes import count_starred_rows, find_promised_k, measure_class_sizes
from sfumato.workflow.summary.suppression_summary import describe_suppression, explain_left_out
from sfumato.workflow.verdict import list_unchecked

_ROUNDING = 1e-6
_LIMIT = "max_risk."
"""Before the name of an attack: the limit of its success."""


def list_restated_problems(body: Mapping[str, Any], published_data: Any) -> list[str]:
    """What of a certificate contradicts its own fields or the data file."""
    problems = _list_promise_problems(body) + _list_level_problems(body) + _list_step_problems(body)
    problems += list_argument_problems(body)
    problems += list_chance_problems(body) + _list_threshold_problems(body) + _list_limit_problems(body)
    problems += [
        f"the certificate names a method that this version of sfumato does not have: {parameters['method']}"
        for parameters in body["methods"]
        if find_tagged_class("method", str(parameters["method"])) is None
    ]
    problems += _list_unchecked_problems(body, published_data)
    if isinstance(published_data, Table | StoredTable):
        problems += _list_sentence_problems(body, get_outline(published_data))
        problems += _list_figure_problems(body, published_data) + _list_row_problems(body)
        problems += _list_suppression_problems(body, published_data) + _list_star_problems(
            body, get_outline(published_data)
        )
    elif not _is_nothing_suppressed(body):
        problems.append("the certificate gives another reason for its suppressed rows than its methods do")
    return problems


def _list_unchecked_problems(body: Mapping[str, Any], published_data: Any) -> list[str]:
    """List again what was not checked; sequences may have been made of points, which nobody else can tell."""
    sentences, stated_sentences = list_unchecked(body, published_data), tuple(body["verdict"]["unchecked"])
    caveats = POINT_CAVEATS if body["data"]["shape"] == "sequences" else ()
    if stated_sentences == (*sentences, *(caveat for caveat in caveats if caveat in stated_sentences)):
        return []
    return ["the certificate's list of what was not checked is not the one that its claims and attacks give"]


def _is_nothing_suppressed(body: Mapping[str, Any]) -> bool:
    """Whether of data that are no table, no row is said to be suppressed, or as many as nobody can count."""
    account = describe_suppression(NOTHING_SUPPRESSED, explain_left_out(_find_kinds(body["methods"])))
    rows = account["rows"] if account["seen"] else None
    return bool(body["suppression"] == {"rows": rows, "safe": account["safe"], "why": account["why"]})


def _list_promise_problems(body: Mapping[str, Any]) -> list[str]:
    """Compare the claims with the models of the methods, and with the sentences that these models write."""
    methods = _find_kinds(body["methods"])
    promises = [promise for kind, parameters in methods for promise in kind.list_promises(parameters)]
    model_properties = {name for model in protect.MODELS for name in model.claim_properties}
    model_claims = [claim for claim in body["claims"] if claim["property"] in model_properties]
    problems = [] if body["methods"] else ["the certificate names no method"]
    problems += [
        f'the claim "{claim["property"]}" is not what a method of the certificate promises, or its sentence says '
        "something else"
        for claim in model_claims
        if not any(_does_claim_say(claim, promise, body["missing"]) for promise in promises)
    ]
    problems += [
        f'the methods of the certificate promise "{promise.property}" of {promise.threshold}, and no claim says so'
        for promise in promises
        if not any(_does_claim_say(claim, promise, body["missing"]) for claim in model_claims)
    ]
    limits = {kind.find_suppression_limit(parameters) for kind, parameters in methods} - {None}
    shares = {
        float(claim["threshold"])
        for claim in body["claims"]
        if claim["property"] == "suppressed_share" and claim["bound"] == "at_most"
    }
    # Of rows of stars nobody can tell which were suppressed: then nothing is said about the share.
    is_silent = not shares and any(kind.may_star_rows(parameters) for kind, parameters in methods)
    if shares != limits and not is_silent:
        problems.append("the certificate claims another share of suppressed rows than its methods allow")
    return problems


def _find_kinds(methods: Sequence[Mapping[str, Any]]) -> list[tuple[type[Method], Mapping[str, Any]]]:
    """The class and the public parameters of each method that this version has."""
    kinds = [find_tagged_class("method", str(parameters["method"])) for parameters in methods]
    return [(kind, parameters) for kind, parameters in zip(kinds, methods, strict=True) if kind is not None]


def _does_claim_say(claim: Mapping[str, Any], promise: Claim, missing: str) -> bool:
    """Whether a claim is what a model promises, in the words of the model."""
    if any(claim[name] != getattr(promise, name) for name in ("property", "threshold", "bound")):
        return False
    arguments = claim["arguments"]
    if any(arguments[name] != promise.arguments.get(name) for name in ("column", "l") if name in arguments):
        return False
    models = [model for model in protect.MODELS if promise.property in model.claim_properties]
    meanings = {meaning for model in models for meaning in model.list_meanings(promise, arguments)}
    if missing == Missing.MATCHES_ANY:
        meanings.add(explain_blanks(promise).meaning)
    return claim["meaning"] in meanings


def _list_threshold_problems(body: Mapping[str, Any]) -> list[str]:
    """Compare thresholds with the parameters that they come from, as the methods state."""
    methods, problems = _find_kinds(body["methods"]), []
    for claim in body["claims"]:
        parameters = [
            stated_parameters.get(kind.threshold_fields[claim["property"]])
            for kind, stated_parameters in methods
            if claim["property"] in kind.threshold_fields
        ]
        # A share of the rows is a count only with the originals.
        is_compared = parameters and all(
            value is not None and _is_like(value, claim["threshold"]) for value in parameters
        )
        if is_compared and not any(
            isclose(claim["threshold"], value, rel_tol=_ROUNDING) for value in parameters if value is not None
        ):
            problems.append(f'the threshold of the claim "{claim["property"]}" is not the parameter of its method')
        least_thresholds = [
            stated_parameters[kind.least_threshold_fields[claim["property"]]]
            for kind, stated_parameters in methods
            if claim["property"] in kind.least_threshold_fields
        ]
        if any(claim["threshold"] < least_threshold for least_threshold in least_thresholds):
            problems.append(f'the threshold of the claim "{claim["property"]}" is one that its method refuses')
    return problems


def _is_like(parameter: Any, threshold: int | float) -> bool:
    """Whether both are counts, or both shares: a share of the rows is a count in the claim."""
    is_share_of_count = isinstance(parameter, float) and parameter <= 1 and isinstance(threshold, int)
    return isinstance(parameter, int | float) and not is_share_of_count


def _list_limit_problems(body: Mapping[str, Any]) -> list[str]:
    """Compare the limits of the gate with the figures, and names of attacks and limits with those that there are."""
    attacks: dict[str, list[float]] = {}
    for attack in body["attacks"]:
        attacks.setdefault(str(attack["attack"]), []).append(attack["risk_at_most"] or 0.0)
    kinds = {tag: find_tagged_class("attack", tag) for tag in attacks}
    unknown = sorted(tag for tag, kind in kinds.items() if kind is None)
    problems = [f"the certificate names an attack that sfumato does not have: {tag}" for tag in unknown]
    for limit in body["gate"]:
        name = str(limit["gate"])
        tags = [tag for tag, kind in kinds.items() if kind is not None and (name in kind.gates or name == _LIMIT + tag)]
        risks = [risk for tag in tags for risk in attacks[tag]] if name != "max_record_risk" else []
        if not tags and name != "max_loss":
            problems.append(f"the certificate limits what it does not state: {name}")
        elif not 0 <= limit["limit"] <= 1:
            problems.append(f"the certificate states a limit that no policy can have: {name}")
        elif any(risk > (round_up_to_step(limit["limit"], FEWEST) or 0.0) for risk in risks):
            problems.append(f"the certificate states a risk above its own limit {name}")
        # The gate counts values of a hierarchy that nobody has, and people who are not shown: its loss may be smaller.
        elif name == "max_loss" and not limit["limit"] and body["utility"].get("loss"):
            problems.append(f"the certificate states a loss above its own limit {name}")
    return problems


def _list_star_problems(body: Mapping[str, Any], outline: Table) -> list[str]:
    """Suppressed rows are stars in every quasi-identifying column, or in none; what is empty in them is claimed."""
    starred_columns = {change["column"] for change in body["changes"] if change["starred"]}
    quasi_identifying = {name for name, role in body["roles"].items() if role == "quasi_identifying"}
    if starred_columns and (starred_columns != quasi_identifying or not body["suppression"]["rows"]):
        return ["the certificate states stars of suppressed rows in some columns only, or without suppressed rows"]
    claims = [claim for claim in body["claims"] if claim["property"] == "shown_in_suppressed"]
    claimed_columns = {name for claim in claims for name in claim["arguments"]["columns"]}
    models = [model for method in rebuild_methods(body) for model in method.list_models()]
    is_hidden = _find_suppressed_kind(body) in (SuppressedRows.EMPTY, SuppressedRows.APART)
    if claimed_columns != set(list_hidden_columns(outline, models) if is_hidden else ()):
        return ["the certificate claims that other columns are empty in suppressed rows than its methods empty"]
    blanked_columns = {change["column"] for change in body["changes"] if change["kind"] == ChangeKind.BLANKED}
    if not claimed_columns <= blanked_columns:
        return ["the certificate states that columns were kept of which it claims empty cells"]
    return []


def _list_sentence_problems(body: Mapping[str, Any], outline: Table) -> list[str]:
    """Compare the sentences of claims that follow from other fields with those that sfumato writes."""
    problems, methods = [], rebuild_methods(body)
    for claim in body["claims"]:
        meanings = list_common_meanings(claim, outline, methods)
        sentence = str(claim["meaning"])
        if claim["property"] == "suppressed_share" and len(body["methods"]) > 1 and body["suppression"]["rows"] is None:
            sentence = sentence.removesuffix(LEFT_OUT_ROWS)
        if CHECKS[claim["measure"]].of_the_rest:
            sentence = _strip_other_changes(sentence, body["changes"])
        if meanings and sentence not in meanings:
            problems.append(f'the sentence of the claim "{claim["property"]}" does not say what the claim does')
    return problems


def _strip_other_changes(sentence: str, changes: list[Mapping[str, Any]]) -> str:
    """A claim's own sentence, without those that name columns which other methods changed."""
    columns = {str(change["column"]) for change in changes}
    while True:
        own_sentence, separator, names_text = sentence.rpartition(word_other_changes(""))
        names = [name for name in columns if quote_names([name]) in names_text]
        ordered_names = sorted(names, key=lambda name: names_text.index(quote_names([name])))
        if not separator or names_text != f"{quote_names(ordered_names)}.":
            return sentence
        sentence = own_sentence


def _list_level_problems(body: Mapping[str, Any]) -> list[str]:
    """Compare the levels and heights with those of the changes."""
    for change in body["changes"]:
        level, height = change["level"], change["height"]
        if level is not None and not (
            height is not None and 0 <= level <= height and (level == 0) == (change["kind"] == ChangeKind.KEPT)
        ):
            return [f'the certificate states a level of "{change["column"]}" that does not exist']
    levels = {change["column"]: change["level"] for change in body["changes"] if change["level"] is not None}
    heights = {change["column"]: change["height"] for change in body["changes"] if change["height"] is not None}
    # Under local recoding rows differ, even if all of a column have one level.
    is_local = any(kind.may_star_rows(parameters) for kind, parameters in _find_kinds(body["methods"]))
    if body["heights"] != heights or body["levels"] not in ([levels, {}] if is_local else [levels]):
        return ["the certificate states other levels or heights than its changes do"]
    return []


def _list_step_problems(body: Mapping[str, Any]) -> list[str]:
    """What was measured against the originals is published in steps, for enough people, and nothing else is."""
    people, utility, problems = count_hidden_people(body), body["utility"], []
    figures = [utility[name] for name in sorted(IN_STEPS & utility.keys())]
    figures += [attack["guessing"] for attack in body["attacks"] if attack["guessing"] is not None]
    risks = [attack["risk_at_most"] for attack in body["attacks"] if attack["risk_at_most"] is not None]
    if any(not 0 <= figure <= 1 or figure != round_to_step(figure, people) for figure in (*figures, *risks)):
        problems.append("the certificate states a loss or a risk that is not in steps, or of too few people to publish")
    if not utility.keys() <= COMPUTABLE | IN_STEPS or not body["losses"].keys() <= PUBLISHED_LOSSES:
        problems.append("the certificate states figures that are never published")
    return problems


def _list_figure_problems(body: Mapping[str, Any], published_table: AnyTable) -> list[str]:
    """Measure class sizes again."""
    utility, problems = body["utility"], []
    stated_sizes = {name: utility[name] for name in sorted(COMPUTABLE & utility.keys())}
    if stated_sizes:
        stars: StarredRows = "suppressed" if any(change["starred"] for change in body["changes"]) else "class"
        sizes = measure_class_sizes(published_table, stars, find_promised_k(body["claims"]))
        problems += [
            f"the certificate's {name} differs from that of the data file"
            for name, stated_size in stated_sizes.items()
            if name not in sizes or not isclose(stated_size, sizes[name], rel_tol=1e-9, abs_tol=1e-9)
        ]
    return problems


def _list_row_problems(body: Mapping[str, Any]) -> list[str]:
    """Compare the number of rows with that of a method that draws as many as it says, unless rows may be left out."""
    methods = _find_kinds(body["methods"])
    counts = {kind.find_row_count(parameters) for kind, parameters in methods} - {None}
    may_leave_out = bool(explain_left_out(methods)) or (len(methods) > 1 and body["missing"] == Missing.DROP)
    if may_leave_out or counts <= {body["data"]["rows"]}:
        return []
    return ["the certificate states another number of rows than its methods draw"]


def _list_suppression_problems(body: Mapping[str, Any], published_table: AnyTable) -> list[str]:
    """Count the suppressed rows again, and compare the reason why they disclose nothing."""
    suppression, methods = body["suppression"], _find_kinds(body["methods"])
    left_out = explain_left_out(methods)
    starred_count, kind = count_starred_rows(published_table), _find_suppressed_kind(body)
    # A method that blanks cells says how empty ones are read: then nobody can tell what became of missing ones.
    may_drop_rows = body["missing"] == Missing.DROP or any(method.utility == "blanks" for method, _ in methods)
    accounts = [
        describe_suppression(Suppression(kind, suppression["rows"] or 0, count, drops_missing), left_out)
        for count in {0, starred_count}
        for drops_missing in {False, may_drop_rows}
    ]
    if not suppression["safe"] or not any(
        suppression["why"] == account["why"] and (suppression["rows"] is None) == (not account["seen"])
        for account in accounts
    ):
        return ["the certificate gives a reason for its suppressed rows that its other fields contradict"]
    # Of rows that are stars by their own levels, nobody can tell that they were not suppressed.
    is_local = len(body["methods"]) > 1 or any(kind.may_star_rows(parameters) for kind, parameters in methods)
    is_starred = kind is not SuppressedRows.NONE
    if is_starred and suppression["rows"] is not None and not is_local and suppression["rows"] != starred_count:
        return ["the certificate counts other suppressed rows than the data file has"]
    if not is_starred and suppression["rows"]:
        return ["the certificate counts suppressed rows, and no column has any"]
    return []


def _find_suppressed_kind(body: Mapping[str, Any]) -> SuppressedRows:
    """What is published of suppressed rows, as the changes and the claims of a certificate have it."""
    if not any(change["starred"] for change in body["changes"]):
        return SuppressedRows.NONE
    if any(claim["property"] == "shown_in_suppressed" for claim in body["claims"]):
        return SuppressedRows.EMPTY
    is_apart = any(
        claim["property"] != "suppressed_share" and claim["arguments"].get("starred_rows") == "suppressed"
        for claim in body["claims"]
    )
    return SuppressedRows.APART if is_apart else SuppressedRows.TOGETHER
