# SPDX-License-Identifier: MIT
"""Replace marked items by others that bring nothing back: no secret pattern, and no pattern that becomes frequent.

Items are drawn as often as they occur, so that a replacement does not stand out. One that lets a secret pattern match
is drawn again a few times and then given up, and its item is deleted. Then the sequences are mined, or only what is
new in them where that would list too many patterns; as long as a pattern is frequent that was not before, the sequences
that newly contain it lose their replacements.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np

from sfumato.arrays import Flags, Floats
from sfumato.errors import PolicyError
from sfumato.mine.sequences.containment import flag_rows
from sfumato.mine.sequences.subsequences import find_subsequences, list_pattern_codes
from sfumato.protect.sequences.edited_sequences import ItemPattern, SequenceDraft
from sfumato.protect.sequences.marked_sequences import delete_marked
from sfumato.protect.sequences.new_patterns import find_new_patterns, refuse_long_search
from sfumato.protect.sequences.row_weights import weigh_near
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences

_TRIES = 8
MOST_PATTERNS = 1_000_000
"""Frequent patterns are compared before and after; more take gigabytes."""


def replace_marked(draft: SequenceDraft, least: int, generator: np.random.Generator) -> None:
    """Give marked items of a draft another code where that is harmless."""
    places = np.flatnonzero(~draft.alive)
    if not places.size:
        return
    original_patterns = _list_frequent(draft.data, least)
    if original_patterns is None:
        with _explain_refusal(draft.data, least):
            refuse_long_search(draft.data, least)
    shares = np.bincount(draft.data.codes, minlength=len(draft.data.items)) / max(len(draft.data.codes), 1)
    for done_count, position in enumerate(places.tolist()):
        if done_count % 256 == 0:
            report_progress("replacing items", done_count, len(places))
        _replace_place(draft, position, shares, generator)
    replaced_mask = np.zeros(len(draft.alive), dtype=np.bool_)
    replaced_mask[places] = draft.alive[places]
    _take_ghosts_back(draft, replaced_mask, original_patterns, least)


def _replace_place(draft: SequenceDraft, position: int, shares: Floats, generator: np.random.Generator) -> None:
    """Try a few items in the place of a marked one."""
    row, codes = int(draft.owners[position]), draft.elements.codes
    banned_patterns = draft.list_absent(row)
    element = draft.find_element(position)
    old = int(draft.data.codes[position])
    for code in generator.choice(len(shares), size=_TRIES, p=shares).tolist():
        if code == old or code in codes[element]:
            continue
        codes[position], draft.alive[position] = code, True
        if not weigh_near(draft, position, banned_patterns).any():
            return
        draft.alive[position] = False
    codes[position] = old


def _take_ghosts_back(
    draft: SequenceDraft, replaced_mask: Flags, original_patterns: set[ItemPattern] | None, least: int
) -> None:
    """Delete replacements that make a pattern frequent which was not frequent before."""
    while (replaced_mask & draft.alive).any():
        published_sequences = delete_marked(draft.data, draft.alive, draft.elements.codes)
        ghosts = _find_ghosts(draft.data, published_sequences, original_patterns, least)
        if not ghosts:
            return
        report_progress("taking replacements back", len(ghosts))
        bare_sequences = delete_marked(draft.data, draft.alive & ~replaced_mask)
        for pattern in sorted(ghosts, key=str):
            rows = np.flatnonzero(flag_rows(published_sequences, pattern) & ~flag_rows(bare_sequences, pattern))
            draft.alive[replaced_mask & np.isin(draft.owners, rows)] = False


def _find_ghosts(
    data: Sequences, published_sequences: Sequences, original_patterns: set[ItemPattern] | None, least: int
) -> set[ItemPattern]:
    """The patterns frequent in the published sequences only; `original_patterns` are the others, unless too many."""
    published_patterns = None if original_patterns is None else _list_frequent(published_sequences, least)
    if original_patterns is not None and published_patterns is not None:
        return published_patterns - original_patterns
    with _explain_refusal(data, least):
        refuse_long_search(data, least)
        new = find_new_patterns(data, published_sequences, least)
    return {tuple((data.items[code],) for code in pattern) for pattern in new}


@contextmanager
def _explain_refusal(data: Sequences, least: int) -> Iterator[None]:
    """Say what to change if a search for new patterns would take too long."""
    try:
        yield
    except PolicyError:
        raise PolicyError(
            f"more than {MOST_PATTERNS:,} patterns are in {least} sequences or more, too many to check that replacing "
            f"items makes no other frequent; {_advise_on_support(data, least)}"
        ) from None


def _list_frequent(sequences: Sequences, least: int) -> set[ItemPattern] | None:
    """The frequent patterns; None if they are too many."""
    try:
        subsequences = find_subsequences(sequences, least, at_most=MOST_PATTERNS, mark="")
    except PolicyError:
        return None
    return {
        tuple(tuple(subsequences.items[code] for code in element) for element in pattern)
        for pattern in list_pattern_codes(subsequences)
    }


def _advise_on_support(sequences: Sequences, least: int) -> str:
    """What to change if too many patterns are frequent: a support at which few enough are, if there is one."""
    rows, tried_support = len(sequences), least
    while tried_support < rows:
        tried_support = min(2 * tried_support, rows)
        report_progress("looking for a larger min_support", tried_support, rows)
        with suppress(PolicyError):
            find_subsequences(sequences, tried_support, at_most=MOST_PATTERNS, mark="")
            return f'set min_support to {tried_support} or more, or choose the mark "delete" or "Δ"'
    return 'as many are in all sequences, so that no min_support is large enough: choose the mark "delete" or "Δ"'
