# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import factorial, prod

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.anonymity import value_assignments
from sfumato.attack.anonymity.minimality import Minimality
from sfumato.details import AnonymityDetails, Details
from sfumato.protect.anonymity.models.class_models import AlphaKAnonymity, LDiversity
from tests.attack.anonymity.test_homogeneity import Mixed, mixed_releases
from tests.contract.examples import people
from tests.contract.test_attacks import as_is, noise

ROLES = {"q": "quasi_identifying", "s": "sensitive"}
TREE = [["q1", "Q"], ["q2", "Q"]]


def talk() -> tuple[sf.Table, sf.Release]:
    """The authors' talk at VLDB 2007: two q1, both with cancer, and four q2 without; published as one class Q."""
    table = sf.Table.of({"q": ["q1"] * 2 + ["q2"] * 4, "s": ["yes"] * 2 + ["none"] * 4}, ROLES, {"q": TREE})
    return table, as_is(table.replace_frame(table.frame.with_columns(pl.lit("Q").alias("q"))))


def test_the_authors_example() -> None:
    """q2 with two of four would have been 2-diverse, so both q1 must have cancer: chance 1; the class says 1/3."""
    table, release = talk()
    outcome = Minimality(share=0.5, values=("yes",)).run(release, table)
    assert (outcome.attempts, outcome.successes, outcome.baseline) == (6, 6, 4)
    assert outcome.facts["raised"] == 6
    assert outcome.facts["largest_gain"] == pytest.approx(2 / 3)
    assert outcome.facts["inference"] == "used"
    assert (outcome.facts["classes_counted"], outcome.facts["classes_sampled"]) == (1, 0)


def test_without_minimality_nothing_is_learnt() -> None:
    """A rule that the finer node keeps as well cannot have been the reason: what was found contradicts it."""
    table, release = talk()
    outcome = Minimality(share=1.0, values=("yes",)).run(release, table)
    assert (outcome.successes, outcome.facts["raised"]) == (0, 0)
    assert outcome.facts["inference"].startswith("none: no way was found")


@pytest.mark.parametrize("model", [AlphaKAnonymity(k=2, alpha=0.5, column="s"), LDiversity(l=2, column="s")])
def test_a_release_that_the_method_made(model: AlphaKAnonymity | LDiversity) -> None:
    """k, l and the share are the method's own; only cancer stands twice, so the two q1 must have had it."""
    values = ["cancer", "cancer", "flu", "cold", "gout", "cough"]
    table = sf.Table.of({"q": ["q1"] * 2 + ["q2"] * 4, "s": values}, ROLES, {"q": TREE})
    release = sf.Generalize(models=(model,)).protect(table)
    assert release.details["levels"] == {"q": 1}
    outcome = Minimality().run(release, table)
    assert outcome.facts["inference"] == "used"
    # The four of q2 are left with four values, each at 1/4, above the 1/6 of the class; one guess of the four is right.
    assert (outcome.successes, outcome.baseline, outcome.facts["raised"]) == (3, 2, 6)


@dataclass(frozen=True)
class Rule:
    k: int
    l: int
    share: Fraction
    values: frozenset[str]

    def refuses(self, values: Sequence[str]) -> bool:
        counts = Counter(values)
        return (
            len(values) < self.k
            or len(counts) < self.l
            or any(Fraction(counts[value], len(values)) > self.share for value in self.values)
        )


def grouped(labels: Sequence[tuple[str, ...]]) -> list[list[int]]:
    classes: dict[tuple[str, ...], list[int]] = {}
    for i, label in enumerate(labels):
        classes.setdefault(label, []).append(i)
    return list(classes.values())


def orders(values: list[str]) -> Iterator[tuple[str, ...]]:
    """Every distinct order of some values."""
    if not values:
        yield ()
    for value in sorted(set(values)):
        rest = values.copy()
        rest.remove(value)
        yield from ((value, *tail) for tail in orders(rest))


