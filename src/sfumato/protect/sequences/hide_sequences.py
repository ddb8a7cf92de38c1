# SPDX-License-Identifier: MIT
"""Hide sequences: change sequences so that certain patterns are contained in few of them.

Against an analyst who mines the published sequences above the thresholds. What leaks: with the mark Δ, where something
was hidden; and the patterns themselves to anyone who mines below the thresholds, unless these are 0. Abul, Atzori,
Bonchi, Giannotti, *Hiding sequences* (2007), and *Hiding sequential and spatiotemporal patterns* (2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import floor
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from sfumato.arrays import Flags, Ints
from sfumato.details import SequenceDetails
from sfumato.errors import DataError, PolicyError
from sfumato.protect.method import HeadlineCount, Method
from sfumato.protect.sequences.edited_sequences import ItemPattern, SequenceDraft
from sfumato.protect.sequences.edits import SequenceEdits
from sfumato.protect.sequences.element_labels import ElementLabels
from sfumato.protect.sequences.exact_marks import improve_marks
from sfumato.protect.sequences.hiding_strategies import hide_in_two_stages
from sfumato.protect.sequences.marked_sequences import delete_marked, show_marks
from sfumato.protect.sequences.prefix_tree import LabelLists
from sfumato.protect.sequences.replacements import replace_marked
from sfumato.protect.sequences.sequence_claims import (
    claim_all_sequences,
    claim_no_ghosts,
    claim_nothing_added,
    claim_patterns_hidden,
)
from sfumato.public.marked_items import MARK
from sfumato.public.thresholds import GapLimits, MinSupport, compute_least_count
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.sequences import Sequences

Threshold = Annotated[int, Field(strict=True, ge=0)] | Annotated[float, Field(strict=True, ge=0, lt=1)]
_EDITS: Mapping[str, Literal["deleted", "replaced", "marked"]] = {
    "delete": "deleted",
    "replace": "replaced",
    MARK: "marked",
}


class HideSequences(Method):
    """Change sequences so that each of the secret patterns is contained in at most as many as its threshold says.

    Guarantee: no secret pattern is contained in more published sequences than its threshold, with the gap and window
    that were given. Items are only taken away, unless you choose `replace`; then no pattern newly reaches
    `min_support`. Every sequence keeps its position, even if it is empty. Against: anyone who mines the published
    sequences above the thresholds. Limits: anyone who mines at the thresholds or below still finds the patterns; a
    pattern that only resembles a secret one is not hidden; if items are deleted, an analyst who limits gaps may find
    other patterns than before; with `replace`, sequences hold items that they did not hold; `Δ` shows where something
    was hidden; `exact` makes the fewest changes, the others may make more. Papers: Abul, Atzori, Bonchi, Giannotti
    2007; Abul, Bonchi, Giannotti 2010.
    """

    shape: ClassVar[str] = "sequences"
    gives: ClassVar[str] = "sequences"
    utility = "sequences"
    section = "sequences"
    headline_count: ClassVar[HeadlineCount | None] = HeadlineCount(
        ("changes",), "changes", "items deleted, replaced or marked"
    )
    iso_20889: ClassVar[str] = "local suppression"
    optimum_of: ClassVar[str] = "among all choices of items to mark"
    loss_meaning: ClassVar[str] = (
        "Of the elements of all sequences before and after, marks left out, the share that was deleted or inserted."
    )
    kept_meaning: ClassVar[tuple[str, str]] = ("of the elements kept", "of the sequences before and after")
    file_claims: ClassVar[frozenset[str]] = frozenset({"sequences"})
    hides_parameters: ClassVar[bool] = True
    public_fields: ClassVar[tuple[str, ...]] = (
        "threshold",
        "strategy",
        "mark",
        "max_gap",
        "window",
        "min_support",
        "seconds",
    )
    private_fields: ClassVar[tuple[str, ...]] = ("patterns", "file")
    file_fields: ClassVar[tuple[str, ...]] = ("file",)

    method: Literal["hide_sequences"] = "hide_sequences"
    patterns: tuple[ItemPattern, ...] = Field(default=(), repr=False)
    """The patterns to hide: lists of items, or of lists of items that occur together."""
    file: str | None = Field(default=None, repr=False)
    """A file that lists more, in the form of a file of sequences."""
    threshold: Threshold | tuple[Threshold, ...]
    """Maximum support of each hidden pattern: a count or a share, one value or one for each pattern. The certificate
    shows the largest."""
    strategy: Literal["HH", "HR", "RH", "RR", "exact"] = "HH"
    """`HH` chooses items (first letter) and sequences (second) by their number of matches; R is at random, for study;
    `exact` makes the fewest changes."""
    mark: Literal["delete", "replace", "Δ"] = "delete"
    """What becomes of a hidden item: it is deleted, another item replaces it, or `Δ` takes its place."""
    min_support: MinSupport | None = None
    """For `replace`: the support from which a pattern shows, as a number of sequences or a share; no replacement may
    let a pattern reach it that did not before."""
    max_gap: int | None = Field(default=None, ge=0, strict=True)
    """How many elements may lie between two neighbours of a match; any number if omitted."""
    window: int | None = Field(default=None, ge=1, strict=True)
    """How many elements a match may span; any number if omitted."""
    seconds: float = Field(default=60.0, gt=0)
    """How long `exact` may search for something better; the other strategies always finish."""

    @field_validator("patterns", mode="before")
    @classmethod
    def _spell_out(cls, raw_patterns: Any) -> Any:
        """An element of one item may be given as the item."""
        if isinstance(raw_patterns, Sequences):
            raw_patterns = raw_patterns.to_lists()
        if not isinstance(raw_patterns, list | tuple):
            return raw_patterns
        if raw_patterns and not any(isinstance(pattern, list | tuple) for pattern in raw_patterns):
            raise ValueError('must be a list of patterns, each a list of items, as in [["home", "clinic"]]')
        return tuple(_spell_pattern(pattern) for pattern in raw_patterns)

    @model_validator(mode="after")
    def _check(self) -> HideSequences:
        if not self.patterns and self.file is None:
            raise ValueError("there is nothing to hide: name patterns, or a file that lists them")
        if any(not pattern or not all(pattern) for pattern in self.patterns):
            raise ValueError("a pattern or one of its elements is empty; remove it")
        if isinstance(self.threshold, tuple) and self.file is None and len(self.threshold) != len(self.patterns):
            raise ValueError(
                f"{len(self.threshold)} thresholds for {_name_pattern_count(len(self.patterns))}: give one for all, or "
                "one for each"
            )
        if (self.mark == "replace") != (self.min_support is not None):
            raise ValueError(
                "the mark replace needs min_support, the support from which a pattern shows, and no other mark has it"
            )
        if self.strategy == "exact" and self.mark != MARK and (self.max_gap, self.window) != (None, None):
            raise ValueError(
                "with max_gap or window, deleting can create matches, which the exact strategy does not foresee: take "
                "the mark Δ, or another strategy"
            )
        return self

    @property
    def maturity(self) -> str:  # type: ignore[override]  # depends on the parameters
        """Choosing at random is only for comparison."""
        return "for study" if "R" in self.strategy else "stable"

    def describe(self) -> dict[str, Any]:
        """The method without what it hides: naming it in a certificate would disclose it."""
        description = self.model_dump(mode="json", exclude={"patterns", "file", "threshold"})
        largest = max(self.threshold, default=0) if isinstance(self.threshold, tuple) else self.threshold
        counts = {"patterns": len(self.patterns), "more_from_a_file": self.file is not None}
        return description | counts | {"threshold": largest}

    @classmethod
    def find_mark(cls, parameters: Mapping[str, Any]) -> str:
        """A mark, if one was chosen to stand for hidden items."""
        return MARK if parameters["mark"] == MARK else ""

    @classmethod
    def find_gap_limits(cls, parameters: Mapping[str, Any]) -> GapLimits:
        """The largest gap and window of a match, which the policy sets or leaves open."""
        return GapLimits(parameters.get("max_gap"), parameters.get("window"))

    def protect(self, data: Sequences, randomness: Randomness | None = None) -> Release:
        """Find every match, choose sequences and items in them, and take these away."""
        if not len(data):
            raise DataError("there are no sequences to hide anything in")
        if self.mark != "delete" and MARK in map(str, data.items):
            raise DataError(
                f"{MARK} is an item of the data, so it cannot mark or replace what is hidden; rename it, or delete"
            )
        patterns = self.list_secrets()
        _refuse_unknown_items(patterns, data)
        _refuse_long_patterns(patterns, self.window)
        thresholds = self._count_thresholds(len(patterns), len(data))
        draft = self._start_draft(data, patterns)
        chance = randomness or Randomness.secure()
        quality = self._mark(draft, patterns, thresholds, chance)
        marked_mask = ~draft.alive
        published_sequences = self._publish(draft, patterns, thresholds, chance)
        marked_mask |= ~draft.alive  # some more may have gone
        return Release(
            data=published_sequences,
            method=self,
            claims=(
                claim_patterns_hidden(self.max_gap, self.window),
                self._claim_no_ghosts(len(data)),
                claim_all_sequences(data),
            ),
            losses=_count_losses(draft, marked_mask),
            details=SequenceDetails(
                rows=np.arange(len(data), dtype=np.int64),
                sensitive=tuple(zip(patterns, thresholds.tolist(), strict=True)),
                marks=draft.list_marks(marked_mask),
                min_support=self.min_support,
                edit=_EDITS[self.mark],
                **quality,
            ),
        )

    def list_secrets(self) -> tuple[ItemPattern, ...]:
        """Every pattern to hide, including the file's."""
        if self.file is None:
            return self.patterns
        return (
            *self.patterns,
            *(_spell_pattern(pattern) for pattern in Sequences.read(self.file).to_lists() if pattern),
        )

    def _start_draft(self, data: Sequences, patterns: tuple[ItemPattern, ...]) -> SequenceDraft:
        return SequenceDraft(data, patterns, self.max_gap, self.window, in_place=self.mark != "delete")

    def _publish(
        self, draft: SequenceDraft, patterns: tuple[ItemPattern, ...], thresholds: Ints, randomness: Randomness
    ) -> Sequences:
        """The sequences with their marked items deleted, replaced or shown as marks."""
        if self.mark == MARK:
            return show_marks(draft.data, draft.alive)
        if self.min_support is None:
            return delete_marked(draft.data, draft.alive)
        replace_marked(draft, compute_least_count(self.min_support, len(draft.data)), randomness.generator())
        replaced_sequences = delete_marked(draft.data, draft.alive, draft.elements.codes)
        # What could not be replaced is deleted, and with limits on gaps that can create matches.
        last = SequenceDraft(replaced_sequences, patterns, self.max_gap, self.window)
        hide_in_two_stages(last, thresholds, "HH", randomness.generator())
        draft.alive[draft.list_published()[~last.alive]] = False
        return delete_marked(draft.data, draft.alive, draft.elements.codes)

    def _claim_no_ghosts(self, rows: int) -> Claim:
        if self.min_support is None:
            return claim_nothing_added(MARK if self.mark == MARK else "")
        return claim_no_ghosts(compute_least_count(self.min_support, rows))

    def _mark(
        self, draft: SequenceDraft, patterns: tuple[ItemPattern, ...], thresholds: Ints, randomness: Randomness
    ) -> Mapping[str, Any]:
        """Mark items by the strategy; how good the result is, if that is known."""
        if self.strategy != "exact":
            hide_in_two_stages(draft, thresholds, self.strategy, randomness.generator())
            return {}
        greedy = self._start_draft(draft.data, patterns)
        hide_in_two_stages(greedy, thresholds, "HH", randomness.generator())
        return improve_marks(draft, greedy, thresholds, self.seconds).as_details()

    def _count_thresholds(self, patterns: int, rows: int) -> Ints:
        thresholds = self.threshold if isinstance(self.threshold, tuple) else (self.threshold,) * patterns
        if len(thresholds) != patterns:
            raise DataError(
                f"{len(thresholds)} thresholds for {_name_pattern_count(patterns)}: give one for all, or one for each"
            )
        counts = [t if isinstance(t, int) else floor(Fraction(repr(t)) * rows) for t in thresholds]
        return np.array(counts, dtype=np.int64)


