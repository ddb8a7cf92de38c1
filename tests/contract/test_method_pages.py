# SPDX-License-Identifier: MIT
"""What the table at the top of a method's page says is what its class says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from functools import cache
from pathlib import Path
from typing import ClassVar, NamedTuple

import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.change_kinds import CellDifference, LossMeasure
from sfumato.protect import METHODS
from sfumato.release import Claim
from sfumato.runtime.lazy import find_checks
from tests.contract.claim_words import is_spelled, list_numbers
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.mode_examples import MODE_EXAMPLES
from tests.contract.releases import make_all
from tests.contract.test_registration import DOCS

parametrize_kinds = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)


def read_page(kind: type[sf.Method]) -> str:
    return (DOCS / "methods" / f"{kind.model_fields['method'].default}.md").read_text(encoding="utf-8")


def read_row(kind: type[sf.Method], name: str) -> str:
    """What a page answers in one row of its first table; empty if it has no such row."""
    row = re.search(rf"^\| {re.escape(name)} \| (.*) \|$", read_page(kind), re.MULTILINE)
    return row[1] if row else ""


def explain_maturity(row: str, maturities: Set[str]) -> str:
    """Why a row does not say which ways of a method are stable, with the cure; empty if it does."""
    row_words = {word for word in ("stable", "for study") if word in row}
    if row_words == maturities:
        return ""
    words = " and ".join(sorted(maturities, reverse=True))
    return (
        f'its class says {words} of its examples, and its page says "{row}": "for study" is what the literature has '
        "broken, or what leaves more than the method's name promises. Let `maturity` in the class and the row Maturity "
        "of the page say the same, and have an example of each"
    )


@parametrize_kinds
def test_a_page_says_what_is_for_study(kind: type[sf.Method]) -> None:
    examples = [example.subject for example in (*METHOD_EXAMPLES, *MODE_EXAMPLES) if type(example.subject) is kind]
    wrong = explain_maturity(read_row(kind, "Maturity"), {method.maturity for method in examples})
    assert not wrong, f"{kind.__name__}: {wrong}"


def gives_reason(docstring: str, page: str) -> bool:
    """Whether the row Maturity says why after its colon, or a docstring or the rest of the page what is broken."""
    text = docstring + re.sub(r"^\| Maturity \|.*$", "", page, flags=re.MULTILINE)
    return len(read_reason(page).split()) > 2 or re.search(r"\b(breaks?|broken|broke|for study)\b", text) is not None


def read_reason(page: str) -> str:
    """What the row Maturity says after "for study:"."""
    return "".join(re.findall(r"^\| Maturity \|.*for study: (.*)\|$", page, re.MULTILINE))


@parametrize_kinds
def test_what_is_for_study_says_why(kind: type[sf.Method]) -> None:
    examples = [example.subject for example in (*METHOD_EXAMPLES, *MODE_EXAMPLES) if type(example.subject) is kind]
    if all(method.maturity == "for study" for method in examples):  # of a mode, the page says it beside its name
        assert gives_reason(kind.__doc__ or "", read_page(kind)), (
            f'{kind.__name__} is "for study", and neither its docstring nor its page says what breaks it: name the '
            'attack or the paper after "Limits:", and in the row Maturity of the page ("for study: …"), or say stable'
        )


def test_no_reason_is_noticed() -> None:
    assert gives_reason("Limits: known supports break it.", "| Maturity | for study |\n")
    assert gives_reason("Limits: this is not k-anonymity.", "| Maturity | for study: two releases can be linked |\n")
    assert not gives_reason("Limits: this is not k-anonymity.", "| Maturity | for study |\n")


@parametrize_kinds
def test_a_page_names_the_technique_of_the_standard(kind: type[sf.Method]) -> None:
    row = read_row(kind, "ISO/IEC 20889")
    for technique in {result.release.method.iso_20889 for result in make_all(kind)}:
        assert technique in row, (
            f'{kind.__name__} says iso_20889 = "{technique}" and its page "{row}": let the row ISO/IEC 20889 say so'
        )


@parametrize_kinds
@pytest.mark.parametrize("word", ["Guarantee", "Against"])
def test_a_page_says_the_guarantee_of_the_docstring(kind: type[sf.Method], word: str) -> None:
    """What stands in two places is written in one: `docs/generate.py` copies it, or nobody notices that they differ."""
    row, statement = read_row(kind, word), read_statement(kind, word)
    assert row, f'the page of {kind.__name__} has no row "| {word} | … |" in its first table: add it, whatever it says'
    assert row.replace("\\|", "|").casefold() == statement.casefold(), (
        f"the page of {kind.__name__} and its docstring differ in {word}: correct the docstring, then run "
        "`python docs/generate.py`, which copies it to the page"
    )


def read_statement(kind: type[sf.Method], word: str) -> str:
    """What a docstring says after a word and a colon, up to the next such word."""
    text = " ".join((kind.__doc__ or "").split())
    return re.split(r" ?(?:Guarantee|Against|Limits|Papers): ", text.split(f"{word}: ", 1)[-1], maxsplit=1)[0]


BOUNDS_IN_WORDS = {"at least": "at_least", "at most": "at_most"}


def explain_guarantee(guarantee: str, claims: Iterable[Claim]) -> str:
    """Which bound a guarantee promises that no claim has; empty if none. What there is "no" of is bounded otherwise.

    "At most" may be claimed as a count of exactly 0 cells that have more, in a sentence that says so.
    """
    claims = list(claims)
    bounds = {claim.bound for claim in claims}
    meanings = [claim.meaning for claim in claims if claim.bound == "exactly" and claim.threshold == 0]
    for clause in re.split(r"(?<=\.) |; |, (?=and |or |but )", guarantee):
        for words, bound in BOUNDS_IN_WORDS.items():
            is_bounded = bound in bounds or any(words in meaning for meaning in meanings)
            if words in clause and not is_bounded and not re.search(r"\b(no|not|No|neither|nor)\b", clause):
                return (
                    f'its guarantee says "{words}" ({clause.strip()}), and no example claims anything {bound}, nor '
                    f'that in 0 cells it is otherwise ("{words}" in the sentence of such a claim), so that nobody '
                    "checks it: say what is claimed, or claim it"
                )
    return ""


@parametrize_kinds
def test_a_guarantee_says_no_bound_that_is_not_claimed(kind: type[sf.Method]) -> None:
    claims = [claim for result in make_all(kind) for claim in result.release.claims]
    wrong = explain_guarantee(read_statement(kind, "Guarantee"), claims)
    assert not wrong, f"{kind.__name__}: {wrong}"


def test_a_bound_that_is_not_claimed_is_noticed() -> None:
    most = Claim(property="a", threshold=3, bound="at_most", measure="a", meaning="It has at most 3.")
    zero_claim = most.model_copy(
        update={"threshold": 0, "bound": "exactly", "meaning": "Every text has at most 2 letters."}
    )
    assert explain_guarantee("every text has at most two letters.", [most]) == ""
    assert explain_guarantee("every text has at most two letters.", [zero_claim]) == ""
    assert "at_least" in explain_guarantee("Every text is short. At most of all, at least two have it.", [most])
    assert explain_guarantee("there is no rule of support at least 2.", [zero_claim]) == ""
    assert "at_least" in explain_guarantee(
        "it has no more digits than that, and at least two rows have it.", [zero_claim]
    )


@parametrize_kinds
def test_a_page_has_an_example_that_runs(kind: type[sf.Method]) -> None:
    page = read_page(kind)
    assert re.search(r"^```(python|sh|toml policy \S+)$", page, re.MULTILINE), (
        f"the page of {kind.__name__} has no example that runs: add a block ```python, and what it prints as ```text "
        "output"
    )


@parametrize_kinds
def test_a_page_names_checks_that_there_are(kind: type[sf.Method]) -> None:
    """A line that begins with the name of a claim and its threshold, as in "`untrue_cells` (0): …"."""
    page = read_page(kind)
    named_checks = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)` \((?:0|(?:at (?:most|least)|below) [^)]*)\)", page))
    known_checks = {claim.property for result in make_all(kind) for claim in result.release.claims} | {*find_checks()}
    assert named_checks <= known_checks, (
        f"the page of {kind.__name__} names {sorted(named_checks - known_checks)}, which is no claim: write the "
        "names of its claims"
    )


SOURCES = Path(sf.__file__).parent
CLASS_NAME = r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b"


@cache
def list_code_names() -> frozenset[str]:
    """Every word of the code that is spelled like a class: those of scikit-learn stand in it, too."""
    texts = [path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py")]
    return frozenset(name for text in texts for name in re.findall(CLASS_NAME, text))


def list_unknown_classes(page: str) -> list[str]:
    """Words in code style that are spelled like a class, and that no code has."""
    prose = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    named_classes = {name for span in re.findall(r"`([^`]+)`", prose) for name in re.findall(CLASS_NAME, span)}
    return sorted(named_classes - list_code_names())


@parametrize_kinds
def test_a_page_names_classes_that_there_are(kind: type[sf.Method]) -> None:
    unknown = list_unknown_classes(read_page(kind))
    assert not unknown, (
        f"the page of {kind.__name__} names {', '.join(unknown)}, and there is no such method, attack or other class: "
        "write the names of those that docs/methods/index.md and docs/attacks/index.md list"
    )


def test_a_class_that_is_not_there_is_noticed() -> None:
    assert list_unknown_classes("`AddNoise(columns)`, `sf.attack.SwapLinkage` and Word Perfect\n") == []
    assert list_unknown_classes("Try `RankLinkage` and `sf.attack.SwapLinkages()`.\n") == [
        "RankLinkage",
        "SwapLinkages",
    ]


TECHNIQUES = (
    "sampling", "aggregation", "cryptographic tools", "masking", "local suppression", "record suppression",
    "pseudonymization", "anatomization", "generalization", "rounding", "top and bottom coding", "randomization",
    "noise addition", "permutation", "microaggregation", "synthetic data",
)  # fmt: skip
"""The names of techniques in ISO/IEC 20889."""


def list_kinds_made_by(technique: str) -> list[ChangeKind]:
    """The kinds of change whose cells a technique makes. Names that are removed are no technique of a method: every
    method removes them. Masking leaves a part of a cell or nothing: a number in place of a number is not masked."""
    return [kind for kind in ChangeKind if technique in kind.meaning.techniques]


def explain_technique(method: sf.Method, stated_kinds: Set[ChangeKind]) -> str:
    """Why the technique that a method names is none of the standard's, or not its own; empty if it is."""
    technique_text = method.iso_20889
    if not technique_text.startswith(TECHNIQUES):
        return f'iso_20889 = "{technique_text}" begins with no technique of the standard: {", ".join(TECHNIQUES)}'
    for technique in [candidate for candidate in TECHNIQUES if candidate in technique_text and method.shape == "table"]:
        if any(technique in kind.meaning.techniques for kind in stated_kinds) or not list_kinds_made_by(technique):
            continue
        names = sorted(kind.name for kind in stated_kinds - {ChangeKind.KEPT, ChangeKind.DROPPED})
        fitting = " or ".join(kind.name for kind in list_kinds_made_by(technique))
        return (
            f'iso_20889 = "{technique_text}", and the kinds of change that its examples state '
            f"({', '.join(names) or 'none'}) "
            f"are not made by {technique}, as {fitting} is: if the kind is wrong, state another (test_statements.py "
            "says which is true); if the technique is, name what it does; only if a kind of yours is made by it, say "
            f'techniques=("{technique}",) in its line in change_kinds.py'
        )
    chance = method.by_chance or bool(stated_kinds & {ChangeKind.SWAPPED, ChangeKind.DRAWN, ChangeKind.ANSWERED})
    if technique_text.startswith(("randomization", "noise addition", "permutation")) and not chance:
        return f'iso_20889 = "{technique_text}", and nothing of it is chance: name what it does'
    return ""


