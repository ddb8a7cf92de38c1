# SPDX-License-Identifier: MIT
"""Item frequency: a code occurs in as many baskets as its item, and together with the codes of the same companions.

Against encoded items. What leaks is which code stands for which item. Codes inserted at random co-occur with others
only by chance, so the attack subtracts them, and tells added baskets from true ones; it matches the rest by supports,
then by pairs. After Molloy, Li and Li, *On the (in)security and (im)practicality of outsourcing precise association
rule mining* (ICDM 2009), who break the one-to-n mapping of Wong et al. 2007 in this way; the matching here is our own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import perm
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.arrays import Floats, Ints
from sfumato.attack.attack import Attack, Outcome, round_expected
from sfumato.attack.codes.added_baskets import weigh_true_baskets
from sfumato.attack.codes.nearest_supports import match_nearest_supports
from sfumato.baskets import Baskets, Item
from sfumato.public.codes.item_columns import build_item_columns
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress

_ROUNDS = 20
_FAR = 5.0
_MATCHINGS = 50_000
"""The most matchings of items and codes of which every one is tried."""
_RATES = (0.0, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3)
"""The rates at which codes may have been inserted at random."""


class ItemFrequency(Attack):
    """A provider who mines for a supermarket knows what supermarkets sell: the most common code is the most common
    item.

    The adversary sees the encoded baskets and knows how often each of the most common items is bought and, with
    `knowledge="pairs"`, how often two of them are bought together: all of that or a share of it (`known_share`), each
    within a certain error. Random codes occur
    everywhere at one rate, so it guesses the rate and subtracts it. If more baskets are published than there are true
    ones, a mixture model separates the added ones. It matches items with codes by support, then repeatedly by how
    often each occurs with those already matched. A success is an item whose code was named: a code that all baskets
    with the item hold, and that fits no item of more baskets as well. It also gives each item a code of nearest
    support, matches ranks of supports, and tries all that an adversary with supports alone, or without cleaning, would;
    of few items and codes it tries every matching, and takes that with the nearest supports of pairs. The best matching
    counts. The baseline names codes at random. The facts state the rate.
    """

    shape: ClassVar[str] = "baskets"
    needs_codes: ClassVar[bool] = True
    public_fields: ClassVar[tuple[str, ...]] = ("knowledge", "known_share", "error", "clean")
    private_fields: ClassVar[tuple[str, ...]] = ("items",)

    attack: Literal["item_frequency"] = "item_frequency"
    knowledge: Literal["supports", "pairs"] = "pairs"
    """Whether it knows how often items are bought, or also how often pairs are."""
    items: int = Field(default=100, ge=1, strict=True)
    """How many of the most common items it knows and looks for."""
    known_share: float = Field(default=1.0, ge=0.0, le=1.0)
    """The share of the large itemsets, which are these items and their pairs, whose supports it knows (alpha of Wong et
    al.); which ones is drawn at random."""
    error: float = Field(default=0.0, ge=0.0, lt=1.0)
    """The error of its knowledge: each support is within this share of the true one (beta of Wong et al.)."""
    clean: bool = True
    """Whether it guesses the rate of random codes and subtracts it, and tells added baskets from true ones."""

    def run(
        self, release: Release, truth: Baskets, control: Baskets | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Match the most common items with codes; count the codes named correctly."""
        chance = (randomness or Randomness.seeded(0)).generator()
        views = self._list_views(release.data, len(truth))
        judge = _CodeJudge(release, truth)
        known_pairs = _PairShares.of(truth, self.items)
        guesses = self._guess_codes(known_pairs, views, release.data, chance)
        right = {way: judge.count_right(known_pairs.names, guess.codes) for way, guess in guesses.items()}
        strangers = None
        if control is not None:
            other = _PairShares.of(control, self.items)
            stranger_guesses = self._guess_codes(other, views, release.data, chance).values()
            strangers = max(judge.count_right(other.names, guess.codes) for guess in stranger_guesses)
        return Outcome(
            attempts=len(known_pairs.names),
            successes=max(right.values()),
            baseline=round_expected(len(known_pairs.names) / len(release.data.items)) if release.data.items else 0,
            control=None if strangers is None else min(strangers, len(known_pairs.names)),
            facts={
                "codes": len(release.data.items),
                "noise": guesses["all baskets"].rate,
                "best_guess": max(right, key=right.__getitem__),
            },
        )

    def _list_views(self, published_baskets: Baskets, real: int) -> list[_PairShares]:
        """The published codes: in all baskets, and in those that may be the true ones."""
        views = [_PairShares.of(published_baskets, 4 * self.items, real)]
        if self.clean:
            views += [
                views[0].weigh_baskets(published_baskets, weights)
                for weights in weigh_true_baskets(published_baskets, real)
            ]
        return views

    def _guess_codes(
        self,
        known_pairs: _PairShares,
        views: Sequence[_PairShares],
        published_baskets: Baskets,
        chance: np.random.Generator,
    ) -> dict[str, _CodeGuess]:
        """The codes guessed for the known items, in several ways: all those of an adversary who knows less, too."""
        shares = known_pairs.shares * chance.uniform(1 - self.error, 1 + self.error, known_pairs.shares.shape)
        if self.known_share < 1:
            shares = _forget_shares(shares, self.known_share, chance)
        guesses = self._guess_by_views(shares, views, by_pairs=False)
        if self.knowledge == "pairs":
            by_supports = {f"{way}, by supports alone": guess for way, guess in guesses.items()}
            guesses = self._guess_by_views(shares, views, by_pairs=True) | by_supports | _match_every_way(shares, views)
        return guesses | {"ranks": _match_ranks(shares, views[0])} | _match_nearest(shares, published_baskets, views[0])

    def _guess_by_views(self, shares: Floats, views: Sequence[_PairShares], *, by_pairs: bool) -> dict[str, _CodeGuess]:
        """The codes that fit best in all baskets, as published or without random codes, and in the true baskets."""
        first, *other_views = views
        rates = _RATES if self.clean else _RATES[:1]
        by_rate = [_match_view(shares, first, rate, by_pairs=by_pairs) for rate in rates]
        guesses = {"all baskets": _choose_nearest(by_rate), "as published": by_rate[0]}
        if other_views:
            # Supports alone tell which of the views is of true baskets.
            nearest = min(other_views, key=lambda view: _match_view(shares, view, 0.0, by_pairs=False).distance)
            guesses["true baskets"] = _match_view(shares, nearest, 0.0, by_pairs=by_pairs)
        return guesses