def _name_pattern_count(count: int) -> str:
    return f"{count} pattern{'' if count == 1 else 's'}"


def _refuse_unknown_items(patterns: tuple[ItemPattern, ...], data: Sequences) -> None:
    """Stop at a misspelt item: its pattern would stay, under a claim that it is hidden."""
    if not patterns:
        raise PolicyError("there is nothing to hide: the file lists no pattern")
    known_items = set(map(str, data.items))
    strange = [{str(item) for element in pattern for item in element} - known_items for pattern in patterns]
    numbers = [number for number, items in enumerate(strange, 1) if items]
    if numbers:
        count = len(set().union(*strange))
        amount = "an item" if count == 1 else f"{count} items"
        number_text = ", ".join(map(str, numbers[:8])) + (f" and {len(numbers) - 8} more" if len(numbers) > 8 else "")
        raise PolicyError(
            f"the patterns name {amount} that no sequence holds, in pattern {number_text} of {len(patterns)}; check "
            "the spelling, or remove what does not occur: it needs no hiding"
        )


def _refuse_long_patterns(patterns: tuple[ItemPattern, ...], window: int | None) -> None:
    """Stop at patterns that no window can hold: nothing would be changed, under a claim that they are hidden."""
    longest = max(map(len, patterns))
    if window is not None and longest > window:
        count = sum(len(pattern) > window for pattern in patterns)
        many = "1 pattern has" if count == 1 else f"{count} patterns have"
        raise PolicyError(
            f"{many} more elements than window = {window}, so that no match can span them all: window must be at least "
            f"{longest}, or remove them"
        )