@parametrize_kinds
def test_a_technique_is_one_of_the_standard(kind: type[sf.Method]) -> None:
    """Which one may depend on the parameters."""
    kinds_by_technique: dict[str, set[ChangeKind]] = {}
    for result in make_all(kind):
        kinds = {change.kind for change in result.release.changes}
        kinds_by_technique[result.release.method.iso_20889] = kinds | kinds_by_technique.get(
            result.release.method.iso_20889, set()
        )
    for result in make_all(kind):
        wrong = explain_technique(result.release.method, kinds_by_technique[result.release.method.iso_20889])
        assert not wrong, f"{kind.__name__}: {wrong}"


@parametrize_kinds
def test_what_is_left_out_is_left_out(kind: type[sf.Method]) -> None:
    """Certificates say what `explain_left_out` says of every release of the method."""
    results = [result for result in make_all(kind) if kind.explain_left_out(result.release.method.describe())]
    if results and kind.shape == "table":
        assert any(len(result.release.data) < len(result.data) for result in results), (
            f"{kind.__name__} has explain_left_out, and no example of it leaves a row out: remove the sentence, or add "
            "an example that shows it"
        )


def test_another_technique_is_noticed() -> None:
    class Shortened(sf.RoundNumbers):
        iso_20889: ClassVar[str] = "shortening"

    class Random(sf.RoundNumbers):
        iso_20889: ClassVar[str] = "randomization (noise addition)"

    class Masked(sf.RoundNumbers):
        iso_20889: ClassVar[str] = "masking"

    rounded, masking = sf.RoundNumbers(columns="age", step=5), Masked(columns="age", step=5)
    assert explain_technique(rounded, {ChangeKind.ROUNDED}) == ""
    short = explain_technique(Shortened(columns="age", step=5), {ChangeKind.ROUNDED})
    assert "no technique of the standard" in short
    assert "nothing of it is chance" in explain_technique(Random(columns="age", step=5), {ChangeKind.NOISE})
    assert "state (MEANS) are not made by" in explain_technique(rounded, {ChangeKind.MEANS})
    masked = explain_technique(masking, {ChangeKind.ROUNDED, ChangeKind.KEPT, ChangeKind.DROPPED})
    made_by_masking = masked.partition("(ROUNDED) are not made by masking, as ")[2]
    assert "GENERALIZED" in made_by_masking and "BLANKED" in made_by_masking  # and what other kinds name it
    assert explain_technique(masking, {ChangeKind.BLANKED}) == ""


