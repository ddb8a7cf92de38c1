# SPDX-License-Identifier: MIT
"""A `*` of the originals is a value where no method makes stars, and a label where one does."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.literal_stars import LiteralStars
from sfumato.change import Change, ChangeKind, state_changes

METHOD = sf.SwapConfidential(column="ill", share=0.1)


def make_people() -> sf.Table:
    """Three ages: everybody has "*", everybody has "flu", or three illnesses."""
    frame = {"age": [20, 30, 40] * 15, "ill": [ill for at in range(15) for ill in ("*", "flu", "abc"[at % 3])]}
    return sf.Table.of(frame, {"age": "quasi_identifying", "ill": "sensitive"})


def publish(table: sf.Table, kinds: dict[str, ChangeKind], *, starred: bool = False) -> sf.Release:
    changes = state_changes(METHOD, table, table, kinds)
    if starred:
        changes = tuple(Change(change.column, change.kind, change.method, starred=True) for change in changes)
    return sf.Release(table, None, (), {}, changes=changes)


def test_inference_is_no_weaker_than_homogeneity_or_a_majority_vote() -> None:
    people = make_people()
    release = sf.Partition(models=[sf.KAnonymity(k=3)]).protect(people)
    homogeneity = sf.attack.Homogeneity(column="ill").run(release, people)
    rows = zip(release.data.frame["age"], people.frame["ill"], strict=True)
    votes: dict[str, Counter[str]] = {}
    for age, ill in rows:
        votes.setdefault(age, Counter())[ill] += 1
    majority = sum(max(counts.values()) for counts in votes.values())
    outcome = sf.attack.Inference(column="ill").run(release, people)
    assert outcome.successes == majority == 35 > homogeneity.successes == 30


@pytest.mark.parametrize("kind", [ChangeKind.KEPT, ChangeKind.GROUPED, ChangeKind.SWAPPED, ChangeKind.BLANKED])
def test_the_blind_guess_counts_a_star_as_any_other_value(kind: ChangeKind) -> None:
    ill = ["*"] * 8 + ["flu"] * 2
    people = sf.Table.of({"age": [1] * 10, "ill": ill}, {"age": "quasi_identifying", "ill": "sensitive"})
    outcome = sf.attack.Inference(column="ill").run(publish(people, {"ill": kind}), people)
    assert outcome.successes == outcome.baseline == 8


@pytest.mark.parametrize("kind", [ChangeKind.GENERALIZED, ChangeKind.RANGES, ChangeKind.OTHER])
def test_a_star_covers_everything_where_a_method_makes_stars(kind: ChangeKind) -> None:
    people = make_people()
    assert LiteralStars.find(publish(people, {"ill": kind}), ["ill"]).columns == ()
    assert LiteralStars.find(publish(people, {}, starred=True), ["ill"]).columns == ()
    assert LiteralStars.find(sf.Release(people, None, (), {}), ["ill"]).columns == ()


def test_known_stars_are_values_too() -> None:
    """Ten people whose town is "*" do not fit everybody else: linking, linkability and inference tell them apart."""
    frame = {"town": ["*"] * 10 + ["A"] * 2, "age": list(range(12)), "ill": ["x"] * 10 + ["y"] * 2}
    people = sf.Table.of(frame, {"town": "quasi_identifying", "age": "quasi_identifying", "ill": "sensitive"})
    published = people.with_frame(people.frame.with_columns(pl.Series("age", ["*"] * 12)))
    changes = state_changes(METHOD, people, published, {"age": ChangeKind.GENERALIZED})
    release = sf.Release(published, None, (), {}, changes=changes)
    outcome = sf.attack.Linking().run(release, people, people)
    assert (outcome.successes, outcome.highest_risk, outcome.facts["smallest_match"]) == (2, 0.5, 2)
    assert sf.attack.Homogeneity().run(release, people).successes == 12
    assert sf.attack.Inference(column="ill").run(release, people, people).successes == 12
    halves = sf.attack.Linkability(known=(("town",), ("ill",))).run(release, people, people)
    assert halves.successes > 0 and people.frame["town"][0] == "*"


def test_tables_without_such_a_star_are_not_copied() -> None:
    people = sf.Table.of({"town": ["A", "B"]}, {"town": "quasi_identifying"})
    release = publish(people, {})
    stars = LiteralStars.find(release, ["town"])
    assert stars.spell_release(release) is release and stars.spell(people) is people
