# SPDX-License-Identifier: MIT
"""Columns of numbers are drawn as histograms on one scale, before beside after."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from sfumato.report.pictures.distributions import BINS, show_distributions
from tests.report.test_report import account

AGES = [20 + n % 60 for n in range(600)]


def draw(before: list[Any], after: list[Any], *, internal: bool = True) -> dict[str, Any]:
    run_account = account({"town": before}, {"town": after})
    (figure,) = show_distributions(run_account if internal else replace(run_account, original=None), 1)["drawn"]
    assert isinstance(figure, dict)
    return figure


def count_sides(figure: dict[str, Any]) -> list[int]:
    return [sum(counts) for counts in zip(*[row[1:] for row in figure["rows"]], strict=True)]


def test_noise_and_exact_numbers_are_binned_on_one_scale() -> None:
    chance = random.Random(1)
    noisy = draw(AGES, [age + chance.gauss(0, 10) for age in AGES])
    assert noisy["head"] == "Range"
    assert 5 < len(noisy["rows"]) <= BINS
    assert count_sides(noisy) == [600, 600]
    exact = draw(AGES, AGES)
    assert [label for label, _, _ in exact["rows"]] == [f"{low} to {low + 4}" for low in range(20, 80, 5)]
    assert all(was == new_count == 50 for _, was, new_count in exact["rows"])


def test_suppressed_numbers_are_told_beside_the_histogram() -> None:
    starred = [str(age) for age in AGES[:-30]] + ["*"] * 30
    figure = draw(AGES, starred)
    assert figure["rows"][-1] == ("*", 0, 30)
    assert figure["note"] == 'Not drawn, in the release: 30 "*".'


def test_the_page_that_leaves_bins_the_published_numbers_alone() -> None:
    figure = draw([*AGES[:-1], 5000], AGES, internal=False)
    assert figure["rows"][0] == ("20 to 24", None, 50)
    assert figure["rows"][-1] == ("75 to 79", None, 50)
    assert figure["note"] == ""


def test_published_ranges_are_spread_on_the_same_scale() -> None:
    figure = draw(AGES, [f"[{age // 3 * 3}, {age // 3 * 3 + 2}]" for age in AGES])
    assert count_sides(figure)[0] == 600
    assert abs(count_sides(figure)[1] - 600) <= BINS / 2  # rounded
    assert "spread evenly" in figure["note"]


def test_few_numbers_and_names_keep_a_bar_for_each() -> None:
    assert draw([n % 6 for n in range(60)], [n % 6 for n in range(60)])["head"] == "Value"
    names = [f"town {n % 40}" for n in range(400)]
    assert draw(names, names)["head"] == "Value"