def posterior(mixed: Mixed, rule: Rule) -> list[dict[str, Fraction]] | None:
    """Hand the values of each class out in every way; keep the ways in which every finer neighbour offends."""
    table, frame = mixed.table, mixed.release.data.frame
    names = table.quasi_identifying
    rows = {name: {row[0]: row for row in table.hierarchies[name].rows} for name in names}
    levels = {}
    for name in names:
        labels = set(frame[name].to_list())
        height = table.hierarchies[name].height
        levels[name] = next(n for n in range(height + 1) if labels <= {row[n] for row in rows[name].values()})
    neighbours = []
    for lowered in [name for name in names if levels[name]]:
        node_levels = {name: levels[name] - (name == lowered) for name in names}
        person = table.frame.select(names).rows()
        neighbours.append(
            grouped(
                [
                    tuple(rows[n][cell][node_levels[n]] for n, cell in zip(names, record, strict=True))
                    for record in person
                ]
            )
        )
    classes = grouped([tuple(str(cell) for cell in row) for row in frame.select(names).rows()])
    values = [str(value) for value in mixed.values]
    deals: list[list[str]] = []
    for ways in product(*(list(orders([values[i] for i in members])) for members in classes)):
        dealt = values.copy()
        for members, way in zip(classes, ways, strict=True):
            for i, value in zip(members, way, strict=True):
                dealt[i] = value
        if neighbours and all(
            any(rule.refuses([dealt[i] for i in members]) for members in node) for node in neighbours
        ):
            deals.append(dealt)
    if not deals:
        return None
    return [
        {value: Fraction(count, len(deals)) for value, count in Counter(way[i] for way in deals).items()}
        for i in range(len(values))
    ]


@dataclass(frozen=True)
class Counts:
    right: float
    blind: float
    raised: int


def by_hand(mixed: Mixed, rule: Rule) -> Counts:
    """Guess for each person what the chances say, and count as the attack does."""
    values = [str(value) for value in mixed.values]
    chances = posterior(mixed, rule)
    overall = Counter(values)
    right = blind = raised = 0
    for person, rows in enumerate(mixed.found):
        class_counts = Counter(values[i] for i in rows)
        line = sorted(class_counts, key=lambda value: (-overall[value], value))
        plain = max(line, key=lambda value: class_counts[value])
        person_chances = chances[person] if chances else {}
        guess = max(line, key=lambda value: person_chances.get(value, Fraction(0)))
        more = person_chances.get(guess, Fraction(0)) > Fraction(class_counts[guess], len(rows))
        raised += more
        if more or len(class_counts) == 1:
            right += (guess if more else plain) == values[person]
            blind += plain == values[person]
    return Counts(right, blind, raised)


def attacked(mixed: Mixed, rule: Rule) -> Counts:
    every = set(mixed.values) <= rule.values
    attack = Minimality(k=rule.k, l=rule.l, share=float(rule.share), values=None if every else tuple(rule.values))
    outcome = attack.run(mixed.release, mixed.table)
    return Counts(outcome.successes, outcome.baseline, outcome.facts["raised"])


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    mixed=mixed_releases(uniform=True, with_missing=False),
    k=st.integers(1, 2),
    l=st.integers(1, 2),
    share=st.sampled_from([Fraction(1), Fraction(2, 3), Fraction(1, 2)]),
    every=st.booleans(),
)
def test_chances_by_handing_out_the_values_in_every_way(
    mixed: Mixed,
    k: int,
    l: int,
    share: Fraction,
    every: bool,
) -> None:
    values = [str(value) for value in mixed.values]
    ways = 1
    for members in {tuple(rows) for rows in mixed.found}:
        ways *= factorial(len(members)) // prod(map(factorial, Counter(values[i] for i in members).values()))
    assume(ways <= 2000 and (every or "a" in values))
    rule = Rule(k, l, share, frozenset(values) if every else frozenset("a"))
    assert attacked(mixed, rule) == by_hand(mixed, rule)


