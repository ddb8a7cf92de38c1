# SPDX-License-Identifier: MIT
"""Whether baskets were randomized as stated, from the file and the originals, without the code that randomized them.

Privacy is recomputed from the stated probabilities; that they are the true ones is tested by counting: how often each
item stayed and came, how many of a basket, and together in neighbouring baskets. All tests are exact binomial ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.baskets import Baskets
from sfumato.errors import DataError, count_noun
from sfumato.measure.binomial_tails import find_least_tail
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.release import Number

_MOST_ERRORS = 37.0


def compute_basket_epsilon(
    operator: str,
    keep: Sequence[Any] = (),
    add: Sequence[Any] = (),
    cutoff: int = 0,
    level: float = 0.5,
) -> float:
    """ε of one item (mask), or of whole baskets of one size (cut and paste)."""
    if operator == "cut_and_paste":
        step = 1 / level
        return log((step ** (cutoff + 1) - 1) / (step - 1))
    return max(_list_item_epsilons(keep, add))


def compute_basket_epsilon_in_all(keep: Sequence[Any], add: Sequence[Any], items: Sequence[Any]) -> float:
    """ε of a whole basket whose items are randomized independently; `items` counts those with each pair."""
    every = zip(_list_item_epsilons(keep, add), items, strict=True)
    return _shorten(sum(epsilon * int(count) for epsilon, count in every))


def _compute_claimed_epsilon(arguments: Mapping[str, Any]) -> float:
    """ε by the arguments of a claim, which also count the items."""
    return compute_basket_epsilon(**{name: value for name, value in arguments.items() if name != "items"})


def _list_item_epsilons(keep: Sequence[Any], add: Sequence[Any]) -> list[float]:
    pairs = [(float(stays), float(comes)) for stays, comes in zip(keep, add, strict=True)]
    return [max(abs(log(stay / add_chance)), abs(log((1 - add_chance) / (1 - stay)))) for stay, add_chance in pairs]


def _shorten(value: float) -> float:
    """Nine digits, as claimed."""
    return float(f"{value:.9g}")


def count_strange_items(published_baskets: Baskets, items: Sequence[Any]) -> int:
    """How many published items are not among the possible ones."""
    return len({str(item) for item in published_baskets.items} - set(map(str, items)))


def count_wrong_sizes(original: Baskets, rows: Ints, sizes: Sequence[str]) -> int:
    """How many baskets were published under another size than their own."""
    pairs = [tuple(map(int, pair.split(":"))) for pair in sizes]
    stated_sizes = np.repeat([size for size, _ in pairs], [count for _, count in pairs])
    true = np.diff(original.offsets)[rows]
    if len(stated_sizes) != len(true):
        return max(len(stated_sizes), len(true))
    return int((stated_sizes != true).sum())


class _Occurrences(NamedTuple):
    """Pairs of basket and item, as numbers, before and after."""

    held_keys: Ints
    shown_keys: Ints
    rows: int
    width: int

    @classmethod
    def of(cls, original: Baskets, published_baskets: Baskets, rows: Ints, items: Sequence[Any]) -> _Occurrences:
        if len(rows) != len(published_baskets) or len(original) != len(published_baskets):
            raise DataError(
                f"{count_noun(len(original), 'basket')} became {len(published_baskets):,}; they cannot be compared"
            )
        numbers = {str(item): code for code, item in enumerate(items)}
        position = np.empty(len(rows), dtype=np.int64)
        position[rows] = np.arange(len(rows))
        held_keys = _number_occurrences(original, numbers, position)
        shown_keys = _number_occurrences(published_baskets, numbers, np.arange(len(published_baskets)))
        return cls(held_keys, shown_keys, len(rows), len(numbers))

    @property
    def kept_keys(self) -> Ints:
        return np.intersect1d(self.held_keys, self.shown_keys, assume_unique=True)

    @property
    def added_keys(self) -> Ints:
        return np.setdiff1d(self.shown_keys, self.held_keys, assume_unique=True)


def _number_occurrences(baskets: Baskets, numbers: Mapping[str, int], position: Ints) -> Ints:
    row = np.repeat(position, np.diff(baskets.offsets))
    code = np.array([numbers.get(str(item), -1) for item in baskets.items], dtype=np.int64)
    codes = code[baskets.codes] if len(code) else np.zeros(0, dtype=np.int64)
    return np.sort((row * len(numbers) + codes)[codes >= 0])


def measure_basket_deviation(
    original: Baskets, published_baskets: Baskets, rows: Ints, items: Sequence[Any], channel: Mapping[str, Any]
) -> float:
    """By how many standard errors baskets deviate from the stated probabilities: the worst of several kinds of counts,
    corrected for their number.
    """
    occurrences = _Occurrences.of(original, published_baskets, rows, items)
    if not occurrences.width:
        return 0.0
    kept_keys, added_keys = occurrences.kept_keys, occurrences.added_keys
    holder_counts = np.bincount(occurrences.held_keys % occurrences.width, minlength=occurrences.width)
    came = np.bincount(added_keys % occurrences.width, minlength=occurrences.width)
    is_masked = channel["operator"] == "mask"
    adds = (
        _read_shares(channel["add"], occurrences.width)
        if is_masked
        else np.full(occurrences.width, float(channel["level"]))
    )
    tails = [_find_least_tail(came, occurrences.rows - holder_counts, adds)]
    sizes = np.bincount(occurrences.held_keys // occurrences.width, minlength=occurrences.rows)
    kept_counts = np.bincount(kept_keys // occurrences.width, minlength=occurrences.rows)
    if is_masked:
        keeps = _read_shares(channel["keep"], occurrences.width)
        tails.append(
            _find_least_tail(
                np.bincount(kept_keys % occurrences.width, minlength=occurrences.width), holder_counts, keeps
            )
        )
        if len(set(keeps.tolist())) == 1:
            tails.append(_test_kept_in_baskets(sizes, kept_counts, lambda size: _list_binomial(size, float(keeps[0]))))
    else:
        cutoff, level = int(channel["cutoff"]), float(channel["level"])
        tails.append(_test_kept_in_baskets(sizes, kept_counts, lambda size: _list_pasted(size, cutoff, level)))
    if len(set(adds.tolist())) == 1:
        tails.append(
            _test_added_to_baskets(
                sizes, np.bincount(added_keys // occurrences.width, minlength=occurrences.rows), occurrences, adds[0]
            )
        )
        tails.append(_test_neighbours(occurrences, added_keys, float(adds[0])))
    tail = min(max(min(tails) * len(tails), 1e-300), 1.0)
    return round(min(abs(NormalDist().inv_cdf(tail / 2)), _MOST_ERRORS), 12)


def _read_shares(shares: Sequence[Any], width: int) -> Floats:
    return np.broadcast_to(np.array([float(share) for share in shares]), width)


def _test_kept_in_baskets(sizes: Ints, kept_counts: Ints, list_chances: Any) -> float:
    """In how many baskets of each size each number of items stayed."""
    counts, many, chances = [], [], []
    for size in np.unique(sizes).tolist():
        counts_of_size = kept_counts[sizes == size]
        counts += np.bincount(counts_of_size, minlength=size + 1).tolist()
        many += [len(counts_of_size)] * (size + 1)
        chances += list_chances(size)
    return _find_least_tail(np.array(counts), np.array(many), np.array(chances))


def _list_binomial(size: int, share: float) -> list[float]:
    from scipy.stats import binom

    return list(binom.pmf(np.arange(size + 1), size, share))


def _list_pasted(size: int, cutoff: int, level: float) -> list[float]:
    """How likely each number of a basket's items is published: pasted ones, and others that came by chance."""
    chances = np.zeros(size + 1)
    for draw in range(cutoff + 1):
        pasted_count = min(draw, size)
        chances[pasted_count:] += np.array(_list_binomial(size - pasted_count, level)) / (cutoff + 1)
    return chances.tolist()


