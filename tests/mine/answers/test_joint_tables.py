# SPDX-License-Identifier: MIT
"""Tables of three and more columns of randomized answers: against brute force, and over many draws."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.mine.answers.likeliest_shares import SLACK
from sfumato.mine.answers.proportions import _AnswerSide, _join_answers
from sfumato.public.answer_channel import get_channel

ROLES = dict.fromkeys(("ill", "sex", "town", "job"), "insensitive")


def draw_people(rows: int = 400) -> sf.Table:
    chance = np.random.default_rng(3)
    ill = chance.random(rows) < 0.4
    town = chance.choice(["A", "B", "C"], rows, p=[0.5, 0.3, 0.2])
    sex = np.where(chance.random(rows) < np.where(ill, 0.8, 0.3), "f", "m")
    frame = {"ill": np.where(ill, "yes", "no"), "sex": sex, "town": town, "job": chance.choice(["x", "y"], rows)}
    return sf.Table.of(frame, ROLES)


TRUTH = draw_people()
SINGLE = sf.RandomizeResponse(column=("ill", "town"), p=0.75)
BITS = sf.RandomizeResponse(column=("town",), epsilon=2.0, kind="unary")


def find_values(release: sf.Release, column: str) -> dict[str, np.ndarray]:
    """For each category, (said − q) / (p − q) of every row."""
    cells = release.data.frame[column]
    if column not in release.public:
        return {str(value): (cells == value).to_numpy() * 1.0 for value in cells.unique().sort()}
    law = get_channel(release, column)
    answer_bits = (
        np.stack([(cells == category).to_numpy() for category in law.categories], 1)
        if law.one_answer
        else law.read_bits(cells)
    )
    values = (answer_bits - law.q) / (law.p - law.q)
    return {str(category): values[:, index] for index, category in enumerate(law.categories)}


@pytest.mark.parametrize("method", [SINGLE, BITS], ids=["single answers", "bits"])
@pytest.mark.parametrize("columns", [("ill", "sex", "town"), ("town", "job", "sex", "ill")])
def test_raw_shares_are_means_over_rows(method: sf.RandomizeResponse, columns: tuple[str, ...]) -> None:
    release = method.protect(TRUTH, sf.Randomness.seeded(1))
    joint = sf.mine.estimate_joint(release, columns)
    names = ["first", "second", "third", "fourth"][: len(columns)]
    values = [find_values(release, column) for column in columns]
    assert joint.height == np.prod([len(column_values) for column_values in values])
    for row, cell in zip(joint.iter_rows(named=True), product(*values), strict=True):
        assert tuple(row[name] for name in names) == cell
        row_products = np.prod(
            [column_values[category] for column_values, category in zip(values, cell, strict=True)], axis=0
        )
        assert row["raw"] == pytest.approx(row_products.mean())
        assert row["variance"] == pytest.approx(row_products.var() / len(row_products))
    assert joint["estimate"].sum() == pytest.approx(1) and (joint["estimate"] >= 0).all()


@pytest.mark.parametrize("method", [SINGLE, BITS], ids=["single answers", "bits"])
def test_nothing_is_likelier(method: sf.RandomizeResponse) -> None:
    release = method.protect(TRUTH, sf.Randomness.seeded(1))
    sides = [_AnswerSide.of(release, name) for name in ("ill", "sex", "town")]
    counts = pl.DataFrame({str(index): side.answers for index, side in enumerate(sides) if side.answers.ndim == 1})
    table = np.zeros((3, 3, 4))
    if method is SINGLE:
        np.add.at(table, tuple(counts.to_numpy().T), 1.0)
    answers = _join_answers(sides, table)
    shares = sf.mine.estimate_joint(release, ("ill", "sex", "town"))["estimate"].to_numpy().reshape(2, 2, 3)
    slope, _ = answers.compute_gradient(shares)
    assert slope.max() - len(TRUTH) <= 2 * SLACK


def test_three_columns_have_no_bias() -> None:
    """Over 80 draws, four standard errors, for each of twelve cells."""
    frame = TRUTH.frame
    draws = [
        sf.mine.estimate_joint(SINGLE.protect(TRUTH, sf.Randomness.seeded(seed)), ("ill", "sex", "town"))
        for seed in range(80)
    ]
    raw = np.array([estimate["raw"].to_numpy() for estimate in draws])
    for index, (ill, sex, town) in enumerate(draws[0].select("first", "second", "third").iter_rows()):
        true = ((frame["ill"] == ill) & (frame["sex"] == sex) & (frame["town"] == town)).mean()
        assert abs(raw[:, index].mean() - true) < 4 * raw[:, index].std() / np.sqrt(len(raw))


def test_a_table_that_does_not_fit_is_refused() -> None:
    wide = sf.Table.of({name: [str(n) for n in range(120)] for name in "abc"}, dict.fromkeys("abc", "insensitive"))
    release = sf.RandomizeResponse(column="a", p=0.5).protect(wide)
    with pytest.raises(sf.PolicyError, match=r"3 columns has 1,728,000 cells.*take fewer columns"):
        sf.mine.estimate_joint(release, ("a", "b", "c"))
    for wrong in ("ab", ("a",), ("a", "a")):
        with pytest.raises(sf.PolicyError, match="two or more different columns"):
            sf.mine.estimate_joint(release, wrong)


def test_columns_that_determine_each_other_leave_empty_cells() -> None:
    people = {"ill": ["yes", "no"] * 20, "sex": ["f", "m"] * 20, "town": ["A", "B"] * 20}
    table = sf.Table.of(people, dict.fromkeys(people, "insensitive"))
    release = sf.RandomizeResponse(column="ill", p=0.8).protect(table, sf.Randomness.seeded(1))
    joint = sf.mine.estimate_joint(release, ("ill", "sex", "town"))
    pairs = sf.mine.estimate_joint(release, ("ill", "sex"))
    assert joint["estimate"].sum() == pytest.approx(1)
    for ill, sex, share in pairs.select("first", "second", "estimate").iter_rows():
        town = "A" if sex == "f" else "B"
        cell = joint.filter(first=ill, second=sex, third=town)
        assert cell["estimate"].item() == pytest.approx(share, abs=1e-6)


@pytest.mark.filterwarnings("error")
def test_impossible_shares_on_the_way_warn_nobody() -> None:
    people = {"ill": ["a", "b", "c", "c", "b", "b"], "sex": ["f", "m", "f", "f", "f", "f"]}
    table = sf.Table.of(people, dict.fromkeys(people, "insensitive"))
    method = sf.RandomizeResponse(column="ill", p=0.2)
    for seed in range(20):
        release = method.protect(table, sf.Randomness.seeded(seed))
        assert sf.mine.estimate_joint(release, ("ill", "sex"))["estimate"].sum() == pytest.approx(1)
    three = {"ill": list("abc"), "sex": list("fmf"), "town": list("ABC")}
    table = sf.Table.of(three, dict.fromkeys(three, "insensitive"))
    method = sf.RandomizeResponse(column="ill", epsilon=3.5, kind="unary")
    for seed in (3, 6):
        release = method.protect(table, sf.Randomness.seeded(seed))
        assert sf.mine.estimate_joint(release, ("ill", "sex", "town"))["estimate"].sum() == pytest.approx(1)


def test_a_joint_estimate_needs_the_release_of_a_table() -> None:
    baskets = sf.Baskets.of([["ill", "sex"], ["sex"]] * 9)
    release = sf.RandomizeBaskets(keep=0.9).protect(baskets, sf.Randomness.seeded(1))
    for data in (TRUTH, release):
        with pytest.raises(sf.DataError, match="needs the release of a table"):
            sf.mine.estimate_joint(data, ("ill", "sex"))  # type: ignore[arg-type]
