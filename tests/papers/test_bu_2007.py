# SPDX-License-Identifier: MIT
"""Bu, Lakshmanan, Ng and Ramesh's (2007) own numbers: Figures 1, 3, 4, 7, 8 and 11."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from papers.bu_2007 import STUDIES
from papers.bu_2007.attributes import FIGURE_8, FIGURE_11
from papers.bu_2007.curves import (
    BARS,
    IGNORANT,
    TABLE_6_2_2,
    state_figure_9,
    state_figure_10,
    state_table_6_2_2,
)
from papers.bu_2007.data import RADII, TARGET, MedianRisk, covertype
from papers.bu_2007.examples import AGES, CLASSES, RISKS, VALUES, class_string, runs
from papers.bu_2007.outcomes import SUBSPACES, state_figure_12
from papers.study import Setting
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
    values, place = np.unique(np.array(VALUES), return_inverse=True)
    labels = find_value_classes(
        place.astype(np.int64), np.array([ord(c) for c in CLASSES], dtype=np.int64), len(values)
    )
    pieces = choose_max_mp(labels, 4, 2, np.random.default_rng(0))
    assert values[pieces.starts].tolist() == [1, 27, 29, 42]
    assert pieces.pure.tolist() == [True, True, False, True]


@pytest.mark.parametrize("name", ["figure_1", "figures_3_and_4", "figure_7"])
def test_small_figures_are_reproduced(name: str) -> None:
    study = next(one for one in STUDIES if one.name == name)
    findings = study.work(Setting())
    odd = [one.theirs for one in findings.statements if one.verdict != "reproduced"]
    # Theorem 2's inverse function does not decode: codes are rounded.
    assert odd == (["decoding by the inverse function gives the same tree (Theorem 2)"] if name == "figure_1" else [])


def test_figure_8(attributes: tuple[ColumnShelter, ...]) -> None:
    for one, (width, distinct, pieces, length, share) in zip(attributes, FIGURE_8, strict=True):
        assert (one.range_width, one.distinct, one.pure_pieces) == (width, distinct, pieces)
        assert one.mean_length == pytest.approx(length, abs=0.5)
        # The paper's shares come from rounded lengths.
        assert 100 * one.pure_share == pytest.approx(share, abs=1.5)


def test_figure_11(attributes: tuple[ColumnShelter, ...]) -> None:
    for one, percent in zip(attributes, FIGURE_11, strict=True):
        assert 100 * one.worst_sorting == pytest.approx(percent, abs=0.6)
    assert [at for at, one in enumerate(attributes, 1) if not one.safe] == [2, 3, 9]


@pytest.mark.slow
@pytest.mark.parametrize("name", [one.name for one in STUDIES if one.needs])
def test_studies_of_real_data_run_quickly(shared_data: Path, name: str) -> None:
    study = next(one for one in STUDIES if one.name == name)
    findings = study.work(Setting(quick=True, data=shared_data))
    assert findings.statements and findings.grids
    assert all(isinstance(one.frame, pl.DataFrame) and one.frame.height for one in findings.grids)


def bars(risk: float) -> dict[str, MedianRisk]:
    return dict.fromkeys((*BARS, IGNORANT), MedianRisk(risk, risk, risk))


def test_figure_9_is_judged_at_one_radius_only() -> None:
    """What holds at 1 % and not at 2 % differs, and the reason names all radii."""
    measured = {radius: [bars(risk)] * 10 for radius, risk in zip(RADII, (0.04, 0.3, 0.5), strict=True)}
    found = {one.theirs: one for one in state_figure_9(measured)}
    pure = found["Attribute 1 with pure pieces: below 10 %"]
    assert pure.verdict == "differs" and pure.ours == "30.0%"
    assert "4.0% at 1%, 30.0% at 2%, 50.0% at 5%" in pure.explanation
    assert found["Attribute 1 with breakpoints: 30 %"].verdict == "reproduced"
    assert found["An ignorant adversary, all attributes: below 5 %"].verdict == "differs"


def test_a_planted_number_makes_section_6_2_2_differ() -> None:
    rows: list[dict[str, str | float]] = [
        {"attack": fit, "function": curve, "theirs": theirs, "radius_1%": 1.0, "radius_2%": theirs, "radius_5%": 50.0}
        for (fit, curve), theirs in TABLE_6_2_2.items()
    ]
    assert [one.verdict for one in state_table_6_2_2(rows)] == ["reproduced"] * 2
    rows[0]["radius_2%"] = 25.0  # regression is the worst now, and far from the printed 10.39
    assert [one.verdict for one in state_table_6_2_2(rows)] == ["differs"] * 2


def test_the_venn_diagram_and_figure_12_need_every_number() -> None:
    venn = {"polyline": 3.0, "polyline and spline": 9.0, "any": 25.0, "expected": 12.5, "two or more": 16.0}
    assert state_figure_10(venn)[0].verdict == "reproduced"
    assert state_figure_10(venn | {"any": 40.0})[0].verdict == "differs"
    stated = {subspace: theirs if theirs is not None else 3.0 for subspace, theirs in SUBSPACES.items()}
    assert {one.verdict for one in state_figure_12(stated)} == {"reproduced"}
    planted = state_figure_12(stated | {(4, 7): 8.0})
    assert [one.theirs for one in planted if one.verdict == "differs"] == ["Attributes 4 and 7: 4 %"]
