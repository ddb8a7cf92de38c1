# SPDX-License-Identifier: MIT
"""Randomized response: what is claimed and checked, memory, kinds of columns, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.reading.table_reader import read_frame
from sfumato.details import Details
from sfumato.errors import DataError, PolicyError
from sfumato.key import Key
from sfumato.measure.answers.answer_checks import (
    compute_answer_epsilon,
    count_strange_answers,
    measure_channel_deviation,
)
from sfumato.measure.checks import CHECKS, Evidence
from sfumato.mine.answers.proportions import estimate_proportions
from sfumato.protect.answers.randomize_response import RandomizeResponse
from sfumato.public.answer_channel import spell_bits
from sfumato.published_law import read_laws
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.lazy import find_checks
from sfumato.table import Missing, Table

ROLES = {
    "name": "identifying",
    "age": "quasi_identifying",
    "smokes": "sensitive",
    "disease": "sensitive",
    "born": "sensitive",
    "visits": "sensitive",
}


def people(n: int = 600, seed: int = 1) -> Table:
    """People with answers of every kind, some of them missing."""
    chance = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(n)],
            "age": chance.integers(20, 80, n),
            "smokes": pl.Series(chance.random(n) < 0.3).set(pl.Series(chance.random(n) < 0.1), None),
            "disease": chance.choice(["flu", "gout", "mumps", "none"], n, p=[0.2, 0.1, 0.1, 0.6]),
            "born": pl.Series([date(1990, 1 + month % 12, 1) for month in chance.integers(0, 12, n)]),
            "visits": chance.integers(0, 40, n),
        }
    )
    return Table.of(frame, ROLES)


def failing(release: Release, table: Table) -> list[str]:
    """The claims that do not hold, each by its own measure."""
    evidence = Evidence(release.data, table, np.arange(len(table)))
    return [
        claim.property
        for claim in release.claims
        if find_checks()[claim.measure] == "sfumato.measure.answers.answer_checks"
        and not claim.holds(CHECKS[claim.measure](evidence, claim.arguments))
    ]


METHODS = [
    RandomizeResponse(column="smokes", p=0.7),
    RandomizeResponse(column="smokes", p=0.2, missing="answer"),
    RandomizeResponse(column="disease", p=0.6),
    RandomizeResponse(column=("smokes", "disease"), epsilon=1.0),
    RandomizeResponse(column="born", epsilon=2.0, kind="k_ary"),
    RandomizeResponse(column="visits", epsilon=1.0),
    RandomizeResponse(column="visits", p=0.5, categories=tuple(range(50))),
    RandomizeResponse(column="visits", epsilon=0.5, missing="answer", person=("name",)),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda case: f"{case.column}-{case.p}-{case.epsilon}-{case.missing}")
def test_claims_hold_and_break_on_the_originals(method: RandomizeResponse) -> None:
    table = people()
    release = method.protect(table)
    assert failing(release, table) == []
    plain = Release(table.replace_frame(table.frame.drop("name")), method, release.claims, {})
    assert "answers_off_channel" in failing(plain, table)
    assert release.data.frame.columns == table.frame.columns[1:]
    names = (method.column,) if isinstance(method.column, str) else method.column
    other_names = [name for name in release.data.frame.columns if name not in names]
    assert release.data.frame.select(other_names).equals(table.frame.select(other_names))
    public_facts = {name: law.describe() for name, law in release.public.items()}
    assert read_laws(json.loads(json.dumps(public_facts))) == release.public


def test_claims_about_the_rest_break_when_the_rest_is_changed() -> None:
    table = people()
    release = RandomizeResponse(column="smokes", p=0.7).protect(table)
    older = release.data.frame.with_columns(pl.col("age") + 1)
    moved = release.data.frame.with_columns(pl.col("smokes").fill_null(value=True))
    odd = release.data.frame.with_columns(pl.lit("perhaps").alias("smokes"))
    for frame, broken_property in (
        (older, "changed_without_answers"),
        (moved, "changed_without_answers"),
        (odd, "strange_answers"),
    ):
        forged = Release(release.data.replace_frame(frame), release.method, release.claims, {})
        assert broken_property in failing(forged, table)


def test_others_that_are_not_equally_likely_break_the_claim() -> None:
    """The truth as often as promised, but always the same other answer."""
    table = people(3000)
    release = RandomizeResponse(column="disease", p=0.6).protect(table)
    chance = np.random.default_rng(1)
    names = ["flu", "gout", "mumps", "none"]
    following = table.frame["disease"].replace_strict(names, [*names[1:], names[0]])
    cells = table.frame["disease"].zip_with(pl.Series(chance.random(3000) < 0.6), following)
    forged = Release(release.data.replace_frame(release.data.frame.with_columns(cells)), None, release.claims, {})
    assert failing(forged, table) == ["answers_off_channel"]


def test_honest_answers_stay_within_their_standard_errors() -> None:
    """Also for few rows and a p near 1, where a normal distribution is far off: of 800 releases none fails."""
    table = people(12)
    method = RandomizeResponse(column="disease", p=0.99, categories=("flu", "gout", "mumps", "none"))
    worst = 0.0
    for seed in range(800):
        release = method.protect(table, Randomness.seeded(seed))
        claim = next(candidate for candidate in release.claims if candidate.property == "answers_off_channel")
        worst = max(worst, measure_channel_deviation(table, release.data, **dict[str, Any](claim.arguments)))
    assert 1.0 < worst <= 5.0


def forged(release: Release, cells: Any) -> Release:
    """The same release with other answers."""
    frame = release.data.frame.with_columns(pl.Series("x", cells))
    return Release(release.data.replace_frame(frame), release.method, release.claims, {})


def test_lies_that_depend_on_the_truth_break_the_claim() -> None:
    """True with 0.7 over all, but "n" is never a lie, so that "y" is sure; everybody "y"; true by the row's number."""
    n, chance = 50_000, np.random.default_rng(0)
    truth = chance.choice(["y", "n"], n)
    table = Table.of({"x": truth}, {"x": "sensitive"})
    release = RandomizeResponse(column="x", p=0.7).protect(table, Randomness.seeded(1))
    assert failing(release, table) == []
    sure = np.where((truth == "y") & (chance.random(n) < 0.6), "n", truth)
    assert abs((sure == truth).mean() - 0.7) < 0.01
    turned = np.where(truth == "y", "n", "y")
    for kept_mask in (np.arange(n) % 10 < 7, np.arange(n) < 0.7 * n):
        assert failing(forged(release, np.where(kept_mask, truth, turned)), table) == ["answers_off_channel"]
    assert failing(forged(release, sure), table) == ["answers_off_channel"]
    uneven = Table.of({"x": ["y"] * 35_000 + ["n"] * 15_000}, {"x": "sensitive"})
    release = RandomizeResponse(column="x", p=0.7).protect(uneven, Randomness.seeded(1))
    assert failing(forged(release, ["y"] * n), uneven) == ["answers_off_channel"]


