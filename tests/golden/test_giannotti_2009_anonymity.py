# SPDX-License-Identifier: MIT
"""Giannotti et al. (2009), first part, by an independent count."""

from __future__ import annotations

import pytest

import sfumato as sf
from tests.brute import every_node
from tests.tables import HOSPITAL, HOSPITAL_HIERARCHIES, figure_2, hospital, voters


def test_hospital_patients_are_all_unique() -> None:
    assert sf.measure.k_anonymity(hospital()) == 1
    assert sf.measure.uniqueness(hospital()) == 1.0


@pytest.mark.parametrize(("k", "minimal"), [(2, {(1, 1, 0), (0, 1, 2), (1, 0, 2)}), (3, {(1, 0, 2)})])
def test_hospital_minimal_nodes_by_exhaustion(k: int, minimal: set[tuple[int, ...]]) -> None:
    """The book's answer, so that the brute force that other tests lean on is itself checked."""
    rows = list(zip(*(HOSPITAL[name] for name in ("dob", "sex", "zip")), strict=True))
    nodes = every_node(rows, list(HOSPITAL_HIERARCHIES.values()), k, "own_value")
    feasible = {node.levels for node in nodes if node.suppressed == 0}
    finest = {
        level_node
        for level_node in feasible
        if not any(two != level_node and all(map(int.__le__, two, level_node)) for two in feasible)
    }
    assert finest == minimal


@pytest.mark.parametrize(("k", "allowed"), [(2, {(1, 1, 0), (0, 1, 2), (1, 0, 2)}), (3, {(1, 0, 2)})])
def test_hospital_release_is_a_minimal_node(k: int, allowed: set[tuple[int, ...]]) -> None:
    release = sf.Generalize(models=(sf.KAnonymity(k=k),)).protect(hospital())
    assert tuple(release.details["levels"].values()) in allowed
    assert all(finding.holds for finding in sf.check(release, hospital()))
    assert "name" not in release.data.frame.columns


def test_figure_2_has_five_classes_and_k_2() -> None:
    crowds = sf.measure.crowds(figure_2())
    assert sorted(crowds["crowd"].to_list()) == [2, 2, 2, 2, 3]
    assert sf.measure.k_anonymity(figure_2()) == 2


def test_figure_2_linking_andre_and_dan() -> None:
    """Andre links to three rows with three problems, Dan to none."""
    release, people = figure_2(), voters()
    links = sf.attack.find_links(release, people, ("race", "birth", "gender", "zip"))
    andre, dan = people.frame["name"].to_list().index("Andre"), people.frame["name"].to_list().index("Dan")
    problems = release.frame["problem"].gather(links.get_rows(andre)).to_list()
    assert sorted(problems) == ["chest pain", "obesity", "short breath"]
    assert links.counts[dan] == 0
