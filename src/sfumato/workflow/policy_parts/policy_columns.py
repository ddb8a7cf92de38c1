# SPDX-License-Identifier: MIT
"""Whether a policy names only columns that its table has, checked before any work starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sfumato.description import Description
from sfumato.errors import PolicyError, ask_meant, quote_names, quote_some_names
from sfumato.table import Table
from sfumato.workflow.policy import Policy


class ColumnMention(NamedTuple):
    """Some columns that a policy names, and where."""

    section: str
    columns: tuple[str, ...]


def refuse_unknown_columns(policy: Policy, data: Any) -> None:
    """Refuse a policy that names a column which the table does not have, and ask which one was meant."""
    if not isinstance(data, Table):
        return
    known_columns = data.frame.columns
    for mention in _list_mentions(policy):
        unknown = [name for name in mention.columns if name not in known_columns]
        if unknown:
            raise PolicyError(
                f"{mention.section} names {quote_names(unknown)}, which {data.source} does not have"
                f"{ask_meant(unknown, known_columns) or f'; its columns are {quote_some_names(known_columns)}'}"
            )


def _list_mentions(policy: Policy) -> Iterator[ColumnMention]:
    for number, method in enumerate(policy.protect):
        yield from _list_named_columns(method, f"protect[{number}]")
    for number, attack in enumerate(policy.attack):
        yield from _list_named_columns(attack, f"attack[{number}]")
    if policy.measure.classify is not None:
        yield ColumnMention("measure.classify", (policy.measure.classify,))
    yield ColumnMention("[accept]", tuple(policy.accept))


def _list_named_columns(description: Description, section: str) -> Iterator[ColumnMention]:
    """The columns that a method, model or attack names, and those of its parts."""
    for field, columns in description.list_named_columns().items():
        yield ColumnMention(f"{section}.{field}", columns)
    for field, parts in description.list_parts().items():
        for number, part in enumerate(parts):
            yield from _list_named_columns(part, f"{section}.{field}[{number}]")
