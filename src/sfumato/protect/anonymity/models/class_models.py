# SPDX-License-Identifier: MIT
"""k-anonymity, l-diversity, t-closeness and related models: one small class per model."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from sfumato.arrays import Flags, Floats, Ints
from sfumato.bound_words import format_limit
from sfumato.protect.anonymity.models.model import EMPTY, PrivacyModel
from sfumato.protect.anonymity.models.sensitive_values import (
    ClassValues,
    SensitiveColumn,
    build_class_values,
    measure_equal_distance,
    measure_hierarchical_distance,
    measure_ordered_distance,
)
from sfumato.protect.anonymity.search.node_classes import NodeClasses
from sfumato.protect.claims import spell_others
from sfumato.public.class_limits import ClassLimits
from sfumato.release import Claim

_ROUNDING = 1e-12  # thresholds are decimal numbers, the measured values are floats


class KAnonymity(PrivacyModel):
    """Each person is hidden among at least k − 1 others (Samarati 1998, Sweeney 2002).

    Holds against an adversary who knows someone's quasi-identifying values and that the person is in the table:
    linking leads to at least k rows, so to the right one with probability at most 1/k. It does not hide what the k rows
    have in common: if they share a disease, the adversary learns it.
    """

    steady: ClassVar[bool] = True
    claim_properties: ClassVar[tuple[str, ...]] = ("k_anonymity",)
    public_fields: ClassVar[tuple[str, ...]] = ("k",)

    model: Literal["k_anonymity"] = "k_anonymity"
    k: int = Field(ge=1, strict=True)
    """The smallest number of rows that share their quasi-identifying values."""

    @property
    def least_crowd(self) -> int:
        """The rows of the smallest class."""
        return self.k

    @property
    def class_limits(self) -> ClassLimits:
        """Rows."""
        return ClassLimits(k=self.k)

    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes are too small."""
        return classes.crowds < self.k

    def claim(self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY) -> Claim:
        """The smallest class has k rows."""
        others_text = spell_others(self.k)
        exception = " who is not suppressed" if arguments.get("starred_rows") == "suppressed" else ""
        return Claim(
            property="k_anonymity",
            threshold=self.k,
            measure="k_anonymity",
            arguments=arguments,
            meaning=f"Every published person{exception} shares their quasi-identifying values with at least "
            f"{others_text}.",
        )

    @classmethod
    def list_meanings(cls, promise: Claim, arguments: Mapping[str, Any]) -> frozenset[str]:
        """The sentence depends on whether suppressed rows count as people."""
        model = cls.model_construct(k=int(promise.threshold))
        return frozenset({model.claim({"starred_rows": arguments.get("starred_rows", "class")}).meaning})


