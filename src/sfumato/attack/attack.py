# SPDX-License-Identifier: MIT
"""What an attack is: an adversary with stated knowledge, and four counts of how far it got."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from fractions import Fraction
from functools import wraps
from math import sqrt
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import AfterValidator, BeforeValidator

from sfumato.baskets import Baskets
from sfumato.description import Description
from sfumato.errors import DataError, PolicyError
from sfumato.notebook import STAYS, render_grid, render_sentences
from sfumato.patterns import Patterns
from sfumato.published_law import PublishedLaw
from sfumato.randomness import Randomness, refuse_other_randomness
from sfumato.release import CoveredRisk, Release, refuse_other_order
from sfumato.rules import Rules
from sfumato.sequences import Sequences
from sfumato.table import Table

_Z = 1.959963984540054  # 95 % of a normal distribution lies within this many standard deviations of its mean


def _wrap_names(names: Any) -> Any:
    return (names,) if isinstance(names, str) else names


def _require_distinct_names(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or len(set(names)) < len(names):
        raise ValueError("name at least one column, each once")
    return names


Columns = Annotated[tuple[str, ...], BeforeValidator(_wrap_names), AfterValidator(_require_distinct_names)]
"""Column names, as a field of an attack; a single name may be given without a list."""


class WilsonInterval(NamedTuple):
    """Wilson's score interval of a share, its ends included."""

    low: float
    high: float


def compute_wilson_interval(successes: float, attempts: int, z: float = _Z) -> WilsonInterval:
    """Wilson's score interval of a share (Wilson 1927); (0, 1) without attempts."""
    if attempts == 0:
        return WilsonInterval(0.0, 1.0)
    share = successes / attempts
    scale = 1 + z * z / attempts
    centre = (share + z * z / (2 * attempts)) / scale
    reach = z * sqrt(share * (1 - share) / attempts + z * z / (4 * attempts * attempts)) / scale
    # Rounding must not push the share itself out of its interval.
    return WilsonInterval(max(0.0, min(share, centre - reach)), min(1.0, max(share, centre + reach)))


@dataclass(frozen=True, repr=False)
class Outcome:
    """The result of an attack, in four counts."""

    attempts: int
    """How many targets were tried."""
    successes: float
    """How many guesses were right; the expected number, if ties were broken at random."""
    baseline: float
    """How many guesses would have been right by blind guessing on average, with the same number of attempts; about the
    same people, if an attack says something only about some."""
    control: float | None = None
    """How many guesses were made with the same confidence about people who are not in the data; of how many people, if
    not as many as were tried, is the fact `control_attempts`."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further results for the report; nothing that identifies a person."""
    targets: tuple[str, ...] = ()
    """The columns whose cells were guessed; none if rows or items were."""
    known_columns: tuple[tuple[str, ...], ...] = ()
    """The columns that the attacker knew, for each party; none if the attacker knew something else."""
    highest_risk: float | None = None
    """The highest risk of one person, if the attack counts it."""

    @property
    def risk(self) -> float:
        """The share of targets hit."""
        return self.successes / self.attempts if self.attempts else 0.0

    @property
    def interval(self) -> WilsonInterval:
        """Wilson's 95 % interval of the risk."""
        return compute_wilson_interval(self.successes, self.attempts)

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.interval.low

    @property
    def high(self) -> float:
        """The upper end of the interval: the value that a release gate compares."""
        return self.interval.high

    def _describe_control(self) -> str:
        strangers = self.facts.get("control_attempts", self.attempts)
        control = _format_average(self.control or 0)
        return control if strangers == self.attempts else f"{control} of {strangers:,}"

    def __repr__(self) -> str:
        """The counts and the risk."""
        control = "" if self.control is None else f", control {self._describe_control()}"
        span = f"{self.low:.3g} to {self.high:.3g}"
        return (
            f"Outcome({_format_average(self.successes)} of {self.attempts:,} right, risk {self.risk:.3g} ({span}), "
            f"blind guessing {_format_average(self.baseline)}{control})"
        )

    def _repr_html_(self) -> str:
        """The counts as a table: they tell what an attacker got right, so they stay."""
        head = ("attempts", "right", "by blind guessing", "control", "risk", "95 % interval")
        control = "–" if self.control is None else self._describe_control()
        counts = (f"{self.attempts:,}", _format_average(self.successes), _format_average(self.baseline), control)
        grid = render_grid(head, [(*counts, f"{self.risk:.3g}", f"{self.low:.3g} to {self.high:.3g}")])
        return grid + render_sentences([STAYS])

    def as_json(self) -> dict[str, Any]:
        """The outcome for a script or a certificate."""
        return {
            "attempts": self.attempts,
            "successes": self.successes,
            "baseline": self.baseline,
            "control": self.control,
            "risk": self.risk,
            "low": self.low,
            "high": self.high,
            **({} if self.highest_risk is None else {"highest_risk": self.highest_risk}),
            **dict(self.facts),
            "targets": list(self.targets),
            "known_columns": [list(side) for side in self.known_columns],
        }


def round_expected(count: float | Fraction) -> float:
    """An expected number of guesses: whole if it is, and else with as many digits as repeat everywhere."""
    return int(count) if count == int(count) else round(float(count), 12)


def _format_average(count: float) -> str:
    return f"{count:,}" if count == int(count) else f"{count:,.3g}"


def count_strangers(control: Sized | None) -> dict[str, int]:
    """The fact of how many people the control are; empty without one."""
    return {} if control is None else {"control_attempts": len(control)}


