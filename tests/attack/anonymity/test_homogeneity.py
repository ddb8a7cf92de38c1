# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.anonymity.homogeneity import Homogeneity
from sfumato.attack.candidates import CandidateSets, look_up_candidates
from sfumato.data.hierarchies.published_labels import format_range
from sfumato.details import Details
from sfumato.protect.anonymity.models.class_models import LDiversity
from tests.contract.examples import people
from tests.contract.test_attacks import as_is, noise
from tests.tables import figure_2, small_tables


@dataclass(frozen=True)
class Mixed:
    """A release of a small table in which every cell is at a level of its own, and sensitive values beside it."""

    table: sf.Table
    release: sf.Release
    values: list[str | None]
    found: list[list[int]]
    """The rows that fit each person, by going through all pairs."""
    ways: list[list[list[int]]]
    """These; of them the equal ones if there are any; of them the narrowest."""

    def choose(self, count_right: Callable[[list[list[int]]], int]) -> list[list[int]]:
        """The first way by which most are right."""
        return max(self.ways, key=count_right)


@st.composite
def mixed_releases(draw: st.DrawFn, uniform: bool | None = None, with_missing: bool = True) -> Mixed:
    small = draw(small_tables())
    width, count = len(small.hierarchies), len(small.rows)
    words = st.sampled_from(["a", "b", "c", None] if with_missing else ["a", "b", "c"])
    values = draw(st.lists(words, min_size=count, max_size=count))
    levels = [st.integers(0, len(hierarchy[0]) - 1) for hierarchy in small.hierarchies]
    same = draw(st.tuples(*levels))
    mix = draw(st.booleans()) if uniform is None else not uniform
    row_levels = [draw(st.tuples(*levels)) if mix else same for _ in range(count)]
    rows_of = [{row[0]: row for row in hierarchy} for hierarchy in small.hierarchies]
    cells = [tuple(rows_of[j][small.rows[i][j] or ""][row_levels[i][j]] for j in range(width)) for i in range(count)]
    table = small.table()
    table = table.replace_frame(table.frame.with_columns(pl.Series("s", values, dtype=pl.String)))
    frame = table.frame.with_columns(
        pl.Series(f"q{j}", [row[j] for row in cells], dtype=pl.String) for j in range(width)
    )
    sizes = [
        {label: sum(label in row or label == "*" for row in rows.values()) for row in rows.values() for label in row}
        for rows in rows_of
    ]
    width_of = [prod(size[cell] for size, cell in zip(sizes, row, strict=True)) for row in cells]
    candidates: list[list[int]] = []
    for person in small.rows:
        label_sets = [set(rows_of[j][person[j] or ""]) | {"*"} for j in range(width)]
        fits = [
            i
            for i, row in enumerate(cells)
            if all(cell in labels for cell, labels in zip(row, label_sets, strict=True))
        ]
        starred = [i for i in fits if set(cells[i]) == {"*"}]
        candidates.append([i for i in fits if i not in starred] or starred)
    equal = [
        [i for i in fits if cells[i] == person] or fits for person, fits in zip(small.rows, candidates, strict=True)
    ]
    narrowest = [[i for i in fits if width_of[i] == min(width_of[j] for j in fits)] for fits in candidates]
    return Mixed(
        table, sf.Release(table.replace_frame(frame), None, (), {}), values, candidates, [candidates, equal, narrowest]
    )


def commonest(values: list[str | None], everywhere: list[str | None]) -> tuple[str | None, int]:
    """The most common value, ties to the one that is commoner everywhere, then by spelling; missing comes last."""
    overall, counts = Counter(everywhere), Counter(values)
    best = min(counts, key=lambda v: (-counts[v], v is None, -overall[v], v or ""))
    return best, counts[best]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(mixed=mixed_releases(), share=st.sampled_from([1.0, 0.75, 2 / 3, 0.5]))
