# SPDX-License-Identifier: MIT
"""The story of each attack, told with the column names of the policy.

A story names only columns that its attack is known to use: those that its outcome or its public parameters name, or
those that its default means. Where they are not known, or may not leave, the first line of the attack's docstring
tells the story without names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

from sfumato.lazy import find_tagged_class
from sfumato.public.answer_channel import KINDS as ANSWER_KINDS
from sfumato.report import wording

STORIES: Mapping[str, str] = {
    "background_knowledge": (
        "A colleague looks a person up by {known}, finds several values of {any}, and knows which of them are wrong."
    ),
    "bayes_estimate": (
        "A statistician knows the distribution of {target} and the law of the noise, and estimates each true value."
    ),
    "composition": (
        "An insurer buys another release, looks up a person who is in both, and keeps the values of {any} that both "
        "allow."
    ),
    "copied_records": (
        "Somebody finds a synthetic row with a neighbour's {known}, and believes that it is the neighbour's."
    ),
    "curve_combination": (
        "A miner guesses what some codes of {target} stand for, draws three curves through these points, and believes "
        "a value if two of them agree."
    ),
    "curve_fitting": ("A miner guesses what some codes of {target} stand for, and draws a line through these points."),
    "family_matching": (
        "A provider knows what kind of distribution {target} has and what a few codes stand for, works out the "
        "parameters, and reads off all other values."
    ),
    "frequency_matching": (
        "A rival knows how often each value of {target} occurs; even among shuffled codes, the most common code is the "
        "most common value."
    ),
    "homogeneity": (
        "A neighbour looks a person up by {known}, finds several rows, and sees that they all have the same {any}."
    ),
    "inference": "A colleague knows a person's {known}, and reads their {target} off the most similar published row.",
    "learned_inference": (
        "A data scientist downloads the table, trains a model, and lets it fill in the blank entries of {target}."
    ),
    "likeliest_answer": (
        "An employer reads a person's published {target}, knows that chance may have said so too, and infers the "
        "likely truth."
    ),
    "likeliest_value": (
        "An employer sees that values of {target} cluster, and assigns each noisy one to the likeliest cluster."
    ),
    "linkability": (
        "Two firms hold different columns about the same people, one {known}, the other {others}. The release tells "
        "them whom they share."
    ),
    "linking": (
        "A neighbour knows that a person is in the table, and knows the person's {known}. "
        "The neighbour finds the published rows that match, and guesses one of them."
    ),
    "minimality": (
        "An insider knows everybody's {known}, asks why they are not published in more detail, and concludes what "
        "{target} more detail would have shown."
    ),
    "quantile_matching": (
        "A rival who has values of {target} of its own sorts the codes, and reads the values off its own sorted column."
    ),
    "range_reveal": (
        "A reader knows which values of {target} nobody has and how large noise can be, and concludes in which range "
        "the true value lies."
    ),
    "repeated_answers": ("An insurer gets {target} of every year, and believes of each customer what most years say."),
    "rule_inference": (
        "A stranger downloads the table, sees blank entries of {target}, and looks up what similar people have there."
    ),
    "similarity": (
        "A neighbour looks a person up by {known}, finds several values of {target}, and sees that all mean the same."
    ),
    "sorting": "A miner knows which values of {target} occur; the codes, sorted, are the values in their order.",
    "spectral_filter": (
        "An analyst finds that a few factors explain the noisy columns {target}, and removes everything else as noise."
    ),
    "swap_linkage": "A colleague knows a person's {known}, finds the rows that match, and reads {any} there.",
}
"""`{known}`: columns the attacker knows; `{target}`: those that it guesses; `{any}`: the same where one of them is
enough; `{others}`: columns that another party knows."""

_GUESSES_SENSITIVE = ("homogeneity", "background_knowledge")
"""Attacks that guess every sensitive column unless one is named."""
_GUESSES_NOISE = ("bayes_estimate", "likeliest_value", "spectral_filter")
"""Attacks that guess every column with public noise unless some are named."""
_GUESSES_ANSWERS = ("likeliest_answer", "repeated_answers")
"""Attacks that guess the column of randomized answers unless one is named."""
_SWAPS = "uniques_off_share"
_MOST_NAMES = 8


def tell_attack(attack: Mapping[str, Any], body: Mapping[str, Any]) -> tuple[str, str]:
    """The title of an attack, with its target, and its story; `attack` holds its parameters and what is known of it."""
    tag = str(attack["attack"])
    target, knowledge = find_target_columns(attack, body), find_known_columns(attack, body)
    names = {"target": join_columns(target), "any": join_columns(target, "or"), "known": "", "others": ""}
    for part, columns in zip(("known", "others"), knowledge, strict=False):
        names[part] = join_columns(columns)
    title = wording.spell_name(tag).capitalize() + (f": {names['target']}" if target else "")
    story = STORIES.get(tag)
    if story is None or not all(names[part] for _, part, _, _ in Formatter().parse(story) if part):
        return title, _find_docstring_story(tag)
    return title, story.format(**names)


def find_target_columns(attack: Mapping[str, Any], body: Mapping[str, Any]) -> list[str]:
    """The columns that an attack guesses; empty if it guesses rows, or if the certificate does not state them."""
    target = attack.get("column") or attack.get("columns") or _list_usual_targets(str(attack["attack"]), body)
    return [target] if isinstance(target, str) else [str(name) for name in target]  # a mapping tells more of each


def _list_usual_targets(tag: str, body: Mapping[str, Any]) -> list[str]:
    """What an attack guesses if its parameters name no column."""
    kinds = {name: law["kind"] for name, law in body.get("public", {}).items()}
    if tag in _GUESSES_SENSITIVE:
        return _list_columns(body, "sensitive")
    if tag in _GUESSES_ANSWERS:
        return [name for name, kind in kinds.items() if kind in ANSWER_KINDS]
    if tag in _GUESSES_NOISE:
        return [name for name, kind in kinds.items() if kind not in (*ANSWER_KINDS, "synthetic")]
    if tag == "swap_linkage":
        swapped = (claim["arguments"].get("column") for claim in body["claims"] if claim["measure"] == _SWAPS)
        return list(dict.fromkeys(name for name in swapped if isinstance(name, str)))
    return []


def find_known_columns(attack: Mapping[str, Any], body: Mapping[str, Any]) -> list[list[str]]:
    """The columns that the attacker knows, for each party; none where it knows something else.

    The default of every attack is all quasi-identifying columns but its targets.
    """
    known = attack.get("known") or attack.get("knowledge")
    if not known:
        targets = find_target_columns(attack, body)
        return [[name for name in _list_columns(body, "quasi_identifying") if name not in targets]]
    if isinstance(known, str):
        return [[known]] if attack.get("known") else []
    if all(isinstance(side, list | tuple) for side in known):
        return [list(side) for side in known]
    return [list(known)]


def join_columns(names: Sequence[str], last: str = "and") -> str:
    """Column names in a sentence: `age, zip and sex`."""
    shown = [wording.shorten_label(name) for name in names[:_MOST_NAMES]]
    rest = len(names) - len(shown)
    if rest:
        shown.append(f"{wording.format_count(rest)} more")
    return f"{', '.join(shown[:-1])} {last} {shown[-1]}" if len(shown) > 1 else "".join(shown)


def _list_columns(body: Mapping[str, Any], role: str) -> list[str]:
    return [name for name, found in body.get("roles", {}).items() if found == role]


def _find_docstring_story(tag: str) -> str:
    """The first paragraph of the attack's docstring."""
    kind = find_tagged_class("attack", tag)
    return (kind.__doc__ or "").split("\n\n")[0].replace("`", "").strip() if kind is not None else ""
