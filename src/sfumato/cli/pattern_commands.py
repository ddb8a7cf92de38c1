# SPDX-License-Identifier: MIT
"""The commands `sfumato channels`, `support` and `contains`: what supports give away, and who holds a pattern."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sfumato.cli.messages import MOST_ROWS, print_rows
from sfumato.cli.option_needs import (
    ALWAYS,
    BASKET_FILES,
    PUBLISHED_PATTERNS,
    SEQUENCES,
    CommandContext,
    asks_about_file,
    refuse_idle_options,
)
from sfumato.cli.options import AreSequences, IdColumn, ItemColumn, Json, MatchWindow, MaxGap, Separator, TimeColumn
from sfumato.cli.terminal import print_json, print_line, show_progress
from sfumato.cli.written_files import refuse_unsafe_outputs

if TYPE_CHECKING:
    import polars as pl

    from sfumato.arrays import Flags
    from sfumato.baskets import Baskets
    from sfumato.mine.patterns.derivability import Conjunction
    from sfumato.patterns import Patterns
    from sfumato.sequences import Sequences

PatternWords = Annotated[
    list[str],
    typer.Argument(
        help="Elements separated by spaces; items of one element separated by commas, or JSON, as in '[\"a, b\"]'."
    ),
]
Data = Annotated[
    str, typer.Argument(help="Baskets (FIMI, SPMF, long form, comma-separated) or sequences (SPMF, long form).")
]


class Reading(NamedTuple):
    """How a file is read, and which matches count."""

    path: str
    is_sequences: bool
    id_column: str
    item: str
    time: str
    separator: str | None
    max_gap: int | None
    window: int | None


class ChannelQuestion(NamedTuple):
    """Which channels are looked for, and in what."""

    path: str
    k: int
    min_support: str | None
    is_maximal: bool
    baskets: int | None
    separator: str | None
    id_column: str
    item: str


def channels_command(
    context: typer.Context,
    data: Annotated[
        str,
        typer.Argument(help="Baskets; or published patterns or rules: a file with #SUP: lines, or a release folder."),
    ],
    k: Annotated[int, typer.Option(help="The smallest number of people that a pattern may describe."), ALWAYS],
    min_support: Annotated[
        str | None,
        typer.Option(help="Baskets: the count or share from which itemsets would be published."),
        BASKET_FILES,
    ] = None,
    maximal: Annotated[
        bool, typer.Option("--maximal", help="Baskets: omit channels contained in others."), BASKET_FILES
    ] = False,
    baskets: Annotated[
        int | None,
        typer.Option(help="Published files: the number of baskets, if the file does not state it."),
        PUBLISHED_PATTERNS,
    ] = None,
    separator: Separator = None,
    id_column: IdColumn = "id",
    item: ItemColumn = "item",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write all of them to a CSV file."), ALWAYS] = None,
    as_json: Json = False,
) -> None:
    """Find patterns of fewer than k people that can be derived from supports, in baskets or in published patterns."""
    from sfumato.cli.basket_estimates import spell_lists

    question = ChannelQuestion(data, k, min_support, maximal, baskets, separator, id_column, item)
    refuse_unsafe_outputs([out], [data])
    with show_progress(as_json):
        published_patterns = _read_published(Path(data), baskets)
        refuse_idle_options(context, _describe_channels(question, is_published=published_patterns is not None))
        if published_patterns is not None:
            channels = _list_forced_patterns(published_patterns, k)
        else:
            channels = _list_channels(question)
        if out is not None:
            spell_lists(channels).write_csv(out)
    if as_json:
        print_json({"count": channels.height, "rows": channels.to_dicts()})
    else:
        print_rows(channels, MOST_ROWS, out)


def _describe_channels(question: ChannelQuestion, *, is_published: bool) -> CommandContext:
    from sfumato.cli.file_forms import add_item_form
    from sfumato.data.items.rule_set_files import is_rule_set_file

    path = Path(question.path)
    if is_published:
        words = "these are published supports"
        if path.is_dir() or is_rule_set_file(path):
            return CommandContext(f"{words}, with the number of baskets")
        return CommandContext(words, frozenset({PUBLISHED_PATTERNS}))
    situation = CommandContext("the file holds baskets", frozenset({BASKET_FILES}))
    return add_item_form(situation, question.path, None, (question.id_column, question.item), question.separator)


def support_command(
    context: typer.Context,
    data: Data,
    pattern: PatternWords,
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
    reading = Reading(data, sequences, id_column, item, time, separator, max_gap, window)
    with show_progress(as_json):
        pattern_holders = _flag_holders(context, pattern, reading)
    count, rows = int(pattern_holders.flags.sum()), len(pattern_holders.flags)
    share = count / rows if rows else 0.0
    if as_json:
        print_json({"support": count, "rows": rows, "share": share, "unknown_items": pattern_holders.unknown})
    else:
        print_line(f"{count:,} of {rows:,} {pattern_holders.kind} ({share:.4g}).")
        _warn_unknown(pattern_holders)


def contains_command(
    context: typer.Context,
    data: Data,
    pattern: PatternWords,
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

    reading = Reading(data, sequences, id_column, item, time, separator, max_gap, window)
    with show_progress(as_json):
        pattern_holders = _flag_holders(context, pattern, reading)
    rows = np.flatnonzero(pattern_holders.flags)
    holders = pl.DataFrame({"row": rows})
    if pattern_holders.ids is not None:
        holders = holders.with_columns(
            pl.Series("id", [pattern_holders.ids[row] for row in rows.tolist()], strict=False)
        )
    if as_json:
        print_json({"count": holders.height, "rows": holders.to_dicts(), "unknown_items": pattern_holders.unknown})
    else:
        print_rows(holders, MOST_ROWS, None)
        _warn_unknown(pattern_holders)


class _Holders(NamedTuple):
    """Which rows contain a pattern."""

    flags: Flags
    kind: str
    ids: tuple[Any, ...] | None
    unknown: int
    """How many items of the pattern no row holds."""


def _flag_holders(context: typer.Context, words: Iterable[str], reading: Reading) -> _Holders:
    from sfumato.baskets import Baskets
    from sfumato.data.items.sequence_files import is_sequence_file
    from sfumato.errors import PolicyError
    from sfumato.mine.sequences.containment import flag_rows
    from sfumato.sequences import Sequences

    path = Path(reading.path)
    if path.is_dir():
        raise PolicyError(
            f"{path}: rows are counted in a file of baskets or sequences; this is a folder; name the data file in it"
        )
    name, item, separator = reading.id_column, reading.item, reading.separator
    is_sequences = reading.is_sequences or is_sequence_file(path)
    refuse_idle_options(context, _describe_rows(reading, is_sequences, looks_into_file=asks_about_file(context)))
    if is_sequences:
        sequences = Sequences.read(path, id=name, item=item, time=reading.time, separator=separator)
        elements = _parse_elements(words, sequences)
        flags = flag_rows(sequences, elements, reading.max_gap, reading.window)
        return _Holders(flags, "sequences", sequences.ids, _count_unknown(elements, sequences))
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


def _describe_rows(reading: Reading, is_sequences: bool, *, looks_into_file: bool) -> CommandContext:
    from sfumato.cli.file_forms import add_item_form, add_sequence_form

    if is_sequences:
        situation = CommandContext("the file holds sequences", frozenset({SEQUENCES}))
        return add_sequence_form(situation, reading.path) if looks_into_file else situation
    situation = CommandContext("the file is read as baskets")
    if not looks_into_file:
        return situation
    return add_item_form(situation, reading.path, None, (reading.id_column, reading.item), reading.separator)


def _warn_unknown(pattern_holders: _Holders) -> None:
    if pattern_holders.unknown:
        print_line(f"No row holds {pattern_holders.unknown} of the items; check their spelling.")


def _read_published(path: Path, baskets: int | None) -> Patterns | None:
    """Published patterns, or those behind published rules; None for a file of baskets."""
    from sfumato.data.items.basket_files import read_text
    from sfumato.data.items.rule_set_files import is_rule_set_file
    from sfumato.errors import PolicyError
    from sfumato.mine import list_rule_patterns, read_rules
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
    return list_rule_patterns(read_rules(path), baskets)


def _list_channels(question: ChannelQuestion) -> pl.DataFrame:
    from sfumato.baskets import Baskets
    from sfumato.cli.mining_job import parse_support
    from sfumato.errors import PolicyError
    from sfumato.mine import inference_channels

    if question.min_support is None and Path(question.path).exists():
        raise PolicyError("--min-support is missing: the count or share from which itemsets would be published")
    rows = Baskets.read(question.path, separator=question.separator, id=question.id_column, item=question.item)
    return inference_channels(rows, parse_support(question.min_support or "1"), question.k, question.is_maximal)


def _list_forced_patterns(published_patterns: Patterns, k: int) -> pl.DataFrame:
    """What follows about few people, as texts: "a and b, not c"."""
    import polars as pl

    from sfumato.mine import forced_patterns

    inferences = forced_patterns(published_patterns, k)
    return pl.DataFrame(
        {
            "pattern": ["; or ".join(map(_spell_conjunction, pattern.conjunctions)) for pattern in inferences],
            "least": [pattern.least for pattern in inferences],
            "most": [pattern.most for pattern in inferences],
        },
        schema={"pattern": pl.String, "least": pl.Int64, "most": pl.Int64},
    )


def _spell_conjunction(conjunction: Conjunction) -> str:
    words = [*map(str, conjunction.present), *(f"not {item}" for item in conjunction.absent)]
    return ", ".join(words)
