# SPDX-License-Identifier: MIT
"""The report: what it says, what it keeps to itself, and that it survives any data."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.attack import Outcome
from sfumato.details import AnonymityDetails
from sfumato.measure import class_size_counts, distribution
from sfumato.report import RunAccount, render_report
from sfumato.report.content import BINS, compute_crowd_shares, list_gates, list_parameters
from sfumato.report.pictures.rendering import PALETTE
from sfumato.report.words import wording
from sfumato.report.words.verdict_words import _describe_shut_gate
from sfumato.table import Table
from sfumato.workflow import pipeline
from sfumato.workflow.outgoing import build_outgoing_certificate
from sfumato.workflow.policy import Policy
from sfumato.workflow.summary.gathered_account import gather_outgoing_account

HOSTILE = "<script>alert(1)</script>\"'&{{ 7*7*7 }}"
VOID = {"meta", "br", "link", "img", "hr", "input", "path", "line", "rect", "circle"}


def certificate(**changes: Any) -> dict[str, Any]:
    claim = {
        "property": "k_anonymity",
        "threshold": 2,
        "bound": "at_least",
        "measured": 2,
        "holds": True,
        "needs_original": False,
        "meaning": "Everybody has company.",
        "measure": "k_anonymity",
        "arguments": {},
    }
    attack = {
        "attack": "linking",
        "known_columns": [["town"]],
        "targets": [],
        "parameters": {"attack": "linking", "knowledge": ["town"]},
        "attempts": 400,
        "successes": 40,
        "baseline": 1,
        "control": None,
        "risk": 0.1,
        "low": 0.07,
        "high": 0.13,
        "smallest_match": 2,
        "highest_risk": 0.5,
        "words": "10 percentage points above guessing",
    }
    return {
        "title": "A test",
        "created": "2026-02-03T04:05:06+00:00",
        "versions": {"sfumato": "0"},
        "maturity": "stable",
        "for_publication": True,
        "input_commitment": None,
        "data": {"file": "data.csv", "shape": "table", "format": "csv", "rows": 400, "columns": 2, "sha256": "f00d"},
        "roles": {"town": "quasi_identifying", "disease": "sensitive"},
        "removed_columns": ["name"],
        "missing": "own_value",
        "methods": [{"method": "generalize", "models": [{"model": "k_anonymity", "k": 2}], "suppression_limit": 0.1}],
        "claims": [claim],
        "losses": {"loss": 0.25, "suppressed_rows": 3, "dropped_rows": 77177},
        "utility": {"loss": 0.25},
        "changes": [
            {"column": "town", "kind": "generalized", "method": "generalize", "level": 1, "height": 3, "starred": True},
            {
                "column": "disease",
                "kind": "kept",
                "method": "generalize",
                "level": None,
                "height": None,
                "starred": False,
            },
        ],
        "levels": {"town": 1},
        "heights": {"town": 3},
        "suppression": {"rows": 3, "seen": True, "safe": True, "why": "They look alike."},
        "attacks": [attack],
        "gate": [],
        "public": {},
        "formulas": {"cells": 0, "columns": []},
        "verdict": {
            "status": "passed",
            "headline": "Passed.",
            "unique_rows": [{"columns": ["town"], "share": 0.125}],
            "not_counted": [],
            "accepted": {},
            "warnings": [],
            "unchecked": ["No attack targeted the sensitive column disease."],
        },
    } | changes


def opened(gate: str, limit: float, value: float) -> dict[str, Any]:
    return {"gate": gate, "limit": limit, "found": value, "open": True}


def shut(gate: str, limit: float, value: float) -> dict[str, Any]:
    return opened(gate, limit, value) | {"open": False}


def account(
    before: dict[str, list[Any]] | None = None, after: dict[str, list[Any]] | None = None, **changes: Any
) -> RunAccount:
    first = before or {"town": ["Aton", "Belham"] * 200, "disease": ["flu", "cold", "flu", "ulcer"] * 100}
    second = after or first
    roles = {name: "sensitive" if name == "disease" else "quasi_identifying" for name in first}
    original, published = Table.of(pl.DataFrame(first), roles), Table.of(pl.DataFrame(second), roles)
    body = certificate(roles=roles, **changes.pop("body", {}))
    run_account = RunAccount(
        title="A test",
        certificate=body,
        original=original,
        published_data=published,
        original_linking=Outcome(attempts=len(original), successes=len(original) // 2, baseline=1),
        sizes_before=class_size_counts(original),
        sizes_after=class_size_counts(published),
        distributions={n: distribution(original.frame[n], published.frame[n], None) for n in published.frame.columns},
        details=AnonymityDetails(nodes=1440, checked_nodes=63, proven=True),
        reasons=("town is at level 1 for a reason.",),
        lattice=(),
        advice=("Add a hierarchy.",),
        seconds={"read": 0.25},
        source="/secret/place/patients.csv",
    )
    return replace(run_account, **changes)


def page_of(run_account: RunAccount, internal: bool) -> str:
    """The page that stays, or the one that leaves, made from the certificate and the published data alone."""
    if internal:
        return render_report(run_account)
    body = build_outgoing_certificate(run_account.certificate, run_account.published_data).model_dump(mode="json")
    return render_report(gather_outgoing_account(body | {"title": run_account.title}, run_account.published_data))


class Reader(HTMLParser):
    """Reads a page strictly: every tag closed in order; what is said, apart from tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.output: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.output.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.output))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run: 3 people of 1,237 in Aton are too few by their job and are left out."""
    root = tmp_path_factory.mktemp("SOURCEMARKER")
    rows = ["Aton,clerk,flu"] * 1234 + ["Aton,VALUEMARKER,DISEASEMARKER"] * 3 + ["Belham,clerk,cold"] * 1111
    (root / "people.csv").write_text("town,job,disease\n" + "\n".join(rows) + "\n")
    policy = Policy.parse(
        """
        title = "A run"
        data = { path = "people.csv" }
        roles = { quasi_identifying = ["town", "job"], sensitive = ["disease"] }
        protect = [{ method = "generalize", models = [{ model = "k_anonymity", k = 5 }], suppression_limit = 0.01,
                     suppressed_rows = "drop" }]
        """.replace("\n                     ", " "),
        root / "policy.toml",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SFUMATO_HOME", str(root / "home"))
        pipeline.run_policy(policy, root / "out")
    return root / "out"


@pytest.mark.parametrize("internal", [True, False])
@pytest.mark.parametrize(("share", "text"), [(0.125, 'by "town"'), (0.0, "none found")])
def test_columns_single_out_rows_only_where_the_table_names_them(share: float, text: str, internal: bool) -> None:
    """Below "none found" stood: "These columns single out the most rows."."""
    verdict = certificate()["verdict"] | {"unique_rows": [{"columns": ["town"], "share": share}]}
    page = unescape(page_of(account(body={"verdict": verdict}), internal))
    assert f"{text}</td>" in page
    assert ("The columns named are those found to single out the most rows." in page) == bool(share)
    assert ("single out" in page) == bool(share)


def test_a_run_writes_both_pages(folders: Path) -> None:
    leaving = Reader((folders / "release" / "report.html").read_text(encoding="utf-8"))
    internal = Reader((folders / "private" / "report.html").read_text(encoding="utf-8"))
    assert "May be published with the release" in leaving.text
    assert "Internal: not for release" not in leaving.text
    assert "Internal: not for release" in internal.text
    assert "claims hold, each measured again" in leaving.text
    assert leaving.tags.count("svg") >= 3


def test_the_leaving_page_holds_nothing_of_the_originals(folders: Path) -> None:
    leaving = (folders / "release" / "report.html").read_text(encoding="utf-8")
    internal = (folders / "private" / "report.html").read_text(encoding="utf-8")
    for marker in ("VALUEMARKER", "DISEASEMARKER", "SOURCEMARKER", "1,237", "1237"):
        assert marker not in leaving
    for marker in ("VALUEMARKER", "DISEASEMARKER", "SOURCEMARKER", "1,237"):
        assert marker in internal
    assert "1,234" in leaving


def test_the_leaving_page_keeps_rows_left_out_and_advice_in_the_house() -> None:
    leaving, internal = page_of(account(), internal=False), page_of(account(), internal=True)
    for secret in ("77,177", "Add a hierarchy.", "/secret/place", "1,440"):
        assert secret not in leaving
        assert secret in internal


@pytest.mark.parametrize("internal", [False, True])
def test_the_page_stands_alone(internal: bool) -> None:
    page = page_of(account(), internal=internal)
    reader = Reader(page)
    assert "http://" not in page
    assert "https://" not in page
    assert "url(" not in page
    assert "@import" not in page
    assert {"script", "link", "iframe", "img", "object"}.isdisjoint(reader.tags)
    addresses = [value for name, value in reader.attributes if name in ("src", "href", "xlink:href")]
    assert addresses
    assert all(value and value.startswith("#") for value in addresses)


@pytest.mark.parametrize("internal", [False, True])
def test_user_text_is_escaped_everywhere(internal: bool) -> None:
    columns = {HOSTILE: [HOSTILE, "b"] * 20, "disease": [HOSTILE, "flu"] * 20}
    body = {"removed_columns": [HOSTILE], "levels": {HOSTILE: 1}, "heights": {HOSTILE: 2}}
    run_account = account(columns, title=HOSTILE, advice=(HOSTILE,), source=HOSTILE, body=body)
    page = page_of(run_account, internal=internal)
    reader = Reader(page)
    assert "script" not in reader.tags
    assert "343" not in re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", page, flags=re.S)
    assert "<script>alert(1)</script>" in reader.text
    names = {name for name, _ in reader.attributes}
    assert not any(name.startswith("on") for name in names)


def test_headings_are_in_order_and_pictures_have_words() -> None:
    page = page_of(account(), internal=True)
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert '<html lang="en">' in page
    pictures = page.count("<svg")
    assert pictures >= 4
    assert len(re.findall(r'<div class="picture" role="img" aria-label="[^"]{10,}"><svg', page)) == pictures
    assert page.count("<summary>The numbers</summary>") == pictures
    assert re.findall(r"<th(?![a-z])(?! scope=)", page) == []


def test_printed_pages_are_numbered_and_marked_as_internal() -> None:
    """In the boxes at the edge of each page; a printed report has no banner but on its first page."""
    leaving, internal = (page_of(account(), internal=internal) for internal in (False, True))
    boxes = re.compile(r"@page\{(@.*)\}\n")
    for page in (leaving, internal):
        assert '@bottom-right{content:"page " counter(page) " of " counter(pages);' in boxes.findall(page)[0]
        assert "h2,h3,h4{break-after:avoid" in page
    assert '@top-center{content:"Internal: not for release";' in boxes.findall(internal)[0]
    assert "@top-center" not in leaving


def test_a_refusal_is_told() -> None:
    gate = [shut("max_linking_risk", 0.12, 0.13), opened("max_record_risk", 0.6, 0.5), shut("max_loss", 0.2, 0.3)]
    verdict = certificate()["verdict"] | {"status": "refused", "headline": "Refused.", "objections": []}
    text = Reader(page_of(account(body={"gate": gate, "verdict": verdict}), internal=True)).text
    assert text.count("Nothing was released.") == 2
    assert "The certificate is signed" not in text
    assert text.count("✗ exceeded") == 2
    assert text.count("✓ within") == 1
    open_gate = Reader(page_of(account(body={"gate": [opened("max_linking_risk", 0.13, 0.12)]}), internal=True)).text
    assert "Nothing was released." not in open_gate


def test_a_broken_claim_and_a_seed_are_told() -> None:
    broken_claim = certificate()["claims"][0] | {"measured": 1, "holds": False}
    verdict = certificate()["verdict"] | {"warnings": ["Random numbers came from a seed: not for publication."]}
    text = Reader(page_of(account(body={"claims": [broken_claim], "verdict": verdict}), internal=True)).text
    assert "1 claim does not hold" in text
    assert "not for publication" in text
    assert "claims hold" not in text


def test_unknown_methods_attacks_and_claims_are_told_by_their_names() -> None:
    claim = certificate()["claims"][0] | {"property": "new_promise"}
    attack = certificate()["attacks"][0] | {"attack": "new_attack", "parameters": {"attack": "new_attack"}}
    body = {"claims": [claim], "attacks": [attack], "methods": [{"method": "new_method", "depth": 3}]}
    text = Reader(page_of(account(body=body), internal=False)).text
    for name in ("New promise", "New attack", "New method"):
        assert name in text


def test_two_hundred_columns_are_all_listed_and_thirty_drawn() -> None:
    wide = {f"c{i}": ["x", "y"] * 5 for i in range(200)}
    start_time = time.perf_counter()
    page = page_of(account(wide), internal=False)
    assert time.perf_counter() - start_time < 30
    reader = Reader(page)
    assert all(f"c{i}" in reader.output for i in range(200))
    assert reader.tags.count("svg") == 1 + 30
    assert "Show the other 170 columns" in reader.text
    assert "Only the first 30 columns are drawn" in reader.text


@pytest.mark.parametrize("internal", [False, True])
@pytest.mark.parametrize(
    "columns",
    [
        {"town": ["only"] * 6},
        {"town": [None] * 6, "disease": ["flu"] * 6},
        {"town": [f"{i}" for i in range(300)]},
        {"town": [HOSTILE * 400, HOSTILE * 400 + "!", "👩‍👩‍👧 \u202egnp.exe", "", "\x00\x1b[0m", "  "]},
        {"town": [1, 2, 3, 10, None, 200]},
    ],
    ids=["one value", "all missing", "all different", "odd labels", "numbers"],
)
def test_odd_columns(columns: dict[str, list[Any]], internal: bool) -> None:
    page = page_of(account(columns), internal=internal)
    Reader(page)
    assert "\x00" not in page
    assert "\u202e" not in page
    assert len(page) < 400_000


def test_an_empty_release_renders() -> None:
    empty_columns = {"town": pl.Series([], dtype=pl.String)}
    empty = account({"town": ["a", "b"]}, sizes_after=pl.DataFrame(schema={"size": int, "classes": int, "rows": int}))
    empty = replace(empty, published_data=Table.of(pl.DataFrame(empty_columns), {"town": "quasi_identifying"}))
    empty = replace(empty, distributions={"town": distribution(pl.Series(["a", "b"]), empty_columns["town"], None)})
    text = Reader(page_of(empty, internal=False)).text
    assert "town (nothing)" in text


def test_values_that_are_not_published_have_no_label_outside() -> None:
    run_account = account({"town": ["a"] * 5 + ["b"] * 5 + ["LONER"]}, {"town": ["a"] * 5 + ["b"] * 5 + ["*"]})
    assert "LONER" not in page_of(run_account, internal=False)
    assert "LONER" in page_of(run_account, internal=True)


def test_many_values_become_the_most_frequent_and_the_rest() -> None:
    values = [f"v{i}" for i in range(100) for _ in range(i + 1)]
    text = Reader(page_of(account({"town": values}), internal=False)).text
    assert "80 others" in text
    assert "v99" in text
    assert "v12 " not in text


def test_missing_cells_are_not_among_the_others() -> None:
    values: list[str | None] = [f"v{i}" for i in range(100) for _ in range(i + 1)]
    for internal in (False, True):
        text = Reader(page_of(account({"town": [*values, None, None]}), internal)).text
        others = sum(range(1, 81))  # v0 to v79, each once more often than its number
        assert f"80 others {others:,}" in text and "(missing) 2" in text
        assert "town, 100 values." in page_of(account({"town": [*values, None, None]}), internal)


def test_a_column_of_texts_that_read_like_missing_cells_is_not_empty() -> None:
    cells = ["flu", "cold"] * 100
    texts: list[str | None] = ["(missing)"] * 199
    run_account = account({"town": cells, "disease": [*texts, None]})
    for internal in (False, True):
        text = Reader(page_of(run_account, internal)).text
        assert "no value is published" not in text and '"(missing)"' in text
        assert '"(missing)" 199' in text and re.search(r"(?<!\")\(missing\)(?!\") 1 ", text)


def test_unchanged_values_may_be_spelled_otherwise() -> None:
    sentence = "Unchanged means that the values are equal: numbers and dates may be spelled otherwise"
    town = certificate()["changes"][0]
    for internal in (False, True):
        assert sentence in Reader(page_of(account(), internal)).text
        changed = account(body={"changes": [town, {**town, "column": "disease"}]})
        assert sentence not in Reader(page_of(changed, internal)).text


def test_colours_can_be_read() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(first_colour: str, other: str) -> float:
        low, high = sorted((luminance(first_colour), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    for mode in (0, 1):
        for ground in ("paper", "card"):
            for ink in ("ink", "soft", "accent", "warn"):
                assert contrast(PALETTE[ink][mode], PALETTE[ground][mode]) >= 4.5
    assert len({pair[0] for pair in PALETTE.values()}) == len(PALETTE)


def test_every_colour_of_a_picture_follows_the_page() -> None:
    page = page_of(account(body={"gate": [shut("max_linking_risk", 0.12, 0.13)]}), internal=True)
    known_colours = {pair[0] for pair in PALETTE.values()} | {"none", "transparent"}
    drawings = " ".join(re.findall(r"<svg.*?</svg>", page, flags=re.S))
    used = set(re.findall(r'(?:fill|stroke)="([^"]+)"', drawings))
    assert PALETTE["warn"][0] in used
    assert used <= known_colours


def test_numbers_in_words() -> None:
    gap = "\N{NO-BREAK SPACE}"
    assert wording.format_percent(0.0215001) == f"2.2{gap}%"
    assert wording.format_percent(0.375) == wording.format_percent(0.3749999999999999) == f"38{gap}%"
    assert wording.format_percent(1 - 1e-15) == f"over{gap}99.9{gap}%"
    assert wording.format_percent(0.05) == f"5{gap}%"
    assert wording.format_percent(0.00001) == f"under{gap}0.01{gap}%"
    assert wording.format_percent(0.9999) == f"over{gap}99.9{gap}%"
    assert wording.format_count(18171459) == "18,171,459"
    assert wording.format_count(44.741) == "44.74"
    assert wording.format_span(0.02, 0.024) == f"2 to 2.4{gap}%"
    assert wording.format_moment("2026-02-03T04:05:06+00:00") == "3 February 2026, 04:05 UTC"


def test_numbers_of_the_policy_are_printed_with_all_digits() -> None:
    exact = {-500.5: "-500.5", 250.5: "250.5", 0.125: "0.125", 1000.0: "1,000", 1234567.875: "1,234,567.875"}
    exact |= {0.1: "0.1", 1 / 3: "0.3333333333333333", 1e-07: "1e-07", 12: "12", 1e22: f"{10**22:,}"}
    assert {number: wording.format_exactly(number) for number in exact} == exact
    assert wording.format_exactly(True) == "True" and wording.format_exactly("fast") == "fast"


def test_the_table_of_parameters_rounds_no_number() -> None:
    limits = {"balance": -500.5, "visits": 1.0, "age": [0.125, 250.5, 999.999]}
    body = {"methods": [{"method": "top_code", "share": 0.025, "floors": limits}]}
    rows = list_parameters(body)[0]["rows"]
    assert [row[1] for row in rows] == ["0.025", "balance = -500.5, visits = 1, age = 0.125, 250.5, 999.999"]


def test_no_bound_is_rounded_to_what_does_not_bound() -> None:
    gap = "\N{NO-BREAK SPACE}"
    assert wording.describe_promise("at_most", 0.125, share=False) == "at most 0.125"
    assert wording.describe_promise("at_least", 0.02975, share=False) == "at least 0.02975"
    assert wording.describe_promise("at_most", 0.125, share=True) == f"at most 12.5{gap}%"
    assert wording.describe_promise("at_most", 0.1 + 0.2, share=True) == f"at most 30{gap}%"
    assert wording.describe_promise("at_most", 2 / 3, share=False) == "at most 0.666667"
    assert wording.describe_promise("at_least", 2 / 3, share=False) == "at least 0.666666"
    assert wording.describe_promise("at_least", 1200, share=False) == "at least 1,200"
    assert wording.describe_promise("below", 1e-9, share=False) == "below 1e-09"
    assert wording.describe_promise("at_most", float("inf"), share=False) == "at most inf"


@example(0.3000004, 0.9999999, "at_most")
@given(st.floats(1e-9, 1e9), st.floats(0, 1), st.sampled_from(["at_most", "at_least"]))
def test_what_is_within_its_bound_looks_so(threshold: float, share: float, bound: str) -> None:
    """The printed number bounds the measured one, and the printed threshold bounds both."""
    value = threshold * share if bound == "at_most" else threshold * (1 + share)
    sign = 1 if bound == "at_most" else -1
    promise = float(wording.describe_promise(bound, threshold, share=False).split()[-1].replace(",", ""))
    measured = float(wording.describe_measured_bound(bound, value, threshold, share=False).replace(",", ""))
    assert sign * value * (1 - sign * 1e-14) <= sign * measured <= sign * promise
    assert abs(measured - value) <= 0.01 * value


def test_labels_are_sorted_and_kept_apart() -> None:
    assert sorted(["100-119", "20-39", "*", "0-19"], key=wording.make_sort_key) == ["0-19", "20-39", "100-119", "*"]
    assert sorted(["10", "9", "-1", "2.5"], key=wording.make_sort_key) == ["-1", "2.5", "9", "10"]
    cut = wording.shorten_distinctly(["x" * 50, "x" * 51, "x" * 52], 12)
    assert len(set(cut)) == 3
    assert all(len(label) <= 12 for label in cut)


def test_crowds_are_counted_by_people() -> None:
    sizes = pl.DataFrame({"size": [1, 4, 5, 300], "classes": [3, 1, 2, 1], "rows": [3, 4, 10, 300]})
    shares = compute_crowd_shares(sizes)
    assert [round(share * 317) for share in shares] == [3, 4, 10, 0, 0, 300]
    assert len(shares) == len(BINS)


def test_limits_of_the_gate_are_printed_as_they_were_set() -> None:
    gap = wording.NBSP
    body = {"gate": [{"gate": "max_loss", "limit": 0.125, "found": 0.1246, "open": True}]}
    (line,) = list_gates(body)
    assert (line.limit, line.value, line.is_open) == (f"12.5{gap}%", f"12.46{gap}%", True)
    shut = {"gate": "max_loss", "limit": 0.125, "found": 0.1254, "open": False}
    assert f"is 12.5{gap}%, and the release has 12.54{gap}%" in _describe_shut_gate(shut)
    assert wording.format_gate_limit(0.2) == f"20{gap}%"
    close = {"gate": "max_loss", "limit": 0.222222221222, "found": 0.222222222222, "open": False}
    assert f"is 22.2222221222{gap}%, and the release has 22.2222222{gap}%" in _describe_shut_gate(close)
