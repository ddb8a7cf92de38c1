# SPDX-License-Identifier: MIT
"""What `sfumato mine` does with a file of sequences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl


class SequenceOptions(NamedTuple):
    """How sequences are read and mined."""

    support: int | float
    kind: Any
    max_length: int | None
    max_gap: int | None
    window: int | None
    id_column: str
    item: str
    time: str
    separator: str | None


def mine_sequences(data: Path, options: SequenceOptions, out: Path | None) -> pl.DataFrame:
    """The frequent subsequences of a file, also written to another if asked for."""
    from sfumato import mine
    from sfumato.sequences import Sequences

    sequences = Sequences.read(
        data, id=options.id_column, item=options.item, time=options.time, separator=options.separator
    )
    patterns = mine.frequent_subsequences(
        sequences, options.support, options.max_length, options.max_gap, options.window, options.kind
    )
    if out is not None:
        mine.save_subsequences(patterns, out)
    return patterns


def spell_patterns(patterns: pl.DataFrame) -> pl.DataFrame:
    """Patterns of itemsets as texts for the terminal: {a, b}, {c}."""
    import polars as pl

    if not isinstance(patterns["pattern"].dtype.inner, pl.List):  # type: ignore[attr-defined]  # a column of lists
        return patterns
    texts = [
        ["{" + ", ".join(map(str, element)) + "}" for element in pattern] for pattern in patterns["pattern"].to_list()
    ]
    return patterns.with_columns(pl.Series("pattern", texts, dtype=pl.List(pl.String)))
