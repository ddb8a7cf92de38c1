# SPDX-License-Identifier: MIT
"""The measures that claims name: each takes the published data, and the originals only if it needs them.

Each measure declares next to its code which claims it checks: `@checks_claim("k_anonymity", "at_least")`. This also
guards against a signer who names one property but has another measured ("20-anonymous" checked by counting rows, a k
"at most" 20, or marked as if only the originals could show it): sfumato rejects a claim in any other form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
from polars.exceptions import ColumnNotFoundError, PolarsError

from sfumato.arrays import Ints
from sfumato.details import ChainDetails
from sfumato.errors import DataError, PolicyError
from sfumato.measure.anonymity.class_tally import ClassTally
from sfumato.release import Claim, CoveredRisk, Finding, Number
from sfumato.runtime.lazy import find_checks
from sfumato.table import Table

Bound = Literal["at_least", "at_most", "below", "exactly"]
Unit = Literal["number", "share", "size", "truth"]


@dataclass(frozen=True)
class Evidence:
    """What a check may look at."""

    published_data: Any
    """The published data."""
    original: Any = None
    """The originals, if available."""
    rows: Ints | None = None
    """The original row of each published row; None without the originals."""
    population: Table | None = None
    """The population that a model compares with."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What only the custodian knows about the release: which entries or rules are private; empty for an auditor."""
    other_details: tuple[Mapping[str, Any], ...] = ()
    """What the custodian knows about the other methods of the policy, if a claim is about the secrets of one."""
    class_tally: ClassTally | None = None
    """The values in each class that a model judges, if its classes are not those of the published rows."""

    def knows(self, claim: Claim) -> bool:
        """Whether the data that the claim's measure compares with is available."""
        private = CHECKS[claim.measure].private
        if not claim.needs_original or private is None:
            return not claim.needs_original or self.original is not None
        return private in self.take_step(claim.arguments.get("step")).details

    def find_original_rows(self) -> Ints:
        """The original row of each published row; by default the same rows."""
        return np.arange(len(self.published_data)) if self.rows is None else np.asarray(self.rows, dtype=np.int64)

    def take_step(self, step: Any) -> Evidence:
        """The same evidence with the secrets of one of several methods, by its number in the policy."""
        if step is None or not isinstance(self.details, ChainDetails):
            return self
        steps = self.details.steps
        other_details = tuple(details for number, details in enumerate(steps) if number != int(step))
        return replace(self, details=steps[int(step)], other_details=other_details)

    def leave_out_columns(self, columns: Any) -> Evidence:
        """The same evidence, as if some columns had been published unchanged: another method accounts for their
        changes.
        """
        if not columns:
            return self
        rows = self.find_original_rows()
        original_columns = [
            self.original.frame[name].gather(rows) for name in columns if name in self.original.frame.columns
        ]
        return replace(
            self,
            published_data=self.published_data.replace_frame(self.published_data.frame.with_columns(original_columns)),
        )


Arguments = Mapping[str, Any]
"""What a claim gives its measure, by name."""
Measure = Callable[[Evidence, Arguments], Number]


