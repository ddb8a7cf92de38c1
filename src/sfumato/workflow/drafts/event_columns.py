# SPDX-License-Identifier: MIT
"""Files with one event in each row (whose, what, when): which columns these are, and notes where the order is lost.

A file of events may be read as a table, in which each event counts as a person, or as baskets, which have no order.
Both can be meant, so that nothing is refused: anyone who reads such a file is told how to read it as sequences.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sfumato.data.reading.source import is_database
from sfumato.data.roles.role_proposals import RoleProposal
from sfumato.errors import SfumatoError
from sfumato.workflow.drafts.draft_notes import list_repeated_owners
from sfumato.workflow.drafts.draft_source import DraftSource, read_header
from sfumato.workflow.policy import Policy

_TIMES = ("time", "timestamp", "datetime", "date_time", "ts", "t", "date", "day", "hour")


class EventColumns(NamedTuple):
    """Whose event it is, what it is, and when."""

    id: str
    item: str | None
    """None if there are several candidates."""
    time: str


def find_time_column(columns: Iterable[str]) -> str | None:
    """The column that tells when, by its name."""
    plain = {name.strip().casefold(): name for name in reversed(list(columns))}
    return next((plain[name] for name in _TIMES if name in plain), None)


def find_event_columns(proposals: Iterable[RoleProposal]) -> EventColumns | None:
    """The columns of events, if a person has several rows and a column tells when."""
    proposal_list = list(proposals)
    owners, time = list_repeated_owners(proposal_list), find_time_column(proposal.column for proposal in proposal_list)
    other_columns = [proposal.column for proposal in proposal_list if proposal.column not in (*owners[:1], time)]
    if not owners or time is None or time in owners or not other_columns:
        return None
    return EventColumns(owners[0], other_columns[0] if len(other_columns) == 1 else None, time)


def note_events(path: str, proposals: Iterable[RoleProposal]) -> Iterator[str]:
    """Events of people look like a table, in which every event is a person of its own."""
    columns = find_event_columns(proposals)
    if columns is not None:
        options = f"--id {shlex.quote(columns.id)} --item {shlex.quote(columns.item or 'COLUMN')} --time "
        yield (
            f'The rows look like events of people in the order of "{columns.time}". To hide whole sequences of events, '
            f"draft again: sfumato init {shlex.quote(path)} {options}{shlex.quote(columns.time)}"
        )


def find_ignored_time(path: str, id_column: str, item: str, separator: str | None = None) -> str | None:
    """The time column of a long-form file that is read as baskets; None if the file has none, or another form."""
    if is_database(path):
        return None
    try:
        header = read_header(path, separator)
    except (SfumatoError, OSError):
        return None  # the reader says what is wrong with it
    other_columns = [name for name in header if name not in (id_column, item)]
    return find_time_column(other_columns) if len(header) - len(other_columns) == 2 else None


def note_baskets_with_time(source: DraftSource) -> Iterator[str]:
    """A draft for baskets says that it does not look at the column of times."""
    time = find_ignored_time(source.path, source.columns.owner, source.columns.item_column, source.separator)
    if time is not None:
        yield (
            f'The file has a column "{time}", which is not read: baskets have no order. If the order of items matters, '
            f"draft again with --shape sequences --time {shlex.quote(time)}"
        )


def note_ignored_time(policy: Policy) -> Iterator[str]:
    """A run on baskets says that it did not look at the column of times."""
    data = policy.data
    if policy.shape != "baskets":
        return
    time = find_ignored_time(data.path, data.id, data.item, data.separator)
    if time is not None:
        yield (
            f'The file has a column "{time}", which was not read: baskets have no order. If the order matters, choose '
            f'a method for sequences, such as anonymize_sequences, and set time = "{time}" under [data].'
        )