class AlphaKAnonymity(PrivacyModel):
    """k-anonymity, and no value of a sensitive column in more than a share alpha of a class (Wong et al. 2006).

    Holds against linking as k-anonymity does, and against guessing the most common value of a class.
    """

    claim_properties: ClassVar[tuple[str, ...]] = ("k_anonymity", "alpha")
    public_fields: ClassVar[tuple[str, ...]] = ("k", "alpha", "column")
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    model: Literal["alpha_k_anonymity"] = "alpha_k_anonymity"
    k: int = Field(ge=1, strict=True)
    """The smallest number of rows in a class."""
    alpha: float = Field(gt=0, le=1)
    """The largest share of one value in a class."""
    column: str
    """The sensitive column."""

    @property
    def least_crowd(self) -> int:
        """The rows of the smallest class."""
        return self.k

    @property
    def class_limits(self) -> ClassLimits:
        """Rows, and the share of one value."""
        return ClassLimits(k=self.k, share=self.alpha)

    def list_columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes are too small or too uniform."""
        pairs = classes.count_values(self.column)
        largest = np.maximum.reduceat(pairs.counts, pairs.starts) / classes.crowds
        return (classes.crowds < self.k) | (largest > self.alpha + _ROUNDING)

    def claim(self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY) -> Claim:
        """No value has more than a share alpha of a class."""
        return Claim(
            property="alpha",
            threshold=self.alpha,
            bound="at_most",
            measure="alpha",
            arguments={**arguments, "column": self.column},
            meaning=f'No value of "{self.column}" makes up more than {format_limit(self.alpha)} of a class.',
        )

    def state_claims(
        self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY
    ) -> tuple[Claim, ...]:
        """The share, and k-anonymity."""
        return (KAnonymity(k=self.k).claim(arguments), self.claim(arguments, sensitive))

    @classmethod
    def list_meanings(cls, promise: Claim, arguments: Mapping[str, Any]) -> frozenset[str]:
        """Those of k-anonymity, or its own."""
        if promise.property in KAnonymity.claim_properties:
            return KAnonymity.list_meanings(promise, arguments)
        return super().list_meanings(promise, arguments)


class LDiversity(PrivacyModel):
    """Each class has at least l well-represented values of a sensitive column (Machanavajjhala et al. 2006).

    Against an adversary who links and knows up to l − 2 values that the person does not have. `distinct`: l different
    values. `entropy`: an entropy of at least log l. `recursive`: r₁ < c (r_l + … + r_m), strictly. It ignores that
    values may be similar in meaning, and how far a class is from the whole table.
    """

    claim_properties: ClassVar[tuple[str, ...]] = (
        "distinct_l_diversity",
        "entropy_l_diversity",
        "recursive_l_diversity",
    )
    public_fields: ClassVar[tuple[str, ...]] = ("l", "column", "kind", "c")
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    model: Literal["l_diversity"] = "l_diversity"
    l: float = Field(gt=0)
    """The number of values; may be fractional for `entropy`."""
    column: str
    """The sensitive column."""
    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    """What "well represented" means: `distinct`, `entropy` or `recursive`."""
    c: float | None = Field(default=None, gt=0)
    """The factor of recursive (c, l)-diversity; required for `recursive`, not allowed otherwise."""

    @model_validator(mode="after")
    def _check_complete(self) -> LDiversity:
        if (self.kind == "recursive") != (self.c is not None):
            raise ValueError("c is required for recursive l-diversity and not allowed otherwise")
        if self.kind != "entropy" and self.l != int(self.l):
            raise ValueError("l must be a whole number for distinct and recursive l-diversity")
        return self

    @property
    def steady(self) -> bool:  # type: ignore[override]  # depends on the parameters
        """Only the count of distinct values is steady: merging with a skewed class can break the others."""
        return self.kind == "distinct"

    @property
    def least_crowd(self) -> int:
        """As many people as values: each has one."""
        return ceil(self.l - _ROUNDING)

    @property
    def least_values(self) -> float:
        """Its l, of any kind."""
        return self.l

    @property
    def class_limits(self) -> ClassLimits | None:
        """Values, if that is all that counts."""
        return ClassLimits(l=int(self.l)) if self.kind == "distinct" else None

    def list_columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes are not diverse enough."""
        pairs = classes.count_values(self.column)
        if self.kind == "distinct":
            return pairs.distinct < self.l
        if self.kind == "entropy":
            shares = pairs.counts / classes.crowds[pairs.classes]
            return -np.add.reduceat(shares * np.log(shares), pairs.starts) < log(self.l) - _ROUNDING
        order = np.lexsort((-pairs.counts, pairs.classes))
        rank = np.arange(len(order)) - pairs.starts[pairs.classes]
        counts = pairs.counts[order]
        tail = np.add.reduceat(np.where(rank >= self.l - 1, counts, 0), pairs.starts)
        largest = counts[pairs.starts]
        assert self.c is not None
        return np.round(largest / np.maximum(tail, 1), 12) >= np.where(tail > 0, round(self.c, 12), -1.0)

    def claim(self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY) -> Claim:
        """The achieved l, or for `recursive` the achieved c."""
        all_arguments = {**arguments, "column": self.column}
        if self.kind == "recursive":
            assert self.c is not None
            return Claim(
                property="recursive_l_diversity",
                threshold=self.c,
                bound="below",
                measure="recursive_c",
                arguments={**all_arguments, "l": int(self.l)},
                meaning=f'In every class the most common value of "{self.column}" is rarer than {format_limit(self.c)} '
                f"times {_name_rest(int(self.l))}.",
            )
        values = "value" if self.l == 1 else "values"
        return Claim(
            property=f"{self.kind}_l_diversity",
            threshold=int(self.l) if self.kind == "distinct" else self.l,
            measure=f"{self.kind}_l",
            arguments=all_arguments,
            meaning=f"Every class has at least {format_limit(self.l)} well-represented {values} of "
            f'"{self.column}" ({self.kind}).',
        )


