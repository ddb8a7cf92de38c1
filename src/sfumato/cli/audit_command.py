# SPDX-License-Identifier: MIT
"""The command `sfumato audit`: what is at risk in a table, in sequences, or in points of trajectories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from sfumato.cli.messages import print_audit
from sfumato.cli.option_needs import (
    ALWAYS,
    MARKED_CELLS,
    OWNED_ROWS,
    SEPARATED_CELLS,
    TABLES,
    TEXT_TABLES,
    TIMED_ROWS,
    CommandContext,
    OptionCondition,
    refuse_idle_options,
)
from sfumato.cli.options import READING, Json
from sfumato.cli.questions import split_at_commas, split_names
from sfumato.cli.terminal import print_json, print_line, show_progress
from sfumato.engine.engine_names import EngineName

if TYPE_CHECKING:
    from sfumato.engine.choice import EngineChoice
    from sfumato.workflow.drafts.draft_source import DataShape, LongColumns

DATA_HELP = "A file of any format, a sheet (people.xlsx?sheet=Patients), or a table (sqlite:///people.db?table=people)."
ENGINE_HELP = (
    "Where rows are counted: in memory, with duckdb for files larger than memory, or with Spark; auto chooses by size."
)
EngineOption = Annotated[EngineName, typer.Option(help=ENGINE_HELP), ALWAYS]
ITEM_ROWS = OptionCondition("long-form files of sequences")
SHAPES: tuple[DataShape, ...] = ("table", "sequences", "points")
"""What can be audited; baskets have no columns, and no order."""


class AuditedFile(NamedTuple):
    """A file, and how it is read."""

    path: str
    shape: DataShape
    separator: str | None
    marks: tuple[str, ...]
    """Cells that mean "missing", if the usual ones are not meant."""
    header: bool
    encoding: str
    decimal: str
    columns: LongColumns
    """Of sequences and points."""


def audit_command(
    context: typer.Context,
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    quasi: Annotated[
        list[str] | None,
        typer.Option(help="The quasi-identifying columns, comma-separated, instead of the proposed ones."),
        TABLES,
    ] = None,
    engine: Annotated[
        EngineName, typer.Option(help=f"Tables: {ENGINE_HELP[0].lower()}{ENGINE_HELP[1:]}"), TABLES
    ] = "auto",
    shape: Annotated[
        str | None,
        typer.Option(help="table, sequences or points; detected if omitted.", rich_help_panel=READING),
        ALWAYS,
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(help="One character between cells; detected if omitted.", rich_help_panel=READING),
        SEPARATED_CELLS,
    ] = None,
    missing_mark: Annotated[
        list[str] | None,
        typer.Option(
            help='A cell that means "missing"; may be repeated. Default: empty and ?.', rich_help_panel=READING
        ),
        TABLES,
        MARKED_CELLS,
    ] = None,
    header: Annotated[
        bool, typer.Option(help="Whether the first line names the columns.", rich_help_panel=READING), TEXT_TABLES
    ] = True,
    encoding: Annotated[str, typer.Option(help="The text encoding.", rich_help_panel=READING), TEXT_TABLES] = "utf-8",
    decimal: Annotated[
        str,
        typer.Option(help="The decimal separator in a text file: . or , (1,5).", rich_help_panel=READING),
        TEXT_TABLES,
    ] = ".",
    id_column: Annotated[
        str,
        typer.Option("--id", help="Sequences, points: the column with the person's id.", rich_help_panel=READING),
        OWNED_ROWS,
    ] = "id",
    item: Annotated[str, typer.Option(help="Sequences: the item column.", rich_help_panel=READING), ITEM_ROWS] = "item",
    time: Annotated[
        str, typer.Option(help="Sequences, points: the time column.", rich_help_panel=READING), TIMED_ROWS
    ] = "time",
    as_json: Json = False,
) -> None:
    """Show what is at risk in a file: a table, sequences, or points of trajectories."""
    from sfumato.cli.sequence_file_audit import audit_sequence_file, find_audited_shape
    from sfumato.workflow.drafts.draft_source import LongColumns

    names = {"id": id_column, "item": item, "time": time}
    columns = LongColumns(**{option: name for option, name in names.items() if name != option})
    found_shape = find_audited_shape(data, shape, separator, columns)
    file = AuditedFile(data, found_shape, separator, tuple(missing_mark or ()), header, encoding, decimal, columns)
    refuse_idle_options(context, _describe_audit(file))
    if file.shape == "table":
        _audit_table(file, shape, quasi, engine, as_json)
    else:
        audit_sequence_file(file, shape, as_json)


def _describe_audit(file: AuditedFile) -> CommandContext:
    from sfumato.cli.file_forms import add_sequence_form, add_table_form
    from sfumato.cli.option_needs import LONG_FORM

    if file.shape == "table":
        return add_table_form(CommandContext("the file is read as a table", frozenset({TABLES})), file.path)
    if file.shape == "points":
        situation = CommandContext("the file holds points", frozenset({OWNED_ROWS, TIMED_ROWS}))
        return add_table_form(situation, file.path)._replace(met_needs=situation.met_needs | {SEPARATED_CELLS})
    situation = add_sequence_form(CommandContext("the file holds sequences"), file.path)
    if LONG_FORM not in situation.met_needs:
        return situation._replace(words=situation.form)
    return situation.add(OWNED_ROWS, ITEM_ROWS, TIMED_ROWS)


def _audit_table(
    file: AuditedFile, typed_shape: str | None, quasi: list[str] | None, engine: EngineName, as_json: bool
) -> None:
    """Print what is at risk in a table, and the next command."""
    from sfumato.cli.sequence_file_audit import write_next_command
    from sfumato.data.reading.table_reader import MISSING_MARKS, TextFormat
    from sfumato.engine.choice import choose_engine
    from sfumato.workflow.audit import audit

    with show_progress(as_json):
        text = TextFormat(
            file.separator, file.marks or MISSING_MARKS, file.header, encoding=file.encoding, decimal=file.decimal
        )
        names = require_names(",".join(quasi), "--quasi") if quasi else None
        choice = choose_engine(file.path, engine)
        findings = audit(file.path, names, engine=choice.name, text=text)
    if as_json:
        print_json(findings.as_json())
        return
    print_choice(choice)
    print_audit(findings, pairs=5, roles=True)
    print_line()
    option_values = {
        "--separator": file.separator,
        "--encoding": file.encoding,
        "--decimal": file.decimal,
        "--shape": typed_shape,
    }
    command = write_next_command(file.path, option_values, file.marks, file.header)
    print_line(f"Next, a policy to start from: {command}")


def print_choice(choice: EngineChoice) -> None:
    """Say which engine was used, unless it is the usual one for a table that fits."""
    if choice.name != "memory" or choice.is_fallback:
        print_line(choice.describe_choice())


def require_names(names_text: str, option: str) -> tuple[str, ...]:
    """The names of columns that an option lists: at least one, and none empty."""
    from sfumato.errors import PolicyError

    names = split_names(names_text)
    if not names:
        raise PolicyError(f"{option} names no column; list some, as in {option} age,zip, or leave it out")
    if not all(split_at_commas(names_text)):
        raise PolicyError(f"{option} has nothing between two commas, or after the last; write {option} age,zip")
    return names
