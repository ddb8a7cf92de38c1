# SPDX-License-Identifier: MIT
"""Outsourcing: items as codes (Wong et al. 2007), baskets as Bloom filters (Qiu et al. 2008)."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean
from typing import Any

from papers.plots import Axis, Curve, draw_curves
from papers.study import Findings, Grid, Plot, Setting, Statement, frame_of
from papers.wang_2004.data import draw_baskets
from sfumato.attack.codes.bloom_dictionary import BloomDictionary
from sfumato.attack.codes.item_frequency import ItemFrequency
from sfumato.baskets import Baskets
from sfumato.mine.baskets.itemsets import frequent_itemsets
from sfumato.mine.codes.bloom_filters import filter_requests, mine_filters
from sfumato.mine.codes.decoded_itemsets import decode_itemsets
from sfumato.protect.codes.encode_bloom import EncodeBloom
from sfumato.protect.codes.encode_items import EncodeItems
from sfumato.public.codes.item_key import ItemKey
from sfumato.public.sealed_key import fingerprint_baskets
from sfumato.randomness import Randomness

SEED, BASKETS = 2007, (600, 1500)
SHOP = [["a", "b"], ["a"], ["b"], ["c"]]
ONE_TO_N = ItemKey(
    kind="one_to_n", items=("a", "b", "c"), codes=(1, 2, 5, 3, 4, 6), images=((0, 3), (1, 3), (2, 3)), fakes=(),
    fake_places=(), supports=(2, 2, 1, 4, 0, 0), noise=0.0, seed=1, baskets=4,
    data=fingerprint_baskets(Baskets.of(SHOP)),
)  # fmt: skip
"""a → {1, 3}, b → {2, 3} as on the slide; c → {5, 3} is ours, and 4 and 6 are fake."""
ONE_TO_ONE = replace(ONE_TO_N, images=((0,), (1,), (2,)), supports=(2, 2, 1, 0, 0, 0))
RANDOM = frozenset({1, 2, 3, 4, 6})


def _encode_shop(key: ItemKey) -> frozenset[int]:
    """What {a, b} becomes."""
    basket_codes = EncodeItems(kind="one_to_n").protect(Baskets.of(SHOP), key.seal()).data.to_lists()
    return frozenset(map(int, basket_codes[0]))


def _items(key: ItemKey, codes: frozenset[int]) -> set[Any]:
    """N⁻¹ of the slides: the items whose codes are all there."""
    return {item for item, image in zip(key.items, key.published_images, strict=True) if image <= codes}


def mapping(setting: Setting) -> Findings:
    """The mapping of the slides there and back, and how much it hides."""
    single, several = _encode_shop(ONE_TO_ONE), _encode_shop(ONE_TO_N)
    decoded_items = {_write_braces(codes): _items(ONE_TO_N, codes) for codes in (several, RANDOM)}
    del setting  # some hundred baskets are quick enough
    rows = [row for baskets in BASKETS for row in _frequency_rows(baskets)]
    safer = [_compare_mappings(*rows[start : start + 2]) for start in range(0, len(rows), 3)]
    return Findings(
        statements=(
            Statement("One-to-one: {a, b} → {1, 2}.", f"{_write_braces(single)}.", single == {1, 2}),
            Statement("One-to-n: {a, b} → {1, 2, 3}.", f"{_write_braces(several)}.", several == {1, 2, 3}),
            Statement(
                "With random codes: {a, b} → {1, 2, 3, 4, 6}, and N⁻¹ gives {a, b} back.",
                "; ".join(f"N⁻¹({codes_text}) = {_write_braces(items)}" for codes_text, items in decoded_items.items())
                + ".",
                all(items == {"a", "b"} for items in decoded_items.values()),
            ),
            Statement(
                "A random subset E of B ∪ F may be added to each transaction.",
                f"With E = {{5}}, N⁻¹ gives {_write_braces(_items(ONE_TO_N, several | {5}))}: not every subset may.",
                _items(ONE_TO_N, several | {5}) == {"a", "b"},
                "A code that completes the image of another item decodes to that item, too.",
            ),
            Statement(
                "Random codes make one-to-n always more secure than one-to-one.",
                " ".join(text for text, _ in safer),
                all(fewer for _, fewer in safer),
                "Pairs of items that are bought together name codes that supports alone do not.",
            ),
        ),
        grids=(
            Grid(
                "named",
                "Items whose code is identified by someone who knows how often pairs are bought",
                frame_of(rows),
            ),
        ),
        remarks=(
            (
                "Ours adds random codes only where N⁻¹(t′) = t stays true, and gives each item a code of its own, so "
                "that no image is covered by others."
            ),
            (
                "One-to-n mapping is broken in the literature (Molloy, Li, Li 2009), so it is for study. 'Padded' "
                "gives every code the support of k − 1 others."
            ),
        ),
    )


def _compare_mappings(single: dict[str, Any], many: dict[str, Any]) -> tuple[str, bool]:
    """How many items are named one-to-one and one-to-n, and whether one-to-n always names fewer."""
    measures = ("named", "named_by_supports_alone")
    text = f"Of {single['items']} items in {single['baskets']:,} baskets, someone who knows pairs identifies "
    text += f"{single[measures[0]]} one-to-one and {many[measures[0]]} one-to-n; "
    text += f"from supports alone, {single[measures[1]]} and {many[measures[1]]}."
    return text, all(many[name] < single[name] for name in measures)


def _write_braces(items: Any) -> str:
    return "{" + ", ".join(map(str, sorted(items))) + "}"


def _frequency_rows(baskets: int) -> list[dict[str, Any]]:
    data = draw_baskets(baskets, 24, SEED)
    methods = {
        "one-to-one": EncodeItems(kind="one_to_n", n=1, fake_codes=0, noise=0.0),
        "one-to-n with random codes": EncodeItems(kind="one_to_n", n=2),
        "padded, k = 6": EncodeItems(k=6),
    }
    rows = []
    for name, method in methods.items():
        release = method.protect(data, method.new_key(data, Randomness.seeded(SEED)))
        by_pairs, by_supports = (
            attack.run(release, data) for attack in (ItemFrequency(), ItemFrequency(knowledge="supports", clean=False))
        )
        rows.append(
            {
                "baskets": baskets,
                "mapping": name,
                "items": by_pairs.attempts,
                "named": by_pairs.successes,
                "named_by_supports_alone": by_supports.successes,
                "by_chance": by_pairs.baseline,
            }
        )
    return rows


TWELVE_SETS = ("abc", "abcd", "abc", "abd", "ae", "bf", "cg", "dh", "abcij", "kl", "efgh", "ijkl", "dabc", "e")
"""The independent count's baskets are not recorded; these have twelve frequent itemsets as well."""
LEAST = 3
FILTERS = ((16, 2), (32, 2), (64, 2), (128, 2), (16, 4), (32, 4), (64, 4), (128, 4))


