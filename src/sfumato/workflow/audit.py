# SPDX-License-Identifier: MIT
"""What is at risk in a file: who can be singled out, and by how few columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

from sfumato.data.cells.misread_columns import find_misread_columns
from sfumato.data.reading.table_reader import TextFormat
from sfumato.data.roles.role import Role, name_separator
from sfumato.data.roles.role_proposals import RoleProposal, propose_roles
from sfumato.engine.choice import choose_engine
from sfumato.engine.engine_names import EngineName
from sfumato.engine.profiles import propose_stored_roles
from sfumato.engine.scratch import open_scratch_folder
from sfumato.engine.staging import open_stored_rows
from sfumato.engine.stored_rows import StoredRows
from sfumato.errors import DataError, PolicyError, ask_meant, count_noun, quote_names, quote_some_names
from sfumato.measure.anonymity.k_anonymity import k_anonymity, uniqueness
from sfumato.measure.anonymity.stored_unique_rows import StoredCounter
from sfumato.report.words.wording import spell_percent
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.workflow.sequence_audit import SequenceAudit

MOST_COLUMNS = 40
"""How many quasi-identifying columns are combined in pairs, those with the most values first."""
_MANY_ROWS, _MOST_TOGETHER = 1 << 18, 3
"""In this many stored rows, people who are unique by so few columns are counted for all combinations at once."""


@dataclass(frozen=True)
class ColumnCombination:
    """Some columns, and the share of people who are unique in them."""

    columns: tuple[str, ...]
    unique_share: float


@dataclass(frozen=True, repr=False)
class Audit:
    """What an adversary could do with a table."""

    source: str
    """Where the table came from."""
    rows: int
    """The number of rows."""
    columns: int
    """The number of columns."""
    proposals: tuple[RoleProposal, ...]
    """A proposed role for every column, with the reason."""
    quasi_identifying: tuple[str, ...]
    """The columns that an adversary is assumed to know."""
    k: int | None
    """The size of the smallest crowd; None without quasi-identifying columns."""
    unique_share: float | None
    """The share of people with unique values; None without quasi-identifying columns."""
    pairs: tuple[ColumnCombination, ...]
    """Pairs of quasi-identifying columns, the riskiest first."""
    columns_in_pairs: int
    """How many columns were combined in pairs."""
    riskiest: ColumnCombination | None
    """The smallest combination that singles out nearly as many people as all columns together."""
    misread: tuple[str, ...] = ()
    """What was read as words although it looks like numbers or dates, as sentences."""

    @property
    def roles(self) -> dict[str, str]:
        """The proposed role of every column, for you to check and change."""
        return {proposal.column: proposal.role.value for proposal in self.proposals}

    def __repr__(self) -> str:
        """Counts and the first sentence."""
        return f"Audit({self.source}: {self.rows:,} rows, {self.columns} columns. {self.list_sentences()[0]})"

    def _repr_html_(self) -> str:
        from sfumato.report.notebook_views import render_audit

        return render_audit(self)

    def as_json(self) -> dict[str, Any]:
        """The audit as JSON."""
        return asdict(self)

    def list_sentences(self) -> tuple[str, ...]:
        """The audit in words."""
        if self.columns == 1 and self.proposals:
            sign = name_separator(self.proposals[0].column)
            return (f"The file was read as a single column. If it has several, give its separator: {sign}.",)
        if self.unique_share is None or self.k is None:
            return (
                "No column looks like something others know about a person, so people cannot be looked up.",
                *self.misread,
            )
        column_list, people = _join_names(self.quasi_identifying), count_noun(self.rows, "person", "people")
        sentences = [
            f"Of {people}, {spell_percent(self.unique_share)} are unique by their {column_list}.",
            "Anyone who knows these about a person finds their row.",
        ]
        if (
            self.riskiest
            and self.riskiest.unique_share > 0
            and len(self.riskiest.columns) < len(self.quasi_identifying)
        ):
            verb, pronoun = (
                ("alone identifies", "it") if len(self.riskiest.columns) == 1 else ("together identify", "these")
            )
            sentences.append(
                f"{_join_names(self.riskiest.columns)} {verb} {spell_percent(self.riskiest.unique_share)} of the "
                f"people: generalize {pronoun} first."
            )
        if self.k > 1:
            sentences.append(f"Every person shares their values with at least {self.k - 1} others (k = {self.k}).")
        return (*sentences, *self.misread)


@overload
def audit(table: Sequences) -> SequenceAudit: ...
@overload
def audit(
    table: Any,
    quasi_identifying: Sequence[str] | None = None,
    *,
    engine: EngineName = "auto",
    text: TextFormat | None = None,
) -> Audit: ...
def audit(
    table: Any,
    quasi_identifying: Sequence[str] | None = None,
    *,
    engine: EngineName = "auto",
    text: TextFormat | None = None,
) -> Audit | SequenceAudit:
    """Examine a table, a frame, a file or `Sequences` as an adversary would, before protecting it.

    Roles are taken from the table if it has some, else from `quasi_identifying`, else from the proposals. A file is
    read into memory, or counted where it is by duckdb or Spark: as `engine` says, or by its size. `text` describes a
    text file.
    """
    if isinstance(table, Sequences):
        from sfumato.workflow.sequence_audit import audit_sequences

        return audit_sequences(table)
    if isinstance(table, str | Path):
        engine_name = choose_engine(table, engine).name
        if engine_name != "memory":
            with open_scratch_folder() as scratch:
                rows = open_stored_rows(table, text or TextFormat(), scratch, engine_name)
                return _audit_rows(_StoredCrowds(rows), quasi_identifying)
        table = _read_table(table, text or TextFormat())
    elif engine in ("duckdb", "spark"):
        raise PolicyError(f"the engine {engine} reads files: give the path of one, not data that is in memory")
    else:
        table = getattr(table, "release", table)  # of a run
        table = getattr(table, "data", table) if isinstance(getattr(table, "data", None), Table) else table
        table = table if isinstance(table, Table) else Table.of(table)
    if quasi_identifying is None and table.roles:
        quasi_identifying = table.quasi_identifying
    misread = find_misread_columns(table.frame).explain()
    return replace(_audit_rows(_TableCrowds(table), quasi_identifying), misread=misread)


def _read_table(path: str | Path, text: TextFormat) -> Table:
    options = {name: getattr(text, name) for name in ("header", "encoding", "quote", "comment", "trim", "decimal")}
    return Table.read(path, separator=text.separator, missing_marks=text.missing_marks, columns=text.columns, **options)


class _AuditedRows(Protocol):
    """What an audit counts."""

    source: str
    height: int
    columns: list[str]

    def propose_roles(self) -> tuple[RoleProposal, ...]:
        """A role for every column."""

    def measure_uniqueness(self, columns: Sequence[str]) -> float:
        """The share of people whose values are unique."""

    def measure_each(self, combinations: Sequence[Sequence[str]]) -> list[float]:
        """The same for several combinations of columns."""

    def find_smallest_crowd(self, columns: Sequence[str]) -> int:
        """The size of the smallest class."""


class _TableCrowds:
    """A table in memory."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.source, self.height, self.columns = table.source, len(table), table.frame.columns

    def propose_roles(self) -> tuple[RoleProposal, ...]:
        return propose_roles(self._table.frame)

    def measure_uniqueness(self, columns: Sequence[str]) -> float:
        return uniqueness(self._table, columns)

    def measure_each(self, combinations: Sequence[Sequence[str]]) -> list[float]:
        return [self.measure_uniqueness(columns) for columns in combinations]

    def find_smallest_crowd(self, columns: Sequence[str]) -> int:
        return k_anonymity(self._table, columns)


