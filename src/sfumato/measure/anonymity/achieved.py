# SPDX-License-Identifier: MIT
"""The achieved value of every anonymity model, for a table as it stands, in one go.

The table is grouped once and each sensitive column counted once. Nothing is assumed of how the table was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sfumato.errors import DataError
from sfumato.measure.anonymity.classes import StarredRows
from sfumato.measure.anonymity.closeness import equal_of, hierarchical_of, ordered_of, ranks_of
from sfumato.measure.anonymity.diversity import (
    alpha_of,
    beta_of,
    delta_disclosure_of,
    distinct_of,
    enhanced_beta_of,
    entropy_of,
    recursive_of,
)
from sfumato.measure.anonymity.presence import both
from sfumato.measure.anonymity.tally import Grouped, Tally
from sfumato.release import Number
from sfumato.table import Table


@dataclass(frozen=True, eq=False)
class Anonymity(Mapping[str, Any]):
    """What a table achieves, by model; a sensitive column's name gives all that it achieves.

    `result["k"]`, `result["distinct_l"]["disease"]` and `result["disease"]["distinct_l"]` all answer. Where a
    column bears a model's name, the model is meant; `of` always means the column.
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
            raise DataError(f"«{column}» is no sensitive column; there are {', '.join(self.columns) or 'none'}")
        found = {
            model: values[column]
            for model, values in self.models.items()
            if isinstance(values, Mapping) and column in values
        }
        return MappingProxyType(found)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and numbers, by model."""
        return {name: dict(one) if isinstance(one, Mapping) else one for name, one in self.models.items()}


_OF_COLUMN: Mapping[str, Callable[[Tally], Number]] = {
    "distinct_l": distinct_of,
    "entropy_l": entropy_of,
    "recursive_c": lambda tally: recursive_of(tally, 2),
    "alpha": alpha_of,
    "t_equal": equal_of,
    "beta": beta_of,
    "enhanced_beta": enhanced_beta_of,
    "delta_disclosure": delta_disclosure_of,
}


def anonymity(table: Table, population: Table | None = None, *, starred_rows: StarredRows = "class") -> Anonymity:
    """The value that the table achieves under every model, rounded to 12 digits.

    `k` and `uniqueness`; for each sensitive column `distinct_l`, `entropy_l`, `recursive_c` (with l = 2),
    `alpha`, `t_equal`, `t_ordered`, `t_hierarchical` (where the column has a hierarchy), `beta`,
    `enhanced_beta`, `delta_disclosure`; with a population `k_map` and `delta_presence`.
    """
    grouped = Grouped.of(table, starred_rows)
    tallies = {name: grouped.tally(name) for name in table.sensitive}
    crowds = next((tally.sizes for tally in tallies.values()), None)
    if crowds is None:
        crowds = grouped.crowds()
    rows, people = (crowds if grouped.overlapping is None else grouped.own_rows()), len(grouped.key)
    found: dict[str, Any] = {
        "k": int(crowds.min(initial=people)),
        "uniqueness": round(int(rows[crowds == 1].sum()) / people, 12) if people else 0.0,
    }
    for model, measure in _OF_COLUMN.items():
        found[model] = MappingProxyType({name: measure(tally) for name, tally in tallies.items()})
    found["t_ordered"] = MappingProxyType(
        {name: ordered_of(tally, ranks_of(table, name)) for name, tally in tallies.items()}
    )
    found["t_hierarchical"] = MappingProxyType(
        {n: hierarchical_of(tally, table.hierarchies[n]) for n, tally in tallies.items() if n in table.hierarchies}
    )
    if population is not None:
        found["k_map"], found["delta_presence"] = both(table, population, starred_rows)
    return Anonymity(MappingProxyType(found), table.sensitive)
