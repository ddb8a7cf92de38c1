# SPDX-License-Identifier: MIT
"""Rules and itemsets as text: what must be hidden, listed in a policy or in a file.

One per line, as SPMF writes rules: ``bread,butter ==> milk`` is a rule, ``bread,milk`` an itemset. Items are
comma-separated, so their names may contain blanks; put a name that contains a comma in double quotes. SPMF's own rules
of integers separated by blanks (``1 2 ==> 3``) are read too. What follows a rule (``#SUP: 4 #CONF: 0.8``) is skipped,
as are empty lines and lines that start with ``#``, ``%`` or ``@``.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import NamedTuple

from sfumato.data.items.basket_files import read_text
from sfumato.data.items.item import Items
from sfumato.errors import DataError, PolicyError

RuleItems = tuple[Items, Items]

ARROW = "==>"
_MEASURES = re.compile(r"\s*#[A-Z]+:.*$")
_NUMBERS = re.compile(r"-?\d+(?:\s+-?\d+)+")


class RuleFile(NamedTuple):
    """The contents of a file, in its order."""

    rules: tuple[RuleItems, ...]
    itemsets: tuple[Items, ...]


def parse_itemset(text: str) -> Items:
    """Parse the items of ``a,b``; raise an error if there is none or one of them has no name."""
    text = text.strip()
    if _NUMBERS.fullmatch(text):
        return tuple(text.split())
    names = next(csv.reader([text], skipinitialspace=True), [])
    items = tuple(name.strip() for name in names)
    if not items or not all(items):
        raise PolicyError("write an itemset as comma-separated names: a,b")
    return items


def parse_rule(text: str) -> RuleItems:
    """Parse both sides of ``a,b ==> c``."""
    sides = _MEASURES.sub("", text).split(ARROW)
    if len(sides) != 2:
        raise PolicyError(f"write a rule as a,b {ARROW} c, with one {ARROW}")
    if not all(side.strip() for side in sides):
        raise PolicyError(f"a side of the rule is empty: write it as a,b {ARROW} c")
    return parse_itemset(sides[0]), parse_itemset(sides[1])


def read_rule_file(path: str | Path) -> RuleFile:
    """Read the rules and itemsets of a file; an error names the line, never an item."""
    rules: list[RuleItems] = []
    itemsets: list[Items] = []
    for number, line in enumerate(read_text(Path(path)).decode().split("\n"), start=1):
        if not line.strip() or line.startswith(("#", "%", "@")):
            continue
        try:
            if ARROW in line:
                rules.append(parse_rule(line))
            else:
                itemsets.append(parse_itemset(_MEASURES.sub("", line)))
        except PolicyError as problem:
            raise DataError(f"{path}: line {number}: {problem}") from None
    if not rules and not itemsets:
        raise DataError(f"{path}: the file lists no rule and no itemset; write one per line, as a,b {ARROW} c")
    return RuleFile(tuple(rules), tuple(itemsets))
