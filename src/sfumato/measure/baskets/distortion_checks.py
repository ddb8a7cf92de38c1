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
from sfumato.errors import DataError
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.release import Number

_MOST_ERRORS = 37.0


def compute_basket_epsilon(
    operator: str,
    keep: Sequence[Any] = (),
    add: Sequence[Any] = (),
    items: Sequence[Any] = (),
    cutoff: int = 0,
    level: float = 0.5,
) -> float:
    """ε of one item (mask), or of whole baskets of one size (cut and paste)."""
    if operator == "cut_and_paste":
        step = 1 / level
        return log((step ** (cutoff + 1) - 1) / (step - 1))
    return max(_list_item_epsilons(keep, add))


def compute_basket_epsilon_in_all(
    operator: str, keep: Sequence[Any], add: Sequence[Any], items: Sequence[Any]
) -> float:
    """ε of a whole basket whose items are randomized independently; `items` counts those with each pair."""
    every = zip(_list_item_epsilons(keep, add), items, strict=True)
    return _shorten(sum(epsilon * int(count) for epsilon, count in every))


def _list_item_epsilons(keep: Sequence[Any], add: Sequence[Any]) -> list[float]:
    pairs = [(float(stays), float(comes)) for stays, comes in zip(keep, add, strict=True)]
    return [max(abs(log(stay / come)), abs(log((1 - come) / (1 - stay)))) for stay, come in pairs]


def _shorten(value: float) -> float:
    """Nine digits, as claimed."""
    return float(f"{value:.9g}")


def count_strange_items(published: Baskets, items: Sequence[Any]) -> int:
    """How many published items are not among the possible ones."""
    return len({str(item) for item in published.items} - set(map(str, items)))


def count_wrong_sizes(original: Baskets, rows: Ints, sizes: Sequence[str]) -> int:
    """How many baskets were published under another size than their own."""
    pairs = [tuple(map(int, pair.split(":"))) for pair in sizes]
    stated = np.repeat([size for size, _ in pairs], [count for _, count in pairs])
    true = np.diff(original.offsets)[rows]
    if len(stated) != len(true):
        return max(len(stated), len(true))
    return int((stated != true).sum())


class _Occurrences(NamedTuple):
    """Pairs of basket and item, as numbers, before and after."""

    held: Ints
    shown: Ints
    rows: int
    width: int

    @classmethod
    def of(cls, original: Baskets, published: Baskets, rows: Ints, items: Sequence[Any]) -> _Occurrences:
        if len(rows) != len(published) or len(original) != len(published):
            raise DataError(f"{len(original)} baskets became {len(published)}; they cannot be compared")
        numbers = {str(item): code for code, item in enumerate(items)}
        position = np.empty(len(rows), dtype=np.int64)
        position[rows] = np.arange(len(rows))
        held = _number_occurrences(original, numbers, position)
        shown = _number_occurrences(published, numbers, np.arange(len(published)))
        return cls(held, shown, len(rows), len(numbers))

    @property
    def kept(self) -> Ints:
        return np.intersect1d(self.held, self.shown, assume_unique=True)

    @property
    def added(self) -> Ints:
        return np.setdiff1d(self.shown, self.held, assume_unique=True)


def _number_occurrences(baskets: Baskets, numbers: Mapping[str, int], position: Ints) -> Ints:
    row = np.repeat(position, np.diff(baskets.offsets))
    code = np.array([numbers.get(str(item), -1) for item in baskets.items], dtype=np.int64)
    codes = code[baskets.codes] if len(code) else np.zeros(0, dtype=np.int64)
    return np.sort((row * len(numbers) + codes)[codes >= 0])


