# SPDX-License-Identifier: MIT
"""Bu, Lakshmanan, Ng and Ramesh's (2007) own numbers: Figures 1, 3, 4, 7, 8 and 11."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from papers.bu_2007 import STUDIES
from papers.bu_2007.attributes import FIGURE_8, FIGURE_11, state_figure_11
from papers.bu_2007.curves import (
    BARS,
    IGNORANT,
    TABLE_6_2_2,
    VENN,
    state_figure_9,
    state_figure_10,
    state_table_6_2_2,
)
from papers.bu_2007.data import RADII, TARGET, MedianRisk, covertype, require_all_radii
from papers.bu_2007.examples import AGES, CLASSES, RISKS, VALUES, class_string, runs
from papers.bu_2007.outcomes import LEAVES, LONGEST, PATHS, SUBSPACES, Subspace, state_figure_12, state_paths
from papers.study import Setting, Statement
from sfumato.measure.codes.tree_risk import ColumnShelter, shelter
from sfumato.protect.codes.column_pieces import choose_max_mp, find_value_classes


@pytest.fixture(scope="module")
def attributes(shared_data: Path) -> tuple[ColumnShelter, ...]:
    """Cover type 5 against the others and pieces of two: what the paper counted, as its Figure 8 shows."""
    return shelter(covertype(shared_data), TARGET, min_width=2, radius=0.02)


def test_figure_1_class_strings() -> None:
    """Sections 4: σ_age = HHHLHL, four runs; the split is at 27.5, and at 35 on codes."""
    assert class_string(AGES, RISKS) == "HHHLHL"
    assert runs("HHHLHL") == ["HHH", "L", "H", "L"]
    assert (23 + 32) / 2 == 27.5 and (31 + 39) / 2 == 35
    assert [round(0.9 * age + 10) for age in AGES][2:4] == [31, 39]


def test_figure_7_pieces() -> None:
    """Section 5.2: breakpoints 1, 27, 29, 42; {29} alone is mixed. Minimum width 2."""
    values, codes = np.unique(np.array(VALUES), return_inverse=True)
    labels = find_value_classes(
        codes.astype(np.int64), np.array([ord(c) for c in CLASSES], dtype=np.int64), len(values)
    )
    pieces = choose_max_mp(labels, 4, 2, np.random.default_rng(0))
    assert values[pieces.starts].tolist() == [1, 27, 29, 42]
    assert pieces.pure.tolist() == [True, True, False, True]


@pytest.mark.parametrize("name", ["figure_1", "figures_3_and_4", "figure_7"])
def test_small_figures_are_reproduced(name: str) -> None:
    study = next(candidate for candidate in STUDIES if candidate.name == name)
    findings = study.work(Setting())
    odd = [statement.paper_result for statement in findings.statements if statement.verdict != "reproduced"]
    assert name != "figure_1" or all(
        "the oldest age: 68, 50" in statement.assumption for statement in findings.statements
    )
    # Theorem 2's inverse function does not decode: codes are rounded.
    assert odd == (["decoding by the inverse function gives the same tree (Theorem 2)"] if name == "figure_1" else [])


def test_figure_8(attributes: tuple[ColumnShelter, ...]) -> None:
    for attribute, (width, distinct, pieces, length, share) in zip(attributes, FIGURE_8, strict=True):
        assert (attribute.range_width, attribute.distinct, attribute.pure_pieces) == (width, distinct, pieces)
        assert attribute.mean_length == pytest.approx(length, abs=0.5)
        # The paper's shares come from rounded lengths.
        assert 100 * attribute.pure_share == pytest.approx(share, abs=1.5)


def test_figure_11(attributes: tuple[ColumnShelter, ...]) -> None:
    for attribute, percent in zip(attributes, FIGURE_11, strict=True):
        assert 100 * attribute.worst_sorting == pytest.approx(percent, abs=0.6)
    assert [number for number, entry in enumerate(attributes, 1) if not entry.safe] == [2, 3, 9]


@pytest.mark.slow
@pytest.mark.parametrize("name", [study.name for study in STUDIES if study.needs])
def test_studies_of_real_data_run_quickly(shared_data: Path, name: str) -> None:
    study = next(candidate for candidate in STUDIES if candidate.name == name)
    findings = study.work(Setting(quick=True, data=shared_data))
    assert findings.statements and findings.grids
    assert all(isinstance(grid.frame, pl.DataFrame) and grid.frame.height for grid in findings.grids)


def find_differing(statements: tuple[Statement, ...]) -> list[str]:
    return [statement.paper_result for statement in statements if statement.verdict == "differs"]


def bars(risk: float) -> dict[str, MedianRisk]:
    return dict.fromkeys((*BARS, IGNORANT), MedianRisk(risk, risk, risk))


def test_figure_9_must_hold_at_all_radii() -> None:
    """What holds at one or two radii only differs, with the numbers of all three."""
    risks = dict(zip(RADII, (0.04, 0.3, 0.5), strict=True))
    measured = {radius: [bars(risk)] * 10 for radius, risk in risks.items()}
    spoiled = {radius: MedianRisk(risk, risk, risk) for radius, risk in risks.items()}
    statements = {statement.paper_result: statement for statement in state_figure_9(measured, spoiled)}
    pure = statements["Attribute 1 with pure pieces: below 10 %"]
    assert pure.verdict == "differs" and pure.own_result == "1 %: 4.0 %; 2 %: 30.0 %; 5 %: 50.0 %"
    assert "holds at 1 % only" in pure.explanation
    at_two = statements["Attribute 1 with breakpoints: 30 %"]  # exactly theirs at 2 %
    assert at_two.verdict == "differs" and "holds at 2 % only" in at_two.explanation
    assert all("the radius: 1 %, 2 %, 5 %" in statement.assumption for statement in statements.values())
    low = {radius: [bars(0.04)] * 10 for radius in RADII}
    ignorant = {statement.paper_result: statement for statement in state_figure_9(low, spoiled)}
    assert ignorant["An ignorant adversary, all attributes: below 5 %"].verdict == "reproduced"


def test_a_planted_number_makes_section_6_2_2_differ() -> None:
    rows: list[dict[str, str | float]] = [
        {"attack": fit, "function": curve, "theirs": theirs, **{f"radius_{radius:.0%}": theirs for radius in RADII}}
        for (fit, curve), theirs in TABLE_6_2_2.items()
    ]
    assert [statement.verdict for statement in state_table_6_2_2(rows)] == ["reproduced"] * 2
    rows[0]["radius_5%"] = 25.0  # at one radius regression is the worst, and far from the printed 10.39
    assert [statement.verdict for statement in state_table_6_2_2(rows)] == ["differs"] * 2


def test_the_venn_diagram_and_figure_12_need_every_number_at_every_radius() -> None:
    venn = {radius: dict(VENN) for radius in RADII}
    assert state_figure_10(venn)[0].verdict == "reproduced"
    assert state_figure_10(venn | {0.01: venn[0.01] | {"any": 40.0}})[0].verdict == "differs"
    paper_risks: dict[Subspace, float] = {
        subspace: theirs if theirs is not None else 2.5 for subspace, theirs in SUBSPACES.items()
    }
    product = "risk(A, B) < risk(A) · risk(B)"
    # The paper's own 4 % is 16 % of 25 %, and not less.
    assert find_differing(state_figure_12(dict.fromkeys(RADII, paper_risks))) == [product]
    low = paper_risks | {(4, 7): 3.9}
    assert find_differing(state_figure_12(dict.fromkeys(RADII, low))) == []
    planted = state_figure_12({0.01: low, 0.02: low, 0.05: low | {(4, 7): 8.0}})
    assert find_differing(planted) == ["Attributes 4 and 7: 4 %", product]


def test_nothing_is_tolerated_in_a_tree() -> None:
    """A tree's paths are no medians of random trials: one path more differs."""
    theirs = [0, *(many for many, _ in PATHS.values()), *[0] * (LONGEST - len(PATHS))]
    cracks = [0.0, *(float(many) for _, many in PATHS.values())]
    assert sum(theirs) == LEAVES and len(theirs) == LONGEST + 1
    same = state_paths(theirs, cracks)
    assert {statement.verdict for statement in same} == {"not comparable"}  # at the one setting of C4.5 that is tried
    changed = state_paths([*theirs[:7], theirs[7] + 1, *theirs[8:]], [0.0] * len(theirs))
    assert find_differing(changed) == [statement.paper_result for statement in same]


def test_figure_11_comes_nearest_at_2_percent(shared_data: Path) -> None:
    """Within half a point: 4, 9 and 4 of the ten numbers at 1, 2 and 5 %; so they differ."""
    table = covertype(shared_data)
    worst = {
        radius: [100 * attribute.worst_sorting for attribute in shelter(table, TARGET, min_width=2, radius=radius)]
        for radius in RADII
    }
    near_counts = [
        sum(abs(round(ours, 2) - theirs) <= 0.5 for ours, theirs in zip(risks, FIGURE_11, strict=True))
        for risks in worst.values()
    ]
    assert near_counts == [4, 9, 4]
    statements = require_all_radii({radius: state_figure_11(risks) for radius, risks in worst.items()})
    assert [statement.verdict for statement in statements] == ["differs", "reproduced"]
