# SPDX-License-Identifier: MIT
"""Number the values of a population by the hierarchies of the table that it is compared with."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.arrays import Codes
from sfumato.data.hierarchies.hierarchy import Hierarchy, spell_cells
from sfumato.errors import DataError, count_noun, quote_names
from sfumato.table import Table


def code_population(population: Table, names: Sequence[str], hierarchies: Sequence[Hierarchy]) -> Codes:
    """The leaf number of every cell, one row per column; refuses columns and values that one of the tables lacks."""
    absent = [name for name in names if name not in population.frame.columns]
    if absent:
        raise DataError(f"{population.source}: the population has no column {quote_names(absent)}")
    for name, hierarchy in zip(names, hierarchies, strict=True):
        _refuse_strange_values(population, name, hierarchy)
    return np.array([h.code_leaves(population.frame[n]) for n, h in zip(names, hierarchies, strict=True)])


def _refuse_strange_values(population: Table, name: str, hierarchy: Hierarchy) -> None:
    """Stop at values without a leaf; the cure depends on whether somebody wrote the leaves."""
    texts = spell_cells(population.frame[name]).drop_nulls()
    leaves = pl.Series(hierarchy.spell_leaves(population.frame[name].dtype), dtype=pl.String)
    strange = texts.filter(~texts.is_in(leaves.implode()))
    if not len(strange):
        return
    file_name = shlex.quote(f"{name}.csv")
    command = f"sfumato hierarchy {shlex.quote(population.source)} {shlex.quote(name)} --out {file_name}"
    cure = (
        f'the hierarchy of "{name}" lists the values of the table alone; list those of the population too: give the '
        f"file that `{command}` writes under [hierarchies], or in Python a hierarchy of the values of both tables"
        if hierarchy.is_built
        else f"add a row for each to {hierarchy.name}"
    )
    values, verb = count_noun(strange.n_unique(), "value"), "has" if strange.n_unique() == 1 else "have"
    raise DataError(
        f'{population.source}: {values} of "{name}", in {count_noun(len(strange), "row")} of the population, {verb} no '
        f"row in {hierarchy.name}; {cure}"
    )
