# SPDX-License-Identifier: MIT
"""What was found out about a release, in words: its claims as measured again, what it lost, how attacks went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.report import words


def claims(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each claim in words: promised, measured, and who can check it."""
    made = []
    for claim in body["claims"]:
        share = claim["property"].endswith("_share") and claim["property"] != "uniques_off_share"  # that one counts
        column = claim.get("arguments", {}).get("column")
        title = words.PROPERTIES.get(claim["property"], words.spaced(claim["property"]).capitalize())
        made.append(
            {
                "title": title + (f", column «{words.short(column)}»" if isinstance(column, str) else ""),
                "meaning": claim["meaning"],
                "promised": words.promised(claim["bound"], claim["threshold"], share=share),
                "measured": _measured(claim, share),
                "holds": claim["holds"],
                "who": "only with the originals" if claim["needs_original"] else "anyone with the file",
            }
        )
    return made


def _measured(claim: Mapping[str, Any], share: bool) -> str:
    """What was measured; of a claim about the originals, a page that leaves says only whether it held."""
    if claim["measured"] is None:
        return "not told"
    return words.percent(claim["measured"]) if share else words.number(claim["measured"])


def lost_by(body: Mapping[str, Any]) -> str:
    """How the methods lose, as a key of `words.LOSS_OF`; the name of the last one where all of them lose detail."""
    ways = ["discretize" if one.get("kind") == "discretize" else str(one["method"]) for one in body["methods"]]
    mixed = len(set(ways)) > 1 and not words.LOSS_OF.keys().isdisjoint(ways)
    return "several" if mixed else ways[-1] if ways else ""


def losses(body: Mapping[str, Any], internal: bool) -> list[dict[str, str]]:
    """Each loss with one sentence."""
    by, utility = lost_by(body), body["utility"]
    made = []
    told = (
        body["losses"] if internal else {**{name: None for name in utility if name in words.LOSSES}, **body["losses"]}
    )
    for name, value in told.items():
        title, meaning = words.LOSSES.get(name, (words.spaced(name).capitalize(), ""))
        if name == "loss":
            meaning = words.LOSS_OF.get(by, meaning)
        if name == "height" and body.get("heights"):
            meaning += f" The highest possible is {sum(body['heights'].values())}."
        # What is measured again is detail, or repeats what the method says.
        again = None if name == "loss" and by in words.LOSS_OF else utility.get(name)
        made.append(_loss(name, title, meaning, value, again))
    if any(method["method"] in words.LOSS_OF for method in body["methods"]):
        measured = [name for name in words.MEASURED if name in utility and name not in told]
        made += [_loss(name, *words.LOSSES[name], None, utility[name]) for name in measured]
    return made + _learning(utility)


def _loss(name: str, title: str, meaning: str, value: float | None, again: float | None) -> dict[str, str]:
    """One loss by the method and as measured on the file, a share in per cent."""
    told = words.percent if name.startswith("loss") or name in words.SHARES else words.number
    first, then = ("" if one is None else told(one) for one in (value, again))
    return {"title": title, "value": first, "again": then, "meaning": meaning}


def _learning(utility: Mapping[str, Any]) -> list[dict[str, str]]:
    """How well classifiers do that learn from the release."""
    made = []
    for name in [one for one in utility if f"{one}_original" in utility]:
        before, blind = words.percent(utility[f"{name}_original"]), words.percent(utility.get("zero_r_accuracy"))
        meaning = f"How often it is right, learnt from the release. From the originals: {before}. Unlearnt: {blind}."
        title = f"Accuracy of {words.spaced(name.removesuffix('_accuracy'))}"
        made.append({"title": title, "value": "", "again": words.percent(utility[name]), "meaning": meaning})
    return made


def attacks(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each attack: its story, and how far it got."""
    tried = "People tried" if body["data"]["shape"] == "table" else "Tried"
    made = []
    for attack in body["attacks"]:
        title, story = words.STORIES.get(attack["attack"]) or _registered_story(attack["attack"])
        told = {**attack, **attack.get("parameters", {})} if "risk_at_most" in attack else attack
        knows = _known(told, body)
        facts = [("Knows", knows)] if knows else []
        facts += _outgoing_facts(attack) if "risk_at_most" in attack else _counts(attack, tried)
        made.append({"title": title, "story": story, "facts": facts})
    return made


def _outgoing_facts(attack: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How far an attack got, as the certificate tells it: in steps, or not at all."""
    most = attack["risk_at_most"]
    told = "kept by the custodian" if most is None else f"at most {words.percent(most)}, at 95 % confidence"
    return [("Risk", told)]


def _counts(attack: Mapping[str, Any], tried: str) -> list[tuple[str, str]]:
    """How far an attack got, in counts."""
    tries = attack["attempts"]
    facts = [
        (tried, words.number(tries)),
        ("Right guesses", words.number(attack["successes"])),
        ("Risk", f"{words.percent(attack['risk'])} (95 % interval {words.span(attack['low'], attack['high'])})"),
        ("By blind guessing", words.percent(attack["baseline"] / tries if tries else 0.0)),
    ]
    if attack.get("control") is not None:
        facts.append(("Equally sure about strangers", words.number(attack["control"])))
    if "highest_risk" in attack:
        facts.append(("Highest risk for one person", words.percent(attack["highest_risk"])))
    if "smallest_match" in attack:
        facts.append(("Smallest match", words.several(attack["smallest_match"], "row")))
    return facts


def _known(attack: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """What the attacker knew of people, as far as the certificate says it; nothing where it does not."""
    quasi = [name for name, role in body.get("roles", {}).items() if role == "quasi_identifying"]
    told = attack.get("known") or attack.get("knowledge")
    if not told and "knowledge" in attack:  # not given means all of these, but for the columns it wants to know
        wanted = {attack.get("column"), *(attack.get("columns") or ())}
        told = [name for name in quasi if name not in wanted]
    if isinstance(told, str):
        return words.listed([told]) if attack.get("known") else words.KNOWS.get(told, words.spaced(told))
    if told and all(isinstance(side, list | tuple) for side in told):
        return "; on the other side ".join(words.listed(side) for side in told)
    if quasi and set(told or ()) == set(quasi):
        return "all " + words.several(len(quasi), "quasi-identifying column")
    return words.listed(told or ())


def _registered_story(tag: str) -> tuple[str, str]:
    """An attack's own story: what its class says first."""
    from sfumato.attack import ATTACKS

    for kind in ATTACKS:
        if kind.model_fields["attack"].default == tag and kind.__doc__:
            return words.spaced(tag).capitalize(), kind.__doc__.split("\n\n")[0].replace("`", "").strip()
    return words.spaced(tag).capitalize(), ""
