# SPDX-License-Identifier: MIT
"""Noise that is added to numbers: how it is drawn, how dense it is, and how much privacy it gives.

Privacy as Agrawal and Srikant define it (*Privacy-preserving data mining*, SIGMOD 2000): if a value is known, with
confidence c, to lie in an interval, the privacy at c is the interval's width. Uniform noise on [−α, α] gives c · 2α,
Gaussian noise of deviation σ gives 2 Φ⁻¹((1 + c) / 2) · σ, and intervals of width W give c · W.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, ValidationError

from sfumato.arrays import Floats
from sfumato.description import Description
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.public.number_law import LawNumber, NumberLaw, PublishedRange
from sfumato.release import Release

_SCALE_KINDS = {
    "alpha": "uniform",
    "sigma": "gaussian",
    "std": "gaussian",
    "sd": "gaussian",
    "stddev": "gaussian",
    "width": "discretize",
}
# A single column of correlated noise is Gaussian.
_KIND_ALIASES = {"normal": "gaussian", "gauss": "gaussian", "correlated": "gaussian"}
_CURE = 'write noise as Noise(kind="gaussian", scale=2.5), ("gaussian", 2.5) or {"sigma": 2.5}'


class Noise(Description):
    """One column's noise. It is public: without it nothing can be reconstructed."""

    kind: Literal["uniform", "gaussian", "discretize"]
    """`uniform` on [−scale, scale], `gaussian` of deviation `scale`, or intervals of width `scale`."""
    scale: float = Field(gt=0.0, allow_inf_nan=False)
    """α, σ or W, in the column's own unit (days for dates)."""
    step: float = Field(default=0.0, ge=0.0)
    """What published values are rounded to: 1 for integers and dates, 0 if they are not rounded."""
    origin: float = 0.0
    """The start of the first interval, for `discretize`."""
    grid: float = Field(default=0.0, ge=0.0)
    """The unit of published numbers, to which originals and noise were rounded: for fractions far smaller than the
    scale, so that estimates can ignore it; 0 if unknown."""

    @classmethod
    def of(cls, notation: Any) -> Noise:
        """Noise in any of its spellings: itself, `("gaussian", 2.5)`, `{"kind": …, "scale": …}` or `{"sigma": 2.5}`.

        Upper and lower case are the same; normal is gaussian; std, sd and stddev are sigma.
        """
        if isinstance(notation, cls):
            return notation
        if isinstance(notation, NoiseLaw):
            return notation.noise
        if isinstance(notation, tuple | list) and len(notation) == 2:
            parameters = {"kind": _normalize_kind(notation[0]), "scale": notation[1]}
        elif isinstance(notation, Mapping):
            parameters = _normalize_noise(notation)
        else:
            raise PolicyError(_CURE)
        try:
            return cls.model_validate(parameters)
        except ValidationError as error:
            wrong = ", ".join(dict.fromkeys(".".join(map(str, problem["loc"])) for problem in error.errors()))
            raise PolicyError(
                f"this is not valid noise: check its {wrong} (the kind must be uniform, gaussian or discretize, "
                "and the scale a "
                f"finite number above 0); {_CURE}"
            ) from None

    @classmethod
    def of_privacy(
        cls, kind: Literal["uniform", "gaussian", "discretize"], width: float, confidence: float, step: float = 0.0
    ) -> Noise:
        """The noise under which a value is known, with the confidence, only to within `width`."""
        return cls(kind=kind, scale=width / _compute_unit_interval(kind, confidence), step=step)

    def interval(self, confidence: float) -> float:
        """The width of the interval that contains a value with a confidence."""
        return _compute_unit_interval(self.kind, confidence) * self.scale

    @property
    def is_bounded(self) -> bool:
        """Whether no number is moved by more than some amount."""
        return self.kind != "gaussian"

    @property
    def variance(self) -> float:
        """The variance of the noise, without rounding."""
        return {"uniform": 1 / 3, "gaussian": 1.0, "discretize": 1 / 12}[self.kind] * self.scale**2

    def draw(self, chance: np.random.Generator, count: int) -> Floats:
        """The noise for `count` values, before rounding."""
        if self.kind == "uniform":
            return chance.uniform(-self.scale, self.scale, count)
        if self.kind == "gaussian":
            return chance.normal(0.0, self.scale, count)
        raise PolicyError("intervals replace a value; they add no noise to draw")

    def density(self, points: Floats) -> Floats:
        """The density of the noise at some differences, without rounding."""
        if self.kind == "gaussian":
            return np.asarray(np.exp(-0.5 * (points / self.scale) ** 2) / (self.scale * np.sqrt(2 * np.pi)))
        half = self.scale if self.kind == "uniform" else self.scale / 2
        return np.where(np.abs(points) <= half, 1 / (2 * half), 0.0)

    def cumulate(self, points: Floats) -> Floats:
        """The probability that the noise is at most this value."""
        if self.kind == "gaussian":
            from scipy.special import ndtr

            return np.asarray(ndtr(points / self.scale))
        half = self.scale if self.kind == "uniform" else self.scale / 2
        return np.clip((points + half) / (2 * half), 0.0, 1.0)


