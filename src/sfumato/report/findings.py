# SPDX-License-Identifier: MIT
"""What was found out about a release, in words: its claims as measured again, what it lost, how attacks went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.report import wording


def list_claims(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each claim in words: promised, measured, and who can check it."""
    made = []
    for claim in body["claims"]:
        share = claim["property"].endswith("_share") and claim["property"] != "uniques_off_share"  # that one counts
        column = claim.get("arguments", {}).get("column")
        title = wording.PROPERTIES.get(claim["property"], wording.space_name(claim["property"]).capitalize())
        made.append(
            {
                "title": title + (f', column "{wording.shorten_label(column)}"' if isinstance(column, str) else ""),
                "meaning": claim["meaning"],
                "promised": wording.describe_promise(claim["bound"], claim["threshold"], share=share),
                "measured": _describe_measurement(claim, share),
                "holds": claim["holds"],
                "who": "only with the originals" if claim["needs_original"] else "anyone with the file",
            }
        )
    return made


def _describe_measurement(claim: Mapping[str, Any], share: bool) -> str:
    """What was measured; of a claim about the originals, a page that leaves says only whether it held."""
    if claim["measured"] is None:
        return "not told"
    return wording.format_percent(claim["measured"]) if share else wording.format_count(claim["measured"])


def name_loss_kind(body: Mapping[str, Any]) -> str:
    """How the methods lose, as a key of `messages.LOSS_OF`; the name of the last one where all of them lose detail."""
    ways = ["discretize" if method.get("kind") == "discretize" else str(method["method"]) for method in body["methods"]]
    mixed = len(set(ways)) > 1 and not wording.LOSS_OF.keys().isdisjoint(ways)
    return "several" if mixed else ways[-1] if ways else ""


def list_losses(body: Mapping[str, Any], internal: bool) -> list[dict[str, str]]:
    """Each loss with one sentence."""
    by, utility = name_loss_kind(body), body["utility"]
    made = []
    loss_words = (
        body["losses"] if internal else {**{name: None for name in utility if name in wording.LOSSES}, **body["losses"]}
    )
    for name, value in loss_words.items():
        title, meaning = wording.LOSSES.get(name, (wording.space_name(name).capitalize(), ""))
        if name == "loss":
            meaning = wording.LOSS_OF.get(by, meaning)
        if name == "height" and body.get("heights"):
            meaning += f" The highest possible is {sum(body['heights'].values())}."
        # What is measured again is detail, or repeats what the method says.
        again = None if name == "loss" and by in wording.LOSS_OF else utility.get(name)
        made.append(_describe_loss(name, title, meaning, value, again))
    if any(method["method"] in wording.LOSS_OF for method in body["methods"]):
        measured = [name for name in wording.MEASURED if name in utility and name not in loss_words]
        made += [_describe_loss(name, *wording.LOSSES[name], None, utility[name]) for name in measured]
    return made + _list_learning_losses(utility)


def _describe_loss(name: str, title: str, meaning: str, value: float | None, again: float | None) -> dict[str, str]:
    """One loss by the method and as measured on the file, a share in per cent."""
    format_value = wording.format_percent if name.startswith("loss") or name in wording.SHARES else wording.format_count
    first, then = ("" if number is None else format_value(number) for number in (value, again))
    return {"title": title, "value": first, "again": then, "meaning": meaning}


def _list_learning_losses(utility: Mapping[str, Any]) -> list[dict[str, str]]:
    """How well classifiers do that learn from the release."""
    made = []
    for name in [name for name in utility if f"{name}_original" in utility]:
        before, blind = (
            wording.format_percent(utility[f"{name}_original"]),
            wording.format_percent(utility.get("zero_r_accuracy")),
        )
        meaning = f"How often it is right, learnt from the release. From the originals: {before}. Unlearnt: {blind}."
        title = f"Accuracy of {wording.space_name(name.removesuffix('_accuracy'))}"
        made.append({"title": title, "value": "", "again": wording.format_percent(utility[name]), "meaning": meaning})
    return made


def list_attacks(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each attack: its story, and how far it got."""
    tried = "People tried" if body["data"]["shape"] == "table" else "Tried"
    made = []
    for attack in body["attacks"]:
        title, story = wording.STORIES.get(attack["attack"]) or _find_attack_story(attack["attack"])
        attack_facts = {**attack, **attack.get("parameters", {})} if "risk_at_most" in attack else attack
        knows = _describe_knowledge(attack_facts, body)
        facts = [("Knows", knows)] if knows else []
        facts += _list_outgoing_facts(attack) if "risk_at_most" in attack else _list_attack_counts(attack, tried)
        made.append({"title": title, "story": story, "facts": facts})
    return made


def _list_outgoing_facts(attack: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How far an attack got, as the certificate tells it: in steps, or not at all."""
    most = attack["risk_at_most"]
    risk_text = (
        "kept by the custodian" if most is None else f"at most {wording.format_percent(most)}, at 95 % confidence"
    )
    return [("Risk", risk_text)]


def _list_attack_counts(attack: Mapping[str, Any], tried: str) -> list[tuple[str, str]]:
    """How far an attack got, in counts."""
    tries = attack["attempts"]
    facts = [
        (tried, wording.format_count(tries)),
        ("Right guesses", wording.format_count(attack["successes"])),
        (
            "Risk",
            (
                f"{wording.format_percent(attack['risk'])} "
                f"(95 % interval {wording.format_span(attack['low'], attack['high'])})"
            ),
        ),
        ("By blind guessing", wording.format_percent(attack["baseline"] / tries if tries else 0.0)),
    ]
    if attack.get("control") is not None:
        facts.append(("Equally sure about strangers", wording.format_count(attack["control"])))
    if "highest_risk" in attack:
        facts.append(("Highest risk for one person", wording.format_percent(attack["highest_risk"])))
    if "smallest_match" in attack:
        facts.append(("Smallest match", wording.count_noun(attack["smallest_match"], "row")))
    return facts


def _describe_knowledge(attack: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """What the attacker knew of people, as far as the certificate says it; nothing where it does not."""
    quasi = [name for name, role in body.get("roles", {}).items() if role == "quasi_identifying"]
    knowledge = attack.get("known") or attack.get("knowledge")
    if not knowledge and "knowledge" in attack:  # not given means all of these, but for the columns it wants to know
        wanted = {attack.get("column"), *(attack.get("columns") or ())}
        knowledge = [name for name in quasi if name not in wanted]
    if isinstance(knowledge, str):
        return (
            wording.list_names([knowledge])
            if attack.get("known")
            else wording.KNOWS.get(knowledge, wording.space_name(knowledge))
        )
    if knowledge and all(isinstance(side, list | tuple) for side in knowledge):
        return "; on the other side ".join(wording.list_names(side) for side in knowledge)
    if quasi and set(knowledge or ()) == set(quasi):
        return "all " + wording.count_noun(len(quasi), "quasi-identifying column")
    return wording.list_names(knowledge or ())


def _find_attack_story(tag: str) -> tuple[str, str]:
    """An attack's own story: what its class says first."""
    from sfumato.attack import ATTACKS

    for kind in ATTACKS:
        if kind.model_fields["attack"].default == tag and kind.__doc__:
            return wording.space_name(tag).capitalize(), kind.__doc__.split("\n\n")[0].replace("`", "").strip()
    return wording.space_name(tag).capitalize(), ""
