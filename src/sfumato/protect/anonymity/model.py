# SPDX-License-Identifier: MIT
"""What a model is: a description of what every class of published people must be like.

A model judges the classes of a node: `refuses` says which may not be published. Merging classes that a model
accepts gives a class that it accepts; that is why a node without suppression makes coarser ones needless. Only
for some models does an accepted class stay accepted when a *refused* one joins it (`steady`): those rule out
finer nodes also when rows may be suppressed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from sfumato.arrays import Flags, Floats
from sfumato.description import Description
from sfumato.protect.anonymity.node_classes import NodeClasses
from sfumato.protect.anonymity.sensitive_values import SensitiveColumn
from sfumato.release import Claim
from sfumato.table import Table

EMPTY: Mapping[str, SensitiveColumn] = MappingProxyType({})


class PrivacyModel(Description, ABC):
    """What every class of published rows must satisfy."""

    steady: ClassVar[bool] = False
    """Whether an accepted class stays accepted whatever joins it."""
    compares: ClassVar[bool] = False
    """Whether it compares a class with the whole table, which must then be in the release."""

    model: str

    def columns(self) -> tuple[str, ...]:
        """The sensitive columns that it looks at."""
        column = getattr(self, "column", None)
        return (column,) if column else ()

    def populations(self) -> tuple[Table, ...]:
        """The populations that it compares with."""
        return ()

    @abstractmethod
    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes may not be published."""

    def stays_refused(self, classes: NodeClasses) -> Floats:
        """The share of each class that stays refused however it is split, at least; 0 where nothing is known."""
        return np.zeros(len(classes.sizes))

    def forbids(self, classes: NodeClasses) -> bool:
        """Whether the node is out of the question, whatever is suppressed."""
        return False

    def claims(
        self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY
    ) -> tuple[Claim, ...]:
        """Everything that a release promises under this model."""
        return (self.claim(arguments, sensitive),)

    @abstractmethod
    def claim(self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY) -> Claim:
        """What a release promises under this model."""