class NoiseLaw(NumberLaw):
    """How noise was added to the numbers of a column, or which intervals of equal width they were put in."""

    scale: float = Field(gt=0.0)
    """α, σ or W, in the column's own unit (days for dates)."""
    origin: float = 0.0
    """The start of the first interval, for `discretize`."""
    grid: LawNumber = Field(default=0, ge=0)
    """The unit of published numbers; 0 if unknown."""
    privacy: float | None = Field(default=None, gt=0)
    """The promised width of the interval to which a value is known, as a share of the range."""

    @property
    def privacy_share(self) -> float | None:
        """The promised width of the interval."""
        return self.privacy

    @property
    @abstractmethod
    def noise(self) -> Noise:
        """The noise of the column by itself."""

    def get_covariances(self) -> Mapping[str, float]:
        """Column → the covariance of the noise in it with the noise in this one, where they depend on each other."""
        return {}


class IndependentNoiseLaw(NoiseLaw):
    """Noise that is drawn for this column by itself."""

    public_fields: ClassVar[tuple[str, ...]] = (
        "kind", "scale", "step", "origin", "grid", "privacy", "confidence", "achieved", "domain", "range",
    )  # fmt: skip

    kind: Literal["uniform", "gaussian", "discretize"]

    @property
    def noise(self) -> Noise:
        """The noise of the column."""
        return Noise(kind=self.kind, scale=self.scale, step=self.step, origin=self.origin, grid=self.grid)


class CorrelatedNoiseLaw(NoiseLaw):
    """Gaussian noise that is correlated across columns like the data."""

    public_fields: ClassVar[tuple[str, ...]] = (*IndependentNoiseLaw.public_fields, "times", "covariance")

    kind: Literal["correlated"] = "correlated"
    times: float | None = None
    """The factor on the data's covariance."""
    covariance: Mapping[str, float] = Field(default_factory=dict)
    """Column → the covariance of its noise with that of this column, estimated from the release."""

    @property
    def noise(self) -> Noise:
        """The noise of the column, of which a single column is Gaussian."""
        return Noise(kind="gaussian", scale=self.scale, step=self.step, origin=self.origin, grid=self.grid)

    def get_covariances(self) -> Mapping[str, float]:
        """As stated."""
        return self.covariance


def _normalize_kind(kind: Any) -> Any:
    if not isinstance(kind, str):
        return kind
    word = kind.strip().lower()
    return _KIND_ALIASES.get(word, word)