def _name_rest(least: int) -> str:
    """The values that recursive (c, l)-diversity compares the most common one with: from the l-th most common on."""
    named_rests = {1: "all values together", 2: "all other values together"}
    return named_rests.get(least, f"all values but the {least - 1} most common together")


_ENHANCED_BOUND = ", or more than the negative natural logarithm of its share in the whole table if that is less"
_DISTANCES = {
    "equal": "with all values equally far apart",
    "ordered": "along the order of the values",
    "hierarchical": "along the hierarchy of the values",
}


class TCloseness(PrivacyModel):
    """The values in each class are distributed nearly as in the whole table (Li, Li, Venkatasubramanian 2007).

    Bounds what an adversary learns by linking beyond what the table discloses about everybody, by the earth mover's
    distance: all values equally far apart, in an order, or in a hierarchy.
    """

    compares: ClassVar[bool] = True
    claim_properties: ClassVar[tuple[str, ...]] = ("t_closeness",)
    public_fields: ClassVar[tuple[str, ...]] = ("t", "column", "distance")
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    model: Literal["t_closeness"] = "t_closeness"
    t: float = Field(ge=0, le=1)
    """The largest distance, 0 to 1, between a class and the whole table."""
    column: str
    """The sensitive column."""
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"
    """The distance between values: `equal`, `ordered`, or `hierarchical`, which needs a hierarchy of the column."""

    def list_columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes are too far from the whole table."""
        return self._measure_distances(classes) > self.t + _ROUNDING

    def stays_refused(self, classes: NodeClasses) -> Floats:
        """The distance is convex: on average, the parts of a class are at least as far as the class.

        A part is at most as far as the farthest of its values alone, and an accepted part at most t. So at least
        (distance − t) / (farthest − t) of the people stay in refused parts.
        """
        pairs = classes.count_values(self.column)
        farthest = np.maximum.reduceat(self._measure_distance(classes)[pairs.values], pairs.starts)
        gap = self._measure_distances(classes) - self.t
        share = np.clip(gap / np.maximum(farthest - self.t, _ROUNDING) - 1e-9, 0.0, 1.0)
        return np.where(gap > _ROUNDING, share, 0.0)  # a class accepted within rounding is not refused within rounding

    def _measure_distance(self, classes: NodeClasses) -> Floats:
        sensitive = classes.sensitive[self.column]
        if self.distance not in sensitive.value_distances:
            value_codes = np.arange(len(sensitive.values))
            unit_sizes = np.ones(len(value_codes), dtype=np.int64)
            sensitive.value_distances[self.distance] = self._flag_far(
                build_class_values(value_codes, value_codes, unit_sizes), unit_sizes, classes
            )
        return sensitive.value_distances[self.distance]

    def _measure_distances(self, classes: NodeClasses) -> Floats:
        far = f"{self.distance} distance of {self.column}"
        return classes.measure_once(
            far, lambda: self._flag_far(classes.count_values(self.column), classes.crowds, classes)
        )

    def _flag_far(self, pairs: ClassValues, sizes: Ints, classes: NodeClasses) -> Floats:
        sensitive = classes.sensitive[self.column]
        if self.distance == "hierarchical":
            return measure_hierarchical_distance(pairs, sizes, sensitive)
        measure = measure_equal_distance if self.distance == "equal" else measure_ordered_distance
        return measure(pairs, sizes, sensitive.shares)

    def claim(self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY) -> Claim:
        """The largest distance of a class; a verifier needs the order or the hierarchy of the values."""
        measurement: dict[str, tuple[str, ...]] = {}
        if self.column in sensitive and self.distance == "ordered":
            measurement = {"order": sensitive[self.column].known_values}
        elif self.column in sensitive and self.distance == "hierarchical":
            measurement = {"parents": sensitive[self.column].branches}
        return Claim(
            property="t_closeness",
            threshold=self.t,
            bound="at_most",
            measure=f"t_{self.distance}",
            arguments={**arguments, "column": self.column, **measurement},
            meaning=f'In every class, "{self.column}" is distributed as in the whole table up to '
            f"{format_limit(self.t)}, by the earth mover's distance {_DISTANCES[self.distance]}.",
        )


class BetaLikeness(PrivacyModel):
    """No value is much more common in a class than in the whole table, relative to its own share (Cao, Karras 2012).

    Bounds what an adversary gains on each value, including rare ones. `enhanced` adds the bound −ln(share), which keeps
    common values from becoming certain.
    """

    compares: ClassVar[bool] = True
    claim_properties: ClassVar[tuple[str, ...]] = ("beta_likeness", "enhanced_beta_likeness")
    public_fields: ClassVar[tuple[str, ...]] = ("beta", "column", "enhanced")
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    model: Literal["beta_likeness"] = "beta_likeness"
    beta: float = Field(gt=0)
    """The largest relative gain."""
    column: str
    """The sensitive column."""
    enhanced: bool = False
    """Whether common values are also bounded by −ln of their share."""

    def list_columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes disclose too much about a value."""
        pairs, shares = classes.count_values(self.column), classes.sensitive[self.column].shares
        whole = shares[pairs.values]
        gain = (pairs.counts / classes.crowds[pairs.classes] - whole) / whole
        bound = np.minimum(self.beta, -np.log(whole)) if self.enhanced else self.beta
        return np.logical_or.reduceat(gain > bound + _ROUNDING, pairs.starts)

    def claim(self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY) -> Claim:
        """The largest relative gain."""
        return Claim(
            property="enhanced_beta_likeness" if self.enhanced else "beta_likeness",
            threshold=self.beta,
            bound="at_most",
            measure="enhanced_beta" if self.enhanced else "beta",
            arguments={**arguments, "column": self.column},
            meaning=f'No value of "{self.column}" gains more than {format_limit(self.beta)} times its share in any '
            f"class{_ENHANCED_BOUND if self.enhanced else ''}.",
        )