@dataclass(frozen=True)
class _PairShares:
    """The most common items, and the share of baskets with each pair; on the diagonal, with the item itself."""

    names: tuple[Item, ...]
    shares: Floats
    baskets: int

    @classmethod
    def of(cls, baskets: Baskets, most: int, out_of: int | None = None) -> _PairShares:
        """Count pairs, as shares of the baskets, or of the number of real baskets if that is known to be smaller."""
        count = out_of or max(1, len(baskets))
        supports = np.bincount(baskets.codes, minlength=len(baskets.items))
        top = np.argsort(-supports, kind="stable")[:most]
        names = tuple(baskets.items[position] for position in top.tolist())
        columns = list(build_item_columns(baskets, names).values())
        shares = np.zeros((len(names), len(names)))
        for index, column in enumerate(columns):
            report_progress("counting pairs", index, len(names))
            shares[index, : index + 1] = [(column & other).bit_count() for other in columns[: index + 1]]
        return cls(names, np.maximum(shares, shares.T) / count, count)

    def weigh_baskets(self, baskets: Baskets, weights: Floats) -> _PairShares:
        """The same codes, with each basket counted by its weight."""
        from scipy.sparse import csr_matrix, diags_array

        item_index = {item: index for index, item in enumerate(baskets.items)}
        code_matrix = csr_matrix(
            (np.ones(baskets.codes.size), baskets.codes, baskets.offsets), shape=(len(baskets), len(baskets.items))
        )[:, [item_index[name] for name in self.names]]
        return replace(self, shares=(code_matrix.T @ diags_array(weights) @ code_matrix).toarray() / self.baskets)

    def subtract_decoys(self, rate: float) -> _PairShares:
        """Each code twice: as it is, and with random occurrences in this share of other baskets subtracted."""
        single = np.diag(self.shares)
        kept_shares = np.concatenate((np.ones(len(single)), np.full(len(single), 1 - rate)))
        true_supports = np.maximum(0.0, 1 - (1 - np.tile(single, 2)) / kept_shares)
        # Independent noise shrinks the excess co-occurrence of two codes, and does nothing else to it.
        excess = np.tile(self.shares - np.outer(single, single), (2, 2)) / np.outer(kept_shares, kept_shares)
        shares = np.clip(
            np.outer(true_supports, true_supports) + excess, 0.0, np.minimum.outer(true_supports, true_supports)
        )
        np.fill_diagonal(shares, true_supports)
        return _PairShares(self.names * 2, shares, self.baskets)


