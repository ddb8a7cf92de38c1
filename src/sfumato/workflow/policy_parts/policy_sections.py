# SPDX-License-Identifier: MIT
"""The sections of a policy: data, roles, hierarchies, gate, measures, output, and what it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer, model_validator

from sfumato.baskets import BasketFormat
from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.data.hierarchies.hierarchy_builders import parse_builder
from sfumato.data.reading.table_reader import MISSING_MARKS
from sfumato.data.roles.role import Role
from sfumato.data.writing.table_writer import Format
from sfumato.description import Description
from sfumato.engine.engine_names import EngineName
from sfumato.errors import PolicyError, hide_password, quote_names
from sfumato.workflow.policy_parts.points_section import PointsSection


def _parse_hierarchy_entry(entry: Any) -> Any:
    """A path, or a description of how to build one; parsed here, so that an error names only its own field."""
    if isinstance(entry, Mapping):
        try:
            return parse_builder(entry)
        except PolicyError as error:
            raise ValueError(str(error).removeprefix("hierarchy: ")) from None
    if not isinstance(entry, (str, BaseModel, Hierarchy)):
        raise ValueError('a hierarchy is a file, or a description such as { kind = "prefix", keep = [3] }')
    return entry


HierarchyEntry = Annotated[Any, BeforeValidator(_parse_hierarchy_entry)]


class DataSection(Description):
    """Where the data is and how to read it."""

    path: Annotated[str, Field(min_length=1), PlainSerializer(hide_password)]
    """A file, a pattern such as `parts/*.csv`, a sheet such as `people.xlsx?sheet=Patients`, a database table such as
    `sqlite:///people.db?table=patients`, `postgresql://user@host/db?table=patients` or `spark:clinic.patients`, or
    `demo` for the built-in population."""
    separator: str | None = None
    """One character between cells; detected among comma, semicolon, tab and bar if omitted."""
    missing_marks: tuple[str, ...] = MISSING_MARKS
    """Cells that mean "missing"."""
    missing: Literal["own_value", "matches_any", "never_matches", "drop"] = "own_value"
    """What a missing quasi-identifying value means when classes are counted: `own_value`, `matches_any`,
    `never_matches` or `drop`."""
    header: bool = True
    """Whether the first line names the columns. Comma lines of baskets have a header only if it numbers its columns
    (`Item 1, Item 2`), unless this is set."""
    columns: tuple[str, ...] | None = None
    """The names of the columns, if the file has none or to replace its own."""
    dates: Mapping[str, str] = Field(default_factory=dict)
    """Columns of dates that are not written as 2009-06-30, and their form in strftime codes: `{ born = "%m/%d/%Y" }`.
    They become dates, and are published as 2009-06-30; needed where several forms fit all cells of a column."""
    decimal: Literal[".", ","] = "."
    """The sign before the decimals of a number in a text file: with `","`, `1,5` and `1.234,56` are numbers. They are
    published as 1.5, whatever the file has."""
    encoding: str = "utf-8"
    """The text encoding; a byte order mark in the file takes precedence."""
    comment: str | None = Field(default=None, min_length=1)
    """Lines that start with it are skipped."""
    trim: bool = True
    """Whether spaces around a cell are removed."""
    format: BasketFormat | None = None
    """For baskets: `fimi`, `spmf`, `long` (one row for each basket and item) or `comma` (one basket on each line, its
    items by name); for sequences: `spmf` or `long`; detected if omitted."""
    id: str = "id"
    """The column of a long-form file, or of a file of points, that says whose basket or sequence a row belongs to."""
    item: str = "item"
    """The item column of a long-form file."""
    time: str = "time"
    """The column of a long-form file, or of a file of points, that orders the items of a sequence."""
    engine: EngineName = "auto"
    """Where rows are counted: `memory`, `duckdb` for files larger than memory, `spark`, or `auto`, by size."""
    points: PointsSection | None = None
    """For trajectories: the file holds points, which become sequences of regions."""

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What was given, without the password of an address: a notebook stores what it shows."""
        for name, value in super().__repr_args__():
            yield name, hide_password(value) if name == "path" else value


