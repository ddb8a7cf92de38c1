# SPDX-License-Identifier: MIT
"""The findings about a release in words: its claims as measured again, its losses, and the outcomes of attacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from sfumato.bound_words import spell_at_most
from sfumato.errors import count_noun
from sfumato.losses import LOSSES, LossEntry, is_share
from sfumato.measure.checks import CHECKS
from sfumato.report.pictures.linking_curve import draw_linking_curve
from sfumato.report.words import attack_stories, loss_words, wording
from sfumato.report.words.attack_names import name_attacks
from sfumato.runtime.lazy import find_tagged_class


def list_claims(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each claim in words: promised, measured, and who can check it."""
    claim_rows = []
    for claim in body["claims"]:
        check = CHECKS.get(claim["measure"])
        share = check is not None and check.unit == "share"
        column = claim.get("arguments", {}).get("column")
        title = wording.PROPERTIES.get(claim["property"], wording.spell_name(claim["property"]).capitalize())
        claim_rows.append(
            {
                "title": title + (f', column "{wording.shorten_label(column)}"' if isinstance(column, str) else ""),
                "meaning": claim["meaning"],
                "promised": wording.describe_promise(claim["bound"], claim["threshold"], share=share),
                "measured": _describe_measurement(claim, share),
                "holds": claim["holds"],
                "who": "only with the originals" if claim["needs_original"] else "anyone with the file",
            }
        )
    return claim_rows


def _describe_measurement(claim: Mapping[str, Any], share: bool) -> str:
    """The measured value. For a claim about the originals, the public page shows only whether it held."""
    if claim["measured"] is None:
        return "kept by the custodian"
    return wording.describe_measured_bound(claim["bound"], claim["measured"], claim["threshold"], share=share)


_FIRST_LOSSES = ("loss", "published_loss")


def list_losses(body: Mapping[str, Any]) -> list[dict[str, str]]:
    """Each loss with one sentence."""
    utility = body["utility"]
    loss_rows = []
    losses = {
        **body["losses"],
        **{name: None for name in utility if name in LOSSES and name not in body["losses"]},
    }
    for name in sorted(losses, key=lambda name: name not in _FIRST_LOSSES):
        if name == "height" and not body.get("levels"):
            continue  # no levels were chosen
        entry = loss_words.find_loss_words(name, body)
        if name == "height":
            highest = sum(body["heights"].values())
            entry = entry._replace(meaning=f"{entry.meaning} The highest possible is {highest}.")
        loss_rows.append(_describe_loss(entry, losses[name], utility.get(name), share=is_share(name)))
    return loss_rows + _list_learning_losses(utility)


def _describe_loss(entry: LossEntry, value: float | None, file_loss: float | None, *, share: bool) -> dict[str, str]:
    """One loss, by the method and as measured on the file; a share as a percentage."""
    format_value = wording.format_percent if share else wording.format_count
    if entry.is_upper_bound:
        format_value = spell_at_most
    first, file_text = ("" if number is None else format_value(number) for number in (value, file_loss))
    return {"title": entry.title, "value": first, "again": file_text, "meaning": entry.meaning}


def _list_learning_losses(utility: Mapping[str, Any]) -> list[dict[str, str]]:
    """The accuracy of classifiers trained on the release."""
    loss_rows = []
    for name in [name for name in utility if f"{name}_original" in utility]:
        original_text, blind = (
            wording.format_percent(utility[f"{name}_original"]),
            wording.format_percent(utility.get("zero_r_accuracy")),
        )
        meaning = (
            f"Share of right predictions when trained on the release. Trained on the originals: {original_text}. "
            f"Always predicting the most frequent value: {blind}."
        )
        title = f"Accuracy of {wording.spell_name(name.removesuffix('_accuracy'))}"
        loss_rows.append(
            {"title": title, "value": "", "again": wording.format_percent(utility[name]), "meaning": meaning}
        )
    return loss_rows


def list_attacks(body: Mapping[str, Any], *, is_internal: bool) -> list[dict[str, Any]]:
    """Each attack with its story and its outcome: in counts for the custodian, in coarse steps for others."""
    attack_rows: list[dict[str, Any]] = []
    for attack in body["attacks"]:
        title, story = attack_stories.tell_attack(attack, body)
        knows = _describe_knowledge(attack, body)
        facts = [("Knows", knows)] if knows else []
        facts += _list_labelled_parameters(attack)
        facts += _list_attack_counts(attack, body) if is_internal else _list_outgoing_facts(attack)
        figure = _draw_curve(attack) if is_internal else None
        attack_rows.append({"title": title, "story": story, "facts": facts, "figure": figure})
    titles = name_attacks([(row["title"], attack) for row, attack in zip(attack_rows, body["attacks"], strict=True)])
    return [{**row, "title": title} for row, title in zip(attack_rows, titles, strict=True)]


