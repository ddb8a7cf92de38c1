# SPDX-License-Identifier: MIT
"""Guessing marks: fill in items that were taken out of sequences, from what usually stands between their neighbours.

Against sequences in which items were deleted or marked. The sequences that were not changed show what usually lies
between two regions. What leaks is what someone wanted hidden about a person. Abul, Atzori, Bonchi and Giannotti 2007
mark items; that marks can often be filled in is plain on roads, where there is one way from a place to another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from sfumato.attack.attack import Attack, Outcome
from sfumato.attack.sequences.absent_patterns import rank_absent
from sfumato.attack.sequences.named_patterns import NamedPattern, Ranking, measure_length, pick_names
from sfumato.attack.sequences.secret_patterns import (
    MinedPatterns,
    explain_marks,
    find_near,
    mine_named,
    name_pattern,
    rank_patterns,
)
from sfumato.attack.sequences.vanished_patterns import find_vanished
from sfumato.baskets import Item
from sfumato.errors import DataError, PolicyError
from sfumato.public.marked_items import find_mark
from sfumato.public.thresholds import find_gap_limits
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences

Row = list[frozenset[str]]
_HOLE = "\0"
"""Stands in rows for a mark; no item has this name."""
_MOST_PAIRS = 1_000_000
"""Elements before times after up to which they are compared each with each."""


class MarkGuessing(Attack):
    """A reader sees that something is missing between two places, and knows what usually lies between them.

    The adversary sees the published sequences and knows where an item was removed, which a mark Δ shows anyway: the
    neighbours that were left. It guesses the item that most often stands between the same neighbours in the release, or
    else next to one of them, or else the most common, but nothing that stands in the place; or what would complete a
    pattern that it suspects to be hidden, as `SequenceRemining` does. The best way to guess counts, blind guesses
    included. If it does not know where items were removed, it reads what stands between the neighbours. The
    targets are the items that the method took out; if it names none, all occurrences of the given `items` in the
    originals. The risk is the share of correct guesses; the baseline draws items as often as the release has them, or
    always guesses the most common, whichever is better.
    """

    shape: ClassVar[str] = "sequences"
    public_fields: ClassVar[tuple[str, ...]] = ()
    private_fields: ClassVar[tuple[str, ...]] = ("items",)

    attack: Literal["mark_guessing"] = "mark_guessing"
    items: tuple[Item, ...] = Field(default=(), repr=False)
    """The items to guess if the release does not say which were taken out."""

    def run(
        self,
        release: Release,
        truth: Sequences,
        control: Sequences | None = None,
        randomness: Randomness | None = None,
    ) -> Outcome:
        """Guess every item that was taken out."""
        published_sequences: Sequences = release.data
        owners = release.details.trace_rows(len(published_sequences)).tolist()
        if release.details.rows is None and len(published_sequences) != len(truth):
            raise DataError(
                f"{len(published_sequences)} published sequences cannot be compared with {len(truth)} originals"
            )
        report_progress("guessing marks")
        mark = find_mark(release, truth)
        true_rows, published_rows = _list_item_names(truth), _list_item_names(published_sequences, mark)
        targets, is_told = self._list_targets(release, true_rows), release.details.get("marks") is not None
        contexts = _Contexts.of(published_rows)
        suspected_secrets = _guess_secrets(release, mark) if is_told else []
        hits = [0] * (1 + len(suspected_secrets))
        places = {owner: index for index, owner in enumerate(owners)}
        by_row: dict[int, list[_Target]] = {}
        for target in targets:
            by_row.setdefault(target.row, []).append(target)
        for row, missing in by_row.items():
            published_row = published_rows[places[row]] if row in places else []
            unmarked_row = [element - {_HOLE} for element in published_row]
            openings = [
                (_Openings.of(unmarked_row, secrets), _Openings.of(published_row, secrets))
                for secrets in suspected_secrets
            ]
            for target, neighbours in _align_elements(true_rows[row], published_row, missing, is_told=is_told):
                # Nothing is missing: it is read, unless a mark says that what stands there is a replacement.
                if not is_told and len(neighbours.place_items) == len(true_rows[row][target.position]):
                    guesses = [target.item in neighbours.place_items] * len(hits)
                else:
                    choices = [None, *(_list_completing(opening_pair, neighbours) for opening_pair in openings)]
                    guesses = [
                        contexts.guess(neighbours, candidate_items) == target.item for candidate_items in choices
                    ]
                hits = [count + is_right for count, is_right in zip(hits, guesses, strict=True)]
        blind = contexts.count_blind_hits([target.item for target in targets])
        return Outcome(
            attempts=len(targets),
            successes=max(*hits, blind),
            baseline=blind,
            control=None if control is None else _count_in_strangers(control, contexts, len(targets)),
            facts={"marks": len(targets)},
        )

    def _list_targets(self, release: Release, true_rows: list[Row]) -> list[_Target]:
        marks = release.details.get("marks")
        if marks is not None:
            return [_Target(int(row), int(position), str(item)) for row, position, item in marks]
        if not self.items:
            raise PolicyError("give the items to guess: the release does not state what was taken out")
        wanted_items = {str(item) for item in self.items}
        return [
            _Target(row, position, item)
            for row, elements in enumerate(true_rows)
            for position, element in enumerate(elements)
            for item in sorted(element & wanted_items)
        ]


class _Target(NamedTuple):
    row: int
    position: int
    item: str


class _Neighbours(NamedTuple):
    """What is published around a place, and at it; None where there is nothing or the place is not known."""

    left: frozenset[str] | None
    place_items: frozenset[str]
    right: frozenset[str] | None
    left_end: int = 0
    """How many published elements lie before the place."""
    right_start: int = 0
    """The first published element behind it."""


class _Contexts(NamedTuple):
    """How often each item stands between, behind and ahead of others in the release."""

    counts_between: dict[tuple[str, str], Counter[str]]
    counts_behind: dict[str, Counter[str]]
    counts_ahead: dict[str, Counter[str]]
    total: Counter[str]

    @classmethod
    def of(cls, rows: list[Row]) -> _Contexts:
        contexts = cls({}, {}, {}, Counter())
        for row in rows:
            for position, element in enumerate(row):
                items = element - {_HOLE}
                contexts.total.update(items)
                left = row[position - 1] - {_HOLE} if position else frozenset()
                right = row[position + 1] - {_HOLE} if position + 1 < len(row) else frozenset()
                for item in items:
                    for neighbour in left:
                        contexts.counts_behind.setdefault(neighbour, Counter())[item] += 1
                    for other in right:
                        contexts.counts_ahead.setdefault(other, Counter())[item] += 1
                    for neighbour in left:
                        for other in right:
                            contexts.counts_between.setdefault((neighbour, other), Counter())[item] += 1
        return contexts

    def count_blind_hits(self, items: list[str]) -> int:
        """How many of some items are right when guessed blindly."""
        commonest, size = _choose_most_voted(self.total), max(self.total.total(), 1)
        return max(sum(item == commonest for item in items), round(sum(self.total[item] for item in items) / size))

    def guess(self, neighbours: _Neighbours, candidate_items: set[str] | None = None) -> str | None:
        """The item that most often stands between the neighbours, or next to one of them, or at all; of some, if any.

        One of several that never stand there is chosen by how common it is.
        """
        left, right = (sorted(side - {_HOLE}) if side else [] for side in (neighbours.left, neighbours.right))
        votes: Counter[str] = Counter()
        for neighbour in left:
            for other in right:
                votes.update(self.counts_between.get((neighbour, other), {}))
        if not votes:
            for neighbour in left:
                votes.update(self.counts_behind.get(neighbour, {}))
            for other in right:
                votes.update(self.counts_ahead.get(other, {}))
        for item in neighbours.place_items:  # what stands there was not taken out
            votes.pop(item, None)
        if candidate_items:
            return min(candidate_items, key=lambda item: (-votes[item], -self.total[item], item))
        return _choose_most_voted(votes) or _choose_most_voted(
            Counter({item: self.total[item] for item in self.total.keys() - neighbours.place_items})
        )


class _Openings(NamedTuple):
    """How much of each suspected pattern a sequence holds before and behind a place; marks may be anything."""

    secrets: list[NamedPattern]
    ends: list[list[int]]
    """For each pattern and each number of its first elements, the fewest elements that hold them; too many if none."""
    starts: list[list[int]]
    """The same from behind: where the last elements begin at the latest; below 0 if nowhere."""

    @classmethod
    def of(cls, row: Row, secrets: list[NamedPattern]) -> _Openings:
        ends = [_match_first(row, secret) for secret in secrets]
        tail_sizes = [_match_first(row[::-1], secret[::-1])[::-1] for secret in secrets]
        return cls(secrets, ends, [[len(row) - size for size in sizes] for sizes in tail_sizes])

    def list_items(self, neighbours: _Neighbours) -> set[str]:
        """The items that would complete a suspected pattern at a place."""
        return {
            item
            for secret, ends, starts in zip(self.secrets, self.ends, self.starts, strict=True)
            for number, element in enumerate(secret)
            if ends[number] <= neighbours.left_end and starts[number + 1] >= neighbours.right_start
            for item in element
            if item not in neighbours.place_items and neighbours.place_items.issuperset({*element} - {item})
        }


def _list_completing(opening_pair: tuple[_Openings, _Openings], neighbours: _Neighbours) -> set[str]:
    """The items that complete a pattern with what is left alone, or else with other marks that may be anything."""
    left_alone, with_marks = opening_pair
    return left_alone.list_items(neighbours) or with_marks.list_items(neighbours)


def _match_first(row: Row, pattern: NamedPattern) -> list[int]:
    """For 0, 1, 2 … first elements of a pattern, the fewest elements of the row that hold them, or more than it has."""
    ends, position = [0], 0
    for element in pattern:
        while position < len(row) and _HOLE not in row[position] and not row[position].issuperset(element):
            position += 1
        position += 1
        ends.append(min(position, len(row) + 1))
    return ends


def _guess_secrets(release: Release, mark: str) -> list[list[NamedPattern]]:
    """What an adversary suspects, who knows the thresholds, and how many and how long the hidden patterns are.

    By what marks would explain, and by what is rarer than its items; if some were hidden entirely and others not, also
    by each way of the one kind together with each way of the other.
    """
    steps = [step for step in release.list_steps() if step.details.get("sensitive")]
    return [secrets for step in steps for secrets in _guess_secrets_of(step, mark)]


def _guess_secrets_of(step: Release, mark: str) -> list[list[NamedPattern]]:
    """What an adversary suspects that one method hid."""
    published_sequences: Sequences = step.data
    stated_patterns = [(name_pattern(pattern), int(limit)) for pattern, limit in step.details["sensitive"]]
    gap, window = find_gap_limits(step)
    many, longest = len(stated_patterns), max(measure_length(pattern) for pattern, _ in stated_patterns)
    thresholds = sorted({limit for _, limit in stated_patterns if limit})
    absent_rankings: list[Ranking] = []
    if any(not limit for _, limit in stated_patterns):
        absent_rankings = [
            explain_marks(published_sequences, vanished_patterns, many)
            for vanished_patterns in find_vanished(published_sequences, longest, mark)
        ]
        absent_rankings += rank_absent(published_sequences, longest, gap, window, mark)
    near_rankings: list[Ranking] = []
    if thresholds:
        supports = mine_named(published_sequences, max(1, thresholds[0] // 2), longest, gap, window, mark=mark)
        near_patterns = find_near(supports, thresholds, 0.5)
        mined_patterns = MinedPatterns(supports, near_patterns, len(published_sequences), gap, window, mark)
        near_rankings = list(rank_patterns(published_sequences, mined_patterns, many))
    near_count = sum(limit > 0 for _, limit in stated_patterns)
    return [
        *(pick_names(ranking, many) for ranking in (*near_rankings, *absent_rankings)),
        *(
            pick_names(near_ranking, near_count) + pick_names(absent_ranking, many - near_count)
            for near_ranking in near_rankings
            for absent_ranking in absent_rankings
        ),
    ]


def _choose_most_voted(votes: Counter[str]) -> str | None:
    return min(votes, key=lambda item: (-votes[item], item), default=None)


def _list_item_names(sequences: Sequences, mark: str = "") -> list[Row]:
    """The names of the items of each element; a hole where the mark stands."""
    names = {item: _HOLE if mark and str(item) == mark else str(item) for item in sequences.items}
    lists = sequences.to_lists()
    if sequences.flat:
        return [[frozenset([names[item]]) for item in row] for row in lists]
    return [[frozenset(names[item] for item in element) for element in row] for row in lists]


def _align_elements(
    original: Row, published_row: Row, missing: list[_Target], *, is_told: bool
) -> Iterator[tuple[_Target, _Neighbours]]:
    """Each missing item with what is published around it; without a mark, what is published at its position."""
    taken_items: dict[int, set[str]] = {}
    for target in missing:
        taken_items.setdefault(target.position, set()).add(target.item)
    rest = [element - taken_items.get(position, set()) for position, element in enumerate(original)]
    is_in_place = is_told and len(published_row) == len(original)
    place_of = (
        {index: index for index in range(len(original))} if is_in_place else find_common_places(rest, published_row)
    )
    for target in missing:
        left = max((index for position, index in place_of.items() if position < target.position), default=None)
        right = min((index for position, index in place_of.items() if position > target.position), default=None)
        mark_index = place_of.get(target.position)
        if mark_index is None and not is_told:
            first, stop = 0 if left is None else left + 1, len(published_row) if right is None else right
            mark_index = first if first < stop else None
        yield (
            target,
            _Neighbours(
                None if left is None else published_row[left],
                frozenset() if mark_index is None else published_row[mark_index] - {_HOLE},
                None if right is None else published_row[right],
                left_end=0 if left is None else left + 1,
                right_start=len(published_row) if right is None else right,
            ),
        )


def find_common_places(original: Row, published_row: Row) -> dict[int, int]:
    """Where the elements of a sequence are published, as many as possible, in order; empty ones nowhere."""
    if len(original) * len(published_row) > _MOST_PAIRS:
        return _find_first_places(original, published_row)
    common_lengths = [[0] * (len(published_row) + 1) for _ in range(len(original) + 1)]
    for position in range(len(original) - 1, -1, -1):
        element, next_lengths, current_lengths = (
            original[position],
            common_lengths[position + 1],
            common_lengths[position],
        )
        for index in range(len(published_row) - 1, -1, -1):
            is_same = element and element <= published_row[index]
            current_lengths[index] = max(
                next_lengths[index + 1] + 1 if is_same else 0, next_lengths[index], current_lengths[index + 1]
            )
    places: dict[int, int] = {}
    position = index = 0
    while position < len(original) and index < len(published_row):
        if (
            original[position]
            and original[position] <= published_row[index]
            and common_lengths[position][index] == common_lengths[position + 1][index + 1] + 1
        ):
            places[position] = index
            position, index = position + 1, index + 1
        elif common_lengths[position][index] == common_lengths[position + 1][index]:
            position += 1
        else:
            index += 1
    return places


def _find_first_places(original: Row, published_row: Row) -> dict[int, int]:
    """The same for long sequences: each element where it first stands behind the one before, if anywhere."""
    places: dict[int, int] = {}
    start = 0
    for position, element in enumerate(original):
        index = next(
            (number for number in range(start, len(published_row)) if element and element <= published_row[number]),
            None,
        )
        if index is not None:
            places[position] = index
            start = index + 1
    return places


def _count_in_strangers(control: Sequences, contexts: _Contexts, attempts: int) -> int:
    """How many items of other people are guessed as well: knowledge about the population."""
    hits = tried_count = 0
    for row in _list_item_names(control):
        for position, element in enumerate(row):
            if tried_count == attempts:
                return hits
            tried_count += 1
            left = row[position - 1] if position else None
            right = row[position + 1] if position + 1 < len(row) else None
            hits += contexts.guess(_Neighbours(left, frozenset(), right)) in element
    return hits
