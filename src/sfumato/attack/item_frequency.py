# SPDX-License-Identifier: MIT
"""Item frequency: a code is in as many baskets as its item, and goes with the codes that its item goes with.

Against encoded items. What leaks is which code stands for which item. Fake codes go with nothing more than chance has
them, so they are told and left out; what remains is matched by supports, then by how often pairs occur. After Molloy,
Li and Li, *On the (in)security and (im)practicality of outsourcing precise association rule mining* (ICDM 2009), who
break the one-to-n mapping of Wong et al. 2007 so; the matching here is our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from sfumato.attack.attack import Attack, Outcome
from sfumato.baskets import Baskets, Item
from sfumato.mine.item_columns import columns_of
from sfumato.progress import tell
from sfumato.randomness import Randomness
from sfumato.release import Release

Floats = npt.NDArray[np.float64]
_ROUNDS = 20


class ItemFrequency(Attack):
    """A provider who mines for a supermarket knows what supermarkets sell: the commonest code is the commonest item.

    The adversary sees the encoded baskets and knows how often each of the commonest items is bought and, with
    `knowledge="pairs"`, how often two of them are bought together, each within a certain error. It sets aside codes
    that go with no other code more than chance would have it, since they are fake. It matches items with codes by
    support, then again and again by how often each goes with those matched before. A success is an item whose code was
    named: a code that all baskets with the item hold, and that no item of more baskets fits as well. The baseline names codes at
    random. Facts say how many codes were set aside.
    """

    shape: ClassVar[str] = "baskets"

    attack: Literal["item_frequency"] = "item_frequency"
    knowledge: Literal["supports", "pairs"] = "pairs"
    """Whether it knows how often items are bought, or also how often pairs are."""
    items: int = Field(default=100, ge=1, strict=True)
    """How many items, the commonest, it knows and looks for."""
    error: float = Field(default=0.0, ge=0.0, lt=1.0)
    """How wrong its knowledge is: each support lies within this share of the true one (beta of Wong et al.)."""
    drop_fakes: bool = True
    """Whether codes that go with no other are set aside first."""

    def run(
        self, release: Release, truth: Baskets, control: Baskets | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Match the commonest items with codes; count how many codes were named rightly."""
        chance = (randomness or Randomness.seeded(0)).generator()
        seen = _Pairs.of(release.data, 4 * self.items)
        fakes = _unrelated(seen) if self.drop_fakes and self.knowledge == "pairs" else np.zeros(len(seen.names), bool)
        seen = seen.of_places(np.flatnonzero(~fakes))
        judge = _Judge(release, truth)
        known = _Pairs.of(truth, self.items)
        successes = judge.right(known.names, self._named(known, seen, chance))
        strangers = None
        if control is not None:
            other = _Pairs.of(control, self.items)
            strangers = judge.right(other.names, self._named(other, seen, chance))
        return Outcome(
            attempts=len(known.names),
            successes=successes,
            baseline=round(len(known.names) / len(release.data.items)) if release.data.items else 0,
            control=None if strangers is None else min(strangers, len(known.names)),
            facts={"codes": len(release.data.items), "set_aside": int(fakes.sum())},
        )

    def _named(self, known: _Pairs, seen: _Pairs, chance: np.random.Generator) -> list[Item | None]:
        """The code that is taken for each known item."""
        if not len(seen.names):
            return [None] * len(known.names)
        shares = known.shares * chance.uniform(1 - self.error, 1 + self.error, known.shares.shape)
        places = _matched(shares, seen.shares, by_pairs=self.knowledge == "pairs")
        return [seen.names[place] if place >= 0 else None for place in places]


