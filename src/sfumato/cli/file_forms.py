# SPDX-License-Identifier: MIT
"""How a data file is written, for options that only some files need: in long form, as comma lines, as text.

A file that does not exist meets every need, so that its reader says what is wrong.
"""

from __future__ import annotations

from pathlib import Path

from sfumato.cli.option_needs import (
    COMMA_LINES,
    FILE_NEEDS,
    LONG_FORM,
    MARKED_CELLS,
    SEPARATED_CELLS,
    TEXT_TABLES,
    CommandContext,
    OptionCondition,
)

_FORMS = {
    "long": "the file is in long form",
    "comma": "the file holds comma-separated baskets",
    "fimi": "the file is in FIMI's format",
    "spmf": "the file is in SPMF's format",
}


def add_table_form(situation: CommandContext, path: str) -> CommandContext:
    """What the file of a table meets: a separator and an encoding are for text, marks for formats without nulls."""
    if _is_missing(path):
        return situation.add(SEPARATED_CELLS, TEXT_TABLES, MARKED_CELLS)
    from sfumato.workflow.drafts.draft_source import DraftSource

    source = DraftSource(path)
    needs: list[OptionCondition] = [SEPARATED_CELLS, TEXT_TABLES] if source.is_text else []
    marks = [MARKED_CELLS] if source.takes_marks else []
    return situation.add(*needs, *marks)._replace(form="the table is not in a text file")


def add_item_form(
    situation: CommandContext, path: str, form: str | None, columns: tuple[str, str], separator: str | None
) -> CommandContext:
    """What a file of baskets meets; `form` is the format, None to detect it."""
    from sfumato.data.items.basket_files import guess_basket_format

    if _is_missing(path):
        return situation.add(*FILE_NEEDS)
    return _add_form(situation, path, form or guess_basket_format(path, columns=columns, separator=separator))


def add_sequence_form(situation: CommandContext, path: str) -> CommandContext:
    """What a file of sequences meets."""
    from sfumato.data.items.sequence_files import guess_sequence_format

    if _is_missing(path):
        return situation.add(*FILE_NEEDS)
    return _add_form(situation, path, guess_sequence_format(Path(path)))


def _add_form(situation: CommandContext, path: str, form: str) -> CommandContext:
    from sfumato.workflow.drafts.draft_source import DraftSource

    needs = {"long": {LONG_FORM}, "comma": {COMMA_LINES}}.get(form, set())
    is_separated = form in ("long", "comma") and DraftSource(path).is_text
    words = _FORMS[form] if form != "long" or is_separated else "the file is not text"
    return situation.add(*needs, *([SEPARATED_CELLS] if is_separated else []))._replace(form=words)


def _is_missing(path: str) -> bool:
    from sfumato.data.reading.source import is_database
    from sfumato.workflow.policy import DEMO

    return path != DEMO and not is_database(path) and not Path(path).is_file()
