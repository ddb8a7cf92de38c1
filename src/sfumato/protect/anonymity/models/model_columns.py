# SPDX-License-Identifier: MIT
"""Whether the models of a method fit the table, checked before a search that could only fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sfumato.data.roles.role import Role
from sfumato.errors import DataError, ImpossibleRelease
from sfumato.protect.anonymity.models.model import PrivacyModel
from sfumato.table import Table


def refuse_unfit_models(
    models: Sequence[PrivacyModel], table: Table, count_values: Callable[[str], int] | None = None
) -> None:
    """Refuse a model of a column that every class shares or that never leaves, or of more values than there are."""
    count = count_values or (lambda name: table.frame[name].n_unique())
    for model in models:
        for name in model.list_columns():
            if name in table.frame.columns:
                _refuse_role(model, table, name)
                _refuse_too_many_values(model, table, name, count)


def _refuse_role(model: PrivacyModel, table: Table, name: str) -> None:
    role = table.roles.get(name)
    if role is Role.QUASI_IDENTIFYING:
        raise DataError(
            f'{table.source}: {model.model} is asked of "{name}", which is quasi_identifying: the rows of a class '
            "share its value, so none could differ; make it sensitive, or name another column"
        )
    if role is Role.IDENTIFYING:
        raise DataError(
            f'{table.source}: {model.model} is asked of "{name}", which is identifying and never published; name a '
            "sensitive column"
        )


def _refuse_too_many_values(model: PrivacyModel, table: Table, name: str, count_values: Callable[[str], int]) -> None:
    least = model.least_values
    if least and least > (count := count_values(name)):
        raise ImpossibleRelease(
            f'{table.source}: {model.model} asks for {least:g} values of "{name}" in every class, and the whole table '
            f"has {count}; choose l = {count} at most"
        )
