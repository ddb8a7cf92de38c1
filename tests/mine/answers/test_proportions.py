# SPDX-License-Identifier: MIT
"""Estimates from randomized answers: against the formula, brute force, and many seeded surveys."""

from __future__ import annotations

from itertools import product
from math import e, exp, log

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.details import Details
from sfumato.errors import DataError, PolicyError
from sfumato.mine.answers.likeliest_shares import (
    SLACK,
    AnswerPairCounts,
    BitAnswers,
    PairAnswers,
    fit_counts,
    fit_likeliest_shares,
)
from sfumato.mine.answers.proportions import estimate_joint, estimate_proportions, warner_estimate
from sfumato.public.answer_channel import AnswerChannel, answer_by_chance, design_channel, spell_bits
from sfumato.published_law import read_laws
from sfumato.release import Release
from sfumato.table import Table


def channel(size: int, p: float) -> AnswerChannel:
    return AnswerChannel(kind="k_ary", p=p, q=(1 - p) / (size - 1), categories=tuple("abcdefghij"[:size]))


def unary(size: int, epsilon: float) -> AnswerChannel:
    return design_channel("unary", [str(index) for index in range(size)], None, epsilon)


def answers(law: AnswerChannel, truth: np.ndarray, seed: int) -> pl.Series:
    """A column of answers drawn with numpy's chance."""
    chance = np.random.default_rng(seed)
    codes = answer_by_chance(truth, law, lambda part, width: chance.random((len(truth[part]), width)))
    return spell_bits(codes.astype(np.uint8)) if codes.ndim == 2 else pl.Series(list(law.categories)).gather(codes)


def released(columns: dict[str, pl.Series], public: dict[str, AnswerChannel]) -> Release:
    table = Table.of(pl.DataFrame(columns), dict.fromkeys(columns, "sensitive"))
    return Release(
        table,
        None,
        (),
        {},
        Details(public=read_laws({name: law.model_dump(mode="json") for name, law in public.items()})),
    )


def log_likelihood(counts: np.ndarray, law: AnswerChannel, shares: np.ndarray) -> float:
    likely = law.build_matrix() @ shares
    return float(sum(c * log(max(x, 1e-300)) for c, x in zip(counts, likely, strict=True) if c))


@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.02, 0.98))
def test_two_categories_are_warners_estimate_and_clipped(yes: int, more: int, p: float) -> None:
    if abs(p - 0.5) < 0.01:
        return
    n = yes + more
    estimates = estimate_proportions(["yes"] * yes + ["no"] * more, channel=channel2(p))
    raw = warner_estimate(yes, n, p)
    assert raw == pytest.approx((yes / n - (1 - p)) / (2 * p - 1))
    assert estimates["raw"][0] == pytest.approx(raw)
    assert estimates["estimate"][0] == pytest.approx(min(max(raw, 0), 1), abs=1e-9)
    assert estimates["variance"][0] == pytest.approx(yes / n * (more / n) / (n * (2 * p - 1) ** 2))
    assert estimates["low"][0] - 1e-9 <= estimates["estimate"][0] <= estimates["high"][0] + 1e-9


def channel2(p: float) -> dict[str, object]:
    return {"kind": "warner", "p": p, "q": 1 - p, "categories": ["yes", "no"]}


@settings(max_examples=60)
@given(st.lists(st.integers(0, 12), min_size=3, max_size=3).filter(any), st.floats(0.01, 0.95))
def test_three_categories_against_a_grid(counts: list[int], p: float) -> None:
    if abs(p - 1 / 3) < 0.02:
        return
    law, count_array = channel(3, p), np.asarray(counts)
    fitted_shares = fit_counts(count_array, law)
    assert fitted_shares.sum() == pytest.approx(1)
    assert (fitted_shares >= 0).all()
    steps = 40
    grid = [np.asarray([a, b, steps - a - b]) / steps for a in range(steps + 1) for b in range(steps + 1 - a)]
    best = max(log_likelihood(count_array, law, shares) for shares in grid)
    assert log_likelihood(count_array, law, fitted_shares) >= best - 1e-9


