# SPDX-License-Identifier: MIT
"""A set of rules with supports on disk, in SPMF's format for rules: ``1 4 ==> 7 #SUP: 12 #CONF: 0.75``, one per line.

Item names are in a header, as in files of patterns, and so are two numbers that SPMF does not know: ``@BASKETS=88162``,
how many baskets there were, and ``@RULES=12``, by which such a file is recognized even if it has no rule. The left side
of a rule may be empty: its confidence is then a share of all baskets. The support of the left side is the support
divided by the confidence.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from sfumato.data.items.basket_files import name_items, read_text, write_text
from sfumato.data.items.item import Item
from sfumato.data.items.spmf_text import number_spmf_items, spell_negative_items, strip_spmf_comments
from sfumato.errors import DataError

_LINE = re.compile(r"([^#]*?)\s*==>\s*([^#]+?)\s*#SUP:\s*(\d{1,18})\s+#CONF:\s*([0-9.eE+-]+)\s*")
_BASKETS = re.compile(rb"(?m)^@BASKETS=([0-9]{1,18})$")
_RULES = re.compile(rb"(?m)^@RULES=([0-9]{1,18})$")


class RuleCount(NamedTuple):
    """A rule, and how many baskets hold both of its sides and its left side."""

    left: tuple[Item, ...]
    right: tuple[Item, ...]
    support: int
    left_support: int


class RuleSet(NamedTuple):
    """The content of a file."""

    rules: tuple[RuleCount, ...]
    baskets: int


def is_rule_set_file(path: Path) -> bool:
    """Whether a file says that it holds a set of rules."""
    return _RULES.search(read_text(path)) is not None


def write_rule_set(path: Path, rules: RuleSet) -> None:
    """Write the whole file, or nothing."""
    items = sorted({item for rule in rules.rules for item in (*rule.left, *rule.right)})
    header, words = number_spmf_items(path, spell_negative_items(items))
    word = dict(zip(items, words, strict=True))
    lines = [
        f"{' '.join([*(word[item] for item in rule.left), '==>', *(word[item] for item in rule.right)])} "
        f"#SUP: {rule.support} #CONF: {rule.support / rule.left_support!r}"
        for rule in rules.rules
    ]
    write_text(path, [*header, f"@BASKETS={rules.baskets}", f"@RULES={len(rules.rules)}", *lines])


def read_rule_set(path: Path) -> RuleSet:
    """Read a file that :func:`write_rule_set` wrote; anything else is refused."""
    text = read_text(path)
    baskets, counts = set(_BASKETS.findall(text)), set(_RULES.findall(text))
    if len(baskets) != 1 or len(counts) != 1:
        raise DataError(
            f"{path}: the header of a set of rules states @BASKETS and @RULES, once each; this one does not"
        )
    plain, names = strip_spmf_comments(text)
    lines = [line for line in plain.decode().split("\n") if line.strip()]
    matches = [match for match in map(_LINE.fullmatch, lines) if match is not None]
    if len(matches) != len(lines) or len(lines) != int(counts.pop()):
        raise DataError(
            f'{path}: {len(lines) - len(matches)} of {len(lines)} lines are not "items ==> items #SUP: count #CONF: '
            'share", or lines are missing; get the file again'
        )
    words = sorted({word for match in matches for side in match.group(1, 2) for word in side.split()})
    value = dict(zip(words, name_items(path, words, names), strict=True))
    rules = tuple(
        RuleCount(
            tuple(value[word] for word in match[1].split()),
            tuple(value[word] for word in match[2].split()),
            int(match[3]),
            _compute_left_support(path, int(match[3]), match[4]),
        )
        for match in matches
    )
    return RuleSet(rules, int(baskets.pop()))


def _compute_left_support(path: Path, support: int, confidence: str) -> int:
    """The support of the left side: the nearest whole number."""
    try:
        share = Fraction(confidence)
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share <= 1:
        raise DataError(f"{path}: a confidence is not a number above 0 and at most 1; get the file again")
    return max(support, round(support / share))
