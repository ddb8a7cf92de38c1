# SPDX-License-Identifier: MIT
"""What the table at the top of a method's page says is what its class says."""

from __future__ import annotations

import re
from collections.abc import Set
from typing import ClassVar

import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.lazy import find_checks
from sfumato.protect import METHODS
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.mode_examples import MODE_EXAMPLES
from tests.contract.releases import make_all
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
        f'its class says {words} of its examples, and its page says "{row}": "for study" is what the literature has '
        "broken, or what leaves more than the method's name promises. Let `maturity` in the class and the row Maturity "
        "of the page say the same, and have an example of each"
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


@each
@pytest.mark.parametrize("word", ["Guarantee", "Against"])
def test_a_page_says_the_guarantee_of_the_docstring(kind: type[sf.Method], word: str) -> None:
    """What stands in two places is written in one: `docs/generate.py` copies it, or nobody notices that they differ."""
    row, said = read_row(kind, word), read_statement(kind, word)
    assert row, f'the page of {kind.__name__} has no row "| {word} | … |" in its first table: add it, whatever it says'
    assert row.replace("\\|", "|").casefold() == said.casefold(), (
        f"the page of {kind.__name__} and its docstring differ in {word}: correct the docstring, then run "
        "`python docs/generate.py`, which copies it to the page"
    )


def read_statement(kind: type[sf.Method], word: str) -> str:
    """What a docstring says after a word and a colon, up to the next such word."""
    text = " ".join((kind.__doc__ or "").split())
    return re.split(r" ?(?:Guarantee|Against|Limits|Papers): ", text.split(f"{word}: ", 1)[-1], maxsplit=1)[0]


BOUNDS_IN_WORDS = {"at least": "at_least", "at most": "at_most"}


def explain_guarantee(said: str, bounds: Set[str]) -> str:
    """Which bound a guarantee promises that no claim has; empty if none. What there is "no" of is bounded otherwise."""
    for sentence in re.split(r"(?<=\.) ", said):
        for words, bound in BOUNDS_IN_WORDS.items():
            if words in sentence and bound not in bounds and not re.search(r"\b(no|not|No)\b", sentence):
                return (
                    f'its guarantee says "{words}", and no example claims anything {bound}, so that nobody checks it: '
                    "say what is claimed, or claim it"
                )
    return ""


@each
def test_a_guarantee_says_no_bound_that_is_not_claimed(kind: type[sf.Method]) -> None:
    bounds = {claim.bound for made in make_all(kind) for claim in made.release.claims}
    wrong = explain_guarantee(read_statement(kind, "Guarantee"), bounds)
    assert not wrong, f"{kind.__name__}: {wrong}"


def test_a_bound_that_is_not_claimed_is_noticed() -> None:
    assert explain_guarantee("every text has at most two letters.", {"at_most", "exactly"}) == ""
    assert "at_least" in explain_guarantee("Every text is short. At most of all, at least two have it.", {"at_most"})
    assert explain_guarantee("there is no rule of support at least 2.", {"exactly"}) == ""


@each
def test_a_page_has_an_example_that_runs(kind: type[sf.Method]) -> None:
    page = (DOCS / "methods" / f"{kind.model_fields['method'].default}.md").read_text(encoding="utf-8")
    assert re.search(r"^```(python|sh|toml policy \S+)$", page, re.MULTILINE), (
        f"the page of {kind.__name__} has no example that runs: add a block ```python, and what it prints as ```text "
        "output"
    )


@each
def test_a_page_names_checks_that_there_are(kind: type[sf.Method]) -> None:
    """A line that begins with the name of a claim and its threshold, as in "`untrue_cells` (0): …"."""
    page = (DOCS / "methods" / f"{kind.model_fields['method'].default}.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)` \((?:0|at (?:most|least) [^)]*)\)", page))
    known = {claim.property for made in make_all(kind) for claim in made.release.claims} | {*find_checks()}
    assert named <= known, (
        f"the page of {kind.__name__} names {sorted(named - known)}, which is no claim: write the names of its claims"
    )


TECHNIQUES = (
    "sampling", "aggregation", "cryptographic tools", "masking", "local suppression", "record suppression",
    "pseudonymization", "anatomization", "generalization", "rounding", "top and bottom coding", "randomization",
    "noise addition", "permutation", "microaggregation", "synthetic data",
)  # fmt: skip
"""The names of techniques in ISO/IEC 20889."""


KINDS_OF_TECHNIQUES = {
    "rounding": {ChangeKind.ROUNDED},
    "top and bottom coding": {ChangeKind.CAPPED},
    "microaggregation": {ChangeKind.MEANS},
    "noise addition": {ChangeKind.NOISE, ChangeKind.ANSWERED},
    "permutation": {ChangeKind.SWAPPED},
    "synthetic data": {ChangeKind.DRAWN},
}
"""What a table's column is said to be after a technique."""


def explain_technique(kind: type[sf.Method], stated: Set[ChangeKind]) -> str:
    """Why the technique that a method names is none of the standard's, or not its own; empty if it is."""
    if not kind.iso_20889.startswith(TECHNIQUES):
        return f'iso_20889 = "{kind.iso_20889}" begins with no technique of the standard: {", ".join(TECHNIQUES)}'
    for technique, changes in KINDS_OF_TECHNIQUES.items():
        if kind.shape == "table" and technique in kind.iso_20889 and not changes & stated:
            names = " or ".join(sorted(change.name for change in changes))
            return f'iso_20889 = "{kind.iso_20889}", and no example states ChangeKind.{names}: name what it does'
    chance = kind.by_chance or bool(stated & {ChangeKind.SWAPPED, ChangeKind.DRAWN, ChangeKind.ANSWERED})
    if kind.iso_20889.startswith(("randomization", "noise addition", "permutation")) and not chance:
        return f'iso_20889 = "{kind.iso_20889}", and nothing of it is chance: name what it does'
    return ""


@each
def test_a_technique_is_one_of_the_standard(kind: type[sf.Method]) -> None:
    stated = {change.kind for made in make_all(kind) for change in made.release.changes}
    wrong = explain_technique(kind, stated)
    assert not wrong, f"{kind.__name__}: {wrong}"


@each
def test_what_is_left_out_is_left_out(kind: type[sf.Method]) -> None:
    """Certificates say `leaves_out` of every release of the method."""
    if kind.leaves_out and kind.shape == "table":
        assert any(len(made.release.data) < len(made.data) for made in make_all(kind)), (
            f"{kind.__name__} says leaves_out, and no example of it leaves a row out: remove the sentence, or add an "
            "example that shows it"
        )


def test_another_technique_is_noticed() -> None:
    class Shortened(sf.RoundNumbers):
        iso_20889: ClassVar[str] = "shortening"

    class Random(sf.RoundNumbers):
        iso_20889: ClassVar[str] = "randomization (noise addition)"

    assert explain_technique(sf.RoundNumbers, {ChangeKind.ROUNDED}) == ""
    assert "no technique of the standard" in explain_technique(Shortened, {ChangeKind.ROUNDED})
    assert "nothing of it is chance" in explain_technique(Random, {ChangeKind.NOISE})
    assert "states ChangeKind.ROUNDED" in explain_technique(sf.RoundNumbers, {ChangeKind.MEANS})


def test_a_page_that_says_something_else_is_noticed() -> None:
    assert explain_maturity("stable; `literal`: for study", {"stable", "for study"}) == ""
    assert "its class says for study" in explain_maturity("stable", {"for study"})
    assert "its class says stable and for study" in explain_maturity("stable", {"for study", "stable"})
    assert "its class says stable" in explain_maturity("", {"stable"})
