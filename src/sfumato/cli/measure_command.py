# SPDX-License-Identifier: MIT
"""The command `sfumato measure`: a table under every anonymity model, and compared with its original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from sfumato.cli.audit_command import DATA_HELP, require_names
from sfumato.cli.messages import print_measures
from sfumato.cli.option_needs import (
    ALWAYS,
    CLASS_COLUMN,
    COMPARISON,
    SEPARATED_CELLS,
    CommandContext,
    refuse_idle_options,
)
from sfumato.cli.options import Json
from sfumato.cli.questions import split_names
from sfumato.cli.terminal import print_json, show_progress

if TYPE_CHECKING:
    from sfumato.table import Table


class MeasureQuestion(NamedTuple):
    """What is measured, in which tables."""

    path: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    separator: str | None
    missing: str
    original: str | None
    target: str | None
    bins: int


def measure_command(
    context: typer.Context,
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    quasi: Annotated[str, typer.Option(help="The quasi-identifying columns, comma-separated."), ALWAYS],
    sensitive: Annotated[str, typer.Option(help="The sensitive columns, comma-separated."), ALWAYS] = "",
    separator: Annotated[
        str | None, typer.Option(help="One character between cells; detected if omitted."), SEPARATED_CELLS
    ] = None,
    missing: Annotated[
        str, typer.Option(help="What a missing value means: own_value, matches_any, never_matches or drop."), ALWAYS
    ] = "own_value",
    threshold: Annotated[float, typer.Option(help="Records above this risk are counted as at risk."), ALWAYS] = 0.2,
    original: Annotated[
        str | None,
        typer.Option(
            help="The original table that DATA was made from: compares the columns of --sensitive and --target."
        ),
        ALWAYS,
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="With --original: a class column; prints its entropy given each column of --quasi, before and after."
        ),
        COMPARISON,
    ] = None,
    bins: Annotated[
        int, typer.Option(min=1, help="With --target: number of bins for numeric columns."), CLASS_COLUMN
    ] = 10,
    as_json: Json = False,
) -> None:
    """Measure a table under every anonymity model, and its risks; with --original, compare it with the original."""
    from sfumato.cli.compared_measures import compare_with_originals, print_compared
    from sfumato.errors import PolicyError
    from sfumato.measure import anonymity, risk
    from sfumato.table import Table

    question = MeasureQuestion(
        data, require_names(quasi, "--quasi"), split_names(sensitive), separator, missing, original, target, bins
    )
    refuse_idle_options(context, _describe_measures(question))
    if original is not None and target is None and not question.sensitive:
        raise PolicyError("--original compares columns of --sensitive, and --target; name at least one")
    with show_progress(as_json):
        table = _read_with_roles(question)
        model_values, risks = anonymity(table).to_dict(), risk(table, threshold).as_json()
        measures = {}
        if original is not None:
            truth = Table.read(original, separator=separator, missing=missing)
            measures = compare_with_originals(table, truth, question.quasi, question.sensitive, target, bins)
    if as_json:
        print_json({"anonymity": model_values, "risk": risks, **measures})
        return
    print_measures(model_values, risks)
    print_compared(measures)


def _describe_measures(question: MeasureQuestion) -> CommandContext:
    from sfumato.cli.file_forms import add_table_form

    words = "there is no original" if question.original is None else "there is no class column"
    met_needs = {
        *([COMPARISON] if question.original is not None else []),
        *([CLASS_COLUMN] if question.target is not None else []),
    }
    situation = add_table_form(CommandContext(words, frozenset(met_needs)), question.path)
    return situation if question.original is None else add_table_form(situation, question.original)


def _read_with_roles(question: MeasureQuestion) -> Table:
    from sfumato.data.roles.role import Role
    from sfumato.errors import PolicyError, quote_names
    from sfumato.table import Table

    if common_names := [name for name in question.sensitive if name in question.quasi]:
        raise PolicyError(f"{quote_names(common_names)} is both in --quasi and in --sensitive; a column has one role")
    table = Table.read(question.path, separator=question.separator, missing=question.missing)
    roles: dict[str, str | Role] = dict.fromkeys(table.frame.columns, Role.INSENSITIVE)
    roles |= dict.fromkeys(question.sensitive, Role.SENSITIVE)
    roles |= dict.fromkeys(question.quasi, Role.QUASI_IDENTIFYING)
    return Table.of(table.frame, roles, missing=question.missing, source=table.source)