@dataclass(frozen=True)
class _Pairs:
    """The commonest items, and in which share of the baskets each pair is; on the diagonal the item itself."""

    names: tuple[Item, ...]
    shares: Floats
    baskets: int

    @classmethod
    def of(cls, baskets: Baskets, most: int) -> _Pairs:
        supports = np.bincount(baskets.codes, minlength=len(baskets.items))
        top = np.argsort(-supports, kind="stable")[:most]
        names = tuple(baskets.items[place] for place in top.tolist())
        columns = list(columns_of(baskets, names).values())
        shares = np.zeros((len(names), len(names)))
        for at, column in enumerate(columns):
            tell("counting pairs", at, len(names))
            shares[at, : at + 1] = [(column & other).bit_count() for other in columns[: at + 1]]
        return cls(names, np.maximum(shares, shares.T) / max(1, len(baskets)), len(baskets))

    def of_places(self, places: npt.NDArray[np.int64]) -> _Pairs:
        """Some of them."""
        return _Pairs(
            tuple(self.names[place] for place in places.tolist()), self.shares[np.ix_(places, places)], self.baskets
        )


def _unrelated(seen: _Pairs) -> npt.NDArray[np.bool_]:
    """Codes that go with no other code more or less than chance has it; none of them, if all look so."""
    single = np.diag(seen.shares)
    expected = np.outer(single, single)
    spread = np.sqrt(np.outer(single * (1 - single), single * (1 - single)) / max(1, seen.baskets))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(np.where(spread > 0, (seen.shares - expected) / spread, 0.0))
    np.fill_diagonal(z, 0.0)
    if not len(single):
        return np.zeros(0, dtype=bool)
    # The largest of so many normal numbers is rarely beyond this: a bound for all pairs together.
    unrelated = z.max(axis=1) < np.sqrt(2 * np.log(max(2, 20 * len(single) ** 2)))
    return unrelated if not unrelated.all() else np.zeros(len(single), dtype=bool)


def _matched(known: Floats, seen: Floats, *, by_pairs: bool) -> npt.NDArray[np.int64]:
    """For each known item the place of its code, −1 for none: first by supports, then by pairs with those matched."""
    from scipy.optimize import linear_sum_assignment

    alone = np.abs(np.diag(known)[:, None] - np.diag(seen)[None, :])
    rows, columns = linear_sum_assignment(alone)
    best, least = columns, _distance(known, seen, rows, columns)
    if by_pairs:
        for done in range(_ROUNDS):
            tell("matching pairs", done, _ROUNDS)
            apart = np.abs(known[:, None, rows] - seen[None][:, :, columns]).mean(axis=2)
            rows, new = linear_sum_assignment(alone + apart)
            distance = _distance(known, seen, rows, new)
            if distance < least:
                best, least = new, distance
            if np.array_equal(new, columns):
                break
            columns = new
    places = np.full(len(known), -1, dtype=np.int64)
    places[rows] = best
    return places


def _distance(known: Floats, seen: Floats, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> float:
    return float(np.abs(known[np.ix_(rows, rows)] - seen[np.ix_(columns, columns)]).sum())


class _Judge:
    """Whether a code stands for an item, told from the originals without a key."""

    def __init__(self, release: Release, truth: Baskets) -> None:
        rows = release.details.get("rows")
        self.rows = np.arange(len(release.data)) if rows is None else np.asarray(rows, dtype=np.int64)
        self.release, self.truth = release, truth

    def right(self, items: tuple[Item, ...], codes: list[Item | None]) -> int:
        """How many of the items were named rightly."""
        published = _real(self.release.data, self.rows, len(self.truth))
        columns = columns_of(published, {code for code in codes if code is not None})
        true = columns_of(self.truth)
        by_size = sorted(true.values(), key=int.bit_count, reverse=True)
        successes = 0
        for item, code in zip(items, codes, strict=True):
            if code is None or not true.get(item):
                continue
            first = next((one for one in by_size if not one & ~columns[code]), None)
            successes += first == true[item]
        return successes


def _real(published: Baskets, rows: npt.NDArray[np.int64], count: int) -> Baskets:
    """The published baskets in the order of the originals, without those that nobody bought."""
    row = np.repeat(rows, np.diff(published.offsets))
    kept = (row >= 0) & (row < count)
    order = np.argsort(row[kept], kind="stable")
    offsets = np.concatenate(([0], np.cumsum(np.bincount(row[kept], minlength=count))))
    return Baskets(published.items, offsets, published.codes[kept][order])
