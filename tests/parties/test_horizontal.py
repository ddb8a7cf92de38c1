# SPDX-License-Identifier: MIT
"""Mining baskets of several sites equals mining the pooled baskets, in every protocol, and sends no names."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.baskets import Item
from sfumato.errors import PartyError, PolicyError
from sfumato.parties.horizontal import JointQuestion, mine_site, read_integer
from sfumato.parties.protocols.threshold import Protocol
from sfumato.parties.result import JointResult
from sfumato.parties.transport.message import decode_frame
from sfumato.parties.transport.network import Network, run_sites
from sfumato.public.thresholds import Support

HOSPITALS = [
    [["asthma", "flu"], ["asthma", "flu", "gout"], ["flu"]],
    [["asthma", "flu"], ["diabetes"], ["asthma", "flu", "diabetes"], []],
    [["gout", "flu"], ["asthma", "flu"], ["hepatitis"]],
]


def collect(result: JointResult) -> tuple[list[list[object]], list[dict[str, object]]]:
    return result.itemsets["items"].to_list(), result.rules.to_dicts()


def pool(sites: Sequence[Sequence[Sequence[Item]]]) -> sf.Baskets:
    return sf.Baskets.of([row for site in sites for row in site])


def mine_pooled(
    baskets: sf.Baskets, support: Support, confidence: float, max_length: int | None = None
) -> tuple[list[list[object]], list[dict[str, object]]]:
    frame = sf.mine.frequent_itemsets(baskets, support, max_length=max_length)
    itemsets = sorted(frame["items"].to_list(), key=lambda items: (len(items), items))
    rules = sf.mine.association_rules(baskets, support, confidence, max_length=max_length)
    rows = rules.select("antecedent", "consequent").to_dicts()
    key = lambda row: (len(row["antecedent"]) + len(row["consequent"]), row["antecedent"], row["consequent"])  # noqa: E731
    return itemsets, sorted(rows, key=key)


@pytest.mark.parametrize("protocol", ["shamir", "textbook", "counts"])
@pytest.mark.parametrize("support", [0.3, 2])
def test_every_protocol_equals_pooled_mining(protocol: Protocol, support: Support) -> None:
    sites = [sf.Baskets.of(rows) for rows in HOSPITALS]
    result = sf.parties.mine_horizontal(sites, support, 0.75, protocol=protocol)
    assert collect(result) == mine_pooled(pool(HOSPITALS), support, 0.75)
    assert result.rules.height > 0
    assert len(result.statements) == len(result.transcripts) == 3


ROWS = st.lists(st.lists(st.integers(1, 4), max_size=3), max_size=6)


@settings(max_examples=6, deadline=None)
@given(
    st.lists(ROWS, min_size=3, max_size=5),
    st.one_of(st.integers(1, 6), st.sampled_from([0.1, 0.25, 0.333, 0.5, 1.0])),
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
)
def test_random_baskets_equal_pooled_mining(sites: list[list[list[int]]], support: Support, confidence: float) -> None:
    result = sf.parties.mine_horizontal(sites, support, confidence)
    assert collect(result) == mine_pooled(pool(sites), support, confidence)


def test_a_support_at_the_threshold_is_frequent() -> None:
    """3 of 10 baskets at 0.3: 0.3 as a float is below 3/10, and the sum over sites is exactly zero."""
    sites = [sf.Baskets.of(rows) for rows in ([["a"], ["b"], ["b"]], [["a"], [], []], [["a"], [], [], []])]
    assert sf.parties.mine_horizontal(sites, 0.3).itemsets["items"].to_list() == [["a"]]
    assert sf.parties.mine_horizontal(sites, 0.30001).itemsets.height == 0


def test_max_length_and_types_of_columns() -> None:
    sites = [sf.Baskets.of([[1, 2, 3]] * 2)] * 3
    result = sf.parties.mine_horizontal(sites, 0.5, Fraction(1, 2), max_length=2)
    assert collect(result) == mine_pooled(pool([[[1, 2, 3]] * 2] * 3), 0.5, 0.5, max_length=2)
    assert result.itemsets.schema == {"items": pl.List(pl.Int64)}
    assert result.rules.schema == {"antecedent": pl.List(pl.Int64), "consequent": pl.List(pl.Int64)}


@pytest.mark.parametrize("protocol", ["shamir", "textbook"])
def test_no_frame_holds_an_item_or_depends_on_counts(protocol: Protocol) -> None:
    frames: list[bytes] = []
    hospital_rows = [
        [[f"illness {item}" for item in row] for row in rows] for rows in HOSPITALS
    ]  # no such name by chance
    sf.parties.mine_horizontal(
        [sf.Baskets.of(rows) for rows in hospital_rows], 0.3, 0.75, protocol=protocol, tap=frames.append
    )
    wire = b"".join(frames)
    assert not [item for item in pool(hospital_rows).items if str(item).encode() in wire]
    kinds = {decode_frame(frame)[1].kind for frame in frames}
    assert not [kind for kind in kinds if "terms" in kind or "entries/entries" in kind]


def test_the_baseline_shows_items_and_says_so() -> None:
    frames: list[bytes] = []
    sites = [sf.Baskets.of(rows) for rows in HOSPITALS[:2]]
    result = sf.parties.mine_horizontal(sites, 0.3, protocol="counts", tap=frames.append)
    assert b"asthma" in b"".join(frames)
    assert any("every site's terms" in sentence for sentence in result.statements[0].knowledge)
    assert "Nobody is protected" in result.statements[0].adversary


def test_statements_name_adversary_and_learnt_candidates() -> None:
    sites = [sf.Baskets.of(rows) for rows in HOSPITALS]
    statement = sf.parties.mine_horizontal(sites, 0.3, names=["north", "east", "south"]).statements[1]
    assert statement.site == "east"
    assert "up to 1 of 3 collude" in statement.adversary
    assert any("which 5 candidates are frequent at some site" in sentence for sentence in statement.knowledge)
    assert statement.bytes_sent > 0


@pytest.mark.parametrize(("rows", "words"), [([], "has 0 entries"), ([["a"]], "has 1 entry")])
def test_statements_about_short_lists_are_true(rows: list[list[str]], words: str) -> None:
    """Of a list of no entries, "more than half of that" is false."""
    statement = sf.parties.mine_horizontal([rows] * 3, 0.5).statements[0]
    assert [sentence for sentence in statement.knowledge if sentence.endswith(words)]
    assert not [sentence for sentence in statement.knowledge if "more than half" in sentence]


@pytest.mark.parametrize("name", [b"05", b"+5", b" 5", b"1_000"])
def test_integers_are_read_in_one_way_only(name: bytes) -> None:
    with pytest.raises(ValueError, match="another way"):
        read_integer(name)


@pytest.mark.parametrize("protocol", ["shamir", "textbook"])
def test_two_sites_are_refused_with_the_reason(protocol: Protocol) -> None:
    with pytest.raises(PartyError, match="learn the other's"):
        sf.parties.mine_horizontal([sf.Baskets.of([["a"]])] * 2, 0.5, protocol=protocol)


def test_sites_must_agree_on_parameters_and_kinds_of_items() -> None:
    async def mine(network: Network, support: float) -> object:
        return await mine_site(network, sf.Baskets.of([["a"]]), JointQuestion(support))

    with pytest.raises(PartyError, match=r'site "site 3" has another min_support'):
        run_sites(mine, [0.5, 0.5, 0.4])
    with pytest.raises(PartyError, match="name items the same way"):
        sf.parties.mine_horizontal([sf.Baskets.of([["a"]]), sf.Baskets.of([[1]]), sf.Baskets.of([[1]])], 0.5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_support": 0},
        {"min_support": 1.5},
        {"min_support": 2**40},
        {"min_support": 0.123456789123},
        {"min_support": 0.5, "min_confidence": 2},
        {"min_support": 0.5, "protocol": "magic"},
        {"min_support": 0.5, "max_length": 0},
        {"min_support": 0.5, "name_bytes": 0},
        {"min_support": 0.5, "floor": 0},
    ],
)
def test_bad_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(PolicyError):
        JointQuestion(**wrong)  # type: ignore[arg-type]


def test_a_small_site_does_not_tell_the_names_of_its_rare_items_below_its_floor() -> None:
    """Of three baskets at 10 %, one is enough: every item there would be a candidate that all sites get to know."""
    sites = [[["flu"]] * 40, [["flu"]] * 40, [["flu"], ["flu"], ["flu", "rare illness"]]]
    frames: list[bytes] = []
    with pytest.raises(PartyError, match="the names of 1 item in fewer than 3") as error_info:
        sf.parties.mine_horizontal(sites, 0.1, floor=3, tap=frames.append)
    assert "rare illness" not in str(error_info.value)
    assert not any(b"/key" in frame for frame in frames)
    assert sf.parties.mine_horizontal(sites, 0.1, floor=1).itemsets["items"].to_list() == [["flu"]]
    assert sf.parties.mine_horizontal([*sites[:2], [["flu"]] * 3], 0.1, floor=3).itemsets.height == 1


def test_long_names_are_refused_with_the_cure() -> None:
    with pytest.raises(PartyError, match="raise name_bytes") as error_info:
        sf.parties.mine_horizontal([sf.Baskets.of([["a" * 70]])] * 3, 0.5)
    assert "aaa" not in str(error_info.value)
    assert sf.parties.mine_horizontal([sf.Baskets.of([["a" * 70]])] * 3, 0.5, name_bytes=70).itemsets.height == 1
