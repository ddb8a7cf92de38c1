# SPDX-License-Identifier: MIT
"""The story of each attack, told with the column names of the policy.

A story names only the columns that the outcome of its attack states: those that it guessed, and those that the attacker
knew. Where they must not be published, the first line of the attack's docstring tells a story of other data, as an
example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any, NamedTuple

from sfumato.errors import quote_names
from sfumato.published_law import read_laws
from sfumato.report.words import wording
from sfumato.runtime.lazy import find_tagged_class

_MOST_NAMES = 8


class AttackStory(NamedTuple):
    """An attack in words."""

    title: str
    story: str


def tell_attack(attack: Mapping[str, Any], body: Mapping[str, Any]) -> AttackStory:
    """The title of an attack, with its target, and its story; `attack` is its record or the certificate's entry."""
    tag = str(attack["attack"])
    target, knowledge = list(attack.get("targets") or ()), find_known_columns(attack)
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


def _list_plain_targets(tag: str, target: Sequence[str], body: Mapping[str, Any]) -> list[str]:
    """Of the columns that an attack on noise guesses, those without a published law that it weighs."""
    kind = find_tagged_class("attack", tag)
    return [] if kind is None else kind.list_plain_targets(target, read_laws(body.get("public", {})))


def find_known_columns(attack: Mapping[str, Any]) -> list[list[str]]:
    """The columns that the attacker knew, for each party; none if the attacker knew something else."""
    return [list(side) for side in attack.get("known_columns") or ()]


def join_columns(names: Sequence[str], last: str = "and") -> str:
    """Column names in a sentence: `"age", "zip" and "sex"`."""
    shown_names = [quote_names([wording.shorten_label(name)]) for name in names[:_MOST_NAMES]]
    rest = len(names) - len(shown_names)
    if rest:
        shown_names.append(f"{wording.format_count(rest)} more")
    return f"{', '.join(shown_names[:-1])} {last} {shown_names[-1]}" if len(shown_names) > 1 else "".join(shown_names)


def _find_story(attack: Mapping[str, Any]) -> str:
    """The story that the attack tells with columns (`Attack.choose_story`)."""
    kind: Any = find_tagged_class("attack", str(attack["attack"]))
    return "" if kind is None else str(kind.choose_story({**attack.get("parameters", {}), **attack}))


def _find_docstring_story(tag: str) -> str:
    """The first paragraph of the attack's docstring, which is about other data."""
    kind = find_tagged_class("attack", tag)
    story = " ".join((kind.__doc__ or "").split("\n\n")[0].replace("`", "").split()) if kind is not None else ""
    read = " Entries that are not blank are read, not inferred." if kind is not None and kind.hides_targets else ""
    return f"For example, {story[0].lower()}{story[1:]}{read}" if story else ""
