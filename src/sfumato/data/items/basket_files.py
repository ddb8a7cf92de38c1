# SPDX-License-Identifier: MIT
"""Baskets on disk: FIMI and SPMF files, read into arrays and written atomically; see also `long_form`.

- **FIMI**: one basket per line, items separated by blanks or tabs. An empty line is an empty basket, except one empty
  last line, which is ignored; the writer adds that line if the last basket is empty.
- **SPMF**: the same, but lines that start with ``#``, ``%`` or ``@`` are comments, ``@ITEM=1=apple`` names an item, and
  empty lines are skipped, as SPMF itself does.

Text is UTF-8, compressed or not, with any line end. Items (and ids) that are all plain 64-bit integers, without plus or
leading zero, become ``int``; otherwise, and under ``@ITEM`` names, they stay text.
"""

from __future__ import annotations

import gzip
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Bytes, Codes, Flags, Ints
from sfumato.data.items.spmf_text import SPMF_COMMENT, number_spmf_items, strip_spmf_comments
from sfumato.data.reading.compression import PACKING_FAULTS
from sfumato.data.reading.file_kinds import HEAD, detect_file_kind
from sfumato.data.reading.file_limits import BoundedStream, explain_damaged_packing, read_whole, refuse_special
from sfumato.data.reading.near_files import explain_unreadable
from sfumato.data.reading.source import is_database, parse_source
from sfumato.errors import DataError, count_noun

if TYPE_CHECKING:
    import pyarrow as pa

Values = Sequence[int | str]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_NEGATIVE = re.compile(r"-[0-9]+")
_GAP = re.compile(rb"[ \t\n]")
_ARCHIVE_SUFFIX = re.compile(r"\.(?:gz|bz2|xz|zst)$")
_STRETCH = 1 << 18
"""Bytes split into words at once, which keeps temporary arrays small."""
_TABLE = 10_000_000
"""Integers below this are looked up in a table, whose untouched pages take no memory."""


class BasketArrays(NamedTuple):
    """Baskets as found in a file: unsorted and with repeated items."""

    items: Values
    offsets: Ints
    codes: Codes
    ids: Values | None = None


class TextTokens(NamedTuple):
    """The words of a text file, coded by first appearance."""

    words: list[str]
    codes: Codes
    lines: Codes
    """The line of each token, from 0."""
    line_count: int
    """Lines of the file, without one empty last line."""

    def find_negative_lines(self) -> Ints:
        """The lines that hold a negative number, ascending."""
        negative = np.array([bool(_NEGATIVE.fullmatch(word)) for word in self.words], dtype=bool)
        lines = self.lines[negative[self.codes]] if negative.any() else np.zeros(0, dtype=np.int64)
        return np.unique(lines).astype(np.int64)


def guess_basket_format(
    path: str | os.PathLike[str],
    *,
    for_writing: bool = False,
    columns: tuple[str, ...] = ("id", "item"),
    separator: str | None = None,
) -> str:
    """The format of a basket file, from its name or else its first bytes; text is written as SPMF by default."""
    file = Path(path)
    name = _ARCHIVE_SUFFIX.sub("", file.name.lower())
    if name.endswith(".dat"):
        return "fimi"
    if for_writing:
        return "long" if name.endswith((".csv", ".tsv", ".parquet")) else "spmf"
    if is_database(os.fspath(path)) or name.endswith(".parquet") or is_table_file(file):
        return "long"
    if name.endswith((".csv", ".tsv")):
        return "comma" if _has_comma_lines(file, columns, separator) else "long"
    return "spmf" if SPMF_COMMENT.match(read_text(file).lstrip(b"\n")) else "fimi"


def _has_comma_lines(path: Path, columns: tuple[str, ...], separator: str | None) -> bool:
    from sfumato.data.items.comma_baskets import looks_like_comma_lines

    return looks_like_comma_lines(path, columns, separator)


