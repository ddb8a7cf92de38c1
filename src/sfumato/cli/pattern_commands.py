# SPDX-License-Identifier: MIT
"""The commands `sfumato channels`, `support` and `contains`: what supports give away, and who holds a pattern."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sfumato.cli.messages import SHOWN, print_rows
from sfumato.cli.options import AreSequences, IdColumn, ItemColumn, Json, MatchWindow, MaxGap, Separator, TimeColumn
from sfumato.cli.terminal import print_json, print_line, show_progress

if TYPE_CHECKING:
    import polars as pl

    from sfumato.arrays import Flags
    from sfumato.baskets import Baskets
    from sfumato.mine.patterns.derivability import Conjunction
    from sfumato.patterns import Patterns
    from sfumato.sequences import Sequences

Held = Annotated[
    list[str],
    typer.Argument(
        help="One element per word: items, joined by commas if an element has several; or JSON, as in '[\"a, b\"]'."
    ),
]
Data = Annotated[
    str, typer.Argument(help="Baskets (FIMI, SPMF, long form, comma lines) or sequences (SPMF, long form).")
]


class Reading(NamedTuple):
    """How a file is read, and which matches count."""

    is_sequences: bool
    id_column: str
    item: str
    time: str
    separator: str | None
    max_gap: int | None
    window: int | None


def channels_command(
    data: Annotated[
        str,
        typer.Argument(help="Baskets; or published patterns or rules: a file with #SUP: lines, or a release folder."),
    ],
    k: Annotated[int, typer.Option(help="The smallest number of people that a pattern may describe.")],
    min_support: Annotated[
        str | None, typer.Option(help="Baskets: the count or share from which itemsets would be published.")
    ] = None,
    maximal: Annotated[
        bool, typer.Option("--maximal", help="Baskets: leave out channels that lie inside others.")
    ] = False,
    baskets: Annotated[
        int | None, typer.Option(help="Published files: the number of baskets, if the file does not state it.")
    ] = None,
    separator: Separator = None,
    id_column: IdColumn = "id",
    item: ItemColumn = "item",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write all of them to a CSV file.")] = None,
    as_json: Json = False,
) -> None:
    """Find what supports give away about fewer than k people, in baskets or in what was published about them."""
    from sfumato.cli.basket_estimates import spell_lists

    with show_progress(as_json):
        published_patterns = _read_published(Path(data), baskets)
        if published_patterns is not None:
            _refuse_for_published(min_support, maximal)
            channels = _list_forced_patterns(published_patterns, k)
        else:
            channels = _list_channels(data, k, min_support, maximal, (separator, id_column, item))
        if out is not None:
            spell_lists(channels).write_csv(out)
    if as_json:
        print_json({"count": channels.height, "rows": channels.to_dicts()})
    else:
        print_rows(channels, SHOWN, out)


def support_command(
    data: Data,
    pattern: Held,
    sequences: AreSequences = False,
    max_gap: MaxGap = None,
    window: MatchWindow = None,
    separator: Separator = None,
    id_column: IdColumn = "id",
    item: ItemColumn = "item",
    time: TimeColumn = "time",
    as_json: Json = False,
) -> None:
    """Count the baskets that hold some items, or the sequences that contain a pattern."""
    reading = Reading(sequences, id_column, item, time, separator, max_gap, window)
    with show_progress(as_json):
        pattern_holders = _flag_holders(Path(data), pattern, reading)
    count, rows = int(pattern_holders.flags.sum()), len(pattern_holders.flags)
    share = count / rows if rows else 0.0
    if as_json:
        print_json({"support": count, "rows": rows, "share": share, "unknown_items": pattern_holders.unknown})
    else:
        print_line(f"{count:,} of {rows:,} {pattern_holders.kind} ({share:.4g}).")
        _warn_unknown(pattern_holders)


def contains_command(
    data: Data,
    pattern: Held,
    sequences: AreSequences = False,
    max_gap: MaxGap = None,
    window: MatchWindow = None,
    separator: Separator = None,
    id_column: IdColumn = "id",
    item: ItemColumn = "item",
    time: TimeColumn = "time",
    as_json: Json = False,
) -> None:
    """List the baskets or sequences that contain a pattern, by row number from 0, and by id if the file has ids."""
    import numpy as np
    import polars as pl

    reading = Reading(sequences, id_column, item, time, separator, max_gap, window)
    with show_progress(as_json):
        pattern_holders = _flag_holders(Path(data), pattern, reading)
    rows = np.flatnonzero(pattern_holders.flags)
    holders = pl.DataFrame({"row": rows})
    if pattern_holders.ids is not None:
        holders = holders.with_columns(
            pl.Series("id", [pattern_holders.ids[row] for row in rows.tolist()], strict=False)
        )
    if as_json:
        print_json({"count": holders.height, "rows": holders.to_dicts(), "unknown_items": pattern_holders.unknown})
    else:
        print_rows(holders, SHOWN, None)
        _warn_unknown(pattern_holders)


class _Holders(NamedTuple):
    """Which rows contain a pattern."""

    flags: Flags
    kind: str
    ids: tuple[Any, ...] | None
    unknown: int
    """How many items of the pattern no row holds."""


def _flag_holders(path: Path, words: Iterable[str], reading: Reading) -> _Holders:
    from sfumato.baskets import Baskets
    from sfumato.data.items.sequence_files import is_sequence_file
    from sfumato.errors import PolicyError
    from sfumato.mine.sequences.containment import flag_rows
    from sfumato.sequences import Sequences

    if path.is_dir():
        raise PolicyError(
            f"{path}: rows are counted in a file of baskets or sequences; this is a folder; name the data file in it"
        )
    name, item, separator = reading.id_column, reading.item, reading.separator
    if reading.is_sequences or is_sequence_file(path):
        sequences = Sequences.read(path, id=name, item=item, time=reading.time, separator=separator)
        elements = _parse_elements(words, sequences)
        flags = flag_rows(sequences, elements, reading.max_gap, reading.window)
        return _Holders(flags, "sequences", sequences.ids, _count_unknown(elements, sequences))
    _refuse_limits(path, reading)
    baskets = Baskets.read(path, id=name, item=item, separator=separator)
    elements = _parse_elements(words, baskets)
    flags = _flag_baskets(baskets, {item for element in elements for item in element})
    return _Holders(flags, "baskets", baskets.ids, _count_unknown(elements, baskets))


def _count_unknown(elements: list[list[Any]], rows: Sequences | Baskets) -> int:
    return len({item for element in elements for item in element} - set(rows.items))


def _flag_baskets(baskets: Baskets, items: set[Any]) -> Flags:
    import numpy as np

    codes_by_item = {item: code for code, item in enumerate(baskets.items)}
    codes = [codes_by_item[item] for item in items if item in codes_by_item]
    if len(codes) < len(items):
        return np.zeros(len(baskets), dtype=bool)
    rows = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))[np.isin(baskets.codes, codes)]
    return np.asarray(np.bincount(rows, minlength=len(baskets)) == len(codes))


def _parse_elements(words: Iterable[str], rows: Sequences | Baskets) -> list[list[Any]]:
    """The elements of a pattern, as items of the data: numbers if those are."""
    from sfumato.errors import PolicyError

    elements = [_parse_element(word) for word in words]
    if not all(element and all(element) for element in elements):
        raise PolicyError('an item of the pattern is empty; write a,b for an element of two items, or \'["a", "b"]\'')
    if rows.items and isinstance(rows.items[0], int):
        return [[int(item) if item.removeprefix("-").isdecimal() else item for item in element] for element in elements]
    return [list(element) for element in elements]


def _parse_element(word: str) -> list[str]:
    from sfumato.errors import PolicyError

    if not word.startswith("["):
        return [item.strip() for item in word.split(",")]
    try:
        items = json.loads(word)
    except ValueError:
        raise PolicyError('an element in brackets is JSON, such as \'["a, b", "c"]\'') from None
    return [str(item) for item in items]


def _refuse_limits(path: Path, reading: Reading) -> None:
    from sfumato.errors import PolicyError

    if reading.max_gap is not None or reading.window is not None:
        raise PolicyError(f"{path}: --max-gap and --window are for sequences, and this file holds baskets")


def _warn_unknown(pattern_holders: _Holders) -> None:
    if pattern_holders.unknown:
        print_line(f"No row holds {pattern_holders.unknown} of the items; check their spelling.")


def _read_published(path: Path, baskets: int | None) -> Patterns | None:
    """Published patterns, or those behind published rules; None for a file of baskets."""
    from sfumato.data.items.basket_files import read_text
    from sfumato.data.items.rule_set_files import is_rule_set_file
    from sfumato.errors import PolicyError
    from sfumato.mine import patterns_behind, read_rules
    from sfumato.patterns import Patterns
    from sfumato.rules import Rules
    from sfumato.workflow.verification import read_release

    if path.is_dir():
        data = read_release(path).data
        if not isinstance(data, Patterns):
            raise PolicyError(f"{path}: this release holds no patterns; give its data file")
        return data
    if not path.is_file() or b"#SUP:" not in (text := read_text(path)):
        return None
    if is_rule_set_file(path):
        return Rules.read(path)
    if b"==>" not in text:
        return Patterns.read(path, baskets)
    if baskets is None:
        raise PolicyError(f"{path}: rules do not state the number of baskets; give --baskets")
    return patterns_behind(read_rules(path), baskets)


def _refuse_for_published(min_support: str | None, maximal: bool) -> None:
    from sfumato.errors import PolicyError

    if min_support is not None or maximal:
        raise PolicyError("--min-support and --maximal are for baskets, and these are published supports")


def _list_channels(
    data: str, k: int, min_support: str | None, maximal: bool, reading: tuple[str | None, str, str]
) -> pl.DataFrame:
    from sfumato.baskets import Baskets
    from sfumato.cli.mining_job import parse_support
    from sfumato.errors import PolicyError
    from sfumato.mine import inference_channels

    if min_support is None and Path(data).exists():
        raise PolicyError("--min-support is missing: the count or share from which itemsets would be published")
    separator, id_column, item = reading
    rows = Baskets.read(data, separator=separator, id=id_column, item=item)
    return inference_channels(rows, parse_support(min_support or "1"), k, maximal)


def _list_forced_patterns(published_patterns: Patterns, k: int) -> pl.DataFrame:
    """What follows about few people, as texts: "a and b, not c"."""
    import polars as pl

    from sfumato.mine import forced_patterns

    inferences = forced_patterns(published_patterns, k)
    return pl.DataFrame(
        {
            "pattern": ["; or ".join(map(_spell_conjunction, pattern.either)) for pattern in inferences],
            "least": [pattern.least for pattern in inferences],
            "most": [pattern.most for pattern in inferences],
        },
        schema={"pattern": pl.String, "least": pl.Int64, "most": pl.Int64},
    )


def _spell_conjunction(conjunction: Conjunction) -> str:
    words = [*map(str, conjunction.present), *(f"not {item}" for item in conjunction.absent)]
    return ", ".join(words)