@pytest.mark.parametrize(("n", "size", "epsilon"), [(5000, 3, 1.0), (600, 40, 0.5), (600, 1030, 1.0)])
def test_bits_that_are_not_independent_break_the_claim(n: int, size: int, epsilon: float) -> None:
    """Every bit is set as often as it should, but all together, or two always alike, or the truth's with its next."""
    chance = np.random.default_rng(size)
    truth = chance.integers(0, size, n)
    table = Table.of({"x": truth}, {"x": "sensitive"})
    method = RandomizeResponse(column="x", epsilon=epsilon, kind="unary", categories=tuple(range(size)))
    release = method.protect(table, Randomness.seeded(1))
    assert failing(release, table) == []
    rows, q = np.arange(n), release.public["x"]["q"]
    own_bits, noise = chance.random(n) < 0.5, chance.random((n, size)) < q

    def with_own(bits: Any, set_: Any = own_bits) -> pl.Series:
        new_bits = bits.astype(np.uint8)
        new_bits[rows, truth] = set_
        return spell_bits(new_bits)

    assert failing(forged(release, with_own(noise)), table) == []
    alike = np.repeat(noise[:, :1], size, axis=1)
    twins = np.where(np.arange(size) == 1, noise[:, :1], noise)
    next_bits = noise[rows, (truth + 1) % size]
    follows = next_bits | (chance.random(n) < (0.5 - q) / (1 - q))  # half of the time, but always with the next bit
    for cells in (with_own(alike), with_own(twins), with_own(noise, follows)):
        assert failing(forged(release, cells), table) == ["answers_off_channel"]