@dataclass(frozen=True)
class _CodeGuess:
    codes: list[Item | None]
    distance: float
    """How far the supports of the named codes are from the known ones."""
    rate: float
    """The guessed rate of random codes."""


def _choose_nearest(guesses: Iterable[_CodeGuess]) -> _CodeGuess:
    return min(guesses, key=lambda guess: guess.distance)


def _forget_shares(shares: Floats, known_share: float, chance: np.random.Generator) -> Floats:
    """Keep a share of the supports of items, and of pairs; the others become NaN, on both sides of the diagonal.

    Who knows supports only knows the same ones as who knows pairs too.
    """
    kept_shares = np.full_like(shares, np.nan)
    for first, second in (np.diag_indices(len(shares)), np.triu_indices(len(shares), 1)):
        kept_indices = chance.choice(len(first), round(known_share * len(first)), replace=False)
        rows, columns = first[kept_indices], second[kept_indices]
        kept_shares[rows, columns], kept_shares[columns, rows] = shares[rows, columns], shares[columns, rows]
    return kept_shares


def _match_nearest(known_shares: Floats, published_baskets: Baskets, view: _PairShares) -> dict[str, _CodeGuess]:
    """Each item takes a code of nearest support, out of the true number of baskets or of all."""
    code_supports = np.bincount(published_baskets.codes, minlength=len(published_baskets.items)).astype(np.float64)
    guesses = {}
    for whole, count in (("true", view.baskets), ("all", max(1, len(published_baskets)))):
        # Whole counts, so that equal distances are equal.
        supports = np.round(np.diag(known_shares) * count, 6)
        for order, places in match_nearest_supports(supports, code_supports).items():
            codes = [published_baskets.items[code_index] if code_index >= 0 else None for code_index in places.tolist()]
            guesses[f"nearest of {whole} baskets, {order}"] = _CodeGuess(codes, 0.0, 0.0)
    return guesses


def _match_ranks(known_shares: Floats, view: _PairShares) -> _CodeGuess:
    """The most common item is the most common code, and so on, as far as supports are known."""
    codes: list[Item | None] = [None] * len(known_shares)
    supports = np.diag(known_shares)
    ranked_items = np.argsort(-supports, kind="stable")[: int(np.isfinite(supports).sum())]
    for item, name in zip(ranked_items.tolist(), view.names, strict=False):
        codes[item] = name
    return _CodeGuess(codes, 0.0, 0.0)


def _match_every_way(known_shares: Floats, views: Sequence[_PairShares]) -> dict[str, _CodeGuess]:
    """The matching whose supports of items and pairs are nearest in sum, if there are few; in all and in true baskets.

    Sums of plain distances: a deviation weighs as much at a rare pair as at a common one.
    """
    many = len(known_shares)
    if not 0 < perm(len(views[0].names), many) <= _MATCHINGS:
        return {}
    matchings = np.array(list(permutations(range(len(views[0].names)), many)), dtype=np.int64)
    unknown = np.asarray(np.isnan(known_shares).all(axis=1))
    guesses = {}
    for number, view in enumerate(views):
        report_progress("trying every matching", number, len(views))
        distances = np.zeros(len(matchings))
        for item in range(many):
            pair_shares = view.shares[matchings[:, [item]], matchings]
            # Whole counts, so that equal distances are equal.
            distances += np.nan_to_num(np.round(np.abs(pair_shares - known_shares[item]) * view.baskets, 6)).sum(axis=1)
        nearest = np.flatnonzero(distances == distances.min())
        for ties, matching in (("first", matchings[nearest[0]]), ("last", matchings[nearest[-1]])):
            codes = [None if unknown[item] else view.names[code] for item, code in enumerate(matching.tolist())]
            guesses[f"every matching, view {number + 1}, {ties} of equals"] = _CodeGuess(codes, 0.0, 0.0)
    return guesses


def _match_view(known_shares: Floats, view: _PairShares, rate: float, *, by_pairs: bool) -> _CodeGuess:
    cleaned_view = view.subtract_decoys(rate) if rate else view
    places = _match_codes(known_shares, cleaned_view.shares, view.baskets, by_pairs=by_pairs)
    codes = [cleaned_view.names[position] if position >= 0 else None for position in places.tolist()]
    return _CodeGuess(
        codes, _measure_match_distance(known_shares, cleaned_view.shares, places, view.baskets, by_pairs=by_pairs), rate
    )