def two_columns(seed: int) -> Mixed:
    """Eight people in two columns of two halves, one or both of them generalized; few values, so that much offends."""
    chance = np.random.default_rng(seed)
    first_codes, two = chance.integers(0, 4, 8), chance.integers(0, 2, 8)
    values = chance.choice(["a", "b", "c"], 8, p=[0.3, 0.4, 0.3]).tolist()
    table = sf.Table.of(
        {"q0": [f"v{i}" for i in first_codes], "q1": [f"w{i}" for i in two], "s": values},
        {"q0": "quasi_identifying", "q1": "quasi_identifying", "s": "sensitive"},
        {"q0": [[f"v{i}", f"g{i // 2}", "any"] for i in range(4)], "q1": [["w0", "all"], ["w1", "all"]]},
    )
    first_level, second_level = [(1, 1), (1, 0), (2, 0), (2, 1)][seed % 4]
    code_pairs = zip(first_codes.tolist(), two.tolist(), strict=True)
    cells = [((f"v{i}", f"g{i // 2}", "any")[first_level], "all" if second_level else f"w{j}") for i, j in code_pairs]
    frame = table.frame.with_columns(
        pl.Series("q0", [cell for cell, _ in cells]), pl.Series("q1", [cell for _, cell in cells])
    )
    classes = [[i for i, cell in enumerate(cells) if cell == person_cell] for person_cell in cells]
    return Mixed(table, as_is(table.replace_frame(frame)), values, classes, [classes])


def test_chances_where_much_offends() -> None:
    """120 small tables by exhaustion; in a good part of them minimality does say more, in several classes at once."""
    rules = [
        Rule(1, 1, Fraction(1, 2), frozenset("a")),
        Rule(1, 2, Fraction(1), frozenset("abc")),
        Rule(2, 1, Fraction(2, 3), frozenset("ab")),
    ]
    raised = several = 0
    for seed in range(120):
        mixed, rule = two_columns(seed), rules[seed % 3]
        if not set(mixed.values) & rule.values:
            continue
        expected = by_hand(mixed, rule)
        assert attacked(mixed, rule) == expected, seed
        raised += expected.raised > 0
        several += expected.raised > 0 and len({tuple(rows) for rows in mixed.found}) > 1
    assert raised > 12
    assert several > 4


def test_drawing_comes_near_to_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """12 people in two parts; drawn 5,000 times, the interval of 99.9 % covers what counting gives."""
    values = ["yes", "yes", "yes", "none"] + ["none"] * 8
    table = sf.Table.of({"q": ["q1"] * 4 + ["q2"] * 8, "s": values}, ROLES, {"q": TREE})
    release = as_is(table.replace_frame(table.frame.with_columns(pl.lit("Q").alias("q"))))
    attack = Minimality(share=0.4, values=("yes",), samples=5000)
    exact = attack.run(release, table)
    # 48 ways put two of the three into q1 and 4 ways put all three: (48·2 + 4·3) / (52·4) each, beside 1/4.
    assert exact.facts["largest_gain"] == pytest.approx(108 / 208 - 1 / 4)
    monkeypatch.setattr(value_assignments, "_MOST_TABLES", 0)
    sampled_outcome = attack.run(release, table, randomness=sf.Randomness.seeded(3))
    assert (exact.facts["classes_sampled"], sampled_outcome.facts["classes_sampled"]) == (0, 1)
    assert sampled_outcome.facts["widest_interval"] > 0 == exact.facts["widest_interval"]
    assert (
        abs(sampled_outcome.facts["largest_gain"] - exact.facts["largest_gain"])
        <= sampled_outcome.facts["widest_interval"] / 2
    )
    assert (sampled_outcome.successes, sampled_outcome.facts["raised"]) == (exact.successes, exact.facts["raised"])


