# SPDX-License-Identifier: MIT
"""The report about releases of chance: what was done, what is left, and who knew what, in words that are true."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.change import Change, ChangeKind, describe_changes
from sfumato.losses import LOSSES
from sfumato.report import content
from sfumato.report.pictures.noise_pictures import (
    AnswerShare,
    draw_answer_shares,
    draw_densities,
    draw_recovered_values,
)
from sfumato.report.pictures.rendering import PALETTE
from sfumato.report.words import findings, loss_words, wording
from sfumato.workflow import pipeline
from sfumato.workflow.policy import Policy

INK = PALETTE["ink"][0]
METHODS = {
    "swap": {"method": "swap_confidential", "column": "ill", "share": 0.5, "search": "random"},
    "noise": {"method": "add_noise", "columns": ["age", "pay"], "privacy": 0.3, "ranges": "from_data"},
    "intervals": {
        "method": "add_noise",
        "columns": ["age"],
        "privacy": 0.2,
        "kind": "discretize",
        "ranges": {"age": [0, 120]},
    },
    "answers": {"method": "randomize_response", "column": ["ill", "sex"], "epsilon": 1.0, "categories": "from_data"},
    "full": {"method": "synthesize", "holdout": 0.2},
    "partial": {"method": "synthesize", "kind": "partial", "columns": ["pay"]},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[dict[str, Any], str, str]]:
    """Every method of chance: the certificate, the page that leaves, the page that stays."""
    root = tmp_path_factory.mktemp("chance")
    chance, rows = np.random.default_rng(3), 150
    frame = pl.DataFrame(
        {
            "age": chance.integers(20, 80, rows),
            "sex": chance.choice(["f", "m"], rows),
            "ill": chance.choice(["flu", "cold", "no"], rows),
            "pay": chance.normal(3000, 400, rows).round(1),
        }
    )
    frame.write_csv(root / "people.csv")
    run_pages = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SFUMATO_HOME", str(root / "home"))
        for name, method in METHODS.items():
            policy = Policy.model_validate(
                {
                    "title": name,
                    "data": {"path": str(root / "people.csv")},
                    "roles": {"quasi_identifying": ["age", "sex"], "sensitive": ["ill", "pay"]},
                    "protect": [method],
                    "attack": [{"attack": "inference", "column": "ill"}, {"attack": "singling_out", "attempts": 20}],
                    "measure": {"queries": 50},
                }
            )
            result = pipeline.run_policy(policy, root / name, sf.Randomness.seeded(1))
            leaving, house = ((root / name / side / "report.html").read_text() for side in ("release", "private"))
            run_pages[name] = (dict(result.record), leaving, house)
    return run_pages


MEASURED = (
    "total_variation", "pair_total_variation", "largest_mean_shift", "largest_spread_change",
    "largest_correlation_shift", "query_error",
)  # fmt: skip


def text(page: str) -> str:
    """What a page says, without its pictures and style."""
    bare = re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", page, flags=re.S)
    return re.sub(r"[ \n]+", " ", re.sub(r"<[^>]+>", " ", bare))


def facts(page: str, title: str) -> str:
    return text(next(article for article in page.split('<article class="attack">') if f"<h3>{title}" in article))


def test_a_swapped_column_is_not_published_as_it_is(runs: Any) -> None:
    body, leaving, house = runs["swap"]
    for page in (leaving, house):
        row = next(table_row for table_row in page.split("<tr>") if '<span class="name">ill</span>' in table_row)
        assert "values may be swapped" in row
        assert "unchanged" not in row
        assert "unchanged" in next(
            table_row for table_row in page.split("<tr>") if '<span class="name">pay</span>' in table_row
        )
    loss = body["losses"]["loss"]
    assert loss > 0.05
    assert body["utility"]["loss"] == pytest.approx(loss)
    assert f"{wording.format_percent(1 - loss)}</dd>" in house
    assert f"of values left as they were {wording.format_percent(1 - loss)}" in text(house)
    assert "detail kept" not in house
    assert wording.format_percent(1 - loss) not in leaving


def test_several_swapped_columns_and_swapped_ones_that_were_generalized() -> None:
    swapped = Change("a", ChangeKind.SWAPPED, "swap_confidential")
    coarser = Change("a", ChangeKind.GENERALIZED, "generalize", level=1, height=3)
    kept_change = Change("a", ChangeKind.KEPT, "generalize", level=0, height=3)
    assert describe_changes([swapped, coarser]) == "values may be swapped; level 1 of 3"
    assert describe_changes([swapped, kept_change]) == "values may be swapped"
    assert describe_changes([kept_change]) == "unchanged"
    assert describe_changes([replace(kept_change, starred=True)]) == "unchanged, suppressed rows starred"
    assert (
        describe_changes([swapped, replace(kept_change, starred=True)])
        == "values may be swapped, suppressed rows starred"
    )
    assert describe_changes([Change("a", ChangeKind.OTHER, "top_code")]) == "changed by top code"


@pytest.mark.parametrize(
    ("name", "caption"),
    [
        ("noise", "of the spread is data"),
        ("intervals", "of the spread is shown"),
        ("answers", "of answers depend on the truth"),
        ("full", "alike, columns in pairs"),
        ("partial", "alike, columns in pairs"),
    ],
)
def test_what_is_left_is_said_of_what_the_method_took(runs: Any, name: str, caption: str) -> None:
    body, leaving, house = runs[name]
    assert f"{caption} {wording.format_percent(1 - body['utility']['loss'])}" in text(house)
    assert "detail kept" not in house
    assert caption not in text(leaving)


def test_the_loss_of_several_methods_is_the_largest_and_said_so() -> None:
    body = {"losses": {"loss": 0.4}, "utility": {"loss": 0.3}, "data": {"shape": "table"}}
    chains = (
        [("add_noise", "noise"), ("generalize", "generalized")],
        [("add_noise", "noise"), ("add_noise", "intervals")],
        [("add_noise", "kept"), ("add_noise", "noise")],
        [("generalize", "generalized"), ("partition", "ranges")],
        [("suppress_entries", "blanked"), ("suppress_entries", "intervals")],
    )
    tiles = []
    for chain in chains:
        methods = [{"method": tag} for tag in dict.fromkeys(tag for tag, _ in chain)]
        changes = [{"method": tag, "kind": kind} for tag, kind in chain]
        tiles.append(content._list_kept_tiles({**body, "methods": methods, "changes": changes})[0])
    assert [(tile.figure[:2], tile.caption) for tile in tiles] == [
        ("70", "kept in the part with the largest loss"),
        ("70", "kept in the part with the largest loss"),
        ("70", "of the spread is data"),
        ("70", "detail kept"),
        ("70", "kept in the part with the largest loss"),
    ]


def test_who_knew_what_is_told_as_the_certificate_has_it(runs: Any) -> None:
    for name in runs:
        page = runs[name][1]
        assert "nothing but the release" not in page
        assert "Knows all 2 quasi-identifying columns" in facts(page, "Inference")
        assert "Knows" not in facts(page, "Singling out")


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"known_columns": [["age"]]}, '"age"'),
        ({"known_columns": [["age", "sex"]]}, "all 2 quasi-identifying columns"),
        ({"known_columns": [], "parameters": {"known": None}}, ""),
        ({"known_columns": [["age"], ["ill", "pay"]]}, '"age"; on the other side "ill", "pay"'),
        ({"parameters": {"knowledge": "pairs"}}, "how often items occur, alone and two together"),
        (
            {"parameters": {"knowledge": "supports", "known_share": 0.5}},
            "how often each item occurs, for 50\N{NO-BREAK SPACE}% of them",
        ),
        ({}, ""),
    ],
)
def test_what_is_known_has_many_forms(entry: dict[str, Any], sentence: str) -> None:
    roles = {"age": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive"}
    assert findings._describe_knowledge(entry, {"roles": roles}) == sentence


def test_drawn_rows_are_no_people_and_stand_in_no_crowd(runs: Any) -> None:
    _, leaving, house = runs["full"]
    for page in (leaving, house):
        page_text = text(page)
        assert "rows in the release" in page_text
        assert "people in the release" not in page_text
        for word in ("smallest class", "found by linking", "No row was suppressed", "rows suppressed", "How large the"):
            assert word not in page_text
        assert "Rows by value" in page_text
    assert "Rows in the release" in house
    assert "smaller than" not in text(house)


@pytest.mark.parametrize("name", ["noise", "partial", "answers"])
def test_without_classes_linking_is_told_and_crowds_are_not(runs: Any, name: str) -> None:
    page_text = text(runs[name][2])
    for word in ("people in the release", "found by linking", "How many people linking finds", "People by value"):
        assert word in page_text
    for page in runs[name][1:]:
        for word in (
            "equivalence class",
            "smallest class",
            "rows suppressed",
            "No row was suppressed",
            "Suppressed rows are",
        ):
            assert word not in text(page).replace("Suppressed rows Rows whose", "")


def test_every_loss_and_every_measure_of_chance_has_words(runs: Any) -> None:
    for name, (body, _, house) in runs.items():
        for loss in [*body["losses"], *body["utility"]]:
            assert loss in LOSSES, (name, loss)
        losses = [*body["losses"]]
        losses += [measure for measure in MEASURED if measure in body["utility"]]
        for loss in losses:
            assert f'<tr><th scope="row">{LOSSES[loss].title}<small>' in house, (name, loss)
        assert loss_words.describe_loss(body).meaning in house.replace("&#39;", "'")
        for claim in body["claims"]:
            assert claim["property"] in wording.PROPERTIES


def test_shares_are_told_in_per_cent() -> None:
    body = {
        "methods": [{"method": "swap_confidential", "column": "ill"}],
        "losses": {"loss": 0.5, "changed_cells": 12, "joint_total_variation": 0.125},
        "utility": {"loss": 0.51, "query_error": 0.04, "tree_accuracy": 0.6, "tree_accuracy_original": 0.7},
    }
    gap = "\N{NO-BREAK SPACE}"
    loss_lines = [(line["title"], line["value"], line["again"]) for line in findings.list_losses(body)]
    assert loss_lines == [
        ("Loss", f"50{gap}%", f"51{gap}%"),
        ("Values swapped", "12", ""),
        ("Change of joint distributions", f"12{gap}%", ""),
        ("Error of queries", "", f"4{gap}%"),
        ("Accuracy of tree", "", f"60{gap}%"),
    ]


def test_records_off_a_share_are_counted() -> None:
    claim = {"property": "uniques_off_share", "bound": "exactly", "threshold": 0, "measured": 3, "holds": False}
    claim |= {"meaning": "", "needs_original": True, "measure": "uniques_off_share"}
    assert findings.list_claims({"claims": [claim]})[0]["measured"] == "3"


def test_a_limit_on_one_attack_is_named() -> None:
    gate = {"gate": "max_risk.likeliest_answer", "limit": 0.3, "found": 0.2, "open": True}
    assert content.list_gates({"gate": [gate]})[0].name == "Risk by likeliest answer"


def signs(svg: str, role: str) -> dict[str, set[str]]:
    """Of every colour the signs drawn in it, without their size: how often a path moves, draws lines and arcs."""
    part = svg.split(f'class="mark-symbol {role}')[1:]
    sign_kinds: dict[str, set[str]] = {}
    for group in part:
        for path in re.findall(r"<path[^>]*>", group.split("</g>")[0]):
            attributes = dict(re.findall(r' ([\w-]+)="([^"]*)"', path))
            kinds = re.sub(r"[^MLAZ]", "", attributes["d"]) + (
                "filled" if attributes.get("fill", "none") != "none" else ""
            )
            sign_kinds.setdefault(attributes["stroke"], set()).add(kinds)
    return sign_kinds


def test_signs_of_the_scatter_differ_and_are_those_of_its_legend() -> None:
    values = np.array([1.0, 2.0, 3.0])
    svg = draw_recovered_values("age", values, values + 1, values - 1)
    marks, legend = signs(svg, "role-mark"), signs(svg, "role-legend-symbol")
    release, estimate = PALETTE["soft"][0], PALETTE["accent"][0]
    assert marks == legend == {release: {"MLML"}, estimate: {"MAA"}}


@pytest.mark.parametrize("kind", ["shapes", "recovered", "answers", "strangers"])
def test_labels_of_legends_are_ink(kind: str) -> None:
    edges, values = np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.5])
    dense = {"originals": (edges, values), "release": (edges, values), "estimate": (edges, values)}
    if kind == "strangers":
        from sfumato.report.sections.synthesis_section import _build_comparison_figure, _ComparedValue

        svg = _build_comparison_figure("t", "c", (_ComparedValue("equal", 0, 0),), wording.format_count).svg
        assert svg.count(">0</text>") == 2
        assert not re.search(r"translate\(12\d[.\d]*,[^)]*\)[^>]*>0</text>", svg)  # beside bars of no length
    else:
        svg = {
            "shapes": lambda: draw_densities("a", dense),
            "recovered": lambda: draw_recovered_values("a", edges, edges, edges),
            "answers": lambda: draw_answer_shares(
                [AnswerShare("y", "release", 0.5), AnswerShare("y", "estimate", 0.4, 0.3, 0.5)]
            ),
        }[kind]()
    labels = [part.split("</g>")[0] for part in svg.split("role-legend-label")[1:]]
    assert len(labels) >= 2
    assert all(f'fill="{INK}"' in label for label in labels)