def _spell_pattern(pattern: Any) -> Any:
    if isinstance(pattern, str) or not isinstance(pattern, Iterable):
        return pattern
    return tuple((element,) if isinstance(element, str | int) else element for element in pattern)


def _count_losses(draft: SequenceDraft, marked_mask: Flags) -> dict[str, Number]:
    """What an analyst loses: a marked item is gone, and so is its element for an analyst who compares elements."""
    losses = _compare_sequences(draft.data, delete_marked(draft.data, draft.alive, draft.elements.codes))
    return {
        "loss": losses["loss"],
        "changes": int(marked_mask.sum()),
        "changed_sequences": losses["changed_sequences"],
    }


def _compare_sequences(original: Sequences, published_sequences: Sequences) -> dict[str, Number]:
    """What was deleted and inserted, element by element; the first have every item of the second."""
    if len(original.codes) == len(original.element_offsets) - 1:  # one item each, and so in what is left
        code_of = {item: code for code, item in enumerate(original.items)}
        codes = np.array([code_of[item] for item in published_sequences.items], dtype=np.int32)[
            published_sequences.codes
        ]
        rows = (
            LabelLists(original.codes.copy(), original.offsets.copy()),
            LabelLists(codes, published_sequences.offsets.copy()),
        )
        return SequenceEdits.of(*rows).compute_losses()
    labels = ElementLabels.of(_join_sequences([original, published_sequences])).rows
    numbers = np.arange(len(original))
    return SequenceEdits.of(labels.select(numbers), labels.select(numbers + numbers.size)).compute_losses()


def _join_sequences(several: list[Sequences]) -> Sequences:
    """Sequences one after another; those of the first have every item."""
    code_of = {item: code for code, item in enumerate(several[0].items)}
    codes = [np.array([code_of[item] for item in data.items], dtype=np.int32)[data.codes] for data in several]
    offsets, element_offsets = (
        np.concatenate(([0], np.cumsum(np.concatenate([np.diff(getattr(data, name)) for data in several]))))
        for name in ("offsets", "element_offsets")
    )
    return Sequences(several[0].items, offsets, element_offsets, np.concatenate(codes))