class _StoredCrowds:
    """Rows that are counted where they are; a missing cell is a value of its own."""

    def __init__(self, rows: StoredRows) -> None:
        self._rows = rows
        self.source, self.height, self.columns = rows.source, rows.height, list(rows.schema)

    def propose_roles(self) -> tuple[RoleProposal, ...]:
        return propose_stored_roles(self._rows)

    @cached_property
    def _counter(self) -> StoredCounter:
        return StoredCounter(self._rows, self.columns)

    def measure_uniqueness(self, columns: Sequence[str]) -> float:
        return self.measure_each([columns])[0]

    def measure_each(self, combinations: Sequence[Sequence[str]]) -> list[float]:
        if self.height < _MANY_ROWS or max(map(len, combinations)) > _MOST_TOGETHER:
            return [sizes.unique / self.height for sizes in self._rows.count_many_sizes(combinations)]
        ordered_combinations = [tuple(sorted(columns, key=self.columns.index)) for columns in combinations]
        return [count / self.height for count in self._counter.count_unique(ordered_combinations)]

    def find_smallest_crowd(self, columns: Sequence[str]) -> int:
        return self._rows.count_sizes(columns).smallest


def _audit_rows(table: _AuditedRows, quasi_identifying: Sequence[str] | None) -> Audit:
    report_progress("proposing roles")
    proposals = table.propose_roles()
    if quasi_identifying is None:
        quasi_identifying = [proposal.column for proposal in proposals if proposal.role is Role.QUASI_IDENTIFYING]
    names = tuple(dict.fromkeys(quasi_identifying))
    unknown = [name for name in names if name not in table.columns]
    if unknown:
        raise DataError(
            f"{table.source}: there is no column {quote_names(unknown)}"
            f"{ask_meant(unknown, table.columns) or f'; its columns are {quote_some_names(table.columns)}'}"
        )
    distinct = {proposal.column: proposal.distinct for proposal in proposals}
    considered_names = sorted(names, key=lambda name: -distinct.get(name, 0))[:MOST_COLUMNS]
    pairs = _rank_column_pairs(table, considered_names)
    unique = table.measure_uniqueness(names) if names else None
    return Audit(
        source=table.source,
        rows=table.height,
        columns=len(table.columns),
        proposals=proposals,
        quasi_identifying=names,
        k=table.find_smallest_crowd(names) if names else None,
        unique_share=unique,
        pairs=pairs,
        columns_in_pairs=len(considered_names),
        riskiest=_find_riskiest_columns(table, considered_names, pairs, unique) if names else None,
    )