@settings(max_examples=60)
@given(st.lists(st.integers(0, 40), min_size=2, max_size=8).filter(any), st.floats(0.01, 0.95))
def test_many_categories_are_at_the_top_of_a_concave_hill(counts: list[int], p: float) -> None:
    """No direction leads up: the slope toward each category is at most the mean slope."""
    size = len(counts)
    if abs(p - 1 / size) < 0.01:
        return
    law, count_array = channel(size, p), np.asarray(counts)
    fitted_shares = fit_counts(count_array, law)
    likely = law.build_matrix() @ fitted_shares
    slope = law.build_matrix().T @ np.where(count_array > 0, count_array / np.maximum(likely, 1e-300), 0)
    assert slope.max() <= sum(counts) * (1 + 1e-9)


def test_raw_may_leave_the_unit_interval_and_is_kept() -> None:
    estimates = estimate_proportions(["yes"] * 19 + ["no"], channel=channel2(0.7))
    assert estimates["raw"].to_list() == pytest.approx([1.625, -0.625])
    assert estimates["estimate"].to_list() == [1.0, 0.0]


@pytest.mark.parametrize(("size", "p"), [(2, 0.7), (2, 0.2), (5, 0.5), (5, 0.1)])
def test_no_bias_the_stated_variance_and_coverage(size: int, p: float) -> None:
    """1,000 surveys of 400: the mean within 5 standard errors, variances within 25 %, 95 % intervals cover 92 to 98."""
    law, surveys, n = channel(size, p), 1_000, 400
    truth = np.arange(1, size + 1) / (size * (size + 1) / 2)
    chance = np.random.default_rng(size)
    frames = []
    for counts in chance.multinomial(n, law.build_matrix() @ truth, surveys):
        answer_cells = pl.Series(list(law.categories)).gather(np.repeat(np.arange(size), counts))
        frames.append(estimate_proportions(answer_cells, channel=law))
    raw = np.stack([frame["raw"].to_numpy() for frame in frames])
    variance = np.stack([frame["variance"].to_numpy() for frame in frames])
    assert (np.abs(raw.mean(axis=0) - truth) < 5 * raw.std(axis=0) / surveys**0.5).all()
    assert variance.mean(axis=0) == pytest.approx(raw.var(axis=0), rel=0.25)
    covered = np.mean([(f["low"] <= pl.Series(truth)) & (f["high"] >= pl.Series(truth)) for f in frames], axis=0)
    assert ((covered > 0.92) & (covered < 0.98)).all()


def test_repeated_people_widen_the_variance_by_as_much_as_it_grows() -> None:
    """300 people stand in four rows each with one answer: the variance told is that of 300 answers."""
    law = AnswerChannel.of(channel2(0.7)).model_copy(update={"repeats": 4.0})
    chance = np.random.default_rng(3)
    raws, variances = [], []
    for yes in chance.binomial(300, 0.3 * 0.7 + 0.7 * 0.3, 1_000):
        estimates = estimate_proportions(["yes"] * (4 * yes) + ["no"] * (4 * (300 - yes)), channel=law)
        raws.append(estimates["raw"][0])
        variances.append(estimates["variance"][0])
    assert np.mean(variances) == pytest.approx(np.var(raws), rel=0.15)