def _test_added_to_baskets(sizes: Ints, came: Ints, occurrences: _Occurrences, share: float) -> float:
    """In how many baskets of each size no more items came than are usual."""
    from scipy.stats import binom

    counts, many, chances = [], [], []
    for size in np.unique(sizes).tolist():
        counts_of_size = came[sizes == size]
        usual = int(binom.median(occurrences.width - size, share))
        counts.append(int((counts_of_size <= usual).sum()))
        many.append(len(counts_of_size))
        chances.append(float(binom.cdf(usual, occurrences.width - size, share)))
    return _find_least_tail(np.array(counts), np.array(many), np.array(chances))


def _test_neighbours(occurrences: _Occurrences, added_keys: Ints, share: float) -> float:
    """How often the same item came to both of two neighbouring baskets that lacked it."""
    pairs, width = occurrences.rows // 2, occurrences.width

    def fold(keys: Ints, odd: int) -> Ints:
        row, item = np.divmod(keys, width)
        row_mask = (row % 2 == odd) & (row < 2 * pairs)
        return np.asarray((row // 2 * width + item)[row_mask])

    joint_count = len(np.intersect1d(fold(added_keys, 0), fold(added_keys, 1), assume_unique=True))
    absent_count = pairs * width - len(np.union1d(fold(occurrences.held_keys, 0), fold(occurrences.held_keys, 1)))
    return _find_least_tail(np.array([joint_count]), np.array([absent_count]), np.array([share**2]))


def _find_least_tail(counts: Ints, many: Ints, chances: Floats) -> float:
    """The smallest two-sided exact binomial tail of several counts, times their number."""
    return min(find_least_tail(counts, many, chances) * max(len(counts), 1), 1.0)


checks_claim(
    "basket_epsilon",
    "at_most",
    properties=("epsilon",),
    arguments=("operator", "keep?", "add?", "items?", "cutoff?", "level?"),
)(lambda _, arguments: _shorten(_compute_claimed_epsilon(arguments)))
checks_claim(
    "basket_epsilon_in_all", "at_most", properties=("epsilon_in_all",), arguments=("operator", "keep", "add", "items")
)(lambda _, arguments: compute_basket_epsilon_in_all(arguments["keep"], arguments["add"], arguments["items"]))
checks_claim(
    "basket_amplification",
    "at_most",
    properties=("amplification",),
    arguments=("operator", "keep?", "add?", "items?", "cutoff?", "level?"),
)(lambda _, arguments: _shorten(exp(_compute_claimed_epsilon(arguments))))
checks_claim("strange_items", "exactly", arguments=("items",))(
    lambda evidence, arguments: count_strange_items(evidence.published_data, arguments["items"])
)
checks_claim("wrong_sizes", "exactly", needs_original=True)(
    lambda evidence, arguments: count_wrong_sizes(evidence.original, evidence.find_original_rows(), arguments["sizes"])
)


@checks_claim("items_off_channel", "at_most", needs_original=True)
def _check_basket_deviation(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    channel = {name: value for name, value in arguments.items() if name != "items"}
    rows = evidence.find_original_rows()
    return measure_basket_deviation(evidence.original, evidence.published_data, rows, arguments["items"], channel)
