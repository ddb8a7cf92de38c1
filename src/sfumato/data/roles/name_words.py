# SPDX-License-Identifier: MIT
"""What the name of a column says about its role, by a word list in several languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import NamedTuple

from sfumato.data.roles import vocabulary
from sfumato.data.roles.role import Role

_CAUTION = (Role.IDENTIFYING, Role.SENSITIVE, Role.QUASI_IDENTIFYING)
"""Which role wins if two words of a name are equally long."""


class RoleWord(NamedTuple):
    """A known word in the name of a column."""

    role: Role
    topic: str
    """What such columns hold."""
    word: str


def find_role_word(name: str) -> RoleWord | None:
    """The longest known word in a column's name: its role, its topic, the word."""
    humps = [token for token in _split_name(name) if not token.isdigit()]
    if len(humps) == 1 and humps[0].removesuffix("s") in _list_whole_words():
        return RoleWord(Role.IDENTIFYING, "a person's name or number", humps[0])
    matches = [*_list_known_words(humps), *_list_known_words(_split_name(name, split_humps=False))]
    return max(matches, key=lambda match: (len(match.word), -_CAUTION.index(match.role)), default=None)


def _list_known_words(tokens: list[str]) -> Iterator[RoleWord]:
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + 5, len(tokens)) + 1):
            word = "".join(tokens[start:end])
            entry = _index_vocabulary().get(word) or _index_vocabulary().get(word.removesuffix("s"))
            # Short words are not joined from pieces: "v_in" is not a vehicle's number.
            if entry and (end == start + 1 or len(word) >= 5):
                yield RoleWord(*entry, " ".join(tokens[start:end]))


def _split_name(name: str, split_humps: bool = True) -> list[str]:
    """A name's words: "patientID", "patient_id" and "Patient-ID 2" all begin with patient, id."""
    signs = unicodedata.normalize("NFKD", name)
    plain = "".join(sign for sign in signs if not unicodedata.combining(sign))
    if split_humps:
        sign_windows = zip(f" {plain}", plain, f"{plain[1:]} ", strict=False)
        plain = "".join(f" {sign}" if _starts_word(left, sign, right) else sign for left, sign, right in sign_windows)
    return re.findall(r"[^\W_]+", plain.casefold())


def _starts_word(previous_sign: str, sign: str, next_sign: str) -> bool:
    hump = sign.isupper() and (previous_sign.islower() or (previous_sign.isupper() and next_sign.islower()))
    return hump or previous_sign.isdigit() != sign.isdigit()


@cache
def _index_vocabulary() -> Mapping[str, tuple[Role, str]]:
    """Every word of the vocabulary, joined, with its role and topic."""
    words: dict[str, tuple[Role, str]] = {}
    lists = (vocabulary.DIRECT_IDENTIFIERS, vocabulary.SENSITIVE, vocabulary.QUASI_IDENTIFYING)
    for role, topics in zip(_CAUTION, lists, strict=True):
        for topic, entries in topics.items():
            for entry in _parse_word_list(entries):
                words.setdefault(entry, (role, topic))
    for person, number in product(_parse_word_list(vocabulary.PERSONS), _parse_word_list(vocabulary.NUMBERS)):
        words.setdefault(person + number, (Role.IDENTIFYING, "a person's name or number"))
    return words


@cache
def _list_whole_words() -> frozenset[str]:
    return frozenset(_parse_word_list(vocabulary.WHOLE_NAMES))


def _parse_word_list(words: str) -> list[str]:
    return ["".join(_split_name(entry)) for entry in re.split(r"[|\n]", words) if entry.strip()]
