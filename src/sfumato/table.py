# SPDX-License-Identifier: MIT
"""A table about people: a polars frame in which every column has a role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Unpack

import polars as pl

from sfumato.data.cells.spelled_dates import find_date_forms, read_dates
from sfumato.data.hierarchies.hierarchy import Hierarchy, build_flat_hierarchy
from sfumato.data.hierarchies.hierarchy_builders import parse_builder
from sfumato.data.reading.column_labels import ColumnLabels
from sfumato.data.reading.plain_frames import build_table_frame, get_row_labels, simplify_frame
from sfumato.data.reading.table_reader import MISSING_MARKS, TextFormat, TextOptions, read_labelled
from sfumato.data.roles.role import Role, assign_roles
from sfumato.data.writing.rebuild import rebuild_frame
from sfumato.errors import DataError, PolicyError, ask_meant, hide_password
from sfumato.fields.problem_words import suggest_field
from sfumato.notebook import name_roles, render_card, render_rows, render_summary


class Missing(StrEnum):
    """What a missing quasi-identifying value means when classes are counted."""

    OWN_VALUE = "own_value"
    """A value like any other ("not known"): missing matches missing."""
    MATCHES_ANY = "matches_any"
    """A missing value could be anything, so it matches every value."""
    NEVER_MATCHES = "never_matches"
    """A missing value matches nothing, not even another one: such a person is alone."""
    DROP = "drop"
    """A person with a missing value is left out of every count and of the release."""

    @classmethod
    def parse(cls, word: str) -> Missing:
        """Read a meaning by its name."""
        try:
            return cls(word)
        except ValueError:
            raise PolicyError(
                f'missing = "{word}" is not known; choose {", ".join(meaning.value for meaning in cls)}'
            ) from None


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """An immutable polars frame with a `Role` for every column."""

    frame: pl.DataFrame
    """The data, as a polars frame."""
    roles: Mapping[str, Role]
    """The role of every column."""
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=lambda: MappingProxyType({}))
    """The hierarchies of the columns that have one."""
    missing: Missing = Missing.OWN_VALUE
    """What a missing value means."""
    source: str = "table"
    """The name of the table in errors."""
    is_release: bool = False
    """Whether it may be published: a copy that leaves the process carries neither hierarchies nor the source's name."""
    row_labels: Any = None
    """The index of the pandas frame that it was made of, unless rows were only numbered; never written or pickled."""
    labels: Mapping[str, ColumnLabels] = field(default_factory=lambda: MappingProxyType({}))
    """What an SPSS, Stata or SAS file says about its columns; only labels of published cells are ever written."""
    spelled_dates: Mapping[str, pl.Series] = field(default_factory=lambda: MappingProxyType({}))
    """The text of columns that became dates because only one form fits them; never written or pickled."""

    @classmethod
    def read(
        cls,
        path: str | Path,
        roles: Mapping[str, str | Role] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        separator: str | None = None,
        missing_marks: Sequence[str] = MISSING_MARKS,
        missing: str = "own_value",
        *,
        columns: Sequence[str] | None = None,
        dates: Mapping[str, str] | None = None,
        **text: Unpack[TextOptions],
    ) -> Table:
        """Read a table from a file of any format, or from a database; see `TextFormat` for the options of text files.

        A path may name a sheet (``people.xlsx?sheet=Patients``) or be an address (``sqlite:///people.db?table=t``).
        `dates` says how columns of dates are written, ``{"born": "%m/%d/%Y"}``, where several forms fit them.
        """
        if unknown := [name for name in text if name not in TextOptions.__annotations__]:
            suggestion = suggest_field(
                unknown[0], ("separator", "missing_marks", "columns", *TextOptions.__annotations__)
            )
            raise PolicyError(
                f'Table.read has no "{unknown[0]}"; '
                + (
                    f'did you mean "{suggestion}"?'
                    if suggestion
                    else f"it also takes {', '.join(TextOptions.__annotations__)}"
                )
            )
        names = None if columns is None else tuple(columns)
        read = read_labelled(path, TextFormat(separator, tuple(missing_marks), columns=names, **text))
        source = hide_password(str(path))
        if read.frame.is_empty():
            raise DataError(f"{source}: the file has a header and no rows")
        table = cls.of(read.frame, roles, hierarchies, missing, source=source, dates=dates)
        return replace(table, labels=read.labels)

    @classmethod
    def of(
        cls,
        data: Any,
        roles: Mapping[str, str | Role] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        missing: str = "own_value",
        *,
        source: str = "table",
        dates: Mapping[str, str] | None = None,
    ) -> Table:
        """Make a table from a polars, pandas or pyarrow frame, or a dict of lists.

        Without `roles` the table can be audited and mined; everything else raises an error.
        A hierarchy is a `Hierarchy`, a path, or a description such as ``{"kind": "prefix", "keep": [3]}``.
        Text that can only be read as dates becomes dates, unless its column has a hierarchy, which lists the text.
        """
        frame = simplify_frame(build_table_frame(data, source), source)
        date_formats = dates or {}
        forms = find_date_forms(frame, (*date_formats, *(hierarchies or {})))
        spelled_dates = MappingProxyType({name: frame[name] for name in forms})
        frame = read_dates(read_dates(frame, date_formats, source), forms, source)
        column_roles = assign_roles(frame.columns, roles, source) if roles is not None else MappingProxyType({})
        column_hierarchies = {
            name: _read_hierarchy(hierarchy, frame, name, source) for name, hierarchy in (hierarchies or {}).items()
        }
        return cls(
            frame,
            column_roles,
            MappingProxyType(column_hierarchies),
            Missing.parse(missing),
            source,
            row_labels=get_row_labels(data),
            spelled_dates=spelled_dates,
        )

    @classmethod
    def of_release(
        cls, frame: pl.DataFrame, roles: Mapping[str, str | Role] | None, missing: str, source: str
    ) -> Table:
        """A table that was published: its text is what its certificate is about, and stays text."""
        plain = simplify_frame(frame, source)
        column_roles = assign_roles(plain.columns, roles, source) if roles is not None else MappingProxyType({})
        return cls(plain, column_roles, missing=Missing.parse(missing), source=source)

    @classmethod
    def read_like(cls, path: str | Path, truth: Table | None) -> Table:
        """A file about the same columns as another table: what is text there is text here."""
        frame, source = simplify_frame(read_labelled(path, TextFormat()).frame, str(path)), hide_password(str(path))
        texts = [name for name in frame.columns if truth is None or truth.frame.schema.get(name) == pl.String]
        frame = read_dates(frame, find_date_forms(frame, texts), source)
        return cls.of_release(frame, None, Missing.OWN_VALUE.value if truth is None else truth.missing.value, source)

    def list_role_columns(self, role: Role) -> tuple[str, ...]:
        """The columns of a role, in the table's order; an error if no roles were given at all."""
        if not self.roles:
            from sfumato.data.roles.role_lines import explain_missing_roles

            raise DataError(explain_missing_roles(self.frame, self.source))
        return tuple(name for name, column_role in self.roles.items() if column_role is role)

    @property
    def quasi_identifying(self) -> tuple[str, ...]:
        """The columns that an adversary may know from elsewhere."""
        return self.list_role_columns(Role.QUASI_IDENTIFYING)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that an adversary wants to learn."""
        return self.list_role_columns(Role.SENSITIVE)

    @property
    def identifying(self) -> tuple[str, ...]:
        """The columns that name a person."""
        return self.list_role_columns(Role.IDENTIFYING)

    def get_hierarchy(self, column: str) -> Hierarchy:
        """The hierarchy of a column; without one, all of the column is kept or suppressed."""
        return self.hierarchies.get(column) or build_flat_hierarchy(self.frame[column], f'values of "{column}"')

    def count_uncounted_rows(self) -> int:
        """How many rows missing = "drop" removes from every count: those with a missing quasi-identifying cell."""
        if self.missing is not Missing.DROP or not self.quasi_identifying:
            return 0
        return int(self.frame.select(pl.any_horizontal(pl.col(self.quasi_identifying).is_null()).sum()).item())

    def replace_frame(self, frame: pl.DataFrame) -> Table:
        """The same roles and hierarchies for another frame that has some or all of the columns."""
        column_names = set(frame.columns)
        return replace(
            self,
            frame=frame,
            row_labels=None,  # the rows of the frame may be others
            roles=MappingProxyType({name: role for name, role in self.roles.items() if name in column_names}),
            hierarchies=MappingProxyType(
                {name: hierarchy for name, hierarchy in self.hierarchies.items() if name in column_names}
            ),
            labels=MappingProxyType({name: labels for name, labels in self.labels.items() if name in column_names}),
            spelled_dates=MappingProxyType({}),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)

    def to_pandas(self) -> Any:
        """The table as a pandas frame, with the index of the one that it was made of."""
        from sfumato.frame_conversion import convert_to_pandas  # which knows tables

        return convert_to_pandas(self.frame, self.row_labels)

    def to_polars(self) -> pl.DataFrame:
        """The table as a polars frame."""
        return self.frame

    def to_arrow(self) -> Any:
        """The table as a pyarrow table."""
        return self.frame.to_arrow()

    def to_release(self) -> Table:
        """The same table with memory of its own that holds its cells and nothing else (see `rebuild_frame`)."""
        return replace(self, frame=rebuild_frame(self.frame), is_release=True, spelled_dates=MappingProxyType({}))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the table; a released one without hierarchies, labels and source.

        Hierarchies and labels list every original value, including those of suppressed rows, and the source is a path.
        """
        hierarchies, source = ({}, "release") if self.is_release else (dict(self.hierarchies), self.source)
        labels = (
            () if self.is_release else tuple((n, label.title, dict(label.values)) for n, label in self.labels.items())
        )
        # Polars puts uneven chunks together while it pickles, and holds the interpreter's lock. If the thread that does
        # it frees cells which Python gave to Arrow, it waits for this lock, for ever. Called so, it lets go of it.
        frame = self.frame.rechunk()
        return _unpickle, (frame, dict(self.roles), hierarchies, self.missing, source, self.is_release, labels)

    def __copy__(self) -> Table:
        """The table itself: it never changes."""
        return self

    def __deepcopy__(self, memo: Any) -> Table:
        """The table itself; a copy by pickling would lose parts (see `__reduce__`)."""
        return self

    def __len__(self) -> int:
        """The number of rows."""
        return self.frame.height

    def __eq__(self, other: object) -> bool:
        """Equal if cells, roles, hierarchies and the meaning of missing values are."""
        return (
            isinstance(other, Table)
            and self.roles == other.roles
            and self.missing == other.missing
            and dict(self.hierarchies) == dict(other.hierarchies)
            and self.frame.equals(other.frame)
        )

    __hash__ = None  # type: ignore[assignment]  # as Python says that a class is not hashable

    def __repr__(self) -> str:
        """Counts and column names, never a cell."""
        columns = ", ".join(f"{name}: {self.roles.get(name, 'no role')}" for name in self.frame.columns[:20])
        return f"Table({len(self)} rows; {columns}{', …' if self.frame.width > 20 else ''})"

    def _repr_html_(self) -> str:
        """Roles in the head; rows of a released table, and only types and counts of an original one."""
        notes = name_roles(self.frame.columns, self.roles)
        body = render_rows(self.frame, notes) if self.is_release else render_summary(self.frame, notes)
        return render_card(f"{'Released table' if self.is_release else 'Table'} of {len(self):,} rows", body)


