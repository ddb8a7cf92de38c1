# SPDX-License-Identifier: MIT
"""A proposed role for every column, with its reasons, for the custodian to accept or change.

Nothing here is applied to a table automatically, and nothing leaves the machine: the proposal is derived from the
column's name (a word list in several languages, including HIPAA's direct identifiers), from the shape of a sample of
its values (e-mail and IP addresses, phone, card and account numbers, dates, postcodes, free text), from how many
different values it has, and from its type.

A proposal errs on the side of privacy. A column is only called insensitive if it discloses nothing: if it is empty, or
the same for everybody and not of a kind that would be disclosed about everybody. A column about which nothing is known
is called quasi-identifying, since others might know it.

Reasons contain counts and words of the column's name, never a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from sfumato.data.hierarchies.hierarchy import STAR
from sfumato.data.roles.name_words import find_role_word
from sfumato.data.roles.role import Role

SAMPLE = 200
"""How many values of a column are checked for their shape."""
TYPICAL = 0.8
"""The share of the sample that must have a shape."""
NEARLY_UNIQUE = 0.95
"""The share of different values from which a column can single out nearly everyone by itself."""
FEWEST_VALUES = 10
"""With fewer values, all being different means nothing; a group has this many rows on average."""
FEW = 50
"""Up to this many different values are groups."""


@dataclass(frozen=True, slots=True)
class RoleProposal:
    """The proposed role of a column, and why."""

    column: str
    role: Role
    reason: str
    """Sentences for the custodian: counts, and words of the column's name, never a value."""
    distinct: int
    """The number of different values, without missing ones."""
    distinct_share: float
    """Different values per value that is not missing; 0 if all are missing."""
    missing: int
    """How many rows have no value (null, or not a number)."""
    by_counts: bool = False
    """Whether only the number of different values spoke for the role, neither the name nor the look of the values."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What is known about one column before judging it."""

    name: str
    dtype: pl.DataType
    rows: int
    distinct: int
    missing: int
    whole: bool
    sample: tuple[str, ...]

    @property
    def filled_count(self) -> int:
        """How many cells are not missing."""
        return self.rows - self.missing

    @property
    def nearly_unique(self) -> bool:
        """Whether it can single out nearly everyone."""
        return self.filled_count >= FEWEST_VALUES and self.distinct >= NEARLY_UNIQUE * self.filled_count

    @property
    def switch(self) -> bool:
        """Yes or no, or 0 and 1: whether there is an e-mail address, rather than the address."""
        numeric = self.dtype.is_numeric() and self.filled_count >= FEWEST_VALUES and self.distinct <= 2
        return self.dtype == pl.Boolean or numeric


@dataclass(frozen=True, slots=True)
class _RoleGuess:
    role: Role
    reason: str
    by_counts: bool = False


def propose_roles(frame: pl.DataFrame) -> tuple[RoleProposal, ...]:
    """A role for every column, in column order, each with its reason; the frame is not changed."""
    return tuple(propose_role(column) for column in _profile_columns(frame))


def propose_role(column: ColumnProfile) -> RoleProposal:
    """A role for a column of which counts and a sample are known."""
    verdict = _judge_column(column)
    return RoleProposal(
        column=column.name,
        role=verdict.role,
        reason=" ".join(part for part in (verdict.reason, _describe_counts(column)) if part),
        distinct=column.distinct,
        distinct_share=column.distinct / column.filled_count if column.filled_count else 0.0,
        missing=column.missing,
        by_counts=verdict.by_counts,
    )


def _judge_column(column: ColumnProfile) -> _RoleGuess:
    """The first guess that applies: emptiness, unambiguous shape, constancy, name, shape, counts."""
    if column.rows and not column.filled_count:
        return _RoleGuess(Role.INSENSITIVE, "Every value is missing, so it discloses nothing about anyone.")
    shape_guess = _judge_by_telling_shape(column)
    if shape_guess:
        return shape_guess
    name_guess = _judge_by_name(column)
    if column.rows > 1 and column.distinct == 1 and not column.missing:
        return _judge_constant(name_guess)
    return name_guess or _judge_by_shape(column) or _judge_by_count(column)


def _judge_constant(name_guess: _RoleGuess | None) -> _RoleGuess:
    if name_guess and name_guess.role is not Role.QUASI_IDENTIFYING:
        return _RoleGuess(
            name_guess.role, f"{name_guess.reason} It is the same in every row, so it applies to everyone."
        )
    return _RoleGuess(Role.INSENSITIVE, "It is the same in every row, so it discloses nothing about anyone.")


