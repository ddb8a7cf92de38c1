# SPDX-License-Identifier: MIT
"""The verdict on the whole release, and what a data protection officer asks, in words for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from sfumato.change import ChangeKind
from sfumato.errors import count_noun
from sfumato.report.words import wording

STATUS_CLASS = {"passed": "good", "passed with warnings": "warned", "refused": "bad"}


def describe_verdict(body: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict for the head of the page and its first section; `body` is the private record or the certificate."""
    verdict = body["verdict"]
    alarms = verdict.get("alarms", ())
    headline = verdict.get("headline") or _write_outgoing_headline(body)
    return {
        "risk": headline.partition(". ")[2] or (headline if body["attacks"] else _explain_no_risk(body)),
        "kind": "warned" if alarms and verdict["status"] == "passed" else STATUS_CLASS[verdict["status"]],
        "headline": headline,
        "hold": f"{_count_kept_claims(body['claims'])} {wording.format_moment(body['created'])}.",
        "refusals": [wording.clean_label(sentence) for sentence in _list_refusals(body)],
        "warnings": [wording.clean_label(sentence) for sentence in (*verdict["warnings"], *alarms)],
        "unchecked": [wording.clean_label(sentence) for sentence in verdict["unchecked"]],
        "unique": list_unique_rows(verdict),
        "unique_notes": _list_unique_notes(body),
        "answers": list_officer_answers(body),
    }


def _explain_no_risk(body: Mapping[str, Any]) -> str:
    """What stands for the risk where the headline is the status alone: neither an attack nor unique rows tell one."""
    unique = ", and no unique rows were counted" if body["data"]["shape"] == "table" else ""
    return f"Not measured: no attack was tried{unique}."


def _list_unique_notes(body: Mapping[str, Any]) -> list[str]:
    """What the table of unique rows shows: which columns it names, if it names any, and which were not counted."""
    verdict = body["verdict"]
    unique_rows = (*verdict["unique_rows"], *verdict.get("unique_before", ()))
    column_note = "The columns named are those found to single out the most rows."
    notes = [column_note if any(rows["share"] for rows in unique_rows) else "", _explain_not_counted(body)]
    return [note for note in notes if note]


def _explain_not_counted(body: Mapping[str, Any]) -> str:
    """Why unique rows are not counted by some columns; of codes, that they may be read all the same."""
    names = body["verdict"]["not_counted"]
    if not names:
        return ""
    codes = {change["column"] for change in body["changes"] if change["kind"] == ChangeKind.CODED}
    coded_names = [name for name in names if name in codes]
    sentence = (
        f"Not counted, because others do not know a person's noise, drawn values or codes: "
        f"{wording.quote_first_names(names, most=20)}."
    )
    if coded_names:
        sentence += (
            f" Anyone who sorts or counts the codes of {wording.quote_first_names(coded_names, most=20)} may still "
            "learn the values, and look people up by them."
        )
    return sentence


def _count_kept_claims(claims: Sequence[Mapping[str, Any]]) -> str:
    broken_count = sum(claim["holds"] is False for claim in claims)
    if broken_count:
        return f"{count_noun(broken_count, 'claim does', 'claims do')} not hold on the written file."
    if len(claims) > 1:
        return f"All {len(claims)} claims hold, each measured again on the file as written."
    return "The claim holds, measured again on the file as written." if claims else "Nothing was claimed."


def _write_outgoing_headline(body: Mapping[str, Any]) -> str:
    """The headline from what is published alone."""
    verdict = body["verdict"]
    sentences = [f"{verdict['status'].capitalize()}."]
    if verdict["unique_rows"]:
        rows = max(verdict["unique_rows"], key=lambda unique: float(unique["share"]))  # the first has fewest columns
        if not rows["share"]:
            rows = verdict["unique_rows"][-1]
        if rows["share"]:
            names = wording.quote_first_names(rows["columns"])
            sentences.append(f"{wording.format_percent(rows['share'])} of the published rows are unique by {names}.")
        else:
            sentences.append(f"No published row was found to be unique by {_COLUMN_COUNTS[len(rows['columns']) - 1]}.")
    risks = [attack for attack in body["attacks"] if attack["risk_at_most"] is not None]
    if risks:
        worst = max(risks, key=lambda attack: float(attack["risk_at_most"]) - float(attack["guessing"] or 0.0))
        sentences.append(
            f"The attack that gains most over guessing, {wording.spell_name(worst['attack'])}, is right at most "
            f"{wording.format_percent(worst['risk_at_most'])} of the time; blind guessing about "
            f"{wording.format_percent(worst['guessing'])}."
        )
    elif body["attacks"]:
        sentences.append("The custodian keeps the outcomes of the attacks.")
    return " ".join(sentences)