def test_unary_answers_give_unbiased_and_likeliest_shares() -> None:
    law, n = unary(12, 1.0), 3_000
    truth = np.arange(1, 13) / 78
    chance = np.random.default_rng(5)
    raws, errors = [], []
    for seed in range(40):
        people = chance.choice(12, n, p=truth)
        estimates = estimate_proportions(answers(law, people, seed), channel=law)
        raws.append(estimates["raw"].to_numpy())
        errors.append([np.square(estimates[name].to_numpy() - truth).sum() for name in ("raw", "estimate")])
        assert estimates["estimate"].sum() == pytest.approx(1)
        assert estimates["estimate"].to_numpy().min() >= 0
    spread = 4 * e / (e - 1) ** 2 / n
    assert (np.abs(np.mean(raws, axis=0) - truth) < 5 * (1.3 * spread / 40) ** 0.5).all()
    raw, likeliest = np.mean(errors, axis=0)
    assert likeliest < raw


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_unary_likelihood_against_every_row_written_out(epsilon: float) -> None:
    """Three categories, all eight rows of bits: the maximum over a grid of shares is no higher."""
    law = unary(3, epsilon)
    rows = np.asarray(list(product([0, 1], repeat=3)), dtype=np.uint8)
    times = np.random.default_rng(1).integers(0, 9, 8)
    cells = spell_bits(np.repeat(rows, times, axis=0))
    fitted_shares = estimate_proportions(cells, channel=law)["estimate"].to_numpy()

    def likelihood(shares: np.ndarray) -> float:
        total = 0.0
        for bits, count in zip(rows, times, strict=True):
            row_chances = [
                np.prod(
                    [
                        (law.p if category == index else law.q)
                        if bits[index]
                        else 1 - (law.p if category == index else law.q)
                        for index in range(3)
                    ]
                )
                for category in range(3)
            ]
            total += count * log(float(np.dot(row_chances, shares)))
        return total

    grid = [np.asarray([a, b, 50 - a - b]) / 50 for a in range(51) for b in range(51 - a)]
    assert likelihood(fitted_shares) >= max(map(likelihood, grid)) - 2 * SLACK


