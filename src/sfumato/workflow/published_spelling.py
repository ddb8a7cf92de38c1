# SPDX-License-Identifier: MIT
"""Spell and type the cells of a release by what is published alone.

How a column is read depends on all of its cells: one word makes numbers text, and one 3/14/1970 says that 3/4/1970 is
in March. A method may hide just that cell. So the cells that are left decide again: two tables that differ in a hidden
cell give the same file. The originals that the release is compared with are spelled in the same way; words among them
stay, and no cell gets another meaning.

A column of text that no method touches stays as it is if no method may leave rows out: nothing hidden can have decided
how it was read. JSON, Excel and SQLite distinguish the texts "1000" and "1e3", and so do the methods. What methods may
do counts, and not what they did: else the spelling would tell whether anything was hidden.

A column whose rare values are grouped keeps the numbers of its file: the method takes whole numbers and words only, so
that 1.0 and 1 were distinguished as words, and would be distinguished as words whatever the hidden cells are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from sfumato.change import ChangeKind
from sfumato.data.cells.cell_forms import CellForms
from sfumato.data.cells.cell_types import retype_columns
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.data.reading.table_reader import find_source_kind, has_stored_text, has_stored_types
from sfumato.details import ChainDetails, Details, EntryDetails
from sfumato.release import Release
from sfumato.table import Table
from sfumato.workflow.policy import DEMO, Policy
from sfumato.workflow.shapes.file_shapes import type_item_names


class SpelledRelease(NamedTuple):
    """A release, and the originals as its cells are spelled."""

    release: Release
    original: Any


class SpelledColumn(NamedTuple):
    """A column of a release, and its originals spelled alike."""

    published_cells: pl.Series
    original_cells: pl.Series


def spell_release(release: Release, original: Any, policy: Policy, *, is_read: bool) -> SpelledRelease:
    """The release, spelled and typed by its own cells; `is_read` unless the custodian gave the types, in a frame."""
    data = release.data
    if not isinstance(data, Table):
        return SpelledRelease(_type_items(release) if is_read else release, original)
    forms = _list_forms(policy) if is_read and policy.data.path != DEMO else CellForms(numbers=False)
    declared_texts = _list_declared_texts(original, policy) if forms.numbers else set()
    kinds = _gather_kinds(release)
    worded_names = {name for name in kinds if ChangeKind.GROUPED in kinds[name]} | declared_texts
    open_names = _list_open_texts(policy, release, original)
    free_names = [
        name
        for name in data.frame.columns
        if name not in release.public and not _has_code_kind(kinds[name]) and name not in open_names
    ]
    columns = {
        name: _spell_column(name, release, original, replace(forms, numbers=False) if name in worded_names else forms)
        for name in free_names
        if all(kind.meaning.is_original_or_label for kind in kinds[name]) and name not in original.hierarchies
    }
    frame = data.frame.with_columns(column.published_cells for column in columns.values())
    if forms.numbers:
        frame = retype_columns(frame, [name for name in free_names if name not in declared_texts])
    if frame.equals(data.frame) and frame.schema == data.frame.schema:
        return SpelledRelease(release, original)
    spelled_original = replace(
        original, frame=original.frame.with_columns(column.original_cells for column in columns.values())
    )
    details = _respell_details(release.details, original.frame, spelled_original.frame, len(data))
    return SpelledRelease(replace(release, data=data.replace_frame(frame), details=details), spelled_original)


def _list_open_texts(policy: Policy, release: Release, original: Table) -> set[str]:
    """The columns of text that are published in every row as they are, whatever the cells are."""
    footprints = [method.footprint(original) for method in policy.methods]
    if any(footprint.drops_rows for footprint in footprints):
        return set()
    touched_names = {name for footprint in footprints for name in footprint.changes} | set(original.spelled_dates)
    return {
        name
        for name, kind in release.data.frame.schema.items()
        if kind == original.frame.schema[name] == pl.String and name not in touched_names
    }


def list_mixed_columns(original: Any, spelled_original: Any) -> list[str]:
    """The columns in which two values of the methods are spelled alike, or one of them is spelled in two ways."""
    if not isinstance(original, Table) or spelled_original is original:
        return []
    return [
        name
        for name in original.frame.columns
        if not _is_one_to_one(spell_cells(original.frame[name]), spell_cells(spelled_original.frame[name]))
    ]


def _is_one_to_one(texts: pl.Series, spelled_texts: pl.Series) -> bool:
    pairs = pl.DataFrame({"before": texts, "after": spelled_texts}).unique()
    return pairs.height == pairs["before"].n_unique() == pairs["after"].n_unique()


def _spell_column(name: str, release: Release, original: Table, forms: CellForms) -> SpelledColumn:
    """A column by the form of its published originals: their text in the file, or as numbers and dates are spelled."""
    published_cells, original_cells = release.data.frame[name], original.frame[name]
    is_stored = published_cells.dtype == original_cells.dtype != pl.String and published_cells.count()
    if name not in original.spelled_dates and (is_stored or (not forms.numbers and original_cells.dtype != pl.String)):
        return SpelledColumn(published_cells, original_cells)
    rows = release.details.trace_rows(len(published_cells))
    texts = spell_cells(published_cells)
    is_original = _flag_originals(texts, spell_cells(original_cells)[rows])
    file_texts = original.spelled_dates.get(name, spell_cells(original_cells))
    published_texts = file_texts[rows].set(~is_original, None)
    form = forms.find(published_texts)
    respelled_texts = published_texts if form is None else form.respell(published_texts)
    spelled_texts = respelled_texts.zip_with(is_original, texts).alias(name)
    spelled_originals = _fill(file_texts if form is None else form.respell(file_texts), file_texts).alias(name)
    return SpelledColumn(
        _cast_if_whole(spelled_texts, published_cells, is_original, None if form is None else form.kind),
        original_cells if spelled_originals.equals(spell_cells(original_cells)) else spelled_originals,
    )


def _flag_originals(texts: pl.Series, originals: pl.Series) -> pl.Series:
    """The known cells that are as in the originals; a label is none, even where the original is spelled like it."""
    is_equal = (texts == originals).fill_null(value=False)
    labels = texts.filter(~is_equal).drop_nulls().unique().implode()
    return is_equal & (texts != STAR).fill_null(value=False) & ~texts.is_in(labels).fill_null(value=False)


def _cast_if_whole(
    texts: pl.Series, published_cells: pl.Series, is_original: pl.Series, kind: pl.DataType | None
) -> pl.Series:
    """The column in the type of its form, if it holds nothing else; the column itself if it was spelled so already."""
    is_plain = bool((is_original | texts.is_null()).all())
    if kind == pl.Boolean and is_plain and texts.count():
        return texts == "true"
    if kind is not None and is_plain and texts.count():
        return texts.str.to_date("%Y-%m-%d") if kind == pl.Date else texts.cast(kind)
    return published_cells if texts.equals(published_cells, null_equal=True) else texts


def _fill(texts: pl.Series, file_texts: pl.Series) -> pl.Series:
    return texts.zip_with(texts.is_not_null(), file_texts)


def _respell_details(details: Details, before: pl.DataFrame, after: pl.DataFrame, count: int) -> Details:
    """The values of hidden entries as the originals are spelled now; a midpoint stays."""
    if isinstance(details, ChainDetails):
        return replace(details, steps=tuple(_respell_details(step, before, after, count) for step in details.steps))
    if not isinstance(details, EntryDetails) or details.hidden is None or not details.hidden.height:
        return details
    rows = details.trace_rows(count)
    parts = []
    for part in details.hidden.partition_by("column", maintain_order=True):
        name, places = str(part["column"][0]), rows[part["row"].to_numpy()]
        old, new = (spell_cells(frame[name])[places] for frame in (before, after))
        parts.append(part.with_columns(value=new.zip_with(part["value"].eq_missing(old), part["value"])))
    return replace(details, hidden=pl.concat(parts).sort("row", "column", maintain_order=True))


def _list_forms(policy: Policy) -> CellForms:
    """The forms that are determined by the cells of the data file, and not by the types that it declares."""
    if has_stored_types(policy.data.path):
        return CellForms(numbers=False)
    kind = find_source_kind(policy.data.path)
    return CellForms(
        decimal=policy.data.decimal if kind is None else ".",
        long_numbers=kind in ("excel", "sqlite"),
        truth=kind in ("excel", "json"),
        moments=kind == "excel",
    )


def _list_declared_texts(original: Table, policy: Policy) -> set[str]:
    if not has_stored_text(policy.data.path):
        return set()
    return {name for name, kind in original.frame.schema.items() if kind == pl.String}


def _gather_kinds(release: Release) -> dict[str, set[ChangeKind]]:
    kinds: dict[str, set[ChangeKind]] = {name: set() for name in release.data.frame.columns}
    for change in release.changes:
        kinds.setdefault(change.column, set()).add(change.kind)
    return kinds


def _has_code_kind(kinds: set[ChangeKind]) -> bool:
    return ChangeKind.CODED in kinds


def _type_items(release: Release) -> Release:
    """Items that are all whole numbers as numbers; codes as they are."""
    items = release.data.items
    typed_items = items if release.method.publishes_codes else type_item_names(items)
    return release if typed_items is items else replace(release, data=replace(release.data, items=typed_items))