def is_table_file(path: Path) -> bool:
    """Whether a file is a table by its first bytes: Parquet, Excel, JSON lines and others."""
    source = parse_source(path)
    try:
        refuse_special(Path(source.location))
        with BoundedStream(Path(source.location)) as file:
            return source.table is not None or detect_file_kind(file.read(HEAD)) is not None
    except (OSError, ValueError, *PACKING_FAULTS):
        return False  # the reader says why it cannot be read


def read_fimi(path: Path) -> BasketArrays:
    """Read one basket from each line."""
    tokens = tokenize(read_text(path))
    refuse_negative_lines(path, tokens.find_negative_lines())
    if not tokens.line_count:
        raise DataError(f"{path}: the file holds no basket; a FIMI file has one on each line")
    offsets = np.searchsorted(tokens.lines, np.arange(tokens.line_count + 1, dtype=np.int32)).astype(np.int64)
    return BasketArrays(parse_item_types(tokens.words), offsets, tokens.codes)


def read_spmf_baskets(path: Path) -> BasketArrays:
    """Read one basket from each line that is neither empty nor a comment, with its items' names if given."""
    text, names = strip_spmf_comments(read_text(path))
    tokens = tokenize(text)
    refuse_negative_lines(path, tokens.find_negative_lines())
    if not tokens.lines.size:
        raise DataError(f"{path}: the file holds no basket; an SPMF file has one on each plain line")
    offsets = np.append(find_run_starts(tokens.lines), tokens.lines.size)
    return BasketArrays(name_items(path, tokens.words, names), offsets, tokens.codes)


def write_fimi(path: Path, baskets: BasketArrays) -> None:
    """Write one basket per line, without ids."""
    words = spell_fimi_items(path, baskets.items)
    refuse_nothing(path, baskets.offsets)
    ends_empty = baskets.offsets[-1] == baskets.offsets[-2]
    write_text(path, [*format_basket_lines(words, baskets), *([""] if ends_empty else [])])


def spell_fimi_items(path: Path, items: Values) -> list[str]:
    """The word of each item; an error if a file of words cannot hold one."""
    words = [str(item) for item in items]
    unwritable = sum(bool(re.search(r"[ \t\r\n]", word) or _NEGATIVE.fullmatch(word)) for word in words)
    if unwritable:
        raise DataError(
            f"{path}: {count_noun(unwritable, 'item holds blanks or is', 'items hold blanks or are')} negative; write "
            "the long form"
        )
    return words


def write_spmf_baskets(path: Path, baskets: BasketArrays) -> None:
    """Write one basket per line, with a header of names if items are text; without ids."""
    refuse_empty(path, baskets.offsets, "SPMF skips empty lines; drop them or write FIMI")
    header, words = number_spmf_items(path, baskets.items)
    write_text(path, [*header, *format_basket_lines(words, baskets)])


def read_bytes(path: Path) -> bytes:
    """The whole file, unpacked if it is compressed."""
    try:
        refuse_special(path)
        data = read_whole(path)
    except PACKING_FAULTS:
        raise explain_damaged_packing(path) from None
    except (OSError, ValueError) as problem:
        raise DataError(f"{path}: the file cannot be read {explain_unreadable(problem, path)}") from None
    if not data:
        raise DataError(f"{path}: the file is empty")
    return data


def read_text(path: Path) -> bytes:
    """The file as checked UTF-8 with ``\\n`` at line ends."""
    text = check_utf8(path, read_bytes(path))
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def write_bytes(path: Path, data: bytes) -> None:
    """Write the file atomically; a name that ends in ``.gz`` is gzipped."""
    with open_for_atomic_write(path) as file:
        file.write(data)


