# SPDX-License-Identifier: MIT
"""Mining attributes that are split between sites equals mining the joined rows, in every protocol."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.arrays import Flags
from sfumato.errors import DataError, PartyError, PolicyError
from sfumato.parties.protocols import scalar_product
from sfumato.parties.protocols.agreement import agree_on_item_kind, agree_on_parameters
from sfumato.parties.protocols.common_names import refuse_common_names
from sfumato.parties.protocols.row_matching import align_by_number
from sfumato.parties.protocols.scalar_product import PackedProducts, Pair, compare_shares, open_products, plan_batches
from sfumato.parties.result import JointResult
from sfumato.parties.transport.message import decode_frame
from sfumato.parties.transport.network import Network, run_sites
from sfumato.parties.vertical import VerticalProtocol, VerticalQuestion, mine_vertical_site
from sfumato.public.thresholds import Support

Found = tuple[list[list[str]], list[tuple[list[str], list[str]]]]


def draw_sites(seed: int, rows: int, widths: Sequence[int]) -> list[list[list[str]]]:
    """Baskets of several sites about the same people, with correlated items."""
    chance = np.random.default_rng(seed)
    leaning = chance.random(rows)
    return [
        [[f"{site}:{item}" for item in range(width) if chance.random() < 0.1 + 0.8 * lean] for lean in leaning]
        for site, width in zip("abcd", widths, strict=False)
    ]


def mine_joined(sites: Sequence[Sequence[Sequence[str]]], support: Support, confidence: float) -> Found:
    joined = sf.Baskets.of([[item for part in row for item in part] for row in zip(*sites, strict=True)])
    itemsets = sf.mine.frequent_itemsets(joined, support)["items"].to_list()
    rules = sf.mine.association_rules(joined, support, confidence).select("antecedent", "consequent").rows()
    return sorted(itemsets), sorted(rules)


def collect(result: JointResult) -> Found:
    return sorted(result.itemsets["items"].to_list()), sorted(result.rules.rows())


@pytest.mark.parametrize("protocol", ["packed", "textbook"])
@pytest.mark.parametrize("support", [0.3, 14])
def test_two_sites_equal_joined_mining(protocol: VerticalProtocol, support: Support) -> None:
    sites = draw_sites(1, 41, (3, 3))
    result = sf.parties.mine_vertical([sf.Baskets.of(rows) for rows in sites], support, 0.65, protocol=protocol)
    assert collect(result) == mine_joined(sites, support, 0.65)
    split = [left + right for left, right in collect(result)[1] if len({item[0] for item in left + right}) == 2]
    assert split  # there are rules between sites
    assert result.statements[0].protocol == protocol


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 1000), st.integers(10, 60), st.sampled_from([0.3, 0.5, 8]), st.sampled_from([0.5, 0.667, 1.0]))
def test_random_rows_at_two_sites(seed: int, rows: int, support: Support, confidence: float) -> None:
    sites = draw_sites(seed, rows, (2, 3))
    baskets = [sf.Baskets.of(part) for part in sites]
    result = sf.parties.mine_vertical(baskets, support, confidence, floor=2)
    assert collect(result) == mine_joined(sites, support, confidence)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([(2, 2, 2), (1, 3, 2), (2, 1, 1, 2)]), st.sampled_from([0.3, 0.5]))
def test_random_rows_at_more_sites(seed: int, widths: tuple[int, ...], support: float) -> None:
    sites = draw_sites(seed, 30, widths)
    result = sf.parties.mine_vertical([sf.Baskets.of(part) for part in sites], support, 0.7, floor=2)
    assert collect(result) == mine_joined(sites, support, 0.7)
    assert result.statements[0].protocol == "shamir"


def test_scalar_products_over_several_blocks_are_shared_and_compared() -> None:
    """9,000 rows are two blocks; each share alone is a random number, the sum of both is the product."""
    chance = np.random.default_rng(3)
    vectors = [{name: chance.random(9000) < 0.3 for name in "xyz"} for _ in range(2)]
    pairs = [Pair(left, right) for left in "xy" for right in "yz"]
    products = [int((vectors[0][pair.left] & vectors[1][pair.right]).sum()) for pair in pairs]
    least = sorted(products)[1]

    async def run(network: Network, columns: dict[str, Flags]) -> tuple[list[int], list[bool], int]:
        opened: PackedProducts[str] = await open_products(network, 9000, 9000)
        shares = await opened.share(pairs, columns.__getitem__, "test")
        terms = [share - (least if network.index == 0 else 0) for share in shares]
        return shares, (await compare_shares(network, terms, opened.modulus, "test")).tolist(), opened.modulus

    (first, flags, modulus), (last, same_flags, _) = run_sites(run, vectors)
    assert [(left + right) % modulus for left, right in zip(first, last, strict=True)] == products
    assert flags == same_flags == [product >= least for product in products]
    assert not set(first) & set(products)


def test_only_whether_a_product_reaches_the_threshold_is_told() -> None:
    left, right = [1, 1, 0, 1, 0], [0, 1, 0, 1, 1]
    assert sf.parties.compare_scalar_product([left, right], 2, floor=2)
    assert not sf.parties.compare_scalar_product([left, right], 3, floor=2)
    for vectors, least, words in (
        ([left, right], 1, "at least the floor of 2"),
        ([left, right[1:]], 2, "equally long"),
        ([left, [0, 1, 0, 1, 2]], 2, "vector of 0 and 1"),
    ):
        with pytest.raises(sf.SfumatoError, match=words):
            sf.parties.compare_scalar_product(vectors, least, floor=2)
    for floor, words in ((10, "the floor of 10"), (1, "at least 2")):
        with pytest.raises(PolicyError, match=words):
            sf.parties.compare_scalar_product([left, right], 2, floor=floor)


def test_batches_answer_every_pair_once() -> None:
    pairs = [Pair(left, right) for left in (2, 1) for right in (5, 6, 7)]
    for vectors in (1, 2, 4):
        batches = plan_batches(pairs, vectors)
        answered = [
            (left, right, index)
            for batch in batches
            for rights, places in zip(batch.rights, batch.places, strict=True)
            for left, right, index in zip(batch.lefts, rights, places, strict=True)
        ]
        assert sorted(answered, key=lambda row: row[2]) == [(*pair, index) for index, pair in enumerate(pairs)]


def test_tables_are_aligned_by_a_key_and_their_cells_are_items() -> None:
    chance = np.random.default_rng(5)
    smokes = chance.random(60) < 0.6
    clinic = {"patient": [f"patient-{row}" for row in range(60)], "smokes": np.where(smokes, "yes", "no").tolist()}
    order = chance.permutation(60)[:50]
    insurer = {
        "patient": [f"patient-{row}" for row in order] + ["stranger"],
        "claim": [("high" if smokes[row] else "low") for row in order] + ["high"],
    }
    tables = [
        sf.Table.of(data, roles={"patient": "identifying", **dict.fromkeys(list(data)[1:], "sensitive")})
        for data in (clinic, insurer)
    ]
    frames: list[bytes] = []
    result = sf.parties.mine_vertical(tables, 0.2, 0.9, key="patient", tap=frames.append)
    assert {(*left, *right) for left, right in result.rules.rows()} >= {("smokes=yes", "claim=high")}
    assert "which 50 of this site's people" in str(result.statements[0])
    assert not any(b"stranger" in frame or b"patient-" in frame for frame in frames)


def test_only_names_of_frequent_items_and_no_counts_are_sent() -> None:
    sites = draw_sites(7, 40, (2, 2))
    sites[0][0].append("a:rare disease")
    frames: list[bytes] = []
    sf.parties.mine_vertical([sf.Baskets.of(rows) for rows in sites], 0.4, 0.8, tap=frames.append)
    assert not any(b"rare" in frame for frame in frames)
    sizes: dict[str, set[tuple[str, ...]]] = {}
    for frame in frames:
        message = decode_frame(frame)[1]
        sizes.setdefault(message.kind, set()).add(tuple(array.dtype.str[1:] for array in message.arrays.values()))
    plain = {kind for kind, forms in sizes.items() if ("i8",) in forms}
    assert plain == set()  # whole numbers in the open are for the textbook alone


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"min_support": 9}, PartyError, "below the floor of 10"),
        ({"min_support": 2, "floor": 3}, PartyError, "below the floor of 3"),
        ({"floor": 1}, PolicyError, "floor must be a whole number, at least 2"),
        ({"max_questions": 1}, PartyError, "above the limit of 1"),
        ({"protocol": "shamir"}, PartyError, "with two, each holds half"),
        ({"protocol": "open"}, PolicyError, 'must be "packed", "shamir" or "textbook"'),
        ({"min_confidence": 0.12345678901}, PolicyError, "round it to six"),
        ({"max_length": 0}, PolicyError, "max_length"),
        ({"key": "patient"}, DataError, "no ids to align by"),
    ],
)
def test_what_is_refused(change: dict[str, object], error: type[Exception], words: str) -> None:
    sites = [sf.Baskets.of(rows) for rows in draw_sites(1, 40, (2, 2))]
    arguments: dict[str, object] = {"min_support": 15, "min_confidence": 0.8, **change}
    with pytest.raises(error, match=words):
        sf.parties.mine_vertical(sites, **arguments)  # type: ignore[arg-type]


def test_three_sites_are_refused_where_that_is_not_sound() -> None:
    sites = [sf.Baskets.of([[name]] * 20) for name in "abc"]
    for protocol in ("packed", "textbook"):
        with pytest.raises(PartyError, match="two sites; 3 sites would have to show"):
            sf.parties.mine_vertical(sites, 10, protocol=protocol)
    with pytest.raises(PartyError, match="same name at two sites"):
        sf.parties.mine_vertical([sites[0], sites[0]], 10)


@pytest.mark.parametrize("sites", [2, 3])
def test_a_rare_item_of_the_same_name_at_two_sites_is_refused(sites: int) -> None:
    """In joined rows it is one item: rare at both sites, frequent together, and not found by either."""
    rows = [[["x"] if site * 8 <= row < site * 8 + 8 else [] for row in range(24)] for site in range(2)]
    rows += [[["y"]] * 24] * (sites - 2)
    frames: list[bytes] = []
    with pytest.raises(PartyError, match="same name at two sites") as error_info:
        sf.parties.mine_vertical([sf.Baskets.of(part) for part in rows], 10, tap=frames.append)
    assert '"x"' not in str(error_info.value)
    assert not any(b"names" in frame for frame in frames)  # no name was sent before


@pytest.mark.parametrize("content", [b"[", b'{"a": 1}', b"[1]", b'["x", "x"]', b"\xff", b"[" * 5000])
def test_garbage_instead_of_items_ends_the_run(content: bytes) -> None:
    question = VerticalQuestion(10, key=None)

    async def run(network: Network, baskets: sf.Baskets) -> object:
        if network.index == 0:
            return await mine_vertical_site(network, baskets, question)
        await agree_on_parameters(network, {"task": "vertical", **question.as_parameters()})
        await agree_on_item_kind(network, baskets)
        await align_by_number(network, len(baskets))
        await network.receive(network.sites[0], "products/key")
        await refuse_common_names(network, [b"other"])
        await network.broadcast("level 1/items", {"names": np.frombuffer(content, dtype=np.uint8)})
        return await network.receive(network.sites[0], "never")

    with pytest.raises(PartyError, match=r"the items of a site"):
        run_sites(run, [sf.Baskets.of([["a"]] * 20)] * 2)


def test_many_comparisons_are_sent_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scalar_product, "COMPARISONS", 3)
    sums = list(range(-4, 4))
    frames: list[bytes] = []

    async def run(network: Network, site_shares: list[int]) -> list[bool]:
        return [bool(flag) for flag in await compare_shares(network, site_shares, 101, "test")]

    shares = [[(value - 50) % 101 for value in sums], [50] * 8]
    assert run_sites(run, shares, tap=frames.append) == [[value >= 0 for value in sums]] * 2
    kinds = [decode_frame(frame)[1].kind for frame in frames]
    assert kinds.count("test/bits") == 3


def test_sites_that_ask_differently_stop() -> None:
    async def run(network: Network, baskets: sf.Baskets) -> object:
        return await mine_vertical_site(network, baskets, VerticalQuestion(10 + network.index))

    with pytest.raises(PartyError, match="another min_support"):
        run_sites(run, [sf.Baskets.of([["a"]] * 20), sf.Baskets.of([["b"]] * 20)])