def test_few_draws_that_agree_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one way in 495 explains the release: 100 draws cannot say it, counting can."""
    values = ["yes"] * 4 + ["none"] * 8
    table = sf.Table.of({"q": ["q1"] * 4 + ["q2"] * 8, "s": values}, ROLES, {"q": TREE})
    release = as_is(table.replace_frame(table.frame.with_columns(pl.lit("Q").alias("q"))))
    attack = Minimality(share=0.75, values=("yes",), samples=100)
    assert attack.run(release, table).successes == 12
    monkeypatch.setattr(value_assignments, "_MOST_TABLES", 0)
    assert attack.run(release, table).successes == 0


def test_many_classes_hide_which_one_was_the_reason() -> None:
    """Ten times the talk's table side by side: any of the ten may have been it, and confidence drops."""
    q = [f"{part}.{i}" for i in range(10) for part in ("q1", "q1", "q2", "q2", "q2", "q2")]
    values = ["yes", "yes", "none", "none", "none", "none"] + ["yes", "none", "yes", "none", "none", "none"] * 9
    tree = [[f"{part}.{i}", f"Q.{i}"] for i in range(10) for part in ("q1", "q2")]
    table = sf.Table.of({"q": q, "s": values}, ROLES, {"q": tree})
    release = as_is(table.replace_frame(table.frame.with_columns(pl.col("q").str.replace("q[12]", "Q"))))
    outcome = Minimality(share=0.5, values=("yes",)).run(release, table)
    assert outcome.facts["inference"] == "used"
    # P(a class offends) is 1/15; given that one of ten does, its q1 are "none" with less than the class's 2/3.
    offends = Fraction(1, 15)
    any_offence = 1 - (1 - offends) ** 10
    assert outcome.facts["largest_gain"] < float(offends / any_offence)
    assert 0 < outcome.facts["raised"] <= 60


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (sf.Generalize(models=(LDiversity(l=2, column="s"),), suppression_limit=0.1), "suppressed"),
        (sf.Generalize(models=(LDiversity(l=2, column="s", kind="entropy"),)), "not worked out"),
        (sf.Generalize(models=(LDiversity(l=2, column="other"),)), "not worked out"),
        (None, "models are not known"),
    ],
)
def test_it_says_why_nothing_is_inferred(method: sf.Generalize | None, why: str) -> None:
    table, release = talk()
    bare_release = sf.Release(release.data, method, (), {})
    outcome = Minimality(column="s").run(bare_release, table)
    assert why in outcome.facts["inference"]
    assert outcome.successes == 0


def test_other_shapes_are_left_alone() -> None:
    table, release = talk()
    mixed = table.replace_frame(table.frame.with_columns(pl.Series("q", ["Q", "Q", "Q", "Q", "q2", "q2"])))
    facts = Minimality(l=2).run(as_is(mixed), table).facts
    assert "not published at one level" in facts["inference"]
    unproven = sf.Release(release.data, None, (), {}, AnonymityDetails(proven=False))
    assert "not finished" in Minimality(l=2).run(unproven, table).facts["inference"]
    assert "nothing was generalized" in Minimality(l=2).run(as_is(table), table).facts["inference"]
    assert "sizes of its classes" in Minimality(k=3).run(release, table).facts["inference"]
    fewer = sf.Release(release.data.replace_frame(release.data.frame.head(4)), None, (), {}, Details(rows=np.arange(4)))
    assert Minimality(l=3).run(fewer, table).attempts == 4


def test_people_who_are_not_there() -> None:
    table = sf.Table.of({"q": list("xxyy"), "s": list("aabc")}, ROLES)
    strangers = sf.Table.of({"q": list("xxy"), "s": list("abb")}, ROLES)
    assert Minimality(l=2).run(as_is(table), table, control=strangers).control == 1


def test_it_succeeds_on_originals_and_fails_on_noise() -> None:
    data = people()
    attack = Minimality(column="disease", l=2)
    assert attack.run(as_is(data), data).low > 0.5
    assert attack.run(noise(data), data).risk < 0.02


def test_outcomes_repeat_and_models_round_trip() -> None:
    table, release = talk()
    attack = Minimality(share=0.5, values=("yes",), column="s", k=1, l=1, samples=500)
    assert attack.run(release, table) == attack.run(release, table)
    assert Minimality.model_validate_json(attack.model_dump_json()) == attack


def test_bad_input_is_named() -> None:
    data = people()
    with pytest.raises(sf.DataError, match="2 columns are sensitive"):
        Minimality(l=2).run(as_is(data), data)
    with pytest.raises(sf.DataError, match='"shoe"'):
        Minimality(l=2, column="shoe").run(as_is(data), data)
    with pytest.raises(sf.DataError, match='none of `values` occurs in "s"'):
        table, release = talk()
        Minimality(share=0.5, values=("Yes",)).run(release, table)
    with pytest.raises(ValueError, match="share"):
        Minimality(share=0)


def test_a_search_that_says_nothing_of_its_end_is_not_taken_for_finished() -> None:
    """Without `proven` a method that is known counted as one that had tried every finer node."""
    table, release = talk()
    method = sf.Generalize(models=(LDiversity(l=2, column="s"),))
    silent = sf.Release(release.data, method, (), {})
    assert "not finished" in Minimality(column="s").run(silent, table).facts["inference"]
    finished = sf.Release(release.data, method, (), {}, AnonymityDetails(proven=True))
    assert Minimality(column="s").run(finished, table).facts["inference"] == "used"
