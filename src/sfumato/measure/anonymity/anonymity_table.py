# SPDX-License-Identifier: MIT
"""The achieved value of every anonymity model for a table, in one pass.

The table is grouped once and each sensitive column counted once. Nothing is assumed about how the table was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sfumato.errors import DataError
from sfumato.measure.anonymity.class_tally import ClassTally, GroupedRows
from sfumato.measure.anonymity.closeness import (
    choose_rank_order,
    measure_t_equal,
    measure_t_hierarchical,
    measure_t_ordered,
)
from sfumato.measure.anonymity.crowd_sizes import StarredRows
from sfumato.measure.anonymity.diversity import (
    measure_alpha,
    measure_basic_beta,
    measure_delta_disclosure,
    measure_distinct_l,
    measure_enhanced_beta,
    measure_entropy_l,
    measure_recursive_c,
)
from sfumato.measure.anonymity.presence import PopulationFit
from sfumato.release import Number
from sfumato.table import Table


@dataclass(frozen=True, eq=False)
class Anonymity(Mapping[str, Any]):
    """What a table achieves, by model; a sensitive column's name gives all its values.

    `result["k"]`, `result["distinct_l"]["disease"]` and `result["disease"]["distinct_l"]` all work. If a column has a
    model's name, the model is meant; `of` always means the column.
    """

    models: Mapping[str, Any]
    """Model → value, or sensitive column → value for models about sensitive values."""
    columns: tuple[str, ...] = field(default=())
    """The sensitive columns."""

    def __getitem__(self, name: str) -> Any:
        """The value of a model, or everything about a column."""
        if name in self.models:
            return self.models[name]
        if name in self.columns:
            return self.of(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        """The models."""
        return iter(self.models)

    def __len__(self) -> int:
        """The number of models."""
        return len(self.models)

    def of(self, column: str) -> Mapping[str, Number]:
        """What a sensitive column achieves, by model."""
        if column not in self.columns:
            raise DataError(f'"{column}" is not a sensitive column; those are: {", ".join(self.columns) or "none"}')
        achieved_values = {
            model: values[column]
            for model, values in self.models.items()
            if isinstance(values, Mapping) and column in values
        }
        return MappingProxyType(achieved_values)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and numbers, by model."""
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in self.models.items()}


_OF_COLUMN: Mapping[str, Callable[[ClassTally], Number]] = {
    "distinct_l": measure_distinct_l,
    "entropy_l": measure_entropy_l,
    "recursive_c": lambda tally: measure_recursive_c(tally, 2),
    "alpha": measure_alpha,
    "t_equal": measure_t_equal,
    "beta": measure_basic_beta,
    "enhanced_beta": measure_enhanced_beta,
    "delta_disclosure": measure_delta_disclosure,
}


def anonymity(table: Table, population: Table | None = None, *, starred_rows: StarredRows = "class") -> Anonymity:
    """The value that the table achieves under every model, rounded to 12 digits.

    `k` and `uniqueness`; for each sensitive column `distinct_l`, `entropy_l`, `recursive_c` (with l = 2), `alpha`,
    `t_equal`, `t_ordered`, `t_hierarchical` (if the column has a hierarchy), `beta`, `enhanced_beta`,
    `delta_disclosure`; with a population `k_map` and `delta_presence`.
    """
    grouped_rows = GroupedRows.of(table, starred_rows)
    tallies = {name: grouped_rows.tally(name) for name in table.sensitive}
    crowds = next((tally.sizes for tally in tallies.values()), None)
    if crowds is None:
        crowds = grouped_rows.measure_crowds()
    rows, people = (
        (crowds if grouped_rows.overlapping_columns is None else grouped_rows.count_own_rows()),
        len(grouped_rows.key),
    )
    models: dict[str, Any] = {
        "k": int(crowds.min(initial=people)),
        "uniqueness": round(int(rows[crowds == 1].sum()) / people, 12) if people else 0.0,
    }
    for model, measure in _OF_COLUMN.items():
        models[model] = MappingProxyType({name: measure(tally) for name, tally in tallies.items()})
    models["t_ordered"] = MappingProxyType(
        {name: measure_t_ordered(tally, choose_rank_order(table, name)) for name, tally in tallies.items()}
    )
    models["t_hierarchical"] = MappingProxyType(
        {
            n: measure_t_hierarchical(tally, table.hierarchies[n])
            for n, tally in tallies.items()
            if n in table.hierarchies
        }
    )
    if population is not None:
        fit = PopulationFit.of(table, population, starred_rows)
        models["k_map"], models["delta_presence"] = fit.k_map, fit.presence
    return Anonymity(MappingProxyType(models), table.sensitive)