def test_a_page_that_says_something_else_is_noticed() -> None:
    assert explain_maturity("stable; `literal`: for study", {"stable", "for study"}) == ""
    assert "its class says for study" in explain_maturity("stable", {"for study"})
    assert "its class says stable and for study" in explain_maturity("stable", {"for study", "stable"})
    assert "its class says stable" in explain_maturity("", {"stable"})


def list_blocks(page: str, fence: str) -> list[str]:
    """What stands in the blocks of a page whose fence begins with some words."""
    return re.findall(rf"^```{fence}[^\n`]*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


CLAIMED_BY_ALL = {"identifying_columns"}
"""Claims of every method on tables: no page has to name them."""


def find_unnamed_claims(page: str, properties: Iterable[str]) -> list[str]:
    """Claims that a page names neither in backticks nor at the beginning of a line of what an example prints."""
    printed = "\n".join(list_blocks(page, "text output"))
    return [
        name
        for name in sorted({*properties} - CLAIMED_BY_ALL)
        if f"`{name}`" not in page and not re.search(rf"^{re.escape(name)} ", printed, re.MULTILINE)
    ]


def read_claims(page: str) -> str:
    """The section of claims, which a reader takes for the whole; the page, if it has none."""
    section = re.search(r"^## [^\n]*\b[Cc]laims\b.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    return section[0] if section else page


@parametrize_kinds
def test_a_page_names_every_claim(kind: type[sf.Method]) -> None:
    page = read_claims(read_page(kind))
    if "models" in kind.model_fields:  # each model has its own claim
        page += (DOCS / "models.md").read_text(encoding="utf-8")
    unnamed = find_unnamed_claims(
        page, {claim.property for result in make_all(kind) for claim in result.release.claims}
    )
    assert not unnamed, (
        f"the page of {kind.__name__}, or its section of claims, does not name the claims {unnamed}: say of each, in "
        "backticks, what is claimed and who can check it, or print the findings of `sf.check` in an example there"
    )


def test_a_claim_that_a_page_does_not_name_is_noticed() -> None:
    page = "`beyond_limits` (0).\n```text output\nrows_at_limits 5 5 True\n```\n```python\nmiscoded_cells = 0\n```\n"
    claims = ("beyond_limits", "rows_at_limits", "identifying_columns")
    assert find_unnamed_claims(page, claims) == []
    assert find_unnamed_claims(page, (*claims, "miscoded_cells")) == ["miscoded_cells"]
    parted = f"# Name\n\n{page}\n## Claims and losses\n\n`rows_at_limits` (5).\n\n## See also\n\n`miscoded_cells`\n"
    assert find_unnamed_claims(read_claims(parted), claims) == ["beyond_limits"]


LOSSES_OF_ALL = {"loss", "suppressed_rows", "dropped_rows"}


@parametrize_kinds
def test_a_page_names_every_loss(kind: type[sf.Method]) -> None:
    page = read_page(kind)
    losses = {name for result in make_all(kind) for name in result.release.losses} - LOSSES_OF_ALL
    unnamed = sorted(name for name in losses if f"`{name}`" not in page)
    assert not unnamed, (
        f"the page of {kind.__name__} does not name the losses {unnamed}: say of each, in backticks, what it counts or "
        "is a share of"
    )


@parametrize_kinds
def test_an_example_of_a_page_shows_what_it_prints(kind: type[sf.Method]) -> None:
    for block in list_blocks(read_page(kind), "text output"):
        assert re.search(r"[^\s…]", block), (
            f"the page of {kind.__name__} shows only … as output: copy what was printed, with … for what may differ"
        )


HEADINGS_OF_LIMITS = ("What it does not do", "Limits", "What leaks")


def has_limits(page: str) -> bool:
    """Whether a section of a page says what the method does not do; a heading with nothing below it says nothing."""
    return re.search(rf"^## (?:{'|'.join(HEADINGS_OF_LIMITS)})\n+(?=\S)(?!#)", page, re.MULTILINE) is not None


@parametrize_kinds
def test_a_page_says_what_the_method_does_not_do(kind: type[sf.Method]) -> None:
    assert has_limits(read_page(kind)), (
        f'the page of {kind.__name__} does not say against what it does not help: add a section "## What it does not '
        'do" with the points after "Limits:" in the docstring, in other words'
    )


def test_a_page_without_limits_is_noticed() -> None:
    assert has_limits("# Round\n\n## What it does not do\n\n- It is not k-anonymity.\n")
    assert not has_limits("# Round\n\n## An example\n\nIt rounds. What it does not do is hidden.\n")
    assert not has_limits("# Round\n\n## What it does not do\n\n## An example\n\nIt rounds.\n")


def shows_findings(page: str) -> bool:
    """Whether an example of a page has its claims checked."""
    in_python = any(re.search(r"\bsf\.check\(", block) for block in list_blocks(page, "python"))
    return in_python or any(
        re.search(r"^\$ sfumato (run|verify) ", block, re.M) for block in list_blocks(page, "console")
    )


@parametrize_kinds
def test_an_example_of_a_page_has_its_claims_checked(kind: type[sf.Method]) -> None:
    assert shows_findings(read_page(kind)), (
        f"no example on the page of {kind.__name__} shows that its claims hold: add `for finding in sf.check(release, "
        "table): print(finding.property, finding.threshold, finding.measured, finding.holds)` to a block ```python"
    )


def test_an_example_without_findings_is_noticed() -> None:
    assert shows_findings("```python\nfor finding in sf.check(release, table):\n    print(finding)\n```\n")
    assert shows_findings("```console\n$ sfumato run walks.toml\n```\n")
    assert not shows_findings("```python\nprint(release.losses)\n```\n\nSee `sf.check(release, table)`.\n")


class Cited(NamedTuple):
    """A paper as a docstring or a page cites it."""

    first: str
    year: str
    others: frozenset[str] | None
    """The other authors; None if the citation leaves them out ("et al.")."""

    def agrees(self, other: Cited) -> bool:
        """Whether both may be the same paper."""
        same_authors = self.others is None or other.others is None or self.others == other.others
        return (self.first, self.year) == (other.first, other.year) and same_authors


def read_citations(text: str) -> list[Cited]:
    """The papers of "Abul, Bonchi 2007 and 2010; Sun and others 2005 for borders", each year a paper."""
    cited = []
    for part in re.sub(r"\([^)]*\)", "", text).split(";"):
        names, *rest = re.split(r"\b(?=(?:19|20)\d\d\b)", part, maxsplit=1)
        authors = re.findall(r"\b[^\W\d_a-z][\w'-]+(?: [^\W\d_a-z][\w'-]+)*", names)
        if authors:
            coauthors = None if re.search(r"\bet al\b|\bothers\b", names) else frozenset(authors[1:])
            cited += [Cited(authors[0], year, coauthors) for year in re.findall(r"\b(?:19|20)\d\d\b", "".join(rest))]
    return cited


def explain_citations(docstring: str, row: str) -> str:
    """How two lists of papers differ, with the cure; empty if they name the same authors and years."""
    docstring_papers, row_papers = read_citations(docstring), read_citations(row)
    differing = [paper for paper in docstring_papers if not any(paper.agrees(other) for other in row_papers)]
    differing += [paper for paper in row_papers if not any(paper.agrees(other) for other in docstring_papers)]
    if not differing:
        return ""
    names = ", ".join(sorted({f"{paper.first} {paper.year}" for paper in differing}))
    return (
        f'"Papers: {docstring}" in the docstring and the row "Paper" or "Papers" of the page, "{row}", differ in '
        f"{names}: look the paper up, and write the same authors and years in both"
    )


def find_unlisted_papers(page: str, row: str) -> list[str]:
    """Papers of a page's table that its last section does not list."""
    section = re.split(r"^## Papers?$", page, maxsplit=1, flags=re.MULTILINE)[-1]
    papers = [" ".join(paper.split()) for paper in re.split(r"^- ", section, flags=re.MULTILINE)]
    return [
        f"{cited.first} {cited.year}"
        for cited in read_citations(row)
        if not any(cited.first in paper and cited.year in paper for paper in papers)
    ]


@parametrize_kinds
def test_a_page_cites_the_papers_of_the_docstring(kind: type[sf.Method]) -> None:
    row = read_row(kind, "Papers") or read_row(kind, "Paper")
    wrong = explain_citations(read_statement(kind, "Papers"), row)
    assert not wrong, f"{kind.__name__}: {wrong}"
    unlisted = find_unlisted_papers(read_page(kind), row)
    assert not unlisted, (
        f"the page of {kind.__name__} cites {unlisted} in its table, and its last section does not list them: add a "
        'line "- A. Author, *Title*, Journal Year." to a section "## Papers", with its authors and its year'
    )


def test_another_paper_is_noticed() -> None:
    papers = "Saygin, Verykios 2001; Abul and others 2007 and 2010; Mironov 2012 for the grid."
    assert explain_citations(papers, "Saygin et al. 2001; Abul et al. 2007, 2010, section 3; Mironov 2012 (grid)") == ""
    assert "in Mironov 2011, Mironov 2012" in explain_citations(papers, papers.replace("2012", "2011"))
    assert "in Abul 2010" in explain_citations(papers, papers.replace(" and 2010", ""))
    assert "in Saygin 2001" in explain_citations(papers, papers.replace("Verykios", "Clifton"))
    assert "in Saygin 2001" in explain_citations(papers, papers.replace(", Verykios", ""))
    assert "in Abul 2007, Abul 2010, Mironov 2012, Saygin 2001" in explain_citations(papers, "")
    page = (
        "| Paper | Sun, Yu 2005 |\n\n## Paper\n\n- X. Sun, P. Yu, *A border*, ICDM\n  2005.\n- A. Else, *More*, 2006.\n"
    )
    assert find_unlisted_papers(page, "Sun, Yu 2005") == []
    assert find_unlisted_papers(page, "Sun, Yu 2006") == ["Sun 2006"]


COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4}


LAST_CLAIMS = re.compile(r"\b(?:Only )?[Tt]he last (?:(one|two|three|four) )?needs? the originals")
NEAR_CLAIMS = re.compile(
    r"\b(?:(?P<private>[Bb]oth|[Ii]t) needs? the originals|[Aa]ny(?:one|body) can check (?P<public>both|them|it)\b)"
)
"""What is said of the claims that were named before: of the last one, or the last two."""


def find_wrong_checkers(page: str, claims: Iterable[Claim]) -> list[str]:
    """What a page says of who can check a claim that is not so, as "The last two need the originals" after claims."""
    secret: dict[str, bool] = {}
    for claim in claims:
        secret[claim.property] = secret.get(claim.property, True) and claim.needs_original

    def list_named(text: str) -> list[str]:
        return [name for name in re.findall(r"`([a-z]+(?:_[a-z]+)+)`(?= \(|:)", text) if name in secret]

    wrong = []
    for paragraph in page.split("\n\n"):
        text = " ".join(paragraph.split())
        for match in LAST_CLAIMS.finditer(text):
            claim_names = list_named(text[: match.start()])
            count = COUNTS[match[1] or "one"]
            private_flags = {name: index >= len(claim_names) - count for index, name in enumerate(claim_names)}
            wrong += [f'"{match[0]}", and `{name}`' for name in claim_names if private_flags[name] != secret[name]]
        for match in NEAR_CLAIMS.finditer(text):
            count = 1 if (match["private"] or match["public"]).lower() == "it" else 2
            near_names = list_named(text[: match.start()])[-count:]
            is_private = match["private"] is not None
            wrong += [f'"{match[0]}", and `{name}`' for name in near_names if secret[name] != is_private]
    return wrong


@parametrize_kinds
def test_a_page_says_who_can_check_a_claim(kind: type[sf.Method]) -> None:
    claims = [claim for result in make_all(kind) for claim in result.release.claims]
    wrong = find_wrong_checkers(read_page(kind), claims)
    assert not wrong, (
        f"the page of {kind.__name__} says {'; '.join(wrong)} is otherwise: say of the claims with needs_original, "
        "and of no others, that they need the originals"
    )


FILLS = re.compile(
    r"\b(?:missing|empty) cells? (?:become|are (?:filled|replaced)|turn into|count as)\b[^.;]*", re.IGNORECASE
)
OF_ALL_CELLS = re.compile(r"`loss`[^.;`]*\b(?:all (?:the )?cells|cells of the table|all (?:the )?rows)\b")


def explain_untrue_page(page: str, kinds: Set[ChangeKind]) -> str:
    """What a page says of missing cells or of the loss that the kinds of change do not, with the cure."""
    text = " ".join(page.split())
    fills = FILLS.search(text)
    changing = [kind for kind in kinds if kind not in (ChangeKind.KEPT, ChangeKind.DROPPED)]
    if fills and not any(CellDifference.FILLED in kind.meaning.differences for kind in changing):
        return f'says "{fills[0]}", and no kind of change that it states allows it: say that they stay missing'
    measures = {kind.meaning.loss for kind in changing}
    share = OF_ALL_CELLS.search(text)
    if share and measures <= {LossMeasure.CHANGED_CELLS, LossMeasure.CHANGED_KNOWN_CELLS}:
        words = [kind.meaning.loss_words.meaning for kind in changing if kind.meaning.loss_words]
        return f'says "{share[0]}", and its kind of change "{" ".join(words)}": say the same'
    return ""


@parametrize_kinds
def test_a_page_says_what_becomes_of_missing_cells_and_what_is_lost(kind: type[sf.Method]) -> None:
    kinds = {change.kind for result in make_all(kind) for change in result.release.changes}
    wrong = explain_untrue_page(read_page(kind), kinds) if kinds else ""
    assert not wrong, f"the page of {kind.__name__} {wrong}"


def test_an_untrue_page_is_noticed() -> None:
    rounded = {ChangeKind.KEPT, ChangeKind.ROUNDED}
    assert explain_untrue_page("Missing cells stay missing. `loss`, the share of the known numbers.", rounded) == ""
    assert "stay missing" in explain_untrue_page("Whole numbers stay whole, and missing cells become\nzero.", rounded)
    assert "say the same" in explain_untrue_page("Losses: `loss`, the share of all cells of the table.", rounded)
    claims = [claim for result in make_all(sf.RoundNumbers) for claim in result.release.claims]
    page = (
        "`numbers_between_steps` (0): x. `largest_rounding`: y. `kept_cells_changed` (0): z. The last {} the originals."
    )
    assert find_wrong_checkers(page.format("two need"), claims) == []
    assert len(find_wrong_checkers(page.format("one needs"), claims)) == 1
    assert len(find_wrong_checkers(page.format("three need"), claims)) == 1
    near = page.replace("The last {} the originals", "{}")
    assert near != page
    assert find_wrong_checkers(near.format("Both need the originals"), claims) == []
    assert len(find_wrong_checkers(near.format("Anyone can check both"), claims)) == 2
    assert len(find_wrong_checkers(near.format("Anyone can check it"), claims)) == 1


def find_wrong_thresholds(page: str, kind: type[sf.Method], claims: Iterable[Claim]) -> list[str]:
    """What a page says in parentheses after a claim, as in "`rows_at_limits` (at least 5)", that no claim says."""
    claims, wrong = list(claims), []
    fields = {name: [*list_numbers(field.default)] for name, field in kind.model_fields.items()}
    defaults = [number for numbers in fields.values() for number in numbers]
    for name, bound, value in re.findall(
        r"`([a-z]+(?:_[a-z]+)*)`\s\((?:(at\sleast|at\smost|below|exactly)\s)?(`?\w+`?|\d+(?:\.\d+)+)[;,)]", page
    ):
        named_claims = [claim for claim in claims if claim.property == name]
        words = re.sub(r"\s", "_", bound) or "exactly"
        if re.match(r"\d", value):
            is_known = any(
                is_spelled(number, value) for number in (*(claim.threshold for claim in named_claims), *defaults)
            )
        else:
            is_known = value.strip("`") in fields or not bound
        if named_claims and (not is_known or (bound and words not in {claim.bound for claim in named_claims})):
            wrong.append(f"`{name}` ({bound} {value})" if bound else f"`{name}` ({value})")
    return wrong


@parametrize_kinds
def test_a_page_says_the_thresholds_that_are_claimed(kind: type[sf.Method]) -> None:
    claims = [claim for result in make_all(kind) for claim in result.release.claims]
    wrong = find_wrong_thresholds(read_page(kind), kind, claims)
    assert not wrong, (
        f"the page of {kind.__name__} says {', '.join(wrong)}, and no example claims that: write the bound and the "
        "threshold that are claimed, or the name of the field that says it"
    )


def test_a_threshold_that_nobody_claims_is_noticed() -> None:
    claims = [claim for result in make_all(sf.TopCode) for claim in result.release.claims]
    for right in (
        "`beyond_limits` (0)",
        "`rows_at_limits` (at\nleast k)",
        "`rows_at_limits` (at least `k`)",
        "`age` (7)",
    ):
        assert find_wrong_thresholds(right, sf.TopCode, claims) == []
    for wrong in ("`beyond_limits` (2)", "`rows_at_limits` (at most 5)", "`rows_at_limits` (at least min_count)"):
        assert find_wrong_thresholds(wrong, sf.TopCode, claims) == [wrong]
