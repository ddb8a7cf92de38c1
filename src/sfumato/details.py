# SPDX-License-Identifier: MIT
"""The decisions of a method, as one type per family: private, they stay with the custodian.

Every value can be read by attribute (`release.details.levels`) or by key (`release.details["levels"]`); a field that is
None has no key. Several methods give a `ChainDetails`, whose parts are found by family (`get_family`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.errors import PolicyError
from sfumato.published_law import PublishedLaw, read_laws

Entry = tuple[int, str]
"""A cell: its row in the release, and its column."""
DetailsFamily = TypeVar("DetailsFamily", bound="Details")


class Optimality(NamedTuple):
    """How good a choice is known to be."""

    objective: float | None
    """Its cost."""
    bound: float | None
    """No choice can cost less."""
    is_proven: bool


@dataclass(frozen=True, eq=False)
class Details(Mapping[str, Any]):
    """Decisions that every family has."""

    family: ClassVar[str] = "plain"
    """The name by which records tell the families apart; classes without a name of their own are not families."""
    stored_fields: ClassVar[tuple[str, ...]] = ()
    """The fields, besides frames and `rows`, that a run keeps with its private record: attacks on the finished release
    read them."""

    rows: npt.NDArray[np.int64] | None = None
    """The original row of each published row."""
    suppressed: npt.NDArray[np.int64] | None = None
    """Numbers of the original rows that were suppressed."""
    public: Mapping[str, PublishedLaw] = field(default_factory=dict)
    """Column → how it was randomized: analysts need it for estimates. It leaves. Laws may be given as in a certificate,
    by their fields."""

    def __post_init__(self) -> None:
        """Type the laws."""
        object.__setattr__(self, "public", read_laws(self.public))

    def __getitem__(self, name: str) -> Any:
        """A field by its name."""
        value = getattr(self, name, None) if name in self._list_names() else None
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        """The names of the fields that are set."""
        return (
            name for name in self._list_names() if getattr(self, name) is not None and (name != "public" or self.public)
        )

    def __len__(self) -> int:
        """The number of fields that are set."""
        return sum(1 for _ in self)

    @classmethod
    def _list_names(cls) -> tuple[str, ...]:
        return tuple(entry.name for entry in fields(cls))

    def get_family(self, family: type[DetailsFamily]) -> DetailsFamily | None:
        """The details of one family; None if no method of it was used."""
        return self if isinstance(self, family) else None

    def require_family(self, family: type[DetailsFamily]) -> DetailsFamily:
        """The details of one family, whose section or measure asks for them: without them there is a mistake."""
        details = self.get_family(family)
        if details is None:
            raise KeyError(
                f"no method of this release gives {family.__name__}: a section or loss of another family is named"
            )
        return details

    def list_steps(self) -> tuple[Details, ...]:
        """The details of each method, in the order of the policy."""
        return (self,)

    def find_optimality(self) -> Optimality | None:
        """How good the choice of one method is known to be; None if it did not search for the best."""
        return None

    def trace_rows(self, count: int) -> npt.NDArray[np.int64]:
        """The original row of each of `count` published rows: the row itself if the method states none."""
        return np.arange(count, dtype=np.int64) if self.rows is None else np.asarray(self.rows, dtype=np.int64)

    def follow(self, order: npt.NDArray[np.int64]) -> Self:
        """The same after rows were dropped or moved: `order` holds the former position of each remaining row."""
        return self if self.rows is None else replace(self, rows=np.asarray(self.rows)[order])


@dataclass(frozen=True, eq=False)
class SearchDetails(Details):
    """Decisions of methods that may search for the best choice."""

    stored_fields: ClassVar[tuple[str, ...]] = ("proven",)
    objective: float | None = None
    """What the choice costs."""
    bound: float | None = None
    """No choice can cost less."""
    proven: bool | None = None
    """Whether it is proven that nothing costs less; None if the method did not search for the best."""

    def find_optimality(self) -> Optimality | None:
        """The cost, the bound and the proof that the method states."""
        return None if self.proven is None else Optimality(self.objective, self.bound, self.proven)


@dataclass(frozen=True, eq=False)
class AnonymityDetails(SearchDetails):
    """Decisions of methods that hide people in classes."""

    family: ClassVar[str] = "anonymity"
    levels: Mapping[str, int] = field(default_factory=dict)
    """Quasi-identifying column → its level, under full-domain recoding."""
    heights: Mapping[str, int] | None = None
    """Quasi-identifying column → the top level of its hierarchy."""
    without_hierarchy: tuple[str, ...] = ()
    """Quasi-identifying columns without a hierarchy."""
    recoding: str | None = None
    classes: int | None = None
    """How many classes are published."""
    nodes: int | None = None
    """How many combinations of levels there are."""
    checked_nodes: int | None = None
    """How many of them were checked."""
    minimal: tuple[tuple[int, ...], ...] | None = None
    """All minimal nodes, if requested."""
    generalizations: pl.DataFrame | None = None
    """All nodes that satisfy the models, if requested: `levels`, `height`, `minimal`."""
    node_counts: pl.DataFrame | None = None
    """What searches that are compared looked at: `search`, `columns`, `nodes`, `candidates`, `checked`, `accepted`."""
    parts: int | None = None
    """How many parts a partition has."""
    pieces: Mapping[str, Any] | None = None
    """Column → the labels of its ranges."""
    group_of_row: npt.NDArray[Any] | None = None
    groups: int | None = None
    examined_nodes: int | None = None
    seconds: float | None = None
    limits: Mapping[str, Any] | None = None
    """Column → the values that it was capped at."""
    population: Any = None
    """The table of people that a model compares with."""


@dataclass(frozen=True, eq=False)
class EntryDetails(SearchDetails):
    """Decisions of methods that blank entries."""

    family: ClassVar[str] = "entries"
    stored_fields: ClassVar[tuple[str, ...]] = (*SearchDetails.stored_fields, "private", "derived")
    private: list[Entry] = field(default_factory=list)
    """Entries to be hidden."""
    derived: list[Entry] = field(default_factory=list)
    """Entries that were blanked so that no rule predicts a private one."""
    hidden: pl.DataFrame | None = None
    """The private entries with their values: `row`, `column`, `value`."""
    reasons: pl.DataFrame | None = None
    rules_before: pl.DataFrame | None = None
    rules_after: pl.DataFrame | None = None
    exposed_entries: Mapping[str, int] | None = None
    """Column → how many of its private entries a rule predicted before."""
    confidence: Any = None
    least: int | None = None
    """The support that a rule must have, as a count."""
    gap: float | None = None
    passes: int | None = None
    complete: bool | None = None
    """Whether mining was complete, so that no rule was missed."""
    sensitive_entries: Any = None

    def follow(self, order: npt.NDArray[np.int64]) -> Self:
        """Entries of dropped rows are removed; the others move with their rows."""
        position = {int(row): number for number, row in enumerate(order)}

        def move_frame(frame: pl.DataFrame | None) -> pl.DataFrame | None:
            if frame is None:
                return None
            new_rows = pl.Series("row", [position.get(row) for row in frame["row"]], dtype=pl.Int64)
            return frame.with_columns(new_rows).drop_nulls("row")

        def move_entries(entries: list[Entry]) -> list[Entry]:
            return [(position[row], column) for row, column in entries if row in position]

        return replace(
            super().follow(order),
            private=move_entries(self.private),
            derived=move_entries(self.derived),
            hidden=move_frame(self.hidden),
            reasons=move_frame(self.reasons),
        )


@dataclass(frozen=True, eq=False)
class SwapDetails(SearchDetails):
    """Decisions of swapping."""

    family: ClassVar[str] = "swapping"
    stored_fields: ClassVar[tuple[str, ...]] = (*SearchDetails.stored_fields, "share", "is_searched")
    pattern: tuple[str, ...] = ()
    """The columns by which records are identified."""
    share: float | None = None
    """The share of the identifiable records that were swapped."""
    is_searched: bool = True
    """Whether the changes were searched for, and not only drawn."""
    swaps: Any = None
    """Pairs of rows that exchanged their values."""
    changed_rows: npt.NDArray[np.int64] | None = None
    gap: float | None = None
    identifiable: Mapping[str, Any] | None = None
    """Column → how many records can be identified, by kind."""
    by_column: Mapping[str, Mapping[str, Any]] | None = None
    correlations: list[Mapping[str, Any]] | None = None
    """The association of two swapped columns, before and after."""

    def find_optimality(self) -> Optimality | None:
        """None of changes that were drawn, unless no others are possible."""
        return super().find_optimality() if self.is_searched or self.proven else None


@dataclass(frozen=True, eq=False)
class NoiseDetails(Details):
    """Decisions of noise; the published parameters are in `public`."""

    family: ClassVar[str] = "noise"
    loss: Mapping[str, float] | None = None
    """Column → the share of its published variance that is noise."""


@dataclass(frozen=True, eq=False)
class AnswerDetails(Details):
    """Decisions of randomized response; the published channels are in `public`."""

    family: ClassVar[str] = "answers"
    limits: Any = None
    """What the answers do not protect against, one sentence each."""


@dataclass(frozen=True, eq=False)
class SynthesisDetails(Details):
    """Decisions of synthesis."""

    family: ClassVar[str] = "synthesis"
    stored_fields: ClassVar[tuple[str, ...]] = ("holdout", "training")
    training: npt.NDArray[np.int64] | None = None
    """Original rows that the model was trained on."""
    holdout: npt.NDArray[np.int64] | None = None
    """Original rows that were set aside."""
    order: list[str] | None = None
    """The columns in the order in which they were drawn."""
    leaves: Mapping[str, int] | None = None
    smallest_leaf: Mapping[str, int] | None = None
    redrawn: int | None = None
    words_left_out: Mapping[str, int] | None = None


@dataclass(frozen=True, eq=False)
class HidingDetails(SearchDetails):
    """Decisions of methods that hide rules or items in baskets."""

    family: ClassVar[str] = "hiding"
    stored_fields: ClassVar[tuple[str, ...]] = (*SearchDetails.stored_fields, "sensitive")
    sensitive: tuple[Any, ...] | None = None
    """The rules or items that are hidden."""
    changes: Any = None
    """Every item that was added, removed or made unknown: row, item, what."""
    scans: int | None = None
    pruned_rules: int | None = None
    """Rules that disappeared as a side effect."""
    visible_rules: int | None = None
    """Rules about hidden items that are still visible; left sides that occur in the same baskets count once."""
    impossible: list[Any] | None = None
    gap: float | None = None
    lost_itemsets: int | None = None
    lost_bound: int | None = None


@dataclass(frozen=True, eq=False)
class PatternDetails(Details):
    """Decisions of methods that publish patterns."""

    family: ClassVar[str] = "patterns"
    channels: pl.DataFrame | None = None
    """The inference channels that were found."""
    min_support: int | None = None
    added_baskets: tuple[Any, ...] = ()
    """Invented baskets, with how often each was added."""
    rounds: int = 0
    complete: bool | None = None
    """Whether all databases that agree with the supports were considered; None if nothing was repaired."""
    rule_channels: pl.DataFrame | None = None
    """Of the inference channels, those that the rules as mined would disclose by themselves."""
    rule_changes: pl.DataFrame | None = None
    """The rules that the repair withheld, invented or changed, and why."""
    withheld_splits: pl.DataFrame | None = None
    """Splits of a classifier's tree that would predict better and disclose too much: the node, the condition, why."""