def _normalize_noise(notation: Mapping[str, Any]) -> dict[str, Any]:
    """Kind, scale, step, origin and grid, however the first two are spelled; other published parameters are ignored."""
    parameters = {name: notation[name] for name in Noise.model_fields if name in notation}
    if "kind" in parameters:
        parameters["kind"] = _normalize_kind(parameters["kind"])
    scale_names = [name for name in _SCALE_KINDS if name in notation]
    if len(scale_names) + ("scale" in parameters) > 1:
        raise PolicyError(
            f"the noise's scale is given twice: {', '.join([*scale_names, *{'scale'} & parameters.keys()])}"
        )
    for name in scale_names:
        if parameters.setdefault("kind", _SCALE_KINDS[name]) != _SCALE_KINDS[name]:
            raise PolicyError(f'"{name}" belongs to {_SCALE_KINDS[name]} noise, but the kind differs; use "scale"')
        parameters["scale"] = notation[name]
    return parameters


def _compute_unit_interval(kind: str, confidence: float) -> float:
    """The width of the interval for noise of scale 1."""
    if not 0.0 < confidence < 1.0:
        raise PolicyError(f"a confidence must be between 0 and 1, not {confidence:g}")
    if kind == "gaussian":
        from statistics import NormalDist

        return 2 * NormalDist().inv_cdf((1 + confidence) / 2)
    return confidence * (2 if kind == "uniform" else 1)


def privacy_level(noise: Any, range: Any, confidence: float = 0.95) -> float:
    """How much privacy noise gives: the interval's width as a share of the range (its ends, or its width). The width of
    whole numbers, if the noise has a step, is their count.
    """
    law = Noise.of(noise)
    width = float(range[1]) - float(range[0]) + law.step if np.ndim(range) else float(range)
    if not (np.isfinite(width) and width > 0):
        raise PolicyError("a privacy level is a share of a range, but this range has no width")
    return law.interval(confidence) / width


def read_numbers(column: pl.Series) -> Floats:
    """A column as numbers, missing ones NaN; dates, including text such as 2009-06-30, count in days since 1970."""
    numbers = column
    if column.dtype == pl.String:
        numbers = column.str.to_date("%Y-%m-%d", strict=False)
        if numbers.null_count() > column.null_count():
            count = count_noun(numbers.null_count() - column.null_count(), "cell")
            raise DataError(
                f'"{column.name}" holds text in {count}; noise is only in numbers and dates (such as 2009-06-30), so '
                "name another column, or the release that holds the noise"
            )
    elif not (column.dtype.is_numeric() or column.dtype == pl.Date):
        raise DataError(f'"{column.name}" holds neither numbers nor dates, but {column.dtype}')
    return np.asarray(numbers.to_physical().cast(pl.Float64).to_numpy(), dtype=np.float64)


def list_noisy_columns(release: Release) -> tuple[str, ...]:
    """The columns of a release that hold noisy numbers."""
    return tuple(name for name, law in release.public.items() if isinstance(law, NoiseLaw))


def get_noise(release: Release, column: str) -> Noise:
    """The noise of one column, as published in the release."""
    return get_noise_law(release, column).noise


def get_noise_law(release: Release, column: str) -> NoiseLaw:
    """How noise was added to one column, as published in the release."""
    law = release.public.get(column)
    if not isinstance(law, NoiseLaw):
        raise DataError(
            f'the release has no noise in "{column}"; noise is in: {", ".join(list_noisy_columns(release))}'
        )
    return law


def get_published_range(release: Release, column: str) -> PublishedRange | None:
    """The range of the originals of a column of numbers; None if none is published."""
    law = release.public.get(column)
    return law.range if isinstance(law, NumberLaw) else None


def get_noise_covariance(release: Release, columns: tuple[str, ...]) -> Floats:
    """The covariance of the noise of some columns; only `correlated` noise is dependent."""
    covariance = np.diag([get_noise(release, name).variance for name in columns])
    for row, name in enumerate(columns):
        covariances = get_noise_law(release, name).get_covariances()
        for position, other in enumerate(columns):
            if other in covariances:
                covariance[row, position] = covariances[other]
    return covariance
