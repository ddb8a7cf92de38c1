# SPDX-License-Identifier: MIT
"""Several models at once: a class may be published if all of them accept it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Floats
from sfumato.errors import PolicyError
from sfumato.protect.anonymity.models.class_models import KAnonymity
from sfumato.protect.anonymity.models.model import PrivacyModel
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.node_classes import NodeClasses
from sfumato.table import Missing, Table


@dataclass(frozen=True)
class ModelJudge:
    """Judges classes by models, and knows which models are steady."""

    models: tuple[PrivacyModel, ...]

    def refuses(self, classes: NodeClasses) -> Flags:
        """Classes that some model refuses; a single row satisfies no model but k = 1."""
        refused_mask = self._flag_refused_by(self.models, classes)
        if classes.fitting_classes is None:
            return refused_mask
        # Rows that agree only because they are empty are no crowd, and their values are nobody else's.
        refused_fitting = self._flag_refused_by(self.models, classes.fitting_classes)
        return refused_mask | refused_fitting | (classes.fitting_classes.crowds < self.least_crowd)

    @property
    def least_crowd(self) -> int:
        """How many people everybody is hidden among, at the least."""
        return max(model.least_crowd for model in self.models)

    @property
    def steady(self) -> bool:
        """Whether an accepted class stays accepted whatever is merged into it, under all models."""
        return all(model.steady for model in self.models)

    @property
    def by_size(self) -> ModelJudge | None:
        """The same without the models that need more than the size of a class; None if that is all or nothing."""
        models = tuple(model for model in self.models if isinstance(model, KAnonymity))
        return ModelJudge(models) if 0 < len(models) < len(self.models) else None

    def stays_refused(self, classes: NodeClasses, refused_mask: Flags) -> Floats:
        """A lower bound on the share of each class that some model also refuses at every finer node."""
        if self.steady:
            return refused_mask.astype(np.float64)
        lasting_shares = np.zeros(len(classes.sizes))
        for model in self.models:
            if model.steady:
                np.maximum(lasting_shares, self._flag_refused_by((model,), classes), out=lasting_shares)
            elif classes.match_values is None:
                np.maximum(lasting_shares, model.stays_refused(classes), out=lasting_shares)
        return lasting_shares

    def forbids(self, classes: NodeClasses) -> bool:
        """Whether some model refuses the whole node."""
        return any(model.forbids(classes) for model in self.models)

    @staticmethod
    def _flag_refused_by(models: Sequence[PrivacyModel], classes: NodeClasses) -> Flags:
        refused_mask = np.zeros(len(classes.sizes), dtype=np.bool_)
        for model in models:
            refused_mask |= model.refuses(classes)
            if classes.lone_mask is not None and not isinstance(model, KAnonymity):
                refused_mask |= classes.lone_mask
        return refused_mask

    def list_columns(self) -> tuple[str, ...]:
        """The sensitive columns that the models use."""
        return tuple(dict.fromkeys(name for model in self.models for name in model.list_columns()))

    def build_grouping(self, table: Table) -> Grouping:
        """The table, ready to be grouped at any node and judged by these models."""
        return Grouping.of(table, self.list_columns(), self.choose_population(table))

    def choose_population(self, table: Table) -> Table | None:
        """The people of the population who count, if a model compares with one."""
        population = self.find_population()
        if population is not None and table.missing is Missing.MATCHES_ANY:
            raise PolicyError("a population cannot be used if missing cells match anything")
        return _leave_out_missing(table, population)

    def shows_suppressed(self, row_count: int, table: Table) -> bool:
        """Whether `row_count` suppressed rows may show their sensitive cells: as one class, they satisfy every model.

        Never if a model judges sensitive values. Otherwise empty cells would tell that the hidden values fail it.
        """
        if self.list_columns():
            return False
        population = self.choose_population(table)
        sizes = np.array([row_count], dtype=np.int64)
        population_sizes = np.array([0 if population is None else len(population)], dtype=np.int64)
        of_row = np.zeros(1, dtype=np.int32)  # the rows are alike
        return not self.refuses(NodeClasses(of_row, sizes, sizes, population=population_sizes))[0]

    def find_population(self) -> Table | None:
        """The one population that models compare with; tables are the same if their cells are."""
        populations = [population for model in self.models for population in model.read_populations()]
        if any(population != populations[0] for population in populations[1:]):
            raise PolicyError("all models that compare with a population must name the same one")
        return populations[0] if populations else None


def _leave_out_missing(table: Table, population: Table | None) -> Table | None:
    """The people who count: if missing means "drop", those with a missing cell count nowhere, as in the table."""
    if population is None or table.missing is not Missing.DROP:
        return population
    names = [name for name in table.quasi_identifying if name in population.frame.columns]
    return population.replace_frame(population.frame.drop_nulls(names))
