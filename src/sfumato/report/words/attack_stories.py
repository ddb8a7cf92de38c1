# SPDX-License-Identifier: MIT
"""The story of each attack, told with the column names of the policy.

A story names only columns that its attack is known to use: those that its outcome or its public parameters name, or
those that its default means. Where they are not known, or may not be published, the first line of the attack's
docstring tells a story of other data, as an example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any, NamedTuple

from sfumato.errors import join_names
from sfumato.report.words import wording
from sfumato.runtime.lazy import find_tagged_class

_MOST_NAMES = 8
_ON_ENTRIES = ("rule_inference", "learned_inference")
"""Attacks that may be aimed at columns of which nothing is blank; which ones is not published."""


class AttackStory(NamedTuple):
    """An attack in words."""

    title: str
    story: str


def tell_attack(attack: Mapping[str, Any], body: Mapping[str, Any]) -> AttackStory:
    """The title of an attack, with its target, and its story; `attack` holds its parameters and what is known of it."""
    tag = str(attack["attack"])
    target, knowledge = find_target_columns(attack, body), find_known_columns(attack, body)
    plain_names = _list_plain_targets(tag, target, body)
    names = {
        "target": join_columns([name for name in target if name not in plain_names]),
        "any": join_columns(target, "or"),
        "known": "",
        "others": "",
    }
    for part, columns in zip(("known", "others"), knowledge, strict=False):
        names[part] = join_columns(columns)
    title = wording.spell_name(tag).capitalize() + (f": {join_columns(target)}" if target else "")
    plain_story = (
        f"The release states no noise in {join_columns(plain_names)}: each published number is taken as it is."
        if plain_names
        else ""
    )
    if plain_names and not names["target"]:
        return AttackStory(title, plain_story)
    story = _find_story(attack)
    if not story or not all(names[part] for _, part, _, _ in Formatter().parse(story) if part):
        return AttackStory(title, _find_docstring_story(tag))
    return AttackStory(title, f"{story.format(**names)} {plain_story}".rstrip())


def find_target_columns(attack: Mapping[str, Any], body: Mapping[str, Any]) -> list[str]:
    """The columns that an attack guesses; empty if it guesses rows, or if the certificate does not state them."""
    kind = find_tagged_class("attack", str(attack["attack"]))
    return [] if kind is None else list(kind.list_targets(attack, body))


def _list_plain_targets(tag: str, target: Sequence[str], body: Mapping[str, Any]) -> list[str]:
    """Of the columns that an attack on noise guesses, those without a published law that it weighs."""
    kinds, law_kinds = _find_law_kinds(body), _find_weighed_kinds(tag)
    return [] if law_kinds is None else [name for name in target if kinds.get(name) not in law_kinds]


def _find_law_kinds(body: Mapping[str, Any]) -> dict[str, str]:
    return {name: law["kind"] for name, law in body.get("public", {}).items()}


def _find_weighed_kinds(tag: str) -> tuple[str, ...] | None:
    """The laws that an attack on noise weighs (`NumberAttack.law_kinds`)."""
    return getattr(find_tagged_class("attack", tag), "law_kinds", None)


def find_known_columns(attack: Mapping[str, Any], body: Mapping[str, Any]) -> list[list[str]]:
    """The columns that the attacker knows, for each party; none where it knows something else.

    The default of every attack is all quasi-identifying columns but its targets.
    """
    knowledge = attack.get("known") or attack.get("knowledge")
    if not knowledge:
        targets = find_target_columns(attack, body)
        return [[name for name in _list_columns(body, "quasi_identifying") if name not in targets]]
    if isinstance(knowledge, str):
        return [[knowledge]] if attack.get("known") else []
    if all(isinstance(side, list | tuple) for side in knowledge):
        return [list(side) for side in knowledge]
    return [list(knowledge)]


def join_columns(names: Sequence[str], last: str = "and") -> str:
    """Column names in a sentence: `age, zip and sex`."""
    shown_names = [join_names([wording.shorten_label(name)]) for name in names[:_MOST_NAMES]]
    rest = len(names) - len(shown_names)
    if rest:
        shown_names.append(f"{wording.format_count(rest)} more")
    return f"{', '.join(shown_names[:-1])} {last} {shown_names[-1]}" if len(shown_names) > 1 else "".join(shown_names)


def _list_columns(body: Mapping[str, Any], role: str) -> list[str]:
    return [name for name, column_role in body.get("roles", {}).items() if column_role == role]


def _find_story(attack: Mapping[str, Any]) -> str:
    """The story that the attack tells with columns (`Attack.choose_story`)."""
    kind: Any = find_tagged_class("attack", str(attack["attack"]))
    return "" if kind is None else str(kind.choose_story(attack))


def _find_docstring_story(tag: str) -> str:
    """The first paragraph of the attack's docstring, which is about other data."""
    kind = find_tagged_class("attack", tag)
    story = " ".join((kind.__doc__ or "").split("\n\n")[0].replace("`", "").split()) if kind is not None else ""
    read = " Entries that are not blank are read, not inferred." if tag in _ON_ENTRIES else ""
    return f"For example, {story[0].lower()}{story[1:]}{read}" if story else ""