@dataclass(frozen=True)
class Check:
    """A measure that claims name, and the claims that it checks."""

    measure: Measure
    properties: frozenset[str]
    """The properties that it checks."""
    bounds: frozenset[str]
    """On which side of the threshold the measured value may be claimed to lie."""
    needs_original: bool
    """Whether measuring needs the originals."""
    arguments: frozenset[str]
    """The arguments that a certificate may pass to the measure; if it needs the originals, none are published."""
    private: str | None
    """The key in a release's details of what it compares with, if that is private and not the originals."""
    of_the_rest: bool
    """Whether it counts other changes; columns changed by another method are passed as `except_columns`."""
    of_groups: bool
    """Whether it counts groups or rules, of which one cell need not make another."""
    unit: Unit
    """Whether it measures a share, to be shown as a percentage, the size of a release, or whether something is so: what
    is claimed exactly is 0, unless it is a size, or 1 for what is so."""
    covers: CoveredRisk
    """A risk that its claims bound; a verdict says that nobody looked at it otherwise."""
    optional: frozenset[str]
    """Those of the arguments that a claim need not have."""

    def __call__(self, evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
        """Measure."""
        return self.measure(evidence, arguments)


_LOADED_CHECKS: dict[str, Check] = {}


def checks_claim(
    name: str,
    *bounds: Bound,
    properties: tuple[str, ...] = (),
    needs_original: bool = False,
    arguments: tuple[str, ...] = (),
    private: str | None = None,
    of_the_rest: bool = False,
    of_groups: bool = False,
    unit: Unit = "number",
    covers: CoveredRisk = "",
) -> Callable[[Measure], Measure]:
    """Register a measure for claims; by default it checks the property of its own name.

    The other parameters are the fields of `Check`. An argument that a claim need not have ends in a question mark. The
    measure is found by its name in the source, which must be a word on the line of the call.
    """

    def register(measure: Measure) -> Measure:
        property_names, argument_names = (
            frozenset(properties or (name,)),
            frozenset(a.removesuffix("?") for a in arguments),
        )
        original = needs_original or private is not None
        _LOADED_CHECKS[name] = Check(
            measure,
            property_names,
            frozenset(bounds),
            original,
            argument_names,
            private,
            of_the_rest,
            of_groups,
            unit,
            covers,
            frozenset(argument.removesuffix("?") for argument in arguments if argument.endswith("?")),
        )
        return measure

    return register


class _Checks(Mapping[str, Check]):
    """Every check by its name; its module is loaded on first use."""

    def __getitem__(self, name: str) -> Check:
        import_module(find_checks()[name])
        return _LOADED_CHECKS[name]

    def __iter__(self) -> Iterator[str]:
        return iter(find_checks())

    def __len__(self) -> int:
        return len(find_checks())


CHECKS: Mapping[str, Check] = _Checks()


def has_known_form(claim: Mapping[str, Any]) -> bool:
    """Whether a certificate's claim has a form that a method produces, with the arguments that its measure needs."""
    check = CHECKS.get(claim["measure"])
    if check is None or claim["property"] not in check.properties or claim["bound"] not in check.bounds:
        return False
    if claim["bound"] == "exactly" and check.unit != "size" and claim["threshold"] != int(check.unit == "truth"):
        return False
    arguments = claim["arguments"]
    allowed_names = frozenset() if check.needs_original else check.arguments
    return (
        claim["needs_original"] is check.needs_original
        and allowed_names - check.optional <= set(arguments) <= allowed_names
        and arguments.get("starred_rows", "class") in ("class", "suppressed")
        and all(isinstance(arguments[name], list | tuple) for name in _LISTS if name in arguments)
        and bool(arguments.get("columns", True))
    )


_LISTS = ("categories", "columns", "items", "names", "order", "parents")
"""Arguments that are lists of words."""


def explain_unmeasured(claim: Claim) -> str:
    """What to say of a claim whose measure failed on its arguments or on the cells."""
    return (
        f'the claim "{claim.property}" cannot be measured: an argument of "{claim.measure}" is missing, or one of them '
        "or a cell is of another type than it takes"
    )


def measure_claim(claim: Claim, evidence: Evidence) -> Finding:
    """Measure a claim again; a claim that needs missing originals stays open."""
    if claim.measure not in CHECKS:
        raise PolicyError(f'the claim "{claim.property}" names the measure "{claim.measure}", which does not exist')
    if not evidence.knows(claim):
        return Finding.of(claim, None)
    check, arguments = CHECKS[claim.measure], dict(claim.arguments)
    visible_evidence = (
        evidence.leave_out_columns(arguments.pop("except_columns", ())) if check.of_the_rest else evidence
    )
    visible_evidence = (
        visible_evidence.take_step(arguments.pop("step", None)) if check.private is not None else visible_evidence
    )
    try:
        return Finding.of(claim, check(visible_evidence, arguments))
    except ColumnNotFoundError as error:  # its message is the name of the column
        raise DataError(
            f'the claim "{claim.property}" names a column that is not in the data ({str(error).splitlines()[0]}); give '
            "the data as they were published"
        ) from None
    except (KeyError, TypeError, ValueError, PolarsError):
        raise PolicyError(explain_unmeasured(claim)) from None
