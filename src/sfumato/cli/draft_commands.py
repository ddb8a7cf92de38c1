# SPDX-License-Identifier: MIT
"""The commands `sfumato init` and `sfumato hierarchy`: a policy, or one hierarchy, to start from."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sfumato.cli.option_needs import (
    ALWAYS,
    CROWDS,
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
from sfumato.cli.options import READING, Separator
from sfumato.cli.questions import ask_k, ask_missing_marks, ask_purpose, ask_sensitive, can_ask, split_names
from sfumato.cli.terminal import print_json, print_line, show_progress

if TYPE_CHECKING:
    from sfumato.workflow.drafts.draft_source import DataShape, DraftSource, LongColumns
    from sfumato.workflow.drafts.policy_draft import PolicyDraft

PromptlessJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts; never prompts."), ALWAYS]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line names the columns; detected if omitted.",
        rich_help_panel=READING,
    ),
    TEXT_TABLES,
]
Encoding = Annotated[str, typer.Option(help="The text encoding.", rich_help_panel=READING), TEXT_TABLES]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="The decimal separator in a text file, . or , (1,5); detected if omitted.", rich_help_panel=READING
    ),
    TEXT_TABLES,
]
ITEM_ROWS = OptionCondition("long-form files of baskets or sequences")
SHAPES: tuple[DataShape, ...] = ("table", "baskets", "sequences", "points")
_CROWD_PURPOSES = {
    "table": ("publish", "share", "hide"),
    "baskets": ("publish", "share", "hide", "outsource"),
    "sequences": ("publish", "share"),
    "points": ("publish", "share"),
}
"""The purposes whose methods hide people among k others, for each shape of data."""


class DraftedFile(NamedTuple):
    """A file, and how it is read; None for what is detected."""

    path: str
    shape: DataShape | None
    separator: str | None
    header: bool | None
    encoding: str
    decimal: str | None
    columns: LongColumns
    marks: tuple[str, ...]
    """Further cells that mean "missing"."""

    def look(self) -> DraftSource:
        """Look at the beginning of the file."""
        from sfumato.workflow.drafts.draft_source import DraftSource

        source = DraftSource.of(
            self.path, self.shape, self.separator, self.header, self.encoding, self.decimal, self.columns
        )
        return source.mark_missing(self.marks)


def init_command(
    context: typer.Context,
    data: Annotated[
        str, typer.Argument(help="A table, baskets, sequences or points: any file that `run` reads, or demo.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The policy file to write."), ALWAYS] = Path("policy.toml"),
    purpose: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="publish (anyone may read it), share (a known recipient gets it), synthetic (invented rows), "
            "outsource (someone else mines codes) or hide (specific secrets must not appear). Default: publish.",
        ),
        ALWAYS,
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not prompt; use the defaults."), ALWAYS] = False,
    k: Annotated[
        int | None, typer.Option("--k", min=2, help="Minimum class size: how many people look alike."), CROWDS
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="The sensitive columns, comma-separated, instead of the proposed ones."), TABLES
    ] = None,
    shape: Annotated[
        str | None,
        typer.Option(help="table, baskets, sequences or points; detected if omitted.", rich_help_panel=READING),
        ALWAYS,
    ] = None,
    separator: Separator = None,
    header: Header = None,
    encoding: Encoding = "utf-8",
    decimal: Decimal = None,
    missing_mark: Annotated[
        list[str] | None,
        typer.Option(help='A further cell that means "missing"; may be repeated.', rich_help_panel=READING),
        TABLES,
        MARKED_CELLS,
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id", help="Baskets, sequences, points: the column with the person's id.", rich_help_panel=READING
        ),
        OWNED_ROWS,
    ] = None,
    item: Annotated[
        str | None, typer.Option(help="Baskets, sequences: the item column.", rich_help_panel=READING), ITEM_ROWS
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="Sequences, points: the time column.", rich_help_panel=READING), TIMED_ROWS
    ] = None,
    as_json: PromptlessJson = False,
) -> None:
    """Write a complete, commented policy for a file, to read, change and run."""
    from sfumato.workflow.drafts.draft_methods import parse_purpose
    from sfumato.workflow.drafts.draft_source import LongColumns, refuse_missing_input
    from sfumato.workflow.drafts.policy_draft import draft_policy, refuse_existing

    given_purpose, given_shape = None if purpose is None else parse_purpose(purpose), parse_shape(shape)
    refuse_missing_input(data)
    refuse_existing(out)
    columns_read, marks = LongColumns(id_column, item, time), tuple(missing_mark or ())
    file = DraftedFile(data, given_shape, separator, header, encoding, decimal, columns_read, marks)
    with show_progress(as_json):
        source = file.look()
    asks = not yes and not as_json and can_ask()
    purpose = given_purpose or parse_purpose(ask_purpose() if asks else "publish")
    refuse_idle_options(context, _describe_draft_source(source, purpose))
    columns = None if sensitive is None else split_names(sensitive)
    if asks:
        source, columns, k = _ask_about_data(source, purpose, columns, k)
    with show_progress(as_json):
        draft = draft_policy(source, purpose, out, k=k, sensitive=columns)
        draft.save()
    if as_json:
        print_json(_describe_draft(draft))
    else:
        _print_draft(draft, defaults=not asks and not yes)


def _describe_draft_source(source: DraftSource, purpose: str) -> CommandContext:
    """What a policy for a file needs to know."""
    from sfumato.cli.file_forms import add_item_form, add_sequence_form, add_table_form
    from sfumato.cli.option_needs import LONG_FORM

    crowds = [CROWDS] if purpose in _CROWD_PURPOSES[source.shape] else []
    article = "a table" if source.shape == "table" else source.shape
    situation = CommandContext(f"the file is read as {article}").add(*crowds)
    if not crowds:
        situation = situation._replace(words=f"--for {purpose} does not use {{options}}")
    if source.shape == "table":
        return add_table_form(situation, source.path).add(TABLES)
    if source.shape == "points":
        return situation.add(OWNED_ROWS, TIMED_ROWS, SEPARATED_CELLS)
    if source.shape == "sequences":
        situation = add_sequence_form(situation, source.path)
        return situation.add(OWNED_ROWS, ITEM_ROWS, TIMED_ROWS) if LONG_FORM in situation.met_needs else situation
    names = (source.columns.owner, source.columns.item_column)
    situation = add_item_form(situation, source.path, None, names, source.separator)
    return situation.add(OWNED_ROWS, ITEM_ROWS) if LONG_FORM in situation.met_needs else situation


def parse_shape(word: str | None, shapes: tuple[DataShape, ...] = SHAPES) -> DataShape | None:
    """A shape of data by its name; None if it is to be detected."""
    from sfumato.errors import PolicyError, ask_meant

    if word is None or word in shapes:
        return word
    suggestion = ask_meant([word], shapes) or f"; choose {', '.join(shapes[:-1])} or {shapes[-1]}"
    raise PolicyError(f'"{word}" is not a shape{suggestion}')


class _DraftAnswers(NamedTuple):
    """What only the custodian knows."""

    source: DraftSource
    columns: tuple[str, ...] | None
    """The sensitive ones; None if nobody was asked."""
    k: int | None


def _ask_about_data(source: DraftSource, purpose: str, columns: tuple[str, ...] | None, k: int | None) -> _DraftAnswers:
    """Ask what only the custodian knows; options that were given are not asked again."""
    from sfumato.data.roles.role import Role
    from sfumato.workflow.drafts.draft_methods import choose_k, parse_purpose
    from sfumato.workflow.drafts.policy_draft import decide_roles

    if source.shape != "table":
        return _DraftAnswers(source, columns, k)
    source = source.mark_missing(ask_missing_marks(source))
    if columns is None:
        proposals = decide_roles(source, parse_purpose(purpose))
        columns = ask_sensitive([p.column for p in proposals if p.role is Role.SENSITIVE], source.frame.columns)
    if k is None and purpose in ("publish", "share"):
        k = ask_k(choose_k(source.frame.height, source.path))
    return _DraftAnswers(source, columns, k)


def _describe_draft(draft: PolicyDraft) -> dict[str, Any]:
    return {
        "policy": str(draft.path),
        "hierarchies": [str(draft.path.parent / name) for name in draft.hierarchies],
        "notes": list(draft.notes),
        "next": f"sfumato run {shlex.quote(str(draft.path))}",
    }


def _print_draft(draft: PolicyDraft, *, defaults: bool) -> None:
    facts = _describe_draft(draft)
    count = len(facts["hierarchies"])
    files = "" if not count else " and 1 hierarchy file" if count == 1 else f" and {count} hierarchy files"
    pronoun = (
        "it private: it holds" if not count else "both private: they hold" if count == 1 else "all private: they hold"
    )
    print_line(f"Wrote {draft.path}{files}. Keep {pronoun} values of your data.")
    if defaults:
        print_line("Note: this is not a terminal, so nothing was asked and the defaults were taken.")
    for note in draft.notes:
        print_line(f"Note: {note}")
    print_line(f"Read it, change what you know better, then type: {facts['next']}")


def hierarchy_command(
    context: typer.Context,
    data: Annotated[str, typer.Argument(help="A table: any file that `run` reads, or demo.")],
    column: Annotated[str, typer.Argument(help="The column.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the hierarchy to this file, in ARX's format."), ALWAYS
    ] = None,
    separator: Separator = None,
    header: Header = None,
    encoding: Encoding = "utf-8",
    decimal: Decimal = None,
    as_json: PromptlessJson = False,
) -> None:
    """Propose a hierarchy for a column, with the counts at each level; write it for editing."""
    from sfumato.cli.file_forms import add_table_form
    from sfumato.data.hierarchies.hierarchy_proposals import count_level_rows, propose_hierarchy
    from sfumato.errors import DataError, PolicyError, ask_meant
    from sfumato.workflow.drafts.draft_source import DraftSource, refuse_missing_input
    from sfumato.workflow.drafts.policy_draft import refuse_existing, save_hierarchy
    from sfumato.workflow.drafts.toml_text import write_entry

    refuse_missing_input(data)
    if out is not None:
        refuse_existing(out)
    refuse_idle_options(context, add_table_form(CommandContext("the table is not in a text file"), data))
    with show_progress(as_json):
        frame = DraftSource.of(data, "table", separator, header, encoding, decimal).frame
        if column not in frame.columns:
            suggestion = ask_meant([column], frame.columns) or f"; the columns are {', '.join(frame.columns)}"
            raise PolicyError(f'{data}: there is no column "{column}"{suggestion}')
        proposal = propose_hierarchy(frame[column])
        if proposal is None:
            raise DataError(
                f'{data}: "{column}" has too few values, or values without groups or order, to propose a hierarchy; '
                "write one by hand, one row for each value: value;group;*"
            )
        levels = count_level_rows(proposal.hierarchy, frame[column])
        if out is not None:
            save_hierarchy(proposal.hierarchy, out)
    line = write_entry(column, proposal.description or (str(out) if out is not None else f"{column}.csv"))
    if as_json:
        written_path = None if out is None else str(out)
        print_json(
            {
                "column": column,
                "reason": proposal.reason,
                "levels": levels.to_dicts(),
                "policy": line,
                "file": written_path,
            }
        )
        return
    print_line(proposal.reason)
    print_line("level  labels  rows in smallest label  rows in largest label")
    for level, labels, fewest, most in levels.iter_rows():
        print_line(f"{level:>5}  {labels:>6}  {fewest:>22}  {most:>21}")
    if out is None:
        print_line("Write it to a file for editing: --out FILE.")
    else:
        print_line(f"Wrote {out}. It holds values of your data: keep it private.")
    print_line(f"In a policy, under [hierarchies]: {line}")
