# SPDX-License-Identifier: MIT
"""Itemsets and rules of a file of baskets, from the command line: in memory, or by duckdb or Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sfumato.cli.terminal import print_line
from sfumato.engine.engine_names import EngineName
from sfumato.errors import PolicyError

if TYPE_CHECKING:
    import polars as pl

    from sfumato.engine.basket_staging import BasketSource


class PatternOptions(NamedTuple):
    """What is looked for."""

    support: int | float
    confidence: float | None
    """None for itemsets."""
    kind: Any
    max_length: int | None


def refuse_engine(engine: EngineName, other_options: Mapping[str, object]) -> None:
    """Stop if something is asked for that no engine does but memory."""
    names = [name for name, value in other_options.items() if value]
    if engine in ("duckdb", "spark") and names:
        raise PolicyError(
            f"the engine {engine} does not support {', '.join(names)}; it finds itemsets and rules in baskets: use "
            "--engine memory for everything else"
        )


def mine_baskets(
    source: BasketSource, header: bool | None, engine: EngineName, options: PatternOptions, out: Path | None
) -> pl.DataFrame:
    """The itemsets or rules of a file, also written to another if asked for."""
    from sfumato import mine
    from sfumato.baskets import Baskets
    from sfumato.engine.choice import choose_basket_engine

    choice, columns = choose_basket_engine(source, engine), source._asdict()
    if choice.name == "memory":
        data: Any = Baskets.read(**columns, header=header)
        limits: dict[str, Any] = {"max_length": options.max_length}
    else:
        print_line(choice.describe_choice(), error=True)
        data = columns.pop("path")
        limits = {"max_length": options.max_length, "engine": choice.name, **columns}
    if options.confidence is not None:
        result = mine.association_rules(data, options.support, options.confidence, **limits)
        if out is not None:
            mine.save_rules(result, out)
        return result
    result = mine.frequent_itemsets(data, options.support, kind=options.kind, **limits)
    if out is not None:
        mine.save_itemsets(result, out)
    return result