class RolesSection(Description):
    """Every column, named once."""

    identifying: tuple[str, ...] = ()
    """Columns that name a person: never released."""
    quasi_identifying: tuple[str, ...] = ()
    """Columns that others may know and that together can identify a person. Methods generalize these."""
    sensitive: tuple[str, ...] = ()
    """Columns that an adversary wants to learn; released unchanged unless a method changes them."""
    insensitive: tuple[str, ...] = ()
    """All other columns; released unchanged."""

    @model_validator(mode="after")
    def _check_named_once(self) -> RolesSection:
        for role, columns in self.group_by_role().items():
            doubled_names = sorted({name for name in columns if columns.count(name) > 1})
            if doubled_names:
                raise ValueError(
                    f"the column {quote_names(doubled_names)} is listed twice in {role.value}; list it once"
                )
        names = [name for names in self.group_by_role().values() for name in names]
        repeated_names = sorted({name for name in names if names.count(name) > 1})
        if repeated_names:
            raise ValueError(f"the column {quote_names(repeated_names)} has more than one role")
        return self

    def group_by_role(self) -> dict[Role, tuple[str, ...]]:
        """The columns of each role."""
        return {role: getattr(self, role.value) for role in Role}

    def group_by_column(self) -> dict[str, Role]:
        """The role of each column."""
        return {name: role for role, names in self.group_by_role().items() for name in names}


class GateSection(Description):
    """When to refuse a release although every claim holds. Risks are compared at the upper end of their interval."""

    max_linking_risk: float | None = Field(default=None, ge=0, le=1)
    """The largest share of people that linking may find, at the upper end of its 95 % interval."""
    max_record_risk: float | None = Field(default=None, ge=0, le=1)
    """The largest probability that linking may have for any one person."""
    max_loss: float | None = Field(default=None, ge=0, le=1)
    """The largest acceptable loss, measured on the written file."""
    max_risk: Mapping[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    """The largest success rate of an attack, at the upper end of its 95 % interval, by the attack's name: `{
    rule_inference = 0.3 }`. The attack must be listed under `[[attack]]`."""


class AboutSection(Description):
    """What a data protection officer asks about a release."""

    purpose: str | None = Field(default=None, min_length=1)
    """What the release is for; it is published."""
    recipient: str | None = Field(default=None, min_length=1)
    """Who gets it; it is published."""
    decided_by: str | None = Field(default=None, min_length=1)
    """Who decided that it may be published: a person or an office. It stays in the internal report."""


class MeasureSection(Description):
    """What to measure beyond the claims: the utility of the release."""

    queries: int = Field(default=200, ge=0, strict=True)
    """How many random COUNT queries are asked of originals and release; 0 for none."""
    classify: str | None = None
    """A column that models learn to predict, from the release and from the originals; takes some seconds."""
    min_support: Annotated[int, Field(strict=True, ge=1)] | Annotated[float, Field(strict=True, gt=0, le=1)] = 0.1
    """For sequences: the support from which frequent patterns are compared, as a number or a share of them; if omitted,
    that of `hide_sequences` where it has one."""


class OutputSection(Description):
    """Where the release goes."""

    path: str = Field(default="out", min_length=1)
    """A folder; it gets `release/` (may be published) and `private/` (stays), or `refused/`."""
    format: Format | BasketFormat | None = None
    """The format of the data file. For a table: `csv` (default), `tsv`, `parquet`, `arrow`, `excel`, `stata` or `spss`;
    for baskets: `fimi`, `spmf` or `long`, by default the first that can hold the items' names and empty baskets; for
    sequences: `spmf` or `long`; for patterns: `spmf`."""
    order: Literal["as_read", "shuffled"] = "as_read"
    """`as_read` keeps the order of the rows, `shuffled` does not. In a file sorted by name or date, the order shows
    who is where."""
    escape_formulas: bool = False
    """Whether text that a spreadsheet would evaluate gets an apostrophe in front, in cells and names, in `csv`,
    `tsv` and `long`."""