def _list_labelled_parameters(attack: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The parameters that determine what counts as a success, as the attack labels them."""
    kind: Any = find_tagged_class("attack", str(attack["attack"]))
    labels = {} if kind is None else kind.report_labels
    parameters = attack.get("parameters", {})
    return [
        (label, _format_labelled_parameter(parameters[field]))
        for field, label in labels.items()
        if isinstance(parameters.get(field), int | float)
    ]


def _format_labelled_parameter(value: float) -> str:
    """A count as it is, a share as a percentage with all its digits."""
    return wording.format_count(value) if isinstance(value, int) else f"{round(100 * value, 10):g}{wording.NBSP}%"


def _name_tries(attack: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """What an attack tried, as the label of a count."""
    target_noun = getattr(find_tagged_class("attack", str(attack["attack"])), "tries", "")
    if target_noun:
        return f"{target_noun.capitalize()} tried"
    return "People tried" if body["data"]["shape"] == "table" else "Tried"


def _draw_curve(attack: Mapping[str, Any]) -> dict[str, Any] | None:
    """The picture of an attack that found a curve."""
    kind = find_tagged_class("attack", str(attack["attack"]))
    if kind is None or not kind.draws_curve:
        return None
    figure = draw_linking_curve(attack)
    return {**vars(figure), "svg": Markup(figure.svg)}


def _list_outgoing_facts(attack: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The risk as the certificate states it: in coarse steps, or not at all."""
    most = attack["risk_at_most"]
    risk_text = (
        "kept by the custodian" if most is None else f"at most {wording.format_percent(most)}, at 95 % confidence"
    )
    blind_share = attack.get("guessing")
    facts = [] if blind_share is None else [(_name_baseline(attack), _approximate_share(blind_share))]
    return [("Risk", risk_text), *facts]


def _name_baseline(attack: Mapping[str, Any]) -> str:
    """What an attack is compared with, as the label of a share."""
    speaks_of_some = getattr(find_tagged_class("attack", str(attack["attack"])), "speaks_of_some", False)
    return "By blind guessing about the same people" if speaks_of_some else "By blind guessing"


def _approximate_share(share: float) -> str:
    return f"about {wording.format_percent(share)}"


def _list_attack_counts(attack: Mapping[str, Any], body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The outcome of an attack in counts."""
    tries = attack["attempts"]
    facts = [
        (_name_tries(attack, body), wording.format_count(tries)),
        ("Right guesses", wording.format_count(attack["successes"])),
        (
            "Risk",
            (
                f"{wording.format_percent(attack['risk'])} "
                f"(95 % interval {wording.format_span(attack['low'], attack['high'])})"
            ),
        ),
        (_name_baseline(attack), wording.format_percent(attack["baseline"] / tries if tries else 0.0)),
        ("In words", attack["words"]),
    ]
    if attack.get("control") is not None:
        facts.append(("Same guesses about people not in the data (control)", _describe_control(attack)))
    if attack.get("against_strangers"):
        facts.append(("Compared with the control", attack["against_strangers"]))
    if "highest_risk" in attack:
        facts.append(("Highest risk for one person", wording.format_percent(attack["highest_risk"])))
    if "smallest_match" in attack:
        facts.append(("Smallest match", count_noun(attack["smallest_match"], "row")))
    return facts


def _describe_control(attack: Mapping[str, Any]) -> str:
    """The same guesses about people who are not in the data: `6 of 48 (12.5 %)`."""
    count, strangers = attack["control"], attack.get("control_attempts")
    if not strangers:
        return wording.format_count(count)
    share = f"{100 * count / strangers:.1f}".removesuffix(".0")
    return f"{wording.format_count(count)} of {wording.format_count(strangers)} ({share}{wording.NBSP}%)"


def _describe_knowledge(attack: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """What the attacker knew about people; empty if the certificate does not state it."""
    quasi = [name for name, role in body.get("roles", {}).items() if role == "quasi_identifying"]
    sides = attack_stories.find_known_columns(attack)
    if len(sides) > 1:
        return "; on the other side ".join(wording.quote_first_names(side) for side in sides)
    if sides:
        if len(quasi) > 1 and set(sides[0]) == set(quasi):
            return f"all {len(quasi)} quasi-identifying columns"
        return wording.quote_first_names(sides[0])
    parameters = attack.get("parameters", {})
    keyword, share = parameters.get("knowledge"), parameters.get("known_share", 1.0)
    if not isinstance(keyword, str):
        return ""
    words = wording.KNOWS.get(keyword, wording.spell_name(keyword))
    return words if share == 1 else f"{words}, for {wording.format_percent(share)} of them"
