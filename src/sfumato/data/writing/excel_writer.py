# SPDX-License-Identifier: MIT
"""Write a frame as an Excel workbook of one sheet, with nothing in it but the cells.

The file has no document properties, no names of users or programs, and no times: two equal tables give equal bytes.
Numbers keep all their digits. Text is stored as text in cells formatted as text, so that no spreadsheet evaluates
`=…`, not even after someone edits the cell, and "02139" keeps its zero.
"""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO

import polars as pl

from sfumato.data.hierarchies.hierarchy import spell_cells

_EPOCH = dt.date(1899, 12, 30)  # Excel takes 1900 for a leap year, so that days count from here since March 1900
_ROWS = 20_000
_TEXT, _DATE = 1, 2
_NEW_FILE = (1980, 1, 1, 0, 0, 0)
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_KIND}.worksheet+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_KIND}.styles+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
        '<sheets><sheet name="data" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>'
    ),
    "xl/styles.xml": (
        f'<styleSheet xmlns="{_MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>'
        '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        '<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
        '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    ),
}


_SHEET = "xl/worksheets/sheet1.xml"


def write_excel(frame: pl.DataFrame, path: Path | IO[bytes]) -> None:
    """Write a frame whose cells a workbook can hold, see `format_limits`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _PARTS.items():
            archive.writestr(_describe_part(name), _HEAD + content)
        with archive.open(_describe_part(_SHEET), "w", force_zip64=True) as sheet:
            for piece in _spell_sheet(frame):
                sheet.write(piece)


def has_only_own_parts(path: Path) -> bool:
    """Whether a workbook has the parts that `write_excel` writes, in its words, and nothing else but the sheet.

    Spreadsheets ignore what no other part names, and bytes around the parts, so that anything could be hidden there.
    """
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if [part.filename for part in parts] != [*_PARTS, _SHEET] or not _has_own_frame(path, parts):
            return False
        contents = {name: (_HEAD + content).encode() for name, content in _PARTS.items()}
        # The size is compared first: a hostile part may unpack to anything.
        return all(
            archive.getinfo(name).file_size == len(content) and archive.read(name) == content
            for name, content in contents.items()
        )


def holds_only_cells(path: Path, frame: pl.DataFrame) -> bool:
    """Whether the sheet of a workbook is spelled as `write_excel` spells the frame that was read from it: readers skip
    comments, unknown fields and cells without a column name.
    """
    with zipfile.ZipFile(path) as archive, archive.open(_SHEET) as sheet:
        return all(sheet.read(len(piece)) == piece for piece in _spell_sheet(frame)) and not sheet.read(1)


def _has_own_frame(path: Path, parts: Sequence[zipfile.ZipInfo]) -> bool:
    """Whether all that is around the packed parts is as long as in every workbook that `write_excel` writes."""
    if max(part.file_size for part in parts) > zipfile.ZIP64_LIMIT:
        return True  # longer lengths are spelled in additional fields
    return path.stat().st_size - sum(part.compress_size for part in parts) == _measure_own_frame()


@cache
def _measure_own_frame() -> int:
    with BytesIO() as file:
        write_excel(pl.DataFrame({"a": [1]}), file)
        with zipfile.ZipFile(file) as archive:
            return len(file.getvalue()) - sum(part.compress_size for part in archive.infolist())


def _describe_part(name: str) -> zipfile.ZipInfo:
    part = zipfile.ZipInfo(name, _NEW_FILE)
    part.compress_type = zipfile.ZIP_DEFLATED
    part.create_system = 0
    return part


def _spell_sheet(frame: pl.DataFrame) -> Iterator[bytes]:
    """The sheet as XML, in pieces."""
    yield f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>'.encode()
    names = pl.DataFrame({f"c{i}": [name] for i, name in enumerate(frame.columns)})
    yield _spell_rows(names, 1).encode()
    for start in range(0, frame.height, _ROWS):
        yield _spell_rows(frame.slice(start, _ROWS), start + 2).encode()
    yield b"</sheetData></worksheet>"


def _spell_rows(frame: pl.DataFrame, first: int) -> str:
    """The rows as XML; a missing cell is left out."""
    rows = pl.int_range(first, first + frame.height, dtype=pl.Int64, eager=True).cast(pl.String)
    cells = [_spell_cells(column, rows, name_column(i)) for i, column in enumerate(frame.get_columns())]
    lines = '<row r="' + rows + '">'
    for column in cells:
        lines = lines + column.fill_null("")
    return "".join((lines + "</row>").to_list())


def _spell_cells(column: pl.Series, rows: pl.Series, letters: str) -> pl.Series:
    start = f'<c r="{letters}' + rows
    if column.dtype == pl.Boolean:
        return start + '" t="b"><v>' + column.cast(pl.Int8).cast(pl.String) + "</v></c>"
    if column.dtype == pl.Date:
        days = (column.to_physical().cast(pl.Int64) - (_EPOCH - dt.date(1970, 1, 1)).days).cast(pl.String)
        return start + f'" s="{_DATE}"><v>' + days + "</v></c>"
    if column.dtype.is_numeric():
        return start + '"><v>' + spell_cells(column) + "</v></c>"
    text = escape_xml(column.cast(pl.String))
    return start + f'" s="{_TEXT}" t="inlineStr"><is><t xml:space="preserve">' + text + "</t></is></c>"


def escape_xml(texts: pl.Series) -> pl.Series:
    """Text as a workbook spells it: what XML cannot hold is written as `_x000D_`, and so is a text that looks so."""
    texts = texts.str.replace_all(r"_(x[0-9A-Fa-f]{4}_)", "_x005F_${1}")
    for plain, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        texts = texts.str.replace_all(plain, entity, literal=True)
    if texts.str.contains(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]").any():
        for code in (*range(9), *range(11, 32), 0xFFFE, 0xFFFF):
            texts = texts.str.replace_all(chr(code), f"_x{code:04X}_", literal=True)
    return texts


def name_column(number: int) -> str:
    """The letters of a column, counted from 0: A, B, …, Z, AA."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
