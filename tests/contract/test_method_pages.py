# SPDX-License-Identifier: MIT
"""What the table at the top of a method's page says is what its class says."""

from __future__ import annotations

import re
from collections.abc import Set

import pytest

import sfumato as sf
from sfumato.protect import METHODS
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.mode_examples import MODE_EXAMPLES
from tests.contract.test_registration import DOCS

each = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)


def read_row(kind: type[sf.Method], name: str) -> str:
    """What a page answers in one row of its first table; empty if it has no such row."""
    page = (DOCS / "methods" / f"{kind.model_fields['method'].default}.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {re.escape(name)} \| (.*) \|$", page, re.MULTILINE)
    return row[1] if row else ""


def explain_maturity(row: str, stated: Set[str]) -> str:
    """Why a row does not say which ways of a method are stable, with the cure; empty if it does."""
    said = {word for word in ("stable", "for study") if word in row}
    if said == stated:
        return ""
    words = " and ".join(sorted(stated, reverse=True))
    return (
        f'its examples are {words}, and its page says "{row}": "for study" is what the literature has broken, or what '
        "leaves more than the method's name promises. Let `maturity` in the class and the row Maturity of the page say "
        "the same, and have an example of each"
    )


@each
def test_a_page_says_what_is_for_study(kind: type[sf.Method]) -> None:
    examples = [one.subject for one in (*METHOD_EXAMPLES, *MODE_EXAMPLES) if type(one.subject) is kind]
    wrong = explain_maturity(read_row(kind, "Maturity"), {method.maturity for method in examples})
    assert not wrong, f"{kind.__name__}: {wrong}"


@each
def test_a_page_names_the_technique_of_the_standard(kind: type[sf.Method]) -> None:
    row = read_row(kind, "ISO/IEC 20889")
    assert row.startswith(kind.iso_20889), (
        f'{kind.__name__} says iso_20889 = "{kind.iso_20889}" and its page "{row}": let the row ISO/IEC 20889 begin so'
    )


def test_a_page_that_says_something_else_is_noticed() -> None:
    assert explain_maturity("stable; `literal`: for study", {"stable", "for study"}) == ""
    assert "its examples are for study" in explain_maturity("stable", {"for study"})
    assert "its examples are stable and for study" in explain_maturity("stable", {"for study", "stable"})
    assert "its examples are stable" in explain_maturity("", {"stable"})