@dataclass(frozen=True, eq=False)
class SequenceDetails(SearchDetails):
    """Decisions of methods that anonymize or hide sequences."""

    family: ClassVar[str] = "sequences"
    stored_fields: ClassVar[tuple[str, ...]] = (*SearchDetails.stored_fields, "sensitive")
    passes: int | None = None
    """How often the tree was pruned."""
    is_single_pass: bool = False
    """Whether the method stops after one pass, which may leave rare sequences."""
    crowd: int | None = None
    """How many published sequences must contain what occurs in one of them; None if nothing is promised of that."""
    moved_sequences: int | None = None
    """Published sequences that a frequent one replaces; dropped ones are not among them."""
    sensitive: tuple[Any, ...] | None = None
    """The patterns that are hidden, each with the largest support that it may have."""
    marks: Any = None
    """Every item that was deleted, replaced or marked: row, position of its element, item."""
    edit: Literal["deleted", "replaced", "marked"] | None = None
    """What became of these items; some that are to be replaced are deleted."""
    gap: float | None = None
    min_support: int | float | None = None
    """The support from which no published pattern is new; None if the method adds none at any support."""


@dataclass(frozen=True, eq=False)
class CodeDetails(Details):
    """Decisions of methods that encode; secrets are in the key."""

    family: ClassVar[str] = "codes"
    pieces: Mapping[str, int] | None = None
    """Column → the number of pieces of its values."""