def test_disclosed_values_by_hand(mixed: Mixed, share: float) -> None:
    def list_claims(found: list[list[int]]) -> list[str | None]:
        claims = []
        for rows in found:
            value, count = commonest([mixed.values[i] for i in rows], mixed.values)
            agreed = Fraction(count, len(rows)) >= Fraction(share).limit_denominator(1000)
            claims.append(value if agreed else None)
        return claims

    def count_right(found: list[list[int]]) -> int:
        return sum(
            claim is not None and claim == value for claim, value in zip(list_claims(found), mixed.values, strict=True)
        )

    outcome = Homogeneity(share=share).run(mixed.release, mixed.table)
    found = mixed.choose(count_right)
    assert outcome.successes == count_right(found)
    present_values = [value for value in mixed.values if value is not None]
    best = commonest([*present_values], mixed.values)[0] if present_values else ""
    claims = zip(list_claims(found), mixed.values, strict=True)
    assert outcome.baseline == sum(claim is not None and value == best for claim, value in claims)
    assert outcome.attempts == len(mixed.values)
    assert outcome.facts["classes"] == len({tuple(rows) for rows in found})


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(mixed=mixed_releases())
def test_candidates_are_counted_as_by_hand(mixed: Mixed) -> None:
    published: sf.Table = mixed.release.data
    tally = CandidateSets.of(look_up_candidates(published, mixed.table)).tally(published, mixed.table, "s")
    for person, rows in enumerate(mixed.found):
        number = int(tally.sets.of_person[person])
        span = slice(tally.first[number], tally.first[number + 1])
        names = tally.values.gather(tally.codes[span]).to_list()
        assert dict(zip(names, tally.counts[span].tolist(), strict=True)) == Counter(mixed.values[i] for i in rows)
        assert tally.sizes[number] == len(rows)


def test_figure_2_of_the_seed() -> None:
    """Two of five classes share their problem: hypertension and chest pain, two people each."""
    outcome = Homogeneity().run(as_is(figure_2()), figure_2())
    assert (outcome.attempts, outcome.successes, outcome.baseline) == (11, 4, 2)  # most have chest pain
    assert outcome.facts == {"homogeneous_classes": 2, "classes": 5, "people_in_them": 4, "columns": ["problem"]}


def test_k_anonymity_leaves_classes_that_agree_and_l_diversity_none() -> None:
    """Forty people in twenty pairs, five of which share their disease."""
    frame = pl.DataFrame({"q": [f"v{i // 2:02}" for i in range(40)], "s": [f"s{i // 8 * i}" for i in range(40)]})
    frame = frame.with_columns(pl.when(pl.int_range(40) < 10).then(pl.lit("flu")).otherwise(pl.col("s")).alias("s"))
    tree = [[f"v{i:02}", f"g{i // 10}", "*"] for i in range(20)]
    table = sf.Table.of(frame, {"q": "quasi_identifying", "s": "sensitive"}, {"q": tree})
    release = sf.Generalize(models=(sf.KAnonymity(k=2),)).protect(table)
    outcome = Homogeneity().run(release, table)
    assert (outcome.successes, outcome.facts["homogeneous_classes"], outcome.facts["classes"]) == (10, 5, 20)
    diverse = sf.Generalize(models=(LDiversity(l=2, column="s"),)).protect(table)
    assert Homogeneity().run(diverse, table).facts["homogeneous_classes"] == 0


def test_rows_that_show_the_known_values_are_believed_before_wider_ones() -> None:
    """Three people of each town have one illness; two others of the job, whose towns are starred, have another."""
    ills = ["flu", "gout", "asthma", "ulcer", "hiv", "cold", "burn", "acne"]
    rows = [(f"T{i}", f"j{i}", ills[i]) for i in range(8) for _ in range(3)]
    rows += [(f"U{i}{end}", f"j{i}", ills[(i + step) % 8]) for i in range(8) for end, step in (("a", 3), ("b", 5))]
    roles = {"town": "quasi_identifying", "job": "quasi_identifying", "ill": "sensitive"}
    table = sf.Table.of(pl.DataFrame(rows, schema=list(roles), orient="row"), roles)
    release = sf.Generalize(models=(sf.KAnonymity(k=2),), recoding="local").protect(table)
    assert release.data.frame["town"].to_list() == [*(town for town, _, _ in rows[:24]), *["*"] * 16]
    outcome = Homogeneity().run(release, table)
    assert (outcome.successes, outcome.facts["homogeneous_classes"]) == (24, 8)