def _judge_by_count(column: ColumnProfile) -> _RoleGuess:
    if not column.rows:
        reason = "Its name does not show what it is; assume that others know it unless you know better."
    elif column.nearly_unique and (column.whole or not column.dtype.is_numeric()):
        return _RoleGuess(
            Role.IDENTIFYING,
            "Nearly every value is different, as in a number or name given to each row.",
            by_counts=True,
        )
    elif column.nearly_unique:
        reason = (
            "It holds fractions that nearly all differ: a measurement, not a number given to a person, but "
            "anyone who knows it exactly can find the row."
        )
    elif column.distinct <= FEW and column.distinct * FEWEST_VALUES <= column.filled_count:
        reason = "It divides the rows into a few groups; others may know a person's group."
    else:
        reason = "Its name and values do not show what it is; assume that others know it unless you know better."
    return _RoleGuess(Role.QUASI_IDENTIFYING, reason, by_counts=True)


def _judge_by_name(column: ColumnProfile) -> _RoleGuess | None:
    word_match = find_role_word(column.name)
    if word_match is None:
        return None
    role, topic, word = word_match
    if role is Role.IDENTIFYING:
        if column.switch:
            return None
        return _RoleGuess(
            role,
            f'Its name refers to {topic} ("{word}"), which HIPAA and similar rules count as a direct identifier.',
        )
    if role is Role.SENSITIVE:
        return _RoleGuess(role, f'Its name refers to {topic} ("{word}"), which people keep private.')
    warning = (
        " Nearly every value is different, so check whether it identifies the person directly."
        if column.nearly_unique and (column.whole or not column.dtype.is_numeric())
        else ""
    )
    return _RoleGuess(role, f'Its name refers to {topic} ("{word}"), which others may know.{warning}')


def _describe_counts(column: ColumnProfile) -> str:
    if not column.rows:
        return "The table has no rows."
    if not column.filled_count:
        return ""
    values = f"{column.distinct:,} different among {column.filled_count:,} values"
    gaps = f", {column.missing:,} missing" if column.missing else ""
    return f"It has {values}{gaps}.{_explain_text(column)}"


def _explain_text(column: ColumnProfile) -> str:
    """A few words among numbers make a column text, so that its numbers have neither order nor ranges."""
    if column.dtype != pl.String or not _is_typical(column.sample, _is_number) or any(map(_is_code, column.sample)):
        return ""
    return (
        " Most of its values look like numbers, and it is read as text. If the others say that a value is missing, "
        "name them under missing_marks."
    )


def _judge_by_telling_shape(column: ColumnProfile) -> _RoleGuess | None:
    """A shape that is unambiguous, whatever the column's name."""
    for shape_name, fits in _TELLING_SHAPES.items():
        if _is_typical(column.sample, fits):
            reason = f"Its values look like {shape_name}, which HIPAA and similar rules count as a direct identifier."
            return _RoleGuess(Role.IDENTIFYING, reason)
    return None


def _judge_by_shape(column: ColumnProfile) -> _RoleGuess | None:
    """A shape that several things share, so that the column's name takes precedence."""
    if column.dtype.is_temporal() and column.dtype != pl.Duration:
        return _RoleGuess(Role.QUASI_IDENTIFYING, "It holds dates or times, which others may know.")
    if _is_typical(column.sample, _is_date):
        return _RoleGuess(Role.QUASI_IDENTIFYING, "Its values look like dates, which others may know.")
    if _is_typical(column.sample, _is_phone):
        return _RoleGuess(Role.IDENTIFYING, "Its values look like phone numbers.")
    if _is_typical(column.sample, _is_prose) and 2 * column.distinct > column.filled_count:
        return _RoleGuess(Role.IDENTIFYING, "Its values are free text of many words, which may contain names.")
    if _is_typical(column.sample, _is_postcode) and not column.nearly_unique:
        return _RoleGuess(Role.QUASI_IDENTIFYING, "Its values look like postcodes: where a person lives.")
    return None


def _is_typical(sample: tuple[str, ...], fits: Callable[[str], bool]) -> bool:
    """Whether most values have a shape, or most different ones: a label in many rows must not hide the others."""
    return any(bool(words) and sum(map(fits, words)) >= TYPICAL * len(words) for words in (sample, set(sample)))


def _compile_shape(pattern: str) -> Callable[[str], bool]:
    shape = re.compile(pattern, re.IGNORECASE)
    return lambda value: shape.fullmatch(value) is not None