def _match_codes(known_shares: Floats, code_shares: Floats, count: int, *, by_pairs: bool) -> Ints:
    """For each known item the index of its code, −1 for none: matched first by supports, then by pairs."""
    from scipy.optimize import linear_sum_assignment

    supports = np.diag(known_shares)
    apart_alone = np.abs(supports[:, None] - np.diag(code_shares)[None, :])
    support_distances = np.nan_to_num(apart_alone / _compute_share_deviations(supports, count)[:, None])
    best = places = _fill_matched_places(linear_sum_assignment(np.log1p(support_distances)), len(known_shares))
    places[np.isnan(supports)] = -1  # drawn from what was left
    least = _measure_match_distance(known_shares, code_shares, places, count, by_pairs=True)
    for done_count in range(_ROUNDS if by_pairs else 0):
        report_progress("matching pairs", done_count, _ROUNDS)
        items = np.flatnonzero(places >= 0)
        if not len(items):
            break
        with_those = code_shares[:, places[items]]
        pair_distances = np.stack(
            [_measure_share_distances(row[items], with_those, count).sum(axis=1) for row in known_shares]
        )
        new = _fill_matched_places(
            linear_sum_assignment(pair_distances + np.minimum(support_distances, _FAR)), len(known_shares)
        )
        new[np.isnan(supports) & np.isnan(known_shares[:, items]).all(axis=1)] = -1
        distance = _measure_match_distance(known_shares, code_shares, new, count, by_pairs=True)
        if distance < least:
            best, least = new, distance
        if np.array_equal(new, places):
            break
        places = new
    return best


def _measure_share_distances(known_shares: Floats, code_shares: Floats, count: int) -> Floats:
    """How many standard deviations known and seen shares are apart; capped, so that a wrong match weighs little.

    Unknown ones are not apart.
    """
    return np.nan_to_num(
        np.minimum(np.abs(known_shares - code_shares) / _compute_share_deviations(known_shares, count), _FAR)
    )


def _compute_share_deviations(shares: Floats, count: int) -> Floats:
    return np.asarray(np.sqrt(np.maximum(shares * (1 - shares), 1 / count) / count))


def _fill_matched_places(pairs: tuple[Ints, Ints], count: int) -> Ints:
    places = np.full(count, -1, dtype=np.int64)
    places[pairs[0]] = pairs[1]
    return places


def _measure_match_distance(
    known_shares: Floats, code_shares: Floats, places: Ints, count: int, *, by_pairs: bool
) -> float:
    """How far known supports (and those of pairs) are from those of the codes; an item without a code is far."""
    items = np.flatnonzero(places >= 0)
    codes = places[items]
    if not by_pairs:
        distances = _measure_share_distances(np.diag(known_shares)[items], np.diag(code_shares)[codes], count)
        return float(distances.sum() + _FAR * (len(known_shares) - len(items)))
    distances = _measure_share_distances(known_shares[np.ix_(items, items)], code_shares[np.ix_(codes, codes)], count)
    return float(distances.sum() + _FAR * (len(known_shares) ** 2 - len(items) ** 2))


class _CodeJudge:
    """Decides whether a code stands for an item, from the originals and without the key."""

    def __init__(self, release: Release, truth: Baskets) -> None:
        origins = release.details.trace_rows(len(release.data))
        self.published_baskets = _select_real_baskets(release.data, origins, len(truth))
        self.true = build_item_columns(truth)
        self.by_size = sorted(self.true.values(), key=int.bit_count, reverse=True)

    def count_right(self, items: tuple[Item, ...], codes: list[Item | None]) -> int:
        """How many of the items were named correctly."""
        columns = build_item_columns(self.published_baskets, {code for code in codes if code is not None})
        successes = 0
        for item, code in zip(items, codes, strict=True):
            if code is None or not self.true.get(item):
                continue
            first = next((mask for mask in self.by_size if not mask & ~columns[code]), None)
            successes += first == self.true[item]
        return successes


def _select_real_baskets(published_baskets: Baskets, rows: Ints, count: int) -> Baskets:
    """The published baskets in the order of the originals, without fake baskets."""
    row = np.repeat(rows, np.diff(published_baskets.offsets))
    kept_mask = (row >= 0) & (row < count)
    order = np.argsort(row[kept_mask], kind="stable")
    offsets = np.concatenate(([0], np.cumsum(np.bincount(row[kept_mask], minlength=count))))
    return Baskets(published_baskets.items, offsets, published_baskets.codes[kept_mask][order])