def test_people_of_one_class_share_a_set_where_labels_are_ranges() -> None:
    """Four ages in two ranges are two sets, not four."""
    roles = {"age": "quasi_identifying", "s": "sensitive"}
    table = sf.Table.of({"age": ["21", "25", "31", "35"], "s": list("aabc")}, roles)
    published = sf.Table.of({"age": [format_range(20, 29)] * 2 + [format_range(30, 39)] * 2, "s": list("aabc")}, roles)
    outcome = Homogeneity().run(as_is(published), table)
    assert outcome.successes == 2
    assert (outcome.facts["homogeneous_classes"], outcome.facts["classes"]) == (1, 2)


def test_half_agreement_is_enough_when_asked() -> None:
    table = sf.Table.of({"q": ["x"] * 4, "s": ["a", "a", "b", "c"]}, {"q": "quasi_identifying", "s": "sensitive"})
    assert Homogeneity().run(as_is(table), table).successes == 0
    assert Homogeneity(share=0.5).run(as_is(table), table).successes == 2
    assert Homogeneity(share=0.51).run(as_is(table), table).successes == 0


def test_several_columns_any_of_which_will_do() -> None:
    table = sf.Table.of(
        {"q": list("xxyy"), "s": list("aabc"), "t": list("defg")},
        {"q": "quasi_identifying", "s": "sensitive", "t": "sensitive"},
    )
    assert Homogeneity().run(as_is(table), table).successes == 2
    assert Homogeneity(column="t").run(as_is(table), table).successes == 0


def test_people_who_are_not_there() -> None:
    """Of three strangers one fits a class that agrees on their own value, one on another's, one fits nothing."""
    roles = {"q": "quasi_identifying", "s": "sensitive"}
    table = sf.Table.of({"q": list("xxyy"), "s": list("aabb")}, roles)
    strangers = sf.Table.of({"q": list("xyz"), "s": list("aaa")}, roles)
    assert Homogeneity().run(as_is(table), table, control=strangers).control == 1
    assert Homogeneity().run(as_is(table), table).control is None


def test_rows_follow_their_people() -> None:
    """Shuffled and partly left out: the details say who is where."""
    roles = {"q": "quasi_identifying", "s": "sensitive"}
    table = sf.Table.of({"q": list("xyzw"), "s": list("abcd")}, roles)
    rows = np.asarray([2, 0])
    release = sf.Release(table.replace_frame(table.frame[rows]), None, (), {}, Details(rows=rows))
    outcome = Homogeneity().run(release, table)
    assert (outcome.attempts, outcome.successes) == (2, 2)


def test_a_missing_value_is_never_learnt() -> None:
    table = sf.Table.of({"q": ["x", "x", "y"], "s": [None, None, "a"]}, {"q": "quasi_identifying", "s": "sensitive"})
    outcome = Homogeneity().run(as_is(table), table)
    assert outcome.successes == 1
    assert outcome.facts["homogeneous_classes"] == 2


def test_it_succeeds_on_originals_and_fails_on_noise() -> None:
    data = people()
    assert Homogeneity().run(as_is(data), data).low > 0.5
    # The nearest row of strangers tells no more than the most common value.
    fresh = Homogeneity().run(noise(data), data)
    assert fresh.successes <= fresh.baseline


def test_json_round_trip() -> None:
    attack = Homogeneity(column="s", share=0.8)
    assert Homogeneity.model_validate_json(attack.model_dump_json()) == attack


def test_bad_input_is_named() -> None:
    table = figure_2()
    with pytest.raises(sf.DataError, match='"shoe"'):
        Homogeneity(column="shoe").run(as_is(table), table)
    with pytest.raises(sf.DataError, match="11 published rows"):
        Homogeneity().run(as_is(table), table.replace_frame(table.frame.head(3)))
    with pytest.raises(sf.DataError, match="quasi_identifying"):
        plain = sf.Table.of({"s": ["a"]}, {"s": "sensitive"})
        Homogeneity().run(as_is(plain), plain)
    with pytest.raises(sf.DataError, match="no column is sensitive"):
        plain = sf.Table.of({"q": ["a"]}, {"q": "quasi_identifying"})
        Homogeneity().run(as_is(plain), plain)
    with pytest.raises(sf.DataError, match='"problem" to check guesses against'):
        Homogeneity().run(as_is(table), table, control=table.replace_frame(table.frame.drop("problem")))
    with pytest.raises(ValueError, match="share"):
        Homogeneity(share=0)