_is_date = _compile_shape(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|\d{1,2}[- ][a-z]{3,9}[- ]\d{4})"
    r"([t ]\d{1,2}:\d{2}.*)?"
)
_is_number = _compile_shape(r"-?(0|[1-9]\d*)(\.\d+)?")
_is_code = _compile_shape(r"0\d+")
_is_postcode = _compile_shape(
    r"\d{5}(-\d{4})?|[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}|[a-z]\d[a-z] ?\d[a-z]\d|\d{4} ?[a-z]{2}"
)
_is_address = _compile_shape(r"(\d{1,3}\.){3}\d{1,3}|([0-9a-f]{2}[:-]){5}[0-9a-f]{2}|([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}")
_is_dialled = _compile_shape(r"\+?\(?\d[\d ().\-/]{5,18}\d")


def _is_phone(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    # Bare digits may be any number: a phone number has a country code or is written in groups.
    is_grouped = value.startswith("+") or len(re.findall(r"[ ().\-/]+", value)) >= 2
    plain = not (_is_date(value) or _is_address(value))
    return 7 <= digits <= 15 and is_grouped and plain and _is_dialled(value)


def _is_iban(value: str) -> bool:
    compact_text = value.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", compact_text, re.ASCII):
        return False
    return int("".join(str(int(sign, 36)) for sign in compact_text[4:] + compact_text[:4])) % 97 == 1


def _is_card(value: str) -> bool:
    digits = re.sub(r"[ -]", "", value)
    if not re.fullmatch(r"\d{13,19}", digits, re.ASCII):
        return False
    weighted_digits = [int(digit) * (1 + position % 2) for position, digit in enumerate(reversed(digits))]
    return sum(number // 10 + number % 10 for number in weighted_digits) % 10 == 0


def _is_prose(value: str) -> bool:
    return len(value) >= 40 and len(value.split()) >= 6


_TELLING_SHAPES: Mapping[str, Callable[[str], bool]] = {
    "e-mail addresses": _compile_shape(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "account numbers (IBAN)": _is_iban,
    "social security numbers": _compile_shape(r"\d{3}-\d{2}-\d{4}"),
    "network addresses": _is_address,
    "web addresses": _compile_shape(r"(https?://|www\.)\S+"),
    "keys given to each record (UUID)": _compile_shape(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "card numbers": _is_card,
}


def _profile_columns(frame: pl.DataFrame) -> list[ColumnProfile]:
    """Count all columns in one pass, then take a sample of those that hold words."""
    schema = frame.schema
    present = {name: _select_present(name, dtype) for name, dtype in schema.items()}
    known_counts = _select_row(frame, [values.len().alias(name) for name, values in present.items()])
    # Objects cannot be compared, so each counts as different.
    uniques = [
        (values.len() if schema[name].is_object() else values.n_unique()).alias(name)
        for name, values in present.items()
    ]
    whole = _find_whole_columns(frame)
    return [
        ColumnProfile(
            name=name,
            dtype=dtype,
            rows=frame.height,
            distinct=different,
            missing=frame.height - known_count,
            whole=whole.get(name, dtype.is_integer()),
            sample=_sample_values(frame[name]),
        )
        for (name, dtype), different, known_count in zip(
            schema.items(), _select_row(frame, uniques), known_counts, strict=True
        )
    ]


def _select_row(frame: pl.DataFrame, expressions: list[pl.Expr]) -> tuple[int, ...]:
    return frame.select(expressions).row(0) if expressions else ()


def _select_present(name: str, dtype: pl.DataType) -> pl.Expr:
    values = pl.col(name)
    return (values.fill_nan(None) if dtype.is_float() else values).drop_nulls()


def _find_whole_columns(frame: pl.DataFrame) -> dict[str, bool]:
    """Which columns of fractions hold whole numbers only; integers with gaps are often read as floats."""
    fractional = {name: dtype for name, dtype in frame.schema.items() if dtype.is_float() or dtype.is_decimal()}
    rests = [(_select_present(name, dtype) % 1 == 0).all() for name, dtype in fractional.items()]
    return dict(zip(fractional, map(bool, _select_row(frame, rests)), strict=True))


def _sample_values(column: pl.Series) -> tuple[str, ...]:
    """Some values, spread over the column since files are often sorted; words only."""
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return ()
    words = column.drop_nulls()
    words = words.filter(~words.cast(pl.String).str.contains(STAR, literal=True))
    spread = words.gather_every(max(1, len(words) // SAMPLE)).head(SAMPLE)
    return trim_sample(spread)


def trim_sample(words: pl.Series) -> tuple[str, ...]:
    """A sample as it is judged, without masked words, which show no shape.

    Truncated: no shape is longer, and patterns may be slow on a whole document.
    """
    return tuple(word[:400].strip() for word in words.cast(pl.String) if STAR not in word)