@contextmanager
def open_for_atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its name only once everything is written."""
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            if path.name.lower().endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as zip_file:
                    yield zip_file  # type: ignore[misc]  # zipfile gives an IO[bytes], which has all that is used
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as problem:
        raise DataError(f"{path}: the file cannot be written: {problem.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, lines: Iterable[str]) -> None:
    """Write lines as UTF-8."""
    write_bytes(path, encode_lines(lines))


def encode_lines(lines: Iterable[str]) -> bytes:
    """The beginning of a text file."""
    data = "".join(f"{line}\n" for line in lines).encode()
    # A first item that begins with the byte order mark would lose it on reading.
    return _BYTE_ORDER_MARK + data if data.startswith(_BYTE_ORDER_MARK) else data


def check_utf8(path: Path, data: bytes, first_line: int = 0) -> bytes:
    """The bytes, if they are UTF-8 text, without a byte order mark; they may begin at a later line of the file."""
    try:
        if not data.isascii():
            data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = first_line + data.count(b"\n", 0, problem.start) + 1
        raise DataError(f"{path}: line {line} is not UTF-8 text; save the file as UTF-8") from None
    return data if first_line else data.removeprefix(_BYTE_ORDER_MARK)


def tokenize(text: bytes) -> TextTokens:
    """Split text at blanks and line ends, chunk by chunk, without a Python loop over the words."""
    word_numbers = _WordNumbering()
    codes, lines = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
    line = 0
    for raw in _split_at_words(text):
        is_end = raw == ord("\n")
        solid = ~((raw == ord(" ")) | (raw == ord("\t")) | is_end)
        edges = np.flatnonzero(np.diff(solid, prepend=False, append=False))
        starts, lengths = edges[0::2], edges[1::2] - edges[0::2]
        ends = np.cumsum(is_end, dtype=np.int32)
        codes.append(word_numbers.of(raw, solid, starts, lengths))
        lines.append(ends[starts] + np.int32(line))
        line += int(ends[-1])
    line_count = line + (not text.endswith(b"\n"))
    token_lines = np.concatenate(lines)
    if not token_lines.size or token_lines[-1] < line_count - 1:
        line_count -= 1
    return TextTokens(list(word_numbers.codes), np.concatenate(codes), token_lines, line_count)


def _split_at_words(text: bytes) -> Iterator[Bytes]:
    """The text in chunks that end between words."""
    begin = 0
    while begin < len(text):
        gap = _GAP.search(text, begin + _STRETCH)
        end = gap.end() if gap else len(text)
        yield np.frombuffer(text, dtype=np.uint8, count=end - begin, offset=begin)
        begin = end


class _WordNumbering:
    """Numbers words by first appearance."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self._of_number = np.zeros(_TABLE, dtype=np.int32)
        """One more than the code of an integer, once known."""

    def of(self, raw: Bytes, solid: Flags, starts: Ints, lengths: Ints) -> Codes:
        """The code of each word of a chunk."""
        numbers = _parse_small_numbers(raw, solid, starts, lengths)
        if numbers is None:
            return self._number_words(raw[solid], lengths)
        codes = self._of_number[numbers]
        new = numbers[codes == 0]
        if new.size:
            distinct, first = np.unique(new, return_index=True)
            for number in distinct[np.argsort(first)].tolist():
                self._of_number[number] = self.codes.setdefault(str(number), len(self.codes)) + 1
            codes = self._of_number[numbers]
        return codes - np.int32(1)

    def _number_words(self, letters: Bytes, lengths: Ints) -> Codes:
        import pyarrow as pa

        bounds = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(letters)]
        words, codes = encode_distinct(pa.Array.from_buffers(pa.large_string(), lengths.size, buffers))
        word_codes = np.array([self.codes.setdefault(word, len(self.codes)) for word in words], dtype=np.int32)
        return word_codes[codes]


