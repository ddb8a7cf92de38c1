# SPDX-License-Identifier: MIT
"""The built-in population as a table: invented people to try things on, as `sfumato demo` does."""

from __future__ import annotations

from sfumato.data.generators.population import (
    build_population_hierarchies,
    generate_population,
    list_population_roles,
)
from sfumato.table import Table


def invent_people(size: int = 20_000, seed: int = 1519) -> Table:
    """People with names, homes, trades, salaries and diseases, none of whom exists, with roles and hierarchies."""
    frame = generate_population(size, seed)
    return Table.of(frame, list_population_roles(), build_population_hierarchies(), source="built-in population")
