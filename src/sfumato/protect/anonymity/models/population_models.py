# SPDX-License-Identifier: MIT
"""Models that compare a release with a population: k-map and δ-presence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_serializer, field_validator

from sfumato.arrays import Flags
from sfumato.bound_words import format_limit
from sfumato.protect.anonymity.models.model import EMPTY, PrivacyModel
from sfumato.protect.anonymity.models.sensitive_values import SensitiveColumn
from sfumato.protect.anonymity.search.node_classes import NodeClasses
from sfumato.release import Claim
from sfumato.table import Table

_ROUNDING = 1e-12  # thresholds are decimal numbers, the measured values are floats


class _PopulationModel(PrivacyModel):
    """A model that compares with a population: a table of everybody, with original values."""

    has_population: ClassVar[bool] = True
    file_fields: ClassVar[tuple[str, ...]] = ("population",)

    population: Any
    """A file of the population, or a `Table`; it has the quasi-identifying columns with original values."""

    @field_validator("population")
    @classmethod
    def _check_population(cls, population: Any) -> Any:
        if not isinstance(population, (str, Table)):
            raise ValueError("the population must be a file name or a Table")
        return population

    @field_serializer("population")
    def _dump_population(self, population: Any) -> str:
        return population.source if isinstance(population, Table) else str(population)

    def read_populations(self) -> tuple[Table, ...]:
        """Read the population."""
        return (self.population if isinstance(self.population, Table) else Table.read_like(self.population, None),)


class KMap(_PopulationModel):
    """Each published class fits at least k people of the population (Sweeney 2002).

    Against the journalist, who does not know who is in the release: weaker than k-anonymity, and only as reliable as
    the population table.
    """

    steady: ClassVar[bool] = True
    claim_properties: ClassVar[tuple[str, ...]] = ("k_map",)
    public_fields: ClassVar[tuple[str, ...]] = ("k",)
    private_fields: ClassVar[tuple[str, ...]] = ("population",)

    model: Literal["k_map"] = "k_map"
    k: int = Field(ge=1, strict=True)
    """The smallest number of people of the population that a class fits."""

    @property
    def least_crowd(self) -> int:
        """The people of the population that the smallest class fits."""
        return self.k

    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes fit too few people."""
        return classes.population < self.k

    def claim(self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY) -> Claim:
        """The smallest class has k people of the population."""
        return Claim(
            property="k_map",
            threshold=self.k,
            measure="k_map",
            arguments=arguments,
            needs_original=True,
            meaning=f"Every published class fits at least {self.k} people of the population.",
        )


class DeltaPresence(_PopulationModel):
    """Bounds the probability that a person is in the release: at most `high`, at least `low` (Nergiz et al. 2007).

    The release is a part of the population; a class shows how likely someone who fits it is in the release.
    """

    claim_properties: ClassVar[tuple[str, ...]] = ("delta_presence",)
    public_fields: ClassVar[tuple[str, ...]] = ("low", "high")
    private_fields: ClassVar[tuple[str, ...]] = ("population",)

    model: Literal["delta_presence"] = "delta_presence"
    low: float = Field(default=0.0, ge=0, le=1)
    """The smallest share of a population class that is in the release."""
    high: float = Field(ge=0, le=1)
    """The largest such share."""

    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes disclose too well who is in the release."""
        share = classes.crowds / np.maximum(classes.population, 1)
        return (share > self.high + _ROUNDING) | (share < self.low - _ROUNDING)

    def forbids(self, classes: NodeClasses) -> bool:
        """People who fit no published class are known not to be in the release."""
        return self.low > 0 and classes.absent_from_release

    def claim(self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY) -> Claim:
        """The largest share of a class that is in the release."""
        return Claim(
            property="delta_presence",
            threshold=self.high,
            bound="at_most",
            measure="delta_presence",
            arguments=arguments,
            needs_original=True,
            meaning=f"No class shows with a probability above {format_limit(self.high)} that someone is in the "
            "release.",
        )