def _parse_small_numbers(raw: Bytes, solid: Flags, starts: Ints, lengths: Ints) -> Codes | None:
    """The words as integers below the table's end, if all are canonical integers; -1 to -9 for the marks of SPMF."""
    digits, is_minus = raw - np.uint8(ord("0")), raw == ord("-")
    negative, longest = is_minus[starts], int(lengths.max(initial=0))
    if 10**longest >= _TABLE or not np.array_equal((digits < 10) | is_minus, solid):
        return None
    if np.count_nonzero(is_minus) != np.count_nonzero(negative) or (negative & (lengths != 2)).any():
        return None
    numbers: Codes = digits[starts + negative].astype(np.int32)
    if ((numbers == 0) & (lengths > 1)).any():
        return None
    for position in range(1, longest):
        longer = np.flatnonzero((lengths > position) & ~negative)
        numbers[longer] = 10 * numbers[longer] + digits[starts[longer] + position]
    numbers[negative] *= -1
    return numbers


def parse_item_types(words: list[str]) -> Values:
    """Integers if every word is a 64-bit integer, otherwise the words."""
    if not all(map(_INTEGER.fullmatch, words)):
        return words
    numbers = list(map(int, words))
    return numbers if not numbers or (min(numbers) >= -(2**63) and max(numbers) < 2**63) else words


def name_items(path: Path, words: list[str], names: Mapping[str, str]) -> Values:
    """The items' names; a word without one is its own name."""
    if not names:
        return parse_item_types(words)
    items = [names.get(word, word) for word in words]
    repeat_count = len(items) - len(set(items))
    if repeat_count or "" in items:
        unclear = repeat_count + items.count("")
        raise DataError(
            f"{path}: {count_noun(unclear, 'item has', 'items have')} an empty or duplicate @ITEM name; give each its "
            "own name"
        )
    return items


def compute_offsets(groups: npt.NDArray[np.integer], count: int) -> Ints:
    """The offset of each of ``count`` groups, given the group of every member."""
    return np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=count), dtype=np.int64)))


def find_run_starts(values: npt.NDArray[np.integer]) -> Ints:
    """The offset of each run of equal neighbours."""
    return np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1]))).astype(np.int64)


class DistinctWords(NamedTuple):
    """Distinct values by first appearance, and the number of each cell."""

    values: list[str]
    codes: Codes


def encode_distinct(values: pa.Array) -> DistinctWords:
    """Distinct values by first appearance, and the number of each."""
    coded_values = values.dictionary_encode()
    return DistinctWords(
        coded_values.dictionary.to_pylist(), coded_values.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    )


def refuse_negative_lines(path: Path, lines: Ints) -> None:
    """Stop if there are lines that hold a negative item."""
    if not lines.size:
        return
    fault = f"{lines.size:,} lines hold negative items, the first is line {lines[0] + 1}; correct them"
    if lines.size == 1:
        fault = f"line {lines[0] + 1} holds a negative item; correct it"
    raise DataError(
        f"{path}: {fault}. If -1 and -2 end elements and sequences, these are not baskets but sequences: use "
        "anonymize_sequences or hide_sequences, or Sequences.read in Python"
    )


def refuse_empty(path: Path, offsets: Ints, reason: str) -> None:
    """Stop if there is nothing to write, or an empty group in a format that cannot represent it."""
    refuse_nothing(path, offsets)
    empty = int((np.diff(offsets) == 0).sum())
    if empty:
        raise DataError(f"{path}: {empty} of {offsets.size - 1} lists are empty, and {reason}")


def refuse_nothing(path: Path, offsets: Ints) -> None:
    """Stop if there is nothing to write: an empty file could not be read back."""
    if offsets.size < 2:
        raise DataError(f"{path}: there is nothing to write; a file holds at least one list of items")


def format_basket_lines(words: Sequence[str], baskets: BasketArrays) -> Iterable[str]:
    """The lines of some baskets, given the word of each item."""
    tokens = np.array(words, dtype=object)[baskets.codes].tolist()
    return (" ".join(tokens[start:stop]) for start, stop in pairwise(baskets.offsets.tolist()))