def bloom(setting: Setting) -> Findings:
    """What filters feign by their size, what they miss, and who reads them."""
    data = Baskets.of([list(itemset) for itemset in TWELVE_SETS])
    true = {frozenset(items) for items in frequent_itemsets(data, LEAST)["items"].to_list()}
    keys = 12 if setting.quick else 40
    rows = [_filter_row(data, true, bits, hashes, keys) for bits, hashes in FILTERS]
    by_size = {(row["bits"], row["hashes"]): row for row in rows}
    small, large = by_size[16, 2], by_size[128, 4]
    attacks = [
        _attack_filters(data, has_key, knowledge)
        for has_key in (False, True)
        for knowledge in ("dictionary", "supports")
    ]
    return Findings(
        statements=(
            Statement(
                "Mined at the threshold of the originals, filters never miss a frequent itemset.",
                f"{sum(row['missed'] for row in rows)} missed in {keys * len(FILTERS)} runs.",
                not any(row["missed"] for row in rows),
                source="independent count",
            ),
            Statement(
                "16 bits and 2 hashes give 138 sets for 12 true ones.",
                f"{small['sets_mean']:g} on average, {small['sets_most']} at most, for {len(true)}.",
                None,
                "The baskets of the independent count are not recorded.",
                "independent count",
            ),
            Statement(
                "128 bits and 4 hashes give 12 sets for 12.",
                f"{large['sets_mean']:g} on average, {large['sets_most']} at most.",
                large["sets_mean"] < 12.5 and len(true) == 12,
                source="independent count",
            ),
            Statement(
                "The third party would not be able to distill private information from Bloom filters.",
                "; ".join(map(_outcome, attacks)) + ".",
                not any(row["items_named"] for row in attacks),
                "Filters without a key can be tried with every item, and all filters keep how often items are bought.",
            ),
        ),
        grids=(
            Grid("sizes", f"Itemsets that filters show, {keys} keys each", frame_of(rows), _FALSE_POSITIVES),
            Grid("attacks", "Items whose baskets are identified from filters of 128 bits, 4 hashes", frame_of(attacks)),
        ),
        plots=(_sizes(rows),),
    )


_FALSE_POSITIVES = "With the originals, false positives of the filters are removed and the result is exact."


def _filter_row(data: Baskets, true: set[frozenset[str]], bits: int, hashes: int, keys: int) -> dict[str, Any]:
    method, set_counts, miss_count = EncodeBloom(bits=bits, hashes=hashes), [], 0
    for seed in range(keys):
        key = method.new_key(data, Randomness.seeded(seed))
        filter_counts = mine_filters(method.protect(data, key).data, filter_requests(key), LEAST)
        sets = {frozenset(items) for items in decode_itemsets(filter_counts, key)["items"].to_list()}
        set_counts.append(len(sets))
        miss_count += len(true - sets)
    return {
        "bits": bits,
        "hashes": hashes,
        "true_sets": len(true),
        "sets_mean": round(mean(set_counts), 2),
        "sets_most": max(set_counts),
        "missed": miss_count,
    }


def _attack_filters(data: Baskets, has_key: bool, knowledge: str) -> dict[str, Any]:
    method = EncodeBloom(bits=128, hashes=4, keyed=has_key)
    release = method.protect(data, method.new_key(data, Randomness.seeded(SEED)))
    outcome = BloomDictionary(knowledge=knowledge).run(release, data)
    return {
        "filters": "keyed" if has_key else "without a key",
        "knows": "the items by name" if knowledge == "dictionary" else "how often items are bought",
        "items": outcome.attempts,
        "items_named": outcome.successes,
    }


def _outcome(row: dict[str, Any]) -> str:
    return f"{row['filters']}, attacker knows {row['knows']}: {row['items_named']} of {row['items']} items identified"


def _sizes(rows: list[dict[str, Any]]) -> Plot:
    lines = [
        Curve(f"{hashes} hashes", [(row["bits"], row["sets_mean"]) for row in rows if row["hashes"] == hashes])
        for hashes in (2, 4)
    ]
    true = Curve("true", [(bits, rows[0]["true_sets"]) for bits in (16, 128)])
    return draw_curves(
        "Itemsets that filters show",
        Axis("bits of a filter", log=True),
        Axis("itemsets", log=True),
        [*lines, true],
    )