@dataclass(frozen=True, eq=False)
class ChainDetails(Details):
    """Decisions of several methods, in terms of the rows of the last release.

    A key returns the last method's value, and `sensitive` and `changes` the secrets and the changes of all of them.
    """

    steps: tuple[Details, ...] = ()

    def __getitem__(self, name: str) -> Any:
        """The value of the last method that sets it; secrets and changes are those of all methods."""
        if name in ("rows", "public"):
            return super().__getitem__(name)
        if name in ("sensitive", "changes") and (parts := [step[name] for step in self.steps if name in step]):
            return tuple(entry for part in parts for entry in part)
        for step in reversed(self.steps):
            if (value := step.get(name)) is not None:
                return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        """Every name that a method sets."""
        names = dict.fromkeys(name for step in self.steps for name in step if name not in ("rows", "public"))
        shared_names = [
            name for name in ("rows", "public") if len(getattr(self, name) if getattr(self, name) is not None else ())
        ]
        return iter([*shared_names, *names])

    def list_steps(self) -> tuple[Details, ...]:
        """The details of each method, in the order of the policy."""
        return self.steps

    def find_optimality(self) -> Optimality | None:
        """None: what each method proved about its own choice proves nothing about all of them."""
        return None

    def get_family(self, family: type[DetailsFamily]) -> DetailsFamily | None:
        """The details of the last method of a family."""
        return next(
            (details for step in reversed(self.steps) if (details := step.get_family(family)) is not None), None
        )

    def follow(self, order: npt.NDArray[np.int64]) -> Self:
        """Every step moves with its rows."""
        return replace(super().follow(order), steps=tuple(step.follow(order) for step in self.steps))


