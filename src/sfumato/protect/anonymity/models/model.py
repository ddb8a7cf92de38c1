# SPDX-License-Identifier: MIT
"""The interface of a privacy model: a condition that every published class must satisfy.

A model judges the classes of a node: `refuses` says which may not be published. Merging classes that a model accepts
gives a class that it accepts; that is why a node without suppression makes coarser ones unnecessary. Only for some
models does an accepted class stay accepted when a *refused* one is merged into it (`steady`): those rule out finer
nodes even if rows may be suppressed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from sfumato.arrays import Flags, Floats
from sfumato.description import Description
from sfumato.protect.anonymity.models.sensitive_values import SensitiveColumn
from sfumato.protect.anonymity.search.node_classes import NodeClasses
from sfumato.public.class_limits import ClassLimits
from sfumato.release import Claim
from sfumato.table import Table

EMPTY: Mapping[str, SensitiveColumn] = MappingProxyType({})


class PrivacyModel(Description, ABC):
    """What every class of published rows must satisfy."""

    steady: ClassVar[bool] = False
    """Whether an accepted class stays accepted whatever is merged into it."""
    compares: ClassVar[bool] = False
    """Whether it compares a class with the whole table, which must then be in the release."""
    has_population: ClassVar[bool] = False
    """Whether it compares a class with a population."""

    claim_properties: ClassVar[tuple[str, ...]]
    """The properties that its claims name."""

    model: str

    @property
    def least_crowd(self) -> int:
        """The smallest number of people that each person is hidden among."""
        return 1

    @property
    def least_values(self) -> float:
        """The smallest number of values that each class has in the column that it judges; 0 if it asks for none."""
        return 0

    @property
    def class_limits(self) -> ClassLimits | None:
        """All that makes it refuse a class; None if that is more than limits on rows, values and shares."""
        return None

    def list_columns(self) -> tuple[str, ...]:
        """The sensitive columns that it uses."""
        return ()

    def read_populations(self) -> tuple[Table, ...]:
        """The populations that it compares with."""
        return ()

    @abstractmethod
    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes may not be published."""

    def stays_refused(self, classes: NodeClasses) -> Floats:
        """A lower bound on the share of each class that stays refused however it is split; 0 if unknown."""
        return np.zeros(len(classes.sizes))

    def forbids(self, classes: NodeClasses) -> bool:
        """Whether the node is refused, whatever is suppressed."""
        return False

    def state_claims(
        self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY
    ) -> tuple[Claim, ...]:
        """All claims of a release under this model."""
        return (self.claim(arguments, sensitive),)

    @classmethod
    def list_meanings(cls, promise: Claim, arguments: Mapping[str, Any]) -> frozenset[str]:
        """The sentences that a claim with these arguments may have if the model promises this; by default its own."""
        return frozenset({promise.meaning})

    @abstractmethod
    def claim(self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY) -> Claim:
        """The claim of a release under this model."""