def _list_refusals(body: Mapping[str, Any]) -> list[str]:
    """Why nothing was released: limits of the gate, and columns that contradict their roles."""
    shut = [gate for gate in body.get("gate", ()) if not gate["open"]]
    limits = [_describe_shut_gate(gate) for gate in shut]
    return limits + [objection["reason"] for objection in body["verdict"].get("objections", ())]


def _describe_shut_gate(gate: Mapping[str, Any]) -> str:
    title, limit, value = wording.spell_name(gate["gate"].replace(".", " ")), gate["limit"], gate.get("found")
    if value is None:
        return f"The limit {title} ({wording.format_gate_limit(limit)}) could not be measured for this release."
    measured_text = wording.format_gate_value(value, limit)
    return f"The limit {title} is {wording.format_gate_limit(limit)}, and the release has {measured_text}."


_COLUMN_COUNTS = ("one column", "two columns", "three columns")


class UniqueRowTexts(NamedTuple):
    """How many rows are unique by some columns."""

    columns: str
    original: str
    """Empty on the public page."""
    published_text: str


def list_unique_rows(verdict: Mapping[str, Any]) -> list[UniqueRowTexts]:
    """For one, two and three columns: unique rows of the release and, for the custodian, of the originals."""
    published_texts = [_describe_unique_rows(rows) for rows in verdict["unique_rows"]]
    original = [_describe_unique_rows(rows) for rows in verdict.get("unique_before", ())]
    parts = (_COLUMN_COUNTS[: len(published_texts)], original[: len(published_texts)], published_texts)
    return [UniqueRowTexts(*texts) for texts in zip_longest(*parts, fillvalue="")]


def _describe_unique_rows(rows: Mapping[str, Any]) -> str:
    if not rows["share"]:
        return "none found"  # of many columns, not every combination is tried
    return f"{wording.format_percent(rows['share'])}, by {wording.quote_first_names(rows['columns'])}"


class OfficerAnswer(NamedTuple):
    """A question of a data protection officer, and its answer."""

    title: str
    answer: str


def list_officer_answers(body: Mapping[str, Any]) -> list[OfficerAnswer]:
    """What a data protection officer asks, with the answers that the policy and the release give."""
    answers = [OfficerAnswer(title, str(body[name])) for name, title in _ANSWER_TITLES.items() if body.get(name)]
    if body["data"]["shape"] == "table":
        answers.append(OfficerAnswer("Columns that no method changes", _describe_exact_columns(body)))
    return [OfficerAnswer(title, wording.clean_label(answer)) for title, answer in answers]


_ANSWER_TITLES = {"purpose": "Purpose", "recipient": "Recipient", "decided_by": "Who decided"}


def _describe_exact_columns(body: Mapping[str, Any]) -> str:
    """Each column that is published as it was, with its role or the reason given for it."""
    changed_columns = {
        change["column"] for change in body["changes"] if change["kind"] != ChangeKind.KEPT or change["starred"]
    }
    exact = [name for name in body.get("roles", {}) if name not in changed_columns]
    accepted_reasons = body["verdict"]["accepted"]
    reasons = {name: accepted_reasons.get(name) or wording.spell_role(body["roles"][name]) for name in exact}
    columns = [f'"{wording.shorten_label(name)}" ({reason})' for name, reason in reasons.items()]
    if not columns:
        return "none. Some cells of changed columns may still be unchanged."
    has_others = len(exact) < len(body["roles"])
    return f"{', '.join(columns)}.{' Some cells of other columns may also be unchanged.' if has_others else ''}"