def _rank_column_pairs(table: _AuditedRows, names: list[str]) -> tuple[ColumnCombination, ...]:
    every = list(combinations(sorted(names, key=table.columns.index), 2))
    combinations_by_risk = []
    for number, pair in enumerate(every):
        report_progress("examining pairs of columns", number, len(every))
        combinations_by_risk.append(ColumnCombination(pair, table.measure_uniqueness(pair)))
    return tuple(sorted(combinations_by_risk, key=lambda combination: -combination.unique_share))


def _find_riskiest_columns(
    table: _AuditedRows, names: list[str], pairs: tuple[ColumnCombination, ...], unique: float | None
) -> ColumnCombination | None:
    """Grow the riskiest pair by the column that singles out most, up to nine tenths of all unique people."""
    if not pairs:
        return ColumnCombination(tuple(names), unique or 0.0)
    best = pairs[0]
    while best.unique_share < 0.9 * (unique or 0.0) and len(best.columns) < len(names):
        wider = [(*best.columns, name) for name in names if name not in best.columns]
        candidates = map(ColumnCombination, wider, table.measure_each(wider))
        best = max(candidates, key=lambda combination: combination.unique_share)
    return best


def _join_names(names: Sequence[str], most: int = 8) -> str:
    name_list = list(names[:most]) + ([f"{len(names) - most} more"] if len(names) > most else [])
    return name_list[0] if len(name_list) == 1 else f"{', '.join(name_list[:-1])} and {name_list[-1]}"
