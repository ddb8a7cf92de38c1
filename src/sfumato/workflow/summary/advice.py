# SPDX-License-Identifier: MIT
"""What would have lost less: after a run that lost much, alternatives are really tried on the data, and compared.

Every alternative keeps the models of the policy. The sentences hold figures about the originals, so they are for the
custodian: on the terminal, in the internal report and in the private record, and never in what leaves.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sfumato import measure
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.details import SequenceDetails
from sfumato.errors import SfumatoError, quote_names
from sfumato.protect.method import Method
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences
from sfumato.table import Table

HIGH_LOSS = 0.3
"""A run that lost less, and starred no column, needs no advice."""
_MOST_ROWS = 5_000
"""Of a larger table, alternatives are tried on a sample of this size."""
_SECONDS = 30.0
"""No further alternative is tried after this time."""
_BETTER = 0.8
"""An alternative is named if its loss is at most this share of the run's."""


class TriedAlternative(NamedTuple):
    """An alternative with its measured loss."""

    words: str
    loss: float


def advise_on_loss(
    methods: tuple[Method, ...],
    original: Any,
    published_data: Any,
    loss: float | None,
    alternatives: Iterable[TriedAlternative] | None = None,
) -> tuple[str, ...]:
    """One sentence on what loses less if a run lost much or starred a column; none if nothing that was tried does."""
    if loss is None or not is_advice_due(methods, original, published_data, loss):
        return ()
    report_progress("trying what would lose less")
    table = take_sample(original)
    alternatives = try_alternatives(methods[0], table) if alternatives is None else alternatives
    better = sorted(
        (alternative for alternative in alternatives if alternative.loss <= _BETTER * loss),
        key=lambda alternative: alternative.loss,
    )
    if not better:
        return ()
    options = ", or ".join(f"{alternative.words} (loss {alternative.loss:.2g})" for alternative in better)
    sample = f", measured on {len(table):,} of the rows" if len(table) < len(original) else ""
    reason = _explain_loss(_list_starred_columns(published_data), original)
    return (f"{reason}The loss is {loss:.2g}. To lose less, {options}{sample}.",)


def note_nothing_hidden(release: Release) -> tuple[str, ...]:
    """A sentence if nothing was changed, which is rarely intended."""
    methods = [method for method in (*release.earlier_methods, release.method) if method is not None]
    counts = {name for method in methods if method.headline_count for name in method.headline_count.losses}
    is_unchanged = bool(counts) and not any(release.losses.get(name, 1) for name in counts)
    if not release.details.get("sensitive") or not is_unchanged:
        return ()
    visible_count = int(release.losses.get("exposed_rules", 0))
    if visible_count:
        rules = "a rule about hidden items still shows" if visible_count == 1 else f"{visible_count:,} rules still show"
        return (f"Nothing was changed, and {rules}: the search found no change that hides more. Choose another one.",)
    patterns = release.details.get_family(SequenceDetails)
    if patterns is None and not any(method.find_thresholds(method.describe()) for method in methods):
        return ("Nothing was changed. If you expected a change, look at what is to be hidden.",)
    limits = "threshold, and at limits on gaps and windows" if isinstance(release.data, Sequences) else "thresholds"
    reason = "Nothing was changed: no secret exceeds its threshold in the originals."
    return (f"{reason} If you expected one to, look at the {limits}.",)


def is_advice_due(methods: tuple[Method, ...], original: Any, published_data: Any, loss: float | None) -> bool:
    """Whether a run lost much or starred a column, so that alternatives are tried."""
    if loss is None or len(methods) != 1 or not isinstance(original, Table) or not isinstance(published_data, Table):
        return False
    return loss > HIGH_LOSS or bool(_list_starred_columns(published_data))


def _list_starred_columns(published_table: Table) -> list[str]:
    """The quasi-identifying columns in which nothing is left."""
    return [
        name
        for name in published_table.quasi_identifying
        if len(published_table) and (spell_cells(published_table.frame[name]) == STAR).fill_null(True).all()
    ]


def _explain_loss(starred_columns: list[str], original: Table) -> str:
    flat = [name for name in starred_columns if name not in original.hierarchies]
    if flat:
        have, are = ("has", "is") if len(flat) == 1 else ("have", "are")
        return f"{quote_names(flat)} {have} no hierarchy and {are} suppressed in every row. "
    are = "is" if len(starred_columns) == 1 else "are"
    return f"{quote_names(starred_columns)} {are} suppressed in every row. " if starred_columns else ""


def take_sample(table: Table) -> Table:
    """The rows on which alternatives are tried."""
    return table if len(table) <= _MOST_ROWS else table.replace_frame(table.frame.sample(_MOST_ROWS, seed=0))


def try_alternatives(method: Method, table: Table) -> Iterator[TriedAlternative]:
    """Protect the table in other ways, one after another, and measure what each loses."""
    deadline = time.monotonic() + _SECONDS
    for alternative in method.list_alternatives(table):
        if time.monotonic() > deadline:
            return
        try:
            release = alternative.method.protect(alternative.table, randomness=Randomness.seeded(0))
            yield TriedAlternative(alternative.words, measure.loss(release.data, alternative.table))
        except SfumatoError:
            continue  # impossible for this table, so no advice


def list_tried_alternatives(method: Method, table: Table) -> tuple[TriedAlternative, ...]:
    """All of them, for another process to return."""
    return tuple(try_alternatives(method, table))
