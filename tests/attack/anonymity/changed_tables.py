# SPDX-License-Identifier: MIT
"""Small random tables of which every column is changed in a way of its own, and stated to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import sfumato as sf
from sfumato.change import Change, ChangeKind
from sfumato.details import Details

NUMBERS = ("age", "income")
WORDS = ("job", "town")
KNOWN = (*NUMBERS, *WORDS)
TREE = [[letter, "vowel" if letter in "aeiou" else "other", "*"] for letter in "abcdefgh"]


class ChangedColumn(NamedTuple):
    """A column after a change, and what is published about the change."""

    cells: pl.Series
    law: Mapping[str, Any] = {}


class ChangedTable(NamedTuple):
    """A release, and the people behind its rows in their order."""

    release: sf.Release
    people: sf.Table
    kinds: Mapping[str, ChangeKind]


def draw_people(chance: np.random.Generator, rows: int) -> sf.Table:
    age = chance.integers(18, 90, rows)
    frame = pl.DataFrame(
        {
            "age": age,
            "income": np.round(chance.lognormal(7, 1, rows) + 10 * age, 2),
            "job": chance.choice(list("abcdefgh"), rows),
            "town": chance.choice(list("abc"), rows),
            "disease": np.where(chance.random(rows) < age / 120, "flu", chance.choice(["cold", "gout"], rows)),
        }
    )
    roles = dict.fromkeys(KNOWN, "quasi_identifying") | {"disease": "sensitive"}
    return sf.Table.of(frame, roles, dict.fromkeys(WORDS, TREE))


def measure_range(column: pl.Series) -> float:
    return float(np.ptp(column.to_numpy()))


def keep(column: pl.Series, chance: np.random.Generator) -> ChangedColumn:
    return ChangedColumn(column)


def generalize(column: pl.Series, chance: np.random.Generator) -> ChangedColumn:
    return ChangedColumn(column.replace_strict([row[0] for row in TREE], [row[1] for row in TREE]))


def form_ranges(column: pl.Series, chance: np.random.Generator) -> ChangedColumn:
    width = measure_range(column) / 8
    low = (column.cast(pl.Float64) / width).floor() * width
    return ChangedColumn(pl.Series(column.name, [f"[{begin:g}, {begin + width * 1.01:g}]" for begin in low]))


def add_noise(column: pl.Series, chance: np.random.Generator) -> ChangedColumn:
    scale = 0.05 * measure_range(column)
    noisy = column.cast(pl.Float64) + chance.normal(0, scale, len(column))
    return ChangedColumn(noisy, {"kind": "gaussian", "scale": scale})


def add_flat_noise(column: pl.Series, chance: np.random.Generator) -> ChangedColumn:
    scale = 0.1 * measure_range(column)
    noisy = column.cast(pl.Float64) + chance.uniform(-scale, scale, len(column))
    return ChangedColumn(noisy, {"kind": "uniform", "scale": scale})


def answer(column: pl.Series, chance: np.random.Generator) -> ChangedColumn:
    categories = column.unique().sort().to_list()
    lies = chance.random(len(column)) < 0.4
    q = 0.4 / len(categories)
    answers = pl.Series(column.name, chance.choice(categories, len(column)))
    law = {"kind": "k_ary", "p": 1 - q * (len(categories) - 1), "q": q, "categories": tuple(categories)}
    return ChangedColumn(answers.zip_with(pl.Series(lies), column), law if len(categories) > 1 else {})


def average(column: pl.Series, chance: np.random.Generator) -> ChangedColumn:
    groups = column.rank("ordinal").cast(pl.Int64) // 3
    return ChangedColumn(
        pl.DataFrame([column, groups.alias("g")]).select(pl.col(column.name).mean().over("g")).to_series()
    )


def swap(column: pl.Series, chance: np.random.Generator) -> ChangedColumn:
    rows, places = np.flatnonzero(chance.random(len(column)) < 1 / 3), np.arange(len(column))
    places[rows] = chance.permutation(rows)
    return ChangedColumn(column[places])


def blank(column: pl.Series, chance: np.random.Generator) -> ChangedColumn:
    return ChangedColumn(column.zip_with(pl.Series(chance.random(len(column)) < 0.7), column.clear(len(column))))


def draw_anew(column: pl.Series, chance: np.random.Generator) -> ChangedColumn:
    return ChangedColumn(column[chance.integers(0, len(column), len(column))])


Changer = Callable[[pl.Series, np.random.Generator], ChangedColumn]
OF_NUMBERS: dict[Changer, ChangeKind] = {
    keep: ChangeKind.KEPT,
    form_ranges: ChangeKind.RANGES,
    add_noise: ChangeKind.NOISE,
    add_flat_noise: ChangeKind.NOISE,
    average: ChangeKind.MEANS,
    swap: ChangeKind.SWAPPED,
    blank: ChangeKind.BLANKED,
    draw_anew: ChangeKind.DRAWN,
}
OF_WORDS: dict[Changer, ChangeKind] = {
    keep: ChangeKind.KEPT,
    generalize: ChangeKind.GENERALIZED,
    answer: ChangeKind.ANSWERED,
    swap: ChangeKind.SWAPPED,
    blank: ChangeKind.BLANKED,
    draw_anew: ChangeKind.DRAWN,
}


def draw_changed_table(seed: int, rows: int = 30) -> ChangedTable:
    """People, and a release of which each known column is changed in a way that is drawn."""
    chance = np.random.default_rng(seed)
    people = draw_people(chance, rows)
    columns, kinds, laws = list[pl.Series](), dict[str, ChangeKind](), dict[str, Any]()
    for name in KNOWN:
        ways = OF_NUMBERS if name in NUMBERS else OF_WORDS
        change = list(ways)[chance.integers(len(ways))]
        changed = change(people.frame[name], chance)
        columns.append(changed.cells.alias(name))
        kinds[name] = ways[change]
        laws |= {name: dict(changed.law)} if changed.law else {}
    kinds["disease"] = ChangeKind.KEPT
    published = people.replace_frame(people.frame.with_columns(columns))
    changes = tuple(Change(name, kind, "mixed") for name, kind in kinds.items())
    return ChangedTable(sf.Release(published, None, (), {}, Details(public=laws), changes), people, kinds)