def measure_basket_deviation(
    original: Baskets, published: Baskets, rows: Ints, items: Sequence[Any], channel: Mapping[str, Any]
) -> float:
    """By how many standard errors baskets deviate from the stated probabilities: the worst of several kinds of counts,
    corrected for their number.
    """
    seen = _Occurrences.of(original, published, rows, items)
    if not seen.width:
        return 0.0
    kept, added = seen.kept, seen.added
    held = np.bincount(seen.held % seen.width, minlength=seen.width)
    came = np.bincount(added % seen.width, minlength=seen.width)
    masked = channel["operator"] == "mask"
    adds = _read_shares(channel["add"], seen.width) if masked else np.full(seen.width, float(channel["level"]))
    tails = [_find_least_tail(came, seen.rows - held, adds)]
    sizes = np.bincount(seen.held // seen.width, minlength=seen.rows)
    stayed = np.bincount(kept // seen.width, minlength=seen.rows)
    if masked:
        keeps = _read_shares(channel["keep"], seen.width)
        tails.append(_find_least_tail(np.bincount(kept % seen.width, minlength=seen.width), held, keeps))
        if len(set(keeps.tolist())) == 1:
            tails.append(_test_kept_in_baskets(sizes, stayed, lambda size: _list_binomial(size, float(keeps[0]))))
    else:
        cutoff, level = int(channel["cutoff"]), float(channel["level"])
        tails.append(_test_kept_in_baskets(sizes, stayed, lambda size: _list_pasted(size, cutoff, level)))
    if len(set(adds.tolist())) == 1:
        tails.append(
            _test_added_to_baskets(sizes, np.bincount(added // seen.width, minlength=seen.rows), seen, adds[0])
        )
        tails.append(_test_neighbours(seen, added, float(adds[0])))
    tail = min(max(min(tails) * len(tails), 1e-300), 1.0)
    return round(min(abs(NormalDist().inv_cdf(tail / 2)), _MOST_ERRORS), 12)


def _read_shares(shares: Sequence[Any], width: int) -> Floats:
    return np.broadcast_to(np.array([float(share) for share in shares]), width)


def _test_kept_in_baskets(sizes: Ints, stayed: Ints, list_chances: Any) -> float:
    """In how many baskets of each size each number of items stayed."""
    counts, many, chances = [], [], []
    for size in np.unique(sizes).tolist():
        inside = stayed[sizes == size]
        counts += np.bincount(inside, minlength=size + 1).tolist()
        many += [len(inside)] * (size + 1)
        chances += list_chances(size)
    return _find_least_tail(np.array(counts), np.array(many), np.array(chances))


def _list_binomial(size: int, share: float) -> list[float]:
    from scipy.stats import binom

    return list(binom.pmf(np.arange(size + 1), size, share))


def _list_pasted(size: int, cutoff: int, level: float) -> list[float]:
    """How likely each number of a basket's items is published: pasted ones, and others that came by chance."""
    chances = np.zeros(size + 1)
    for draw in range(cutoff + 1):
        pasted = min(draw, size)
        chances[pasted:] += np.array(_list_binomial(size - pasted, level)) / (cutoff + 1)
    return chances.tolist()


def _test_added_to_baskets(sizes: Ints, came: Ints, seen: _Occurrences, share: float) -> float:
    """In how many baskets of each size no more items came than are usual."""
    from scipy.stats import binom

    counts, many, chances = [], [], []
    for size in np.unique(sizes).tolist():
        inside = came[sizes == size]
        usual = int(binom.median(seen.width - size, share))
        counts.append(int((inside <= usual).sum()))
        many.append(len(inside))
        chances.append(float(binom.cdf(usual, seen.width - size, share)))
    return _find_least_tail(np.array(counts), np.array(many), np.array(chances))


def _test_neighbours(seen: _Occurrences, added: Ints, share: float) -> float:
    """How often the same item came to both of two neighbouring baskets that lacked it."""
    pairs, width = seen.rows // 2, seen.width

    def fold(keys: Ints, odd: int) -> Ints:
        row, item = np.divmod(keys, width)
        chosen = (row % 2 == odd) & (row < 2 * pairs)
        return np.asarray((row // 2 * width + item)[chosen])

    both = len(np.intersect1d(fold(added, 0), fold(added, 1), assume_unique=True))
    lacking = pairs * width - len(np.union1d(fold(seen.held, 0), fold(seen.held, 1)))
    return _find_least_tail(np.array([both]), np.array([lacking]), np.array([share**2]))


def _find_least_tail(counts: Ints, many: Ints, chances: Floats) -> float:
    """The smallest two-sided exact binomial tail of several counts, times their number."""
    from scipy.special import bdtr, bdtrc

    if not len(counts):
        return 1.0
    successes, chance = counts.astype(np.float64), np.clip(chances, 0.0, 1.0)
    below = bdtr(successes, many, chance)
    above = np.where(counts > 0, bdtrc(successes - 1, many, chance), 1.0)
    # Without trials, nothing is unusual.
    tails = np.where(many > 0, np.minimum(below, above), 1.0)
    return min(2 * float(np.nanmin(tails)) * len(counts), 1.0)


checks_claim(
    "basket_epsilon",
    "at_most",
    properties=("epsilon",),
    arguments=("operator", "keep", "add", "items", "cutoff", "level"),
)(lambda _, arguments: _shorten(compute_basket_epsilon(**arguments)))
checks_claim(
    "basket_epsilon_in_all", "at_most", properties=("epsilon_in_all",), arguments=("operator", "keep", "add", "items")
)(lambda _, arguments: compute_basket_epsilon_in_all(**arguments))
checks_claim(
    "basket_amplification",
    "at_most",
    properties=("amplification",),
    arguments=("operator", "keep", "add", "items", "cutoff", "level"),
)(lambda _, arguments: _shorten(exp(compute_basket_epsilon(**arguments))))
checks_claim("strange_items", "exactly", arguments=("items",))(
    lambda evidence, arguments: count_strange_items(evidence.published, arguments["items"])
)
checks_claim("wrong_sizes", "exactly", needs_original=True)(
    lambda evidence, arguments: count_wrong_sizes(evidence.original, evidence.find_original_rows(), arguments["sizes"])
)


@checks_claim("items_off_channel", "at_most", needs_original=True)
def _check_basket_deviation(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    channel = {name: value for name, value in arguments.items() if name != "items"}
    rows = evidence.find_original_rows()
    return measure_basket_deviation(evidence.original, evidence.published, rows, arguments["items"], channel)