def test_joint_tables_have_no_bias_and_the_stated_variance() -> None:
    first_law, two = channel(2, 0.75), channel(3, 0.6)
    truth = np.asarray([[0.1, 0.2, 0.3], [0.25, 0.05, 0.1]])
    chance = np.random.default_rng(2)
    raws, variances = [], []
    for seed in range(300):
        pairs = chance.choice(6, 800, p=truth.ravel())
        columns = {"a": answers(first_law, pairs // 3, seed), "b": answers(two, pairs % 3, 1000 + seed)}
        estimates = estimate_joint(released(columns, {"a": first_law, "b": two}), ("a", "b"))
        raws.append(estimates["raw"].to_numpy())
        variances.append(estimates["variance"].to_numpy())
        assert estimates["estimate"].sum() == pytest.approx(1)
    assert (np.abs(np.mean(raws, axis=0) - truth.ravel()) < 5 * np.std(raws, axis=0) / 300**0.5).all()
    assert np.mean(variances, axis=0) == pytest.approx(np.var(raws, axis=0), rel=0.4)
    assert estimates["first"].to_list() == ["a"] * 3 + ["b"] * 3


def test_joint_raw_is_the_inverse_of_the_product_of_channels() -> None:
    first_law, two = channel(3, 0.7), channel(2, 0.8)
    counts = np.asarray([[24, 22], [19, 30], [18, 22]])
    first = pl.Series(list("abc")).gather(np.repeat(np.arange(3), counts.sum(axis=1)))
    second = pl.Series(list("ab")).gather(np.concatenate([np.repeat([0, 1], row) for row in counts]))
    estimates = estimate_joint(released({"x": first, "y": second}, {"x": first_law, "y": two}), ("x", "y"))
    solved = np.linalg.solve(np.kron(first_law.build_matrix(), two.build_matrix()), counts.ravel() / counts.sum())
    assert estimates["raw"].to_numpy() == pytest.approx(solved)
    assert solved.min() > 0
    assert estimates["estimate"].to_numpy() == pytest.approx(solved, abs=1e-3)


def test_joint_with_a_plain_column_and_with_bits() -> None:
    chance = np.random.default_rng(6)
    plain, secret = chance.choice(2, 20_000, p=[0.4, 0.6]), chance.integers(0, 4, 20_000)
    secret = np.where(plain == 1, secret, 0)
    first_law, two = channel(4, 0.6), unary(4, 2.0)
    columns = {
        "sex": pl.Series(["f", "m"]).gather(plain),
        "k": answers(first_law, secret, 1),
        "u": answers(two, secret, 2),
    }
    release = released(columns, {"k": first_law, "u": two})
    expected = [0.4, 0, 0, 0, 0.15, 0.15, 0.15, 0.15]
    for name in ("k", "u"):
        estimates = estimate_joint(release, ("sex", name))
        assert estimates["first"].to_list() == ["f"] * 4 + ["m"] * 4
        assert np.abs(estimates["estimate"].to_numpy() - expected).max() < 0.03
        assert (
            np.abs(estimates["raw"].to_numpy() - expected) < 5 * estimates["variance"].to_numpy() ** 0.5 + 0.02
        ).all()


@pytest.mark.parametrize("seed", range(4))
def test_newton_and_expectation_maximization_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(seed)
    counts = chance.integers(0, 12, (3, 4)).astype(float)
    pair = AnswerPairCounts(counts, (channel(3, 0.6), channel(4, 0.7)))
    start = np.full((3, 4), 1 / 12)
    quick = fit_likeliest_shares(pair, start)
    monkeypatch.setattr("sfumato.mine.answers.likeliest_shares._WIDEST", 0)
    slow = fit_likeliest_shares(pair, start)
    assert pair.compute_gradient(quick)[1] == pytest.approx(pair.compute_gradient(slow)[1], abs=3 * SLACK)
    bits = (chance.random((80, 5)) < 0.3).astype(np.uint8)
    bit_answers = BitAnswers(np.ones(80), np.packbits(bits, axis=1), unary(5, 1.0))
    listed = PairAnswers(np.ones(80), bits, np.zeros(80, dtype=np.int64), (unary(5, 1.0), None), (5, 1))
    shares = fit_likeliest_shares(bit_answers, np.full(5, 0.2))
    assert listed.compute_gradient(shares[:, None])[0][:, 0] == pytest.approx(bit_answers.compute_gradient(shares)[0])
    assert listed.compute_curvature(shares[:, None]) == pytest.approx(bit_answers.compute_curvature(shares))
    assert float(bit_answers.compute_gradient(shares)[0].max()) <= 80 + 2 * SLACK


def test_missing_answers_are_left_out_or_are_an_answer() -> None:
    law = channel2(0.8)
    replies = pl.Series(["yes", None, "no", None, "yes"])
    assert estimate_proportions(replies, channel=law).equals(estimate_proportions(replies.drop_nulls(), channel=law))
    three = AnswerChannel(kind="k_ary", p=0.6, q=0.2, categories=("yes", "no", None))
    estimates = estimate_proportions(replies, channel=three)
    assert estimates["raw"].to_list() == pytest.approx([(0.4 - 0.2) / 0.4, 0.0, (0.4 - 0.2) / 0.4])
    assert estimates["value"].to_list() == ["yes", "no", None]


def test_answers_that_say_nothing_cannot_be_estimated_from() -> None:
    with pytest.raises(PolicyError, match="no information"):
        estimate_proportions(["yes", "no"], channel=channel2(0.5))
    with pytest.raises(PolicyError, match="p = 1/2"):
        warner_estimate(3, 10, 0.5)
    release = released({"a": pl.Series(["yes"]), "b": pl.Series(["u"])}, {"a": AnswerChannel.of(channel2(0.5))})
    with pytest.raises(PolicyError, match='"a": every answer'):
        estimate_joint(release, ("a", "b"))


def test_what_cannot_be_estimated_is_refused() -> None:
    with pytest.raises(PolicyError, match="channel"):
        estimate_proportions(["yes"])
    with pytest.raises(DataError, match="2 cells match none of its 2 categories; take the answers"):
        estimate_proportions(["zzz", "yes", "zzz"], channel=channel2(0.7))
    with pytest.raises(DataError, match="no answers"):
        estimate_proportions(pl.Series([None, None], dtype=pl.String), channel=channel2(0.7))
    with pytest.raises(PolicyError, match="confidence"):
        estimate_proportions(["yes"], confidence=1.0, channel=channel2(0.7))
    with pytest.raises(DataError, match="needs kind"):
        estimate_proportions(["yes"], channel={"kind": "warner", "p": 0.7, "q": 0.7, "categories": ["yes", "no"]})
    release = released({"a": pl.Series(["yes"])}, {})
    with pytest.raises(DataError, match='no randomized answers in "a"'):
        estimate_proportions(release, "a")
    two = released(
        {"a": pl.Series(["yes"]), "b": pl.Series(["yes"])}, dict.fromkeys("ab", AnswerChannel.of(channel2(0.7)))
    )
    with pytest.raises(PolicyError, match="estimate_joint"):
        estimate_proportions(two, ("a", "b"))  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match="0 columns"):
        estimate_proportions(release)
    for cells in (["x0", "nonsense"], ["x00", "xg0"], ["x00", "x\u00e9"], [1, 2]):
        with pytest.raises(DataError, match="spelled"):
            estimate_proportions(cells, channel=unary(3, 1.0))


@pytest.mark.parametrize("yes", [9, -1, float("nan"), np.asarray([1, 9])])
def test_more_yeses_than_people_are_refused(yes: object) -> None:
    with pytest.raises(DataError, match="of 5 answers, between 0 and 5"):
        warner_estimate(yes, 5, 0.7)
    with pytest.raises(PolicyError, match="between 0 and 1"):
        warner_estimate(3, 5, 1.7)
    assert warner_estimate(5, 5, 0.7) == pytest.approx(1.75)


@given(st.integers(2, 60), st.floats(0.001, 0.999))
def test_auto_never_takes_bits_where_p_is_given(size: int, p: float) -> None:
    design = design_channel("auto", [str(index) for index in range(size)], p, None)
    assert (design.kind, design.p) == ("warner" if size == 2 else "k_ary", p)


@pytest.mark.parametrize("size", range(2, 60))
def test_pure_chance_has_epsilon_zero_exactly(size: int) -> None:
    assert design_channel("k_ary", [str(index) for index in range(size)], 1 / size, None).compute_epsilon() == 0


@pytest.mark.parametrize("size", [2, 9, 16, 17, 31, 64])
def test_bits_are_weighed_the_same_by_bytes_and_by_two(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(size)
    bits = chance.integers(0, 2, (50, size)).astype(np.uint8)
    shares, weights = chance.dirichlet(np.ones(size)), chance.random(50)
    for many in (1_000, 1):
        monkeypatch.setattr("sfumato.mine.answers.likeliest_shares._MANY_ROWS", many)
        rows = BitAnswers(np.ones(50), np.packbits(bits, axis=1), unary(size, 1.0))
        assert rows.words.itemsize == (1 if many > 50 else 2)
        assert rows.sum_set_bits(weights) == pytest.approx(weights @ bits)
        likely = np.where(bits, 0.5 / rows.channel.q, 0.5 / (1 - rows.channel.q)) @ shares
        assert rows.compute_gradient(shares)[1] == pytest.approx(np.log(likely).sum())


@given(st.integers(2, 40), st.floats(0.05, 6.0))
def test_auto_takes_what_varies_less(size: int, epsilon: float) -> None:
    names = [str(index) for index in range(size)]
    design = design_channel("auto", names, None, epsilon)
    assert design.compute_epsilon() == pytest.approx(epsilon)
    direct = design_channel("k_ary", names, None, epsilon)
    bits = design_channel("unary", names, None, epsilon)
    rare = [law.q * (1 - law.q) / (law.p - law.q) ** 2 for law in (direct, bits)]
    if abs(rare[0] - rare[1]) > 1e-9 * rare[0]:
        assert (design.kind == "unary") == (rare[1] < rare[0])
    assert bits.q == pytest.approx(1 / (exp(epsilon) + 1))


@given(st.integers(1, 70), st.integers(1, 20), st.integers(0, 99))
def test_bits_are_read_as_they_were_spelt(width: int, rows: int, seed: int) -> None:
    bits = np.random.default_rng(seed).integers(0, 2, (rows, width + 1)).astype(np.uint8)
    assert (unary(width + 1, 1.0).read_bits(spell_bits(bits)) == bits).all()