class DeltaDisclosure(PrivacyModel):
    """Every value keeps its share in every class, up to a factor e^delta, strictly (Brickell, Shmatikov 2008)."""

    compares: ClassVar[bool] = True
    claim_properties: ClassVar[tuple[str, ...]] = ("delta_disclosure",)
    public_fields: ClassVar[tuple[str, ...]] = ("delta", "column")
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    model: Literal["delta_disclosure"] = "delta_disclosure"
    delta: float = Field(gt=0)
    """The strict bound on |ln(share in the class / share in the table)|."""
    column: str
    """The sensitive column."""

    def list_columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def refuses(self, classes: NodeClasses) -> Flags:
        """Which classes change a value's share too much, or lack one."""
        pairs, sensitive = classes.count_values(self.column), classes.sensitive[self.column]
        change = np.abs(np.log(pairs.counts / classes.crowds[pairs.classes] / sensitive.shares[pairs.values]))
        far = np.maximum.reduceat(change, pairs.starts) >= self.delta - _ROUNDING
        return far | (pairs.distinct < len(sensitive.values))

    def claim(self, arguments: Mapping[str, Any], sensitive: Mapping[str, SensitiveColumn] = EMPTY) -> Claim:
        """The largest change of a value's share."""
        return Claim(
            property="delta_disclosure",
            threshold=self.delta,
            bound="below",
            measure="delta_disclosure",
            arguments={**arguments, "column": self.column},
            meaning=f'No class changes the share of a value of "{self.column}" by a factor of '
            f"e^{format_limit(self.delta)} or more.",
        )
