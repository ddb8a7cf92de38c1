# SPDX-License-Identifier: MIT
"""A `*` of the originals is a value where no method makes stars, and a label where one does; so is `[0, 5]`."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.literal_values import LiteralValues
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
    assert LiteralValues.find(publish(people, {"ill": kind}), ["ill"]).columns == ()
    assert LiteralValues.find(publish(people, {}, starred=True), ["ill"]).columns == ()
    assert LiteralValues.find(sf.Release(people, None, (), {}), ["ill"]).columns == ()


def test_known_stars_are_values_too() -> None:
    """Ten people whose town is "*" do not fit everybody else: linking, linkability and inference tell them apart."""
    frame = {"town": ["*"] * 10 + ["A"] * 2, "age": list(range(12)), "ill": ["x"] * 10 + ["y"] * 2}
    people = sf.Table.of(frame, {"town": "quasi_identifying", "age": "quasi_identifying", "ill": "sensitive"})
    published = people.replace_frame(people.frame.with_columns(pl.Series("age", ["*"] * 12)))
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
    values = LiteralValues.find(release, ["town"])
    assert values.spell_release(release) is release and values.spell(people) is people


BANDS = ["[0, 5]", "[6, 10]", "[11, 20]", "[21, 50]"]
LOOK_ALIKES = {
    "bands": BANDS,
    "dates": [
        "[2020-01-01, 2020-06-30]",
        "[2020-07-01, 2020-12-31]",
        "[2021-01-01, 2021-06-30]",
        "[2022-01-01, 2022-06-30]",
    ],
    "lists": ["['Comedy', 'Drama']", "['Drama', 'Horror']", "['Action', 'Comedy']", "['Horror']"],
    "sets": ["{flu}", "{asthma}", "{flu, gout}", "{gout}"],
    "stars": ["*", "a", "b", "c"],
}


def publish_kept(table: sf.Table, kind: str) -> sf.Release:
    """The table as it is, by a method that states so, or with nothing stated."""
    return sf.Release(table, None, (), {}) if kind == "unstated" else publish(table, {})


@pytest.mark.parametrize("kind", ["kept", "unstated"])
@pytest.mark.parametrize("values", LOOK_ALIKES.values(), ids=LOOK_ALIKES)
def test_secrets_that_look_like_labels_are_read_as_values(values: list[str], kind: str) -> None:
    """Every town has one value, which is everybody's; whoever does not look is right about one town in four."""
    frame = {"town": ["abcd"[i % 4] for i in range(60)], "g": [values[i % 4] for i in range(60)]}
    people = sf.Table.of(frame, {"town": "quasi_identifying", "g": "sensitive"})
    release = publish_kept(people, kind)
    outcome = sf.attack.Inference(column="g").run(release, people, people)
    assert (outcome.successes, outcome.baseline, outcome.control) == (60, 15, 60)
    assert sf.attack.Homogeneity(column="g").run(release, people).successes == 60


def make_unique_rows(texts: list[str]) -> sf.Table:
    frame = {"k": texts, "s": [f"s{i}" for i in range(len(texts))]}
    return sf.Table.of(frame, {"k": "quasi_identifying", "s": "sensitive"})


@pytest.mark.parametrize("kind", ["kept", "unstated"])
@pytest.mark.parametrize(
    "texts",
    [
        [f"[{i}, {i + 10}]" for i in range(30)],
        [f"{{v{i}, w}}" for i in range(30)],
        [f"{{v{i}, v{i + 1}}}" if i % 2 else f"v{i}" for i in range(30)],
        [f"[a{i:02}, b]" for i in range(30)],
    ],
)
def test_a_row_that_is_published_as_it_is_is_found_whatever_it_looks_like(texts: list[str], kind: str) -> None:
    people = make_unique_rows(texts)
    release = publish_kept(people, kind)
    outcomes = [
        sf.attack.Linkability(known=(("k",), ("s",))).run(release, people),
        sf.attack.CopiedRecords().run(release, people),
        sf.attack.Inference(column="k", known=("s",)).run(release, people),
        sf.attack.SinglingOut(mode="univariate").run(release, people),
        sf.attack.SinglingOut(columns_per_guess=1).run(release, people),
    ]
    assert [(outcome.attempts, outcome.successes) for outcome in outcomes] == [(30, 30)] * 5


@pytest.mark.parametrize("kind", ["kept", "unstated"])
def test_flags_that_are_stars_are_copied_as_any_others(kind: str) -> None:
    """All 32 patterns of five flags, released as they are."""
    names = [f"f{j}" for j in range(5)]
    frame = {name: ["*-"[i >> j & 1] for i in range(32)] for j, name in enumerate(names)}
    roles = dict.fromkeys(names, "quasi_identifying") | {"s": "sensitive"}
    people = sf.Table.of({**frame, "s": [f"s{i}" for i in range(32)]}, roles)
    assert sf.attack.CopiedRecords().run(publish_kept(people, kind), people).successes == 32
    assert sf.attack.Inference(column="f0", known=("s",)).run(publish_kept(people, kind), people).successes == 32


TREE = [["A", "A", "*"], ["B", "A", "*"], ["C", "C", "*"], ["D", "C", "*"]]


@pytest.mark.parametrize("kind", ["kept", "unstated"])
def test_a_value_named_like_its_group_is_a_value_where_values_are_published(kind: str) -> None:
    frame = {"town": ["abcd"[i % 4] for i in range(60)], "g": ["ABCD"[i % 4] for i in range(60)]}
    people = sf.Table.of(frame, {"town": "quasi_identifying", "g": "sensitive"}, {"g": TREE})
    assert sf.attack.Inference(column="g").run(publish_kept(people, kind), people).successes == 60


def test_a_label_named_like_a_value_covers_its_group_where_a_method_makes_labels() -> None:
    """Half of those whose label is "A" or "C" have the value that is drawn from the two under it."""
    frame = {"town": ["abcd"[i % 4] for i in range(60)], "g": ["ABCD"[i % 4] for i in range(60)]}
    people = sf.Table.of(frame, {"town": "quasi_identifying", "g": "sensitive"}, {"g": TREE})
    published = people.replace_frame(people.frame.with_columns(pl.col("g").replace({"B": "A", "D": "C"})))
    changes = state_changes(METHOD, people, published, {"g": ChangeKind.GENERALIZED})
    release = sf.Release(published, None, (), {}, changes=changes)
    assert LiteralValues.find(release, ["g"]) == LiteralValues((), ())
    assert sf.attack.Inference(column="g").run(release, people).successes == 30


def test_a_suppressed_row_of_a_kept_column_is_still_a_label() -> None:
    """Its other cells are values; the star covers anybody."""
    people = make_unique_rows([*BANDS, "[51, 60]"])
    published = people.replace_frame(people.frame.with_columns(pl.Series("k", ["*", *BANDS[1:], "*"])))
    changes = tuple(Change(name, ChangeKind.KEPT, "generalize", starred=name == "k") for name in ("k", "s"))
    release = sf.Release(published, None, (), {}, changes=changes)
    values = LiteralValues.find(release, ["k", "s"])
    assert values == LiteralValues(("k",), ())
    assert values.spell_release(release).data.frame["k"].to_list() == ["*", *BANDS[1:], "*"]
    assert sf.attack.Inference(column="s").run(release, people).successes >= 4
