# SPDX-License-Identifier: MIT
"""Baskets that are written some at a time, to the bytes that they would have if they were written at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Ints
from sfumato.baskets import Items, sort_row_codes
from sfumato.data.items.basket_files import BasketArrays, encode_lines, format_basket_lines, spell_fimi_items
from sfumato.data.items.spmf_text import number_spmf_items
from sfumato.data.writing.formulas import escape_words, find_formulas, summarize_formulas, unescape_words
from sfumato.engine.basket_staging import BasketSource, open_stored_baskets
from sfumato.engine.engine_names import ChosenEngine
from sfumato.engine.stored_baskets import CodedBatch, StoredBaskets
from sfumato.errors import ClaimBroken, DataError, PolicyError
from sfumato.protect.baskets.stored_hiding import StoredHidingPlan
from sfumato.workflow.shapes.file_shapes import BasketsShape, choose_basket_format, type_item_names


class StoredBasketsShape(BasketsShape):
    """Baskets in their file: described as baskets in memory are."""

    kind: ClassVar[type] = StoredBaskets
    formats: ClassVar[Mapping[str, str]] = BasketsShape.formats

    def choose_format(self, data: Any) -> str:
        """The format that fits the items, by the rule for baskets in memory."""
        return choose_basket_format(data.items, has_empty=data.smallest == 0)

    def count_formulas(self, data: Any) -> dict[str, Any]:
        """Count items, as often as baskets hold them."""
        if not data.has_names:
            return summarize_formulas({})
        formulas = find_formulas(pl.Series(data.items, dtype=pl.String)).to_numpy()
        return summarize_formulas({"item": int(data.counts[formulas].sum())})

    def write(self, data: Any, path: Path, form: str, *, escape: bool = False) -> None:
        """They are in their file already."""
        raise PolicyError("baskets in their file are not written again")

    def read(self, path: Path, body: Mapping[str, Any]) -> Any:
        """They are opened by `open_published_baskets`."""
        raise PolicyError("baskets in their file are opened, not read")

    def refuse_changed(self, written_data: Any, read: Any) -> None:
        """They are compared by `refuse_changed_baskets`."""


def write_published_baskets(plan: StoredHidingPlan, path: Path, wanted_format: str | None, *, escape: bool) -> str:
    """Write what is published; returns the format."""
    items = list_published_items(plan)
    form = wanted_format or choose_basket_format(items, has_empty=plan.smallest == 0)
    shape, escapes = BasketsShape(), escape and form == "long" and _are_names(items)
    names: Items = tuple(escape_words([str(item) for item in items])) if escapes else items
    final = tuple(sorted(names))
    batches = _rank_batches(plan, names, final)
    target = path / shape.name_file(form)
    parts = _spell_long(final, batches) if form == "long" else _spell_lines(target, form, final, plan, batches)
    try:
        with target.open("wb") as file:
            for part in parts:
                file.write(part)
    except OSError as problem:
        raise DataError(f"{target.name}: the file cannot be written: {problem.strerror}") from None
    return form


def list_published_items(plan: StoredHidingPlan) -> Items:
    """The items that a published basket holds, as numbers if all of them are."""
    held_codes = np.flatnonzero(plan.counts > 0).tolist()
    return type_item_names(tuple(plan.original.items[code] for code in held_codes))


def _are_names(items: Items) -> bool:
    return bool(items) and isinstance(items[0], str)


def _rank_batches(plan: StoredHidingPlan, names: Items, final: Items) -> Iterator[CodedBatch]:
    """The published baskets under the sorted names."""
    positions = {name: number for number, name in enumerate(final)}
    ranks = np.full(len(plan.original.items), -1, dtype=np.int32)
    ranks[plan.counts > 0] = [positions[name] for name in names]
    for batch in plan.publish():
        offsets, codes = sort_row_codes(batch.offsets, ranks[batch.codes], len(final))
        yield CodedBatch(batch.first, offsets, codes)


def _spell_lines(
    path: Path, form: str, items: Items, plan: StoredHidingPlan, batches: Iterator[CodedBatch]
) -> Iterator[bytes]:
    """FIMI or SPMF."""
    header, words = ([], spell_fimi_items(path, items)) if form == "fimi" else number_spmf_items(path, items)
    if form == "spmf" and plan.smallest == 0:
        raise DataError(f"{path.name}: some lists are empty, and SPMF skips empty lines; write FIMI or the long form")
    beginning: list[str] | None = header
    ends_empty = False
    for batch in batches:
        lines = format_basket_lines(words, BasketArrays(items, batch.offsets, batch.codes))
        if beginning is None:
            yield "".join(f"{line}\n" for line in lines).encode()
        else:
            yield encode_lines([*beginning, *lines])
            beginning = None
        ends_empty = bool(batch.offsets[-1] == batch.offsets[-2])
    if form == "fimi" and ends_empty:
        yield b"\n"


def _spell_long(items: Items, batches: Iterator[CodedBatch]) -> Iterator[bytes]:
    """Rows of basket and item, in CSV; an empty basket has one without item."""
    names = pl.Series(items, dtype=None if items else pl.String)
    for batch in batches:
        empty = batch.sizes == 0
        rows = np.repeat(np.arange(len(empty)), np.maximum(batch.sizes, 1))
        codes = pl.Series(_put_codes(batch.codes, empty[rows]), dtype=pl.Int32)
        frame = pl.DataFrame({"id": rows + batch.first, "item": names.gather(codes.set(codes < 0, None))})
        text = frame.write_csv(quote_style="non_numeric", include_header=batch.first == 0)
        yield text.encode()


def _put_codes(codes: Codes, is_empty: Any) -> Ints:
    """The code of each row, -1 for the rows of empty baskets."""
    row_codes = np.full(len(is_empty), -1, dtype=np.int64)
    row_codes[~is_empty] = codes
    return row_codes


def open_published_baskets(
    path: Path, form: Any, scratch: Path, engine: ChosenEngine, *, is_escaped: bool
) -> StoredBaskets:
    """The baskets of a release, read as its certificate describes them."""
    rename = unescape_words if is_escaped else None
    return open_stored_baskets(BasketSource(path, form), scratch, "published", rename, engine)


def refuse_changed_baskets(plan: StoredHidingPlan, read: StoredBaskets) -> None:
    """Stop a release that does not read back as it was written; names are compared as text."""
    positions = {str(item): number for number, item in enumerate(plan.original.items)}
    item_codes = np.array([positions.get(str(item), -1) for item in read.items], dtype=np.int32)
    is_same = len(read) == len(plan.original)
    batches = zip(plan.publish(), read.iterate("reading back"), strict=True) if is_same else ()
    for written_batch, read_batch in batches:
        _, codes = sort_row_codes(read_batch.offsets, item_codes[read_batch.codes], len(positions))
        is_same = (
            is_same
            and np.array_equal(written_batch.offsets, read_batch.offsets)
            and np.array_equal(written_batch.codes, codes)
        )
    if not is_same:
        raise ClaimBroken("the baskets do not read back from the file as they were written; try another format")