@dataclass(frozen=True, eq=False)
class GivenDetails(Details):
    """Values that someone states by name about data made elsewhere: they belong to no family, and no code takes them
    for one."""

    named_values: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """A value by its name."""
        return self.named_values[name] if name in self.named_values else super().__getitem__(name)

    def __iter__(self) -> Iterator[str]:
        """The names of the values."""
        return iter([*(name for name in super().__iter__() if name != "named_values"), *self.named_values])


def list_families() -> Mapping[str, type[Details]]:
    """Every family by its name."""
    return {kind.family: kind for kind in _walk_subclasses(Details) if "family" in vars(kind)}


def _walk_subclasses(kind: type[Details]) -> Iterator[type[Details]]:
    """A class, and all classes made of it."""
    yield kind
    for subclass in kind.__subclasses__():
        yield from _walk_subclasses(subclass)


def accept_details(values: Mapping[str, Any]) -> Details:
    """Details as they are, or values that someone gives by name; a name that no family has is a mistake."""
    if isinstance(values, Details):
        return values
    unknown = set(values) - {name for family in list_families().values() for name in family._list_names()}
    if unknown:
        raise PolicyError(f"unknown details: {', '.join(sorted(unknown))}")
    shared_names = Details._list_names()
    return GivenDetails(
        **{name: value for name, value in values.items() if name in shared_names},
        named_values={name: value for name, value in values.items() if name not in shared_names},
    )