def test_honest_releases_of_every_size_pass() -> None:
    """400 releases of 1 to 400 rows, 2 to 20 categories, both kinds: those beyond two errors are as few as foretold."""
    chance, deviations = np.random.default_rng(5), []
    for seed in range(400):
        n, size = int(chance.choice([1, 2, 7, 50, 400])), int(chance.choice([2, 3, 9, 20]))
        how: dict[str, Any] = {"epsilon": float(chance.choice([0.0, 0.5, 3.0, 8.0])), "kind": "unary"}
        if seed % 2:
            how = {"p": float(chance.choice([0.001, 0.3, 0.7, 0.99, 1 - 1e-6]))}
        cells = pl.Series([str(code) if code else None for code in chance.integers(0, size, n)], dtype=pl.String)
        table = Table.of(pl.DataFrame({"x": cells}), {"x": "sensitive"})
        names = tuple(str(code) for code in range(size))
        method = RandomizeResponse(column="x", categories=names, missing=["keep", "answer"][seed // 2 % 2], **how)
        release = method.protect(table, Randomness.seeded(seed))
        assert failing(release, table) == []
        claim = next(candidate for candidate in release.claims if candidate.property == "answers_off_channel")
        deviations.append(measure_channel_deviation(table, release.data, **dict[str, Any](claim.arguments)))
    assert max(deviations) <= 4.0
    assert float(np.mean(np.asarray(deviations) > 2)) < 0.0455


def test_a_column_of_nothing_but_missing_answers_is_published_as_such() -> None:
    for column in (pl.Series([None, None], dtype=pl.String), [None, None]):
        table = Table.of(pl.DataFrame({"x": column}), {"x": "sensitive"})
        for how in ({"epsilon": 1.0, "kind": "unary"}, {"epsilon": 0.1}, {"p": 0.7}):
            release = RandomizeResponse(column="x", categories=tuple("abcdefgh"), **how).protect(table)
            assert release.data.frame["x"].to_list() == [None, None]
            assert failing(release, table) == []


@pytest.mark.parametrize("kind", ["k_ary", "unary"])
def test_a_known_domain_of_dates(kind: str) -> None:
    days = [date(2000, 1, 1), date(2001, 1, 1), None] * 5
    table = Table.of({"x": days}, {"x": "sensitive"})
    as_dates, as_texts = (date(2000, 1, 1), date(2001, 1, 1)), ("2000-01-01", "2001-01-01")
    releases = []
    for domain in (as_dates, as_texts):
        method = RandomizeResponse(column="x", epsilon=1.0, kind=kind, categories=domain)
        assert RandomizeResponse.model_validate_json(method.model_dump_json()) == method
        releases.append(method.protect(table, Randomness.seeded(1)))
        assert releases[-1].public["x"]["categories"] == list(as_texts)
        assert failing(releases[-1], table) == []
    assert releases[0].data == releases[1].data
    assert releases[0].data.frame["x"].dtype == (pl.Date if kind == "k_ary" else pl.String)
    with pytest.raises(PolicyError, match="dates as year-month-day"):
        RandomizeResponse(column="x", p=0.7, categories=("2000-01-01", "yesterday")).protect(table)
    moments = [datetime(2000, 1, 1, 3), datetime(2001, 1, 1)] * 5
    times = Table.of({"x": moments}, {"x": "sensitive"})
    assert failing(RandomizeResponse(column="x", p=0.7, categories=tuple(moments[:2])).protect(times), times) == []


def test_keys_as_every_method_with_a_secret_takes_them() -> None:
    table, method = people(50), RandomizeResponse(column="smokes", p=0.7)
    chance = Randomness.seeded
    key = method.new_key(table, chance(1))
    assert key == method.new_key(chance(1)) == method.new_key(randomness=chance(1))
    assert len({answer_key.secret["answers"] for answer_key in (key, method.new_key(table), method.new_key())}) == 3
    assert method.protect(table, key).data == method.protect(table, key=key).data
    assert method.protect(table, key).public["smokes"]["memoized"]
    with pytest.raises(PolicyError, match="two were given"):
        method.protect(table, key, key=key)
    with pytest.raises(PolicyError, match="two sources"):
        method.new_key(chance(1), chance(2))


def test_cells_keep_their_type_and_missing_stays_missing() -> None:
    table = people()
    for name in ("smokes", "disease", "born", "visits"):
        release = RandomizeResponse(column=name, p=0.6, kind="auto").protect(table)
        assert release.data.frame.schema[name] == table.frame.schema[name]
        assert release.data.frame[name].is_null().equals(table.frame[name].is_null())


@pytest.mark.parametrize(("p", "size"), [(0.7, 2), (0.2, 2), (0.5, 4), (0.1, 4)])
def test_frequencies_are_those_of_the_channel(p: float, size: int) -> None:
    """20,000 people of each truth: every answer within five standard errors of its probability."""
    names = list("abcd")[:size]
    table = Table.of({"x": names * 20_000}, {"x": "sensitive"})
    release = RandomizeResponse(column="x", p=p).protect(table, Randomness.seeded(4))
    pair_counts = pl.DataFrame({"x": table.frame["x"], "y": release.data.frame["x"]}).group_by("x", "y").len()
    q = (1 - p) / (size - 1)
    for truth, answer, count in pair_counts.iter_rows():
        chance = p if truth == answer else q
        assert abs(count / 20_000 - chance) < 5 * (chance * (1 - chance) / 20_000) ** 0.5
    assert pair_counts.height == size * size


def test_bits_are_set_as_often_as_the_channel_says_and_independently() -> None:
    table = Table.of({"x": np.arange(30).repeat(2000)}, {"x": "sensitive"})
    release = RandomizeResponse(column="x", epsilon=1.0, kind="unary").protect(table, Randomness.seeded(4))
    law = release.public["x"]
    assert law["q"] == pytest.approx(1 / (exp(1) + 1))
    assert release.data.frame["x"].str.contains("^x[0-9a-f]{8}$").all()
    from sfumato.public.answer_channel import AnswerChannel

    bits = AnswerChannel.of(law).read_bits(release.data.frame["x"]).astype(float)
    own_bits = bits[np.arange(60_000), np.arange(30).repeat(2000)]
    assert abs(own_bits.mean() - 0.5) < 5 * (0.25 / 60_000) ** 0.5
    assert abs((bits.sum() - own_bits.sum()) / (29 * 60_000) - law["q"]) < 5 * (0.2 / (29 * 60_000)) ** 0.5
    bound = np.corrcoef(bits.T) - np.eye(30)
    assert np.abs(bound + 0.01).max() < 0.03


def test_answers_last_with_a_key_and_a_changed_truth_is_a_new_question() -> None:
    table, method = people(4000), RandomizeResponse(column="smokes", p=0.7)
    key = method.new_key()
    first, second = (method.protect(table, key=key).data.frame["smokes"] for _ in range(2))
    assert first.equals(second)
    shuffled = table.replace_frame(table.frame.sample(fraction=1.0, shuffle=True, seed=1))
    second_answers = method.protect(shuffled, key=key).data.frame["smokes"]
    assert dict(zip(shuffled.frame["name"], second_answers, strict=True)) == dict(
        zip(table.frame["name"], first, strict=True)
    )
    turned = method.protect(table.replace_frame(table.frame.with_columns(~pl.col("smokes"))), key=key)
    kept_mask = first == table.frame["smokes"]
    kept_now = turned.data.frame["smokes"] == ~table.frame["smokes"]
    joint_share = float((kept_mask & kept_now).mean() or 0)  # 0.49 if the two are independent
    assert joint_share == pytest.approx(0.49, abs=5 * (0.25 / 3600) ** 0.5)
    other = method.protect(table, key=method.new_key()).data.frame["smokes"]
    assert not other.equals(first)


def test_another_p_or_column_is_another_question() -> None:
    """Were draws shared, an answer that turns true as p grows would be sure to be true."""
    table = people(4000)
    key = RandomizeResponse(column="smokes", p=0.7).new_key()
    truth = table.frame["smokes"]
    low = RandomizeResponse(column="smokes", p=0.7).protect(table, key=key).data.frame["smokes"]
    high = RandomizeResponse(column="smokes", p=0.8).protect(table, key=key).data.frame["smokes"]
    assert int(((low == truth) & (high != truth)).sum()) > 300
    twin = table.frame.with_columns(pl.col("smokes").alias("vapes"))
    joint_release = RandomizeResponse(column=("smokes", "vapes"), p=0.7).protect(
        Table.of(twin, ROLES | {"vapes": "sensitive"}), key=key
    )
    assert joint_release.data.frame["smokes"].equals(low)
    assert 0.5 < float((joint_release.data.frame["smokes"] == joint_release.data.frame["vapes"]).mean() or 0) < 0.66


def test_rows_of_one_person_agree_and_widen_the_variance() -> None:
    names = [f"p{number}" for number in range(500) for _ in range(4)]
    truth = [number % 2 == 0 for number in range(500) for _ in range(4)]
    table = Table.of({"who": names, "yes": truth}, {"who": "insensitive", "yes": "sensitive"})
    release = RandomizeResponse(column="yes", p=0.7, person=("who",)).protect(table)
    assert release.data.frame.group_by("who").agg(pl.col("yes").n_unique())["yes"].max() == 1
    assert release.public["yes"]["repeats"] == 4.0
    assert failing(release, table) == []
    afresh = RandomizeResponse(column="yes", p=0.7).protect(table)
    forged = Release(afresh.data, None, release.claims, {})
    assert failing(forged, table) == ["answers_that_differ"]
    wide, narrow = (estimate_proportions(source, "yes")["variance"][0] for source in (release, afresh))
    assert wide == pytest.approx(4 * narrow, rel=0.2)


def test_the_memory_file_is_made_once_and_read_by_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "answers.key"
    method = RandomizeResponse(column="smokes", p=0.7, memory=str(file))
    table = people()
    first = method.protect(table, Randomness.seeded(1))
    assert file.stat().st_mode & 0o777 == 0o600
    content = file.read_bytes()
    assert method.protect(table).data.frame.equals(first.data.frame)
    assert file.read_bytes() == content
    secret = Key.load(file).secret["answers"]
    text = json.dumps(
        [
            method.describe(),
            [law.describe() for law in first.public.values()],
            [claim.model_dump(mode="json") for claim in first.claims],
        ]
    )
    assert secret not in text
    assert str(tmp_path) not in text
    assert "answers.key" in text
    fresh = RandomizeResponse(column="smokes", p=0.7, memory=str(tmp_path / "another.key"))
    assert not fresh.protect(table, Randomness.seeded(1)).data.frame.equals(first.data.frame)  # no seed decides


def test_a_memory_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "answers.key"
    method = RandomizeResponse(column="smokes", p=0.7, memory=str(file))
    method.protect(people())
    file.chmod(0o644)
    with pytest.raises(DataError, match=f"chmod 600 {file}"):
        method.protect(people())


def test_a_memory_that_is_missing_behind_its_link_is_not_made_anew(tmp_path: Path) -> None:
    """The disk with the key is not mounted: new answers would be a second draw."""
    (tmp_path / "answers.key").symlink_to(tmp_path / "not mounted" / "answers.key")
    with pytest.raises(DataError, match="cannot be read"):
        RandomizeResponse(column="smokes", p=0.7, memory=str(tmp_path / "answers.key")).protect(people())


def test_limits_are_told_as_asked_for() -> None:
    table, method = people(), RandomizeResponse(column="smokes", p=0.7)
    assert any("afresh" in limit for limit in method.protect(table).details["limits"])
    key = method.new_key(Randomness.seeded(1))
    limits = method.protect(table, key=key).details["limits"]
    assert not any("afresh" in limit for limit in limits)
    assert any("seed" in limit for limit in limits)
    full_method = RandomizeResponse(column="smokes", p=0.7, categories=(True, False), missing="answer")
    assert full_method.protect(table, key=method.new_key()).details["limits"] == []


def test_a_given_domain_does_not_come_from_the_data() -> None:
    table = people()
    release = RandomizeResponse(column="disease", p=0.5, categories=("flu", "gout", "mumps", "none", "rage")).protect(
        table
    )
    assert release.public["disease"]["categories"][-1] == "rage"
    assert "rage" in release.data.frame["disease"].to_list()
    single_table = Table.of({"x": [True] * 40}, {"x": "sensitive"})
    assert (
        RandomizeResponse(column="x", p=0.6, categories=(True, False)).protect(single_table).data.frame["x"].dtype
        == pl.Boolean
    )


def test_same_seed_same_answers_and_columns_are_independent() -> None:
    table = people(4000)
    method = RandomizeResponse(column=("smokes", "disease"), p=0.7)
    frame, two, three = (method.protect(table, Randomness.seeded(seed)).data.frame for seed in (1, 1, 2))
    assert frame.equals(two)
    assert not frame["smokes"].equals(three["smokes"])
    kept_mask = (frame["smokes"] == table.frame["smokes"]) & (frame["disease"] == table.frame["disease"])
    assert float(kept_mask.mean() or 0) == pytest.approx(0.49, abs=0.045)


@pytest.mark.parametrize(("kind", "p", "size"), [("warner", 0.7, 2), ("k_ary", 0.4, 6), ("k_ary", 0.05, 6)])
def test_epsilon_is_the_worst_ratio_of_the_matrix(kind: str, p: float, size: int) -> None:
    """By its definition: the largest ratio of an answer's probabilities under two truths."""
    q = (1 - p) / (size - 1)
    matrix = np.full((size, size), q) + (p - q) * np.eye(size)
    worst = max(log(row.max() / row.min()) for row in matrix)
    assert compute_answer_epsilon(kind, p, q) == pytest.approx(worst)
    table = Table.of({"x": [str(code) for code in range(size)] * 5}, {"x": "sensitive"})
    release = RandomizeResponse(column="x", p=p, kind=kind).protect(table)
    assert release.public["x"]["epsilon"] == pytest.approx(worst)


def test_a_written_release_reads_back_as_the_same_answers(tmp_path: Path) -> None:
    table = people()
    table = table.replace_frame(table.frame.with_columns(pl.col("visits") % 39))
    release = RandomizeResponse(column=("smokes", "visits"), epsilon=1.0).protect(table)
    release.data.frame.write_csv(tmp_path / "release.csv")
    table_copy = Table.of(read_frame(tmp_path / "release.csv"), release.data.roles)
    laws = read_laws({name: law.describe() for name, law in release.public.items()})
    release_copy = Release(
        table_copy,
        None,
        (),
        {},
        Details(public=laws),
    )
    for name in ("smokes", "visits"):
        assert estimate_proportions(release_copy, name).equals(estimate_proportions(release, name))
    answer_claims = [claim for claim in release.claims if claim.property == "strange_answers"]
    claims: list[dict[str, Any]] = [dict(claim.arguments) for claim in answer_claims]
    assert [count_strange_answers(table_copy, **arguments) for arguments in claims] == [0, 0]
    padded = table_copy.replace_frame(table_copy.frame.with_columns(pl.col("visits").str.replace(".$", "f")))
    assert len(release.public["visits"]["categories"]) == 39
    assert count_strange_answers(padded, **claims[1]) == len(table)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_answers_that_tell_everything_are_refused(p: float) -> None:
    for column in ("smokes", "disease"):
        with pytest.raises(PolicyError, match="nothing is protected"):
            RandomizeResponse(column=column, p=p).protect(people())
    with pytest.raises(PolicyError, match=r'": epsilon = 50 .* nothing is protected'):
        RandomizeResponse(column="smokes", epsilon=50.0).protect(people())


def test_what_does_not_make_sense_is_refused(tmp_path: Path) -> None:
    table = people()
    with pytest.raises(ValidationError, match=r"give p or epsilon\b(?!, not both)"):
        RandomizeResponse(column="smokes")
    with pytest.raises(ValidationError, match="give either p or epsilon, not both"):
        RandomizeResponse(column="smokes", p=0.7, epsilon=1.0)
    with pytest.raises(ValidationError, match="twice"):
        RandomizeResponse(column="smokes", p=0.7, categories=("true", True))
    cases = [
        (RandomizeResponse(column="name", p=0.7), '"name"'),
        (RandomizeResponse(column=(), p=0.7), "nothing"),
        (RandomizeResponse(column="nowhere", p=0.7), '"nowhere"'),
        (RandomizeResponse(column="disease", p=0.7, kind="warner"), '"disease": kind = warner needs two categories'),
        (RandomizeResponse(column="disease", p=0.7, kind="unary"), "give `epsilon`"),
        (RandomizeResponse(column="smokes", p=0.7, person=("smokes",)), '"smokes" cannot identify the person'),
        (RandomizeResponse(column="smokes", p=0.7, person=()), "no column identifies the person"),
    ]
    for method, message in cases:
        with pytest.raises(PolicyError, match=message):
            method.protect(table)
    with pytest.raises(DataError, match="600 cells are not among the 2 `categories`"):
        RandomizeResponse(column="visits", p=0.7, categories=("many", "few")).protect(table)
    with pytest.raises(DataError, match="cells are not among the 2 `categories`; add what occurs"):
        RandomizeResponse(column="disease", p=0.7, categories=("flu", "gout")).protect(table)
    with pytest.raises(DataError, match="no rows"):
        RandomizeResponse(column="smokes", p=0.7).protect(table.replace_frame(table.frame.clear()))
    single_table = Table.of({"x": ["same", "same", None]}, {"x": "sensitive"})
    with pytest.raises(DataError, match='"x" has fewer than two different values'):
        RandomizeResponse(column="x", p=0.7).protect(single_table)
    with pytest.raises(PolicyError, match='lists 1 possible answer for "x", which can hide nothing; list at least two'):
        RandomizeResponse(column="x", p=0.7, categories=("same",)).protect(single_table)
    unnamed = table.replace_frame(table.frame.with_columns(pl.col("name").replace("person 3", None)))
    key = RandomizeResponse(column="smokes", p=0.7).new_key()
    with pytest.raises(DataError, match="1 row does not identify the person"):
        RandomizeResponse(column="smokes", p=0.7).protect(unnamed, key=key)
    with pytest.raises(DataError, match="changed or damaged"):
        RandomizeResponse(column="smokes", p=0.7).protect(table, key=Key("randomize_response", {"answers": "00"}))
    with pytest.raises(PolicyError, match="one of them"):
        RandomizeResponse(column="smokes", p=0.7, memory=str(tmp_path / "m")).protect(table, key=key)


def test_how_often_people_are_there_does_not_depend_on_their_truths() -> None:
    """Rows of one person with one truth share an answer; whether they do would tell which truths agree."""
    repeats = set()
    for truths in (["yes"] * 4, ["yes", "no"] * 2, ["yes", "yes", "no", "no"]):
        survey = Table.of(
            {"who": ["a", "a", "b", "b"] * 5, "ill": truths * 5}, {"who": "identifying", "ill": "sensitive"}
        )
        method = RandomizeResponse(column="ill", p=0.7, categories=("yes", "no"), person=("who",))
        repeats.add(method.protect(survey, Randomness.seeded(1)).public["ill"]["repeats"])
    assert repeats == {10.0}


def test_drawn_empty_cells_are_refused_where_their_rows_would_not_count() -> None:
    """An honest release did not verify: its certificate left rows out that the method itself had made incomplete."""
    table = Table.of(
        {"sex": ["f", "m", "f", "m"], "age": [30, 31, 32, 33]}, {"sex": "quasi_identifying", "age": "sensitive"}
    )
    method = RandomizeResponse(column="sex", p=0.3, categories=("f", "m"), missing="answer")
    with pytest.raises(PolicyError, match=r'draws empty cells in "sex".*such as own_value, or missing = "keep"'):
        method.protect(replace(table, missing=Missing.DROP))
    assert len(method.protect(table).data) == 4
    kept_answers = method.model_copy(update={"missing": "keep"})
    assert len(kept_answers.protect(replace(table, missing=Missing.DROP)).data) == 4