def _unpickle(
    frame: pl.DataFrame,
    roles: Mapping[str, Role],
    hierarchies: Mapping[str, Hierarchy],
    missing: Missing,
    source: str,
    is_released: bool,
    labels: tuple[tuple[str, str | None, dict[int | float, str]], ...] = (),
) -> Table:
    column_labels = {name: ColumnLabels(title, MappingProxyType(values)) for name, title, values in labels}
    return Table(
        frame,
        MappingProxyType(roles),
        MappingProxyType(hierarchies),
        missing,
        source,
        is_released,
        labels=MappingProxyType(column_labels),
    )


def _read_hierarchy(hierarchy_source: Any, frame: pl.DataFrame, column: str, table_source: str) -> Hierarchy:
    if column not in frame.columns:
        suggestion = ask_meant([column], frame.columns) or "; remove the hierarchy"
        raise DataError(
            f'{table_source}: a hierarchy is given for "{column}", which is not a column of the table{suggestion}'
        )
    if isinstance(hierarchy_source, Hierarchy):
        return hierarchy_source
    if isinstance(hierarchy_source, (str, Path)):
        return Hierarchy.read(hierarchy_source)
    name = f'hierarchy of "{column}"'
    builder = parse_builder(hierarchy_source, name) if isinstance(hierarchy_source, Mapping) else hierarchy_source
    if callable(getattr(builder, "build", None)):
        try:
            hierarchy = builder.build(frame[column])
        except DataError as error:
            raise DataError(f"{table_source}: {error}") from None
        assert isinstance(hierarchy, Hierarchy)
        return hierarchy
    return Hierarchy.of(hierarchy_source, name=name)
