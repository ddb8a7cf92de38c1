# SPDX-License-Identifier: MIT
"""The numbers in the sentence of a claim, compared with those that the claim and its method are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sfumato.release import Claim

_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?:/\d+)?(?:e[-+]?\d+)?(?![\w])")


def read_numbers(meaning: str, names: Iterable[str]) -> list[str]:
    """The numbers of a sentence as they are spelled, without those in the names of columns."""
    for name in sorted(names, key=len, reverse=True):
        meaning = meaning.replace(name, "")
    return _NUMBER.findall(meaning)


def list_numbers(value: Any) -> Iterator[float]:
    """All numbers of fields or arguments, however deep; a number in quotes is one, too."""
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, str):
        if re.fullmatch(r"-?\d+(\.\d+)?(/\d+)?", value):
            yield float(Fraction(value))
    elif isinstance(value, Mapping):
        yield from list_numbers(list(value.values()))
    elif isinstance(value, Iterable):
        for part in value:
            yield from list_numbers(part)


def list_words(value: Any) -> Iterator[str]:
    """All words and numbers of fields or arguments, however deep, as a sentence would spell them; no names of parts."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        yield f"{value:g}"
    elif isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from list_words(list(value.values()))
    elif isinstance(value, Iterable):
        for part in value:
            yield from list_words(part)


def is_spelled(number: float, spelling: str) -> bool:
    """Whether a sentence spells a number, to the digits that it has: 1.386 is log 4.

    The last of four digits may be rounded up or down.
    """
    if "/" in spelling:
        return abs(number - float(Fraction(spelling))) < 1e-9
    decimal_value = Decimal(spelling.replace(",", ""))
    exponent = decimal_value.as_tuple().exponent
    assert isinstance(exponent, int)
    finest = 10.0 ** min(exponent, 0)
    most = 1.000001 if len(decimal_value.as_tuple().digits) > 3 else 0.500001
    return abs(number - float(decimal_value)) <= max(most * finest if exponent < 0 else 0.0, 1e-6 * abs(number))


def read_others(meaning: str, names: Iterable[str]) -> list[str]:
    """The numbers of a sentence that are one less than a crowd: "at least 2 others", "1 to 2 people"."""
    return [text for text, prefix, suffix in _cut_at_numbers(meaning, names) if _is_one_less(prefix, suffix)]


def _is_one_less(prefix: str, suffix: str) -> bool:
    return suffix.startswith(" other") or prefix.endswith("1 to ")


def _cut_at_numbers(meaning: str, names: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Each number of a sentence, with what is before and behind it, without the names of columns."""
    for name in sorted(names, key=len, reverse=True):
        meaning = meaning.replace(name, "")
    for match in _NUMBER.finditer(meaning):
        yield match[0], meaning[: match.start()], meaning[match.end() :]


def find_strange_numbers(claim: Claim, fields: Any, sizes: Iterable[int], names: Iterable[str]) -> list[str]:
    """Numbers of the sentence that are not of the claim, the method's fields or the size of the data; not 0 and 1."""
    parts = [float(len(value)) for value in claim.arguments.values() if isinstance(value, tuple)]
    claim_numbers = [float(claim.threshold), *list_numbers(claim.arguments)]
    known_numbers = [0.0, 1.0, *claim_numbers, *list_numbers(fields), *map(float, sizes)]
    strange = []
    for text, prefix, suffix in _cut_at_numbers(claim.meaning, names):
        allowed = [*known_numbers]
        allowed += [number - 1 for number in claim_numbers] if _is_one_less(prefix, suffix) else []
        allowed += parts if prefix.endswith("All ") else []  # how many columns or answers there are
        if not any(is_spelled(allowed_number, text) for allowed_number in allowed):
            strange.append(text)
    return strange


def tells_threshold(claim: Claim, sizes: Iterable[int], names: Iterable[str]) -> bool:
    """Whether the sentence has the threshold, or one less: "at least 2 others" is 3. None and all need no number."""
    if claim.threshold in (0, *sizes):
        return True
    if any(is_spelled(claim.threshold - 1, text) for text in read_others(claim.meaning, names)):
        return True
    return any(is_spelled(claim.threshold, text) for text in read_numbers(claim.meaning, names))


_SIDES = {
    "at least": "at_least", "at most": "at_most", "no more than": "at_most", "up to": "at_most", "below": "below",
    "less than": "below", "fewer than": "below", "more than": "above", "above": "above",
}  # fmt: skip
"""Words before a number → the bound that they say."""


def find_wrong_side(claim: Claim) -> str:
    """The words before the threshold that say another bound than the one that is checked; empty if none do."""
    words = re.compile(rf"\b({'|'.join(_SIDES)}) ({_NUMBER.pattern})", re.IGNORECASE)
    for match in words.finditer(claim.meaning if claim.bound != "exactly" else ""):
        if is_spelled(float(claim.threshold), match[2]) and _SIDES[match[1].lower()] != claim.bound:
            return match[0]
    return ""


def find_rounded_promise(claim: Claim, names: Iterable[str]) -> str:
    """The threshold in a sentence, if it is rounded to the side on which it promises more than is checked."""
    sign = {"at_least": 1, "at_most": -1, "below": -1}.get(claim.bound, 0)
    for text in read_numbers(claim.meaning, names):
        number = float(Fraction(text)) if "/" in text else float(text.replace(",", ""))
        is_threshold = is_spelled(float(claim.threshold), text)
        if is_threshold and sign * (number - claim.threshold) > 1e-8 * abs(claim.threshold):
            return text
    return ""


_VAGUE = re.compile(
    r"\b(mostly|usually|generally|typically|normally|nearly|almost|roughly|approximately|largely|mainly|somewhat|fairly|"
    r"hardly|rarely|probably|possibly|sufficiently|safe|safely|secure|securely|anonymous|private|protected|harmless)\b",
    re.IGNORECASE,
)
_UNIVERSAL = re.compile(
    r"\b(no|not|none|nothing|nobody|every|everything|everybody|each|all|any|always|never|whatever|neither|only|exactly)\b",
    re.IGNORECASE,
)


def find_vague_words(claim: Claim) -> str:
    """A word by which nobody knows what is checked; empty if there is none. A private entry is one that was named."""
    match = _VAGUE.search(re.sub(r"\bprivate (entry|entries)\b", "", claim.meaning))
    return match[0] if match else ""


def says_of_all(claim: Claim) -> bool:
    """Whether a claim that something happens in 0 cells, rows or items says that it is so in each of them.

    One of a share that has a given size says the share.
    """
    is_of_share = re.search(r"\ba share of \d", claim.meaning) is not None
    is_zero = claim.bound == "exactly" and claim.threshold == 0
    return not is_zero or is_of_share or _UNIVERSAL.search(claim.meaning) is not None
