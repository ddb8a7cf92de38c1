# SPDX-License-Identifier: MIT
"""The section about sequences: what it counts, what it calls undefined, and what the page that leaves has of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

import sfumato as sf
from sfumato.details import ChainDetails, Details
from sfumato.losses import LOSSES
from sfumato.report.pictures.linking_curve import draw_linking_curve
from sfumato.report.pictures.rendering import PALETTE
from sfumato.report.run_account import ReportFigure, ReportSection
from sfumato.report.sections.chosen_sections import build_outgoing_sections
from sfumato.report.sections.sequence_section import build_outgoing_sequence_section, build_sequence_section
from sfumato.report.words.findings import list_claims

NBSP = "\u00a0"
WALKS = sf.Sequences.of([list("abcde")] * 3 + [list("abcdf")])
RELEASE = sf.AnonymizeSequences(k=3).protect(WALKS)


def by_title(section: ReportSection) -> Mapping[str, ReportFigure]:
    return {figure.title: figure for figure in section.figures}


def test_lengths_distances_and_steps_are_counted() -> None:
    figures = by_title(build_sequence_section(RELEASE, WALKS, RELEASE.data, {}))
    assert RELEASE.data.to_lists()[3] == list("abcd")
    assert figures["Lengths"].rows == (("3 to 4", "0", "1"), ("5 to 8", "4", "3"))
    assert figures["Distances"].rows == (("0", "3"), ("1", "1"))
    assert "0.25 on average" in figures["Distances"].caption
    assert figures["Steps"].rows[-1] == ("d → f", "1", "0")
    assert "Frequent patterns" not in figures


def test_marks_are_no_elements() -> None:
    """Lengths counted an element that was replaced by a mark, although nobody can read anything there."""
    secrets = (["b", "c"],)
    method = sf.HideSequences(patterns=secrets, threshold=1, mark="Δ")
    release = method.protect(WALKS)
    lengths = [sum(item != "Δ" for item in row) for row in release.data.to_lists()]
    assert any("Δ" in row for row in release.data.to_lists())
    for section in (
        build_sequence_section(release, WALKS, release.data, {}),
        build_outgoing_sequence_section(release.data, "Δ"),
    ):
        rows = by_title(section)["Lengths"].rows
        counts = {name: int(published) for name, *_, published in rows}
        assert counts.get("3 to 4", 0) == sum(3 <= length <= 4 for length in lengths)
        assert counts.get("5 to 8", 0) == sum(5 <= length <= 8 for length in lengths)


def test_a_measure_without_a_value_is_undefined() -> None:
    utility = {"frequent_before": 3.0, "frequent_after": 0.0, "lost_patterns": 3.0, "ghost_patterns": 0.0}
    figures = by_title(build_sequence_section(RELEASE, WALKS, RELEASE.data, utility | {"pattern_distortion": 1.0}))
    assert figures["Frequent patterns"].rows == (
        ("Similarity of supports (SupSim)", "undefined"),
        ("F-measure", "undefined"),
        ("Supports moved", "undefined"),
        ("Fewer patterns (M2)", f"100{NBSP}%"),
        ("Smaller supports (M3)", "undefined"),
    )


def test_measures_of_patterns_read_like_the_table_of_losses() -> None:
    """Supports that doubled are a negative M3, and large sums have separators and no exponent."""
    utility = {"frequent_before": 3.0, "frequent_after": 4.0, "lost_patterns": 0.0, "ghost_patterns": 1.0}
    measures = {"support_distance": 106450.0, "support_distortion": -1.0166, "support_similarity": 0.528}
    figures = by_title(build_sequence_section(RELEASE, WALKS, RELEASE.data, utility | measures))
    rows = {row[0]: row[1] for row in figures["Frequent patterns"].rows}
    assert rows["Supports moved"] == "106,450"
    assert rows["Smaller supports (M3)"] == f"−101.7{NBSP}%"
    assert rows["Similarity of supports (SupSim)"] == f"53{NBSP}%"
    assert "below 0" in LOSSES["support_distortion"].meaning


def test_the_page_that_leaves_counts_items_without_the_mark() -> None:
    release = sf.HideSequences(patterns=[["a", "b"]], threshold=0, mark="Δ").protect(WALKS)
    items = by_title(build_outgoing_sequence_section(release.data, "Δ"))["Items"]
    assert "Δ" not in [row[0] for row in items.rows]
    assert items.caption.endswith("of the 5 most frequent. The mark Δ is in 4 sequences.")
    plain = by_title(build_outgoing_sequence_section(WALKS))["Items"]
    assert plain.caption.endswith("of the 6 most frequent.")


def test_an_item_that_is_called_like_the_mark_is_drawn_as_an_item() -> None:
    walks = sf.Sequences.of([list("aΔb")] * 3 + [list("aΔc")])
    release = sf.HideSequences(patterns=[["a", "b"]], threshold=1).protect(walks)
    (section,) = build_outgoing_sections({}, release.data, [release.method.describe()])
    for figures in (by_title(section), by_title(build_sequence_section(release, walks, release.data, {}))):
        assert "Δ" in [row[0] for row in figures["Items"].rows] and "mark" not in figures["Items"].caption
        assert "a → Δ" in [row[0] for row in figures["Steps"].rows]
    marked = sf.HideSequences(patterns=[["a", "b"]], threshold=1, mark="Δ").protect(sf.Sequences.of([list("acb")] * 3))
    (section,) = build_outgoing_sections({}, marked.data, [marked.method.describe()])
    assert by_title(section)["Items"].caption.endswith("The mark Δ is in 2 sequences.")
    assert not any("Δ" in row[0] for row in by_title(section)["Steps"].rows)


def test_the_report_says_which_patterns_count() -> None:
    """Secrets and what contains one are no loss, so they are left out before and after, and the words say so."""
    walks = sf.Sequences.of([list("cba")] * 20 + [["b"]] * 20)
    result = sf.run(walks, [sf.HideSequences(patterns=[["c"], ["b", "a"]], threshold=2)])
    utility = result.record["utility"]
    changes = sf.measure.pattern_changes(walks, result.release.data, 4, hidden_patterns=[["c"], ["b", "a"]])
    assert (utility["frequent_before"], utility["frequent_after"]) == (changes.before, changes.after) == (2, 2)
    caption = by_title(build_sequence_section(result.release, walks, result.release.data, utility))["Frequent patterns"]
    assert "Patterns to be hidden, and all that contain one, do not count." in caption.caption
    for name in ("frequent_before", "frequent_after"):
        assert "patterns to be hidden, and all that contain one, do not count" in LOSSES[name].meaning
    for name in ("lost_patterns", "ghost_patterns", "f_measure", "pattern_distortion", "support_distortion"):
        assert "that count" in LOSSES[name].meaning
    anonymous = by_title(build_sequence_section(RELEASE, WALKS, RELEASE.data, utility))["Frequent patterns"]
    assert "hidden" not in anonymous.caption


def test_parameters_of_another_method_are_not_read() -> None:
    """The section is about the last method that changes sequences, whatever comes after it."""
    hidden = sf.HideSequences(patterns=[["a", "b"]], threshold=0, max_gap=0).protect(WALKS)
    chain = sf.Release(
        hidden.data,
        sf.AnonymizeSequences(k=3),
        (),
        hidden.losses,
        ChainDetails(rows=hidden.details.rows, steps=(hidden.details, Details())),
        earlier_methods=(hidden.method,),
    )
    section = build_sequence_section(chain, WALKS, chain.data, {})
    assert section.intro == build_sequence_section(hidden, WALKS, hidden.data, {}).intro
    assert "max_gap = 0" in by_title(section)["Hidden patterns"].caption


def test_counts_of_hidden_patterns_say_which_matches_count() -> None:
    for limits, words in (
        ({"max_gap": 0, "window": 3}, " Only matches that max_gap = 0 and window = 3 allow count."),
        ({"window": 2}, " Only matches that window = 2 allows count."),
        ({}, ""),
    ):
        release = sf.HideSequences(patterns=[["a", "b"]], threshold=0, **limits).protect(WALKS)
        figure = by_title(build_sequence_section(release, WALKS, release.data, {}))["Hidden patterns"]
        assert figure.caption.partition("how many may.")[2] == words


def test_regions_of_merged_cells_are_not_called_cells() -> None:
    """Dense regions are named after their first cell, and visits of all their cells count."""
    cells = sf.Sequences.of([["r0c0", "r0c1"]] * 3)
    figures = by_title(build_outgoing_sequence_section(cells))
    assert figures["Visits"].caption.startswith("How often each region is visited. It is drawn at the cell")
    assert "between regions" in figures["Flows"].caption
    assert "strongest" not in figures["Flows"].caption
    many = sf.Sequences.of([[f"r{row}c0", f"r{row}c1"] for row in range(151)])
    assert "The 150 strongest are drawn." in by_title(build_outgoing_sequence_section(many))["Flows"].caption


def test_the_page_that_leaves_compares_with_nothing() -> None:
    figures = by_title(build_outgoing_sequence_section(RELEASE.data))
    assert set(figures) == {"Lengths", "Items", "Steps"}
    assert figures["Steps"].head == ("Step", "Times")
    assert figures["Steps"].rows[0] == ("a → b", "4")


def test_cells_of_a_grid_get_a_map_instead_of_bars() -> None:
    cells = sf.Sequences.of([["r0c0", "r0c1"]] * 3)
    release = sf.AnonymizeSequences(k=3).protect(cells)
    assert set(by_title(build_sequence_section(release, cells, release.data, {}))) == {
        "Lengths", "Items", "Distances", "Visits", "Flows",
    }  # fmt: skip


def test_distances_follow_the_rows_of_all_methods() -> None:
    """The first sequence is dropped, so that the second published one is the third original."""
    walks = sf.Sequences.of([["x"], list("abc"), list("abc"), list("abd")])
    release = sf.AnonymizeSequences(k=2).protect(walks)
    assert release.details["rows"].tolist() == [1, 2, 3]
    figures = by_title(build_sequence_section(release, walks, release.data, {}))
    assert figures["Distances"].rows == (("0", "2"), ("1", "1"))


def test_bars_are_drawn_as_long_as_their_numbers() -> None:
    figures = by_title(build_sequence_section(RELEASE, WALKS, RELEASE.data, {}))
    svg = figures["Lengths"].svg
    ElementTree.fromstring(svg)
    bars = re.findall(rf'<path d="M0,[\d.]+h([\d.]+)q([\d.]+)[^>]*fill="{PALETTE["before"][0]}"', svg)
    assert [round(float(length) + float(bend)) for length, bend in bars] == [0, round(290 / 1.2)]
    assert ">before</text>" in svg
    outgoing_svg = by_title(build_outgoing_sequence_section(RELEASE.data))["Lengths"].svg
    assert PALETTE["before"][0] not in outgoing_svg and ">before</text>" not in outgoing_svg


def test_the_page_says_how_many_sequences_were_replaced_and_dropped() -> None:
    """A dropped sequence is not published as another; "xabc" is, and "abd", and then nothing else."""
    walks = sf.Sequences.of([["x"], list("abc"), list("abc"), list("abd"), list("yabc")])
    assert build_sequence_section(RELEASE, WALKS, RELEASE.data, {}).intro.endswith("in common. None was dropped.")
    release = sf.AnonymizeSequences(k=2).protect(walks)
    assert [("".join(row)) for row in release.data.to_lists()] == ["abc", "abc", "ab", "abc"]
    assert release.details["moved_sequences"] == release.losses["changed_sequences"] == 2
    assert build_sequence_section(release, walks, release.data, {}).intro == (
        "2 sequences were too rare and are published as the frequent one with most in common. "
        "1 sequence had nothing in common with any and was dropped."
    )


def test_one_pass_is_not_called_repeated() -> None:
    """It was said to be replaced "in 1 round, since replacing some can leave others rare", where others were left."""
    walks = sf.Sequences.of([list(walk) for walk in ("A", "AXB", "XB", "XB")])
    literal = sf.AnonymizeSequences(k=2, literal=True).protect(walks)
    (note,) = build_sequence_section(literal, walks, literal.data, {}).notes
    assert note == "It stopped after one pass, as published: what is rarest now occurs in 1 published sequence."
    repeated = sf.AnonymizeSequences(k=2).protect(walks)
    (note,) = build_sequence_section(repeated, walks, repeated.data, {}).notes
    assert note.startswith("Rare sequences were replaced in 2 rounds, since")
    (note,) = build_sequence_section(RELEASE, WALKS, RELEASE.data, {}).notes
    assert note == "Rare sequences were replaced in 1 round."


def test_ghosts_are_not_beside_a_claim_that_there_are_none() -> None:
    """A pattern in three of six walks may be in all six after: what is promised is about k."""
    walks = sf.Sequences.of([list("ab")] * 3 + [list("xb"), list("yb"), list("zb")])
    release = sf.AnonymizeSequences(k=3).protect(walks)
    changes = sf.measure.pattern_changes(walks, release.data, min_support=4)
    assert changes.ghosts
    words = [list_claims({"claims": [vars(claim) | {"measured": 3, "holds": True}]})[0] for claim in release.claims]
    assert not any("became frequent" in claim["title"] + claim["meaning"] for claim in words)
    utility = {"frequent_before": 1.0, "frequent_after": 3.0, "lost_patterns": 0.0, "ghost_patterns": 2.0}
    figures = by_title(build_sequence_section(release, walks, release.data, utility))
    assert "The promise is about patterns in 3 sequences" in figures["Frequent patterns"].caption


def test_linking_is_drawn_as_a_curve_for_the_custodian_alone() -> None:
    curve = {"points": [1, 2, 8], "order": "set", "unique_before": [0.0, 0.25, 0.5], "unique_after": [0.0, 0.0, 0.125]}
    figure = draw_linking_curve(curve)
    assert figure.rows[2] == ("8", f"50{NBSP}%", f"12{NBSP}%")
    assert "in any order" in figure.caption
    picture = ElementTree.fromstring(figure.svg)
    assert len(picture.findall(".//circle")) == 6
    single_curve = draw_linking_curve({**curve, "points": [4], "unique_before": [0.0], "unique_after": [0.0]})
    assert len(ElementTree.fromstring(single_curve.svg).findall(".//circle")) == 2