_SHAPES: Mapping[type, str] = {
    Table: "table",
    Baskets: "baskets",
    Sequences: "sequences",
    Patterns: "patterns",
    Rules: "patterns",
}


_NOUNS = {"table": "a table"}


def refuse_other_shapes(attack: Any, data: object, truth: object) -> None:
    """Stop if the release, or the originals, are no table, baskets, sequences or patterns that the attack is about."""
    release_shape, truth_shape = _find_shape(data), _find_shape(truth)
    # Baskets tell their supports, and so what patterns tell.
    fitting_shapes = {attack.shape, "baskets"} if attack.shape == "patterns" else {attack.shape}
    if release_shape is not None and release_shape not in fitting_shapes:
        nouns = [_NOUNS.get(shape, shape) for shape in (attack.shape, release_shape)]
        raise PolicyError(
            f"{attack.attack} attacks {nouns[0]}, and this release holds {nouns[1]}; choose another attack"
        )
    if truth_shape is not None and attack.shape not in (truth_shape, "patterns"):
        noun = _NOUNS.get(truth_shape, truth_shape)
        raise DataError(f"{attack.attack} compares with the originals of the release, and what was given holds {noun}")


def _find_shape(data: object) -> str | None:
    return next((shape for kind, shape in _SHAPES.items() if isinstance(data, kind)), None)


def _check_arguments(run: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """A `run` that says first if it was given a frame, or the release and the originals in the wrong order."""

    @wraps(run)
    def run_checked(attack: Any, release: Any, *arguments: Any, **keywords: Any) -> Outcome:
        truth = arguments[0] if arguments else keywords.get("truth")
        refuse_other_order(release, truth)
        refuse_other_shapes(attack, release.data, truth)
        refuse_other_randomness(arguments[2] if len(arguments) > 2 else keywords.get("randomness"))
        return run(attack, release, *arguments, **keywords)

    return run_checked


class Attack(Description, ABC):
    """An adversary, described like a method: a tag, and fields with docstrings. The class docstring starts with the
    attacker's story.

    Every attack must succeed when the release is the original, and fail on pure noise.
    """

    shape: ClassVar[str] = "table"
    """The shape of the release it attacks: `table`, `baskets`, `sequences` or `patterns`."""
    needs_codes: ClassVar[bool] = False
    """Whether it finds the items behind codes: where they have their names it would succeed, and say nothing."""
    story: ClassVar[str] = ""
    """The attacker's story for the report, with the columns of the policy: `{known}`, those that the attacker knows;
    `{target}`, those that it guesses; `{any}`, the same where one of them is enough; `{others}`, columns that another
    party knows. Without one, or where columns are not known, the first line of the docstring is used.
    """
    tries: ClassVar[str] = ""
    """What its attempts are, if not people, for the report: "entries tried"."""
    hides_targets: ClassVar[bool] = False
    """Whether the columns that it guessed must stay private, since they show where private entries are."""
    report_labels: ClassVar[Mapping[str, str]] = {}
    """Fields that determine what counts as a success, with the label that the report prints for each."""

    gates: ClassVar[tuple[str, ...]] = ()
    """The limits of a gate, apart from `max_risk`, that its outcome is compared with."""
    draws_curve: ClassVar[bool] = False
    """Whether its facts are a curve over numbers of known points, in the originals and in the release."""
    speaks_of_some: ClassVar[bool] = False
    """Whether it abstains from people about whom the rows give no answer. Blind guessing is then counted about the
    others only; where cells are untrue, it may be right more often than the attack."""
    covers: ClassVar[CoveredRisk] = ""
    """A risk that a verdict says nobody looked at, unless such an attack was tried."""
    recounts_file: ClassVar[bool] = False
    """Whether its outcome counts rules of the released file that are one basket short, which anyone can count again."""
    needs_equal_sides: ClassVar[bool] = True
    """Whether the people whom it attacks must be as many as those set aside for comparison: what fits exactly one of
    many people fits more of few. Otherwise it tries all of them, and states the fact `control_attempts`."""

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        """Check what is attacked before `run` of any attack."""
        super().__pydantic_init_subclass__(**arguments)
        if "run" in vars(cls) and "run" not in cls.__abstractmethods__:
            cls.run = _check_arguments(cls.run)  # type: ignore[method-assign]  # wraps the method of each attack once

    @classmethod
    def choose_story(cls, attack: Mapping[str, Any]) -> str:
        """The story that is true of an attack, by its parameters and what is known of its outcome."""
        return cls.story

    @classmethod
    def list_plain_targets(cls, targets: Sequence[str], laws: Mapping[str, PublishedLaw]) -> list[str]:
        """Of the columns that it guessed, those whose numbers it takes as published: it weighs no law of them."""
        return []

    def describe(self) -> dict[str, Any]:
        """The attack and its parameters, for a certificate that is shared."""
        return self.model_dump(mode="json", exclude=set(self.private_fields))

    def looks_up_everybody(self, quasi_identifying: Sequence[str]) -> bool:
        """Whether it links everybody in the release by all quasi-identifying columns: what a gate needs."""
        return False

    @abstractmethod
    def run(self, release: Release, truth: Any, control: Any = None, randomness: Randomness | None = None) -> Outcome:
        """Attack a release. `truth` is the originals (or an external table), used only to count correct guesses."""


class AttackResult(NamedTuple):
    """An attack, and what came of it."""

    attack: Attack
    outcome: Outcome
