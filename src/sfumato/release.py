# SPDX-License-Identifier: MIT
"""What a method returns: data that may be published, claims about it, and its losses."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field

from sfumato.change import Change, ChangeKind, describe_changes
from sfumato.data.cells.published_words import keep_published_words
from sfumato.data.writing.table_writer import choose_missing_mark, write_frame
from sfumato.description import Description
from sfumato.details import Details, accept_details
from sfumato.errors import DataError
from sfumato.frame_conversion import convert_to_pandas, convert_to_polars
from sfumato.notebook import (
    STAYS,
    format_few_digits,
    name_roles,
    render_card,
    render_grid,
    render_rows,
    render_sentences,
)
from sfumato.published_law import PublishedLaw
from sfumato.suppression import NOTHING_SUPPRESSED, Suppression
from sfumato.table import Table

Number = int | float
CoveredRisk = Literal["", "people by their items", "other releases"]
"""A risk of which a verdict says that nobody looked at it, unless a claim or an attack does."""


class Claim(Description):
    """A property of a release with its threshold, and the name of the measure that checks it.

    The measure is looked up by name, in code that is independent of the method.
    """

    property: str
    """What is claimed, as a word: `k_anonymity`."""
    threshold: Number
    """The value that the measured one is compared with."""
    measure: str
    """The name of the measure that checks it."""
    bound: Literal["at_least", "at_most", "below", "exactly"] = "at_least"
    """The side of the threshold on which the measured value must be."""
    arguments: Mapping[str, str | int | float | tuple[str, ...]] = Field(default_factory=dict)
    """What the measure needs besides the data; nothing private."""
    needs_original: bool = False
    """Whether only someone with the originals can check it."""
    meaning: str = ""
    """The claim as a sentence."""

    def holds(self, measured_value: Number) -> bool:
        """Whether a measured value satisfies the claim; both are rounded to 12 digits, as measures are."""
        value, promised_value = round(measured_value, 12), round(self.threshold, 12)
        if self.bound == "at_least":
            return value >= promised_value
        if self.bound == "at_most":
            return value <= promised_value
        if self.bound == "below":
            return value < promised_value
        return value == promised_value


@dataclass(frozen=True)
class Finding:
    """A claim with its measured value."""

    property: str
    """What was claimed, such as `k_anonymity`."""
    threshold: Number
    """The promised value."""
    bound: str
    """The side of the threshold on which the measured value must be."""
    measured: Number | None
    """None if the measure needs the originals and they are not available."""
    holds: bool | None
    """None if nothing was measured."""
    needs_original: bool
    """Whether the measure needs the originals."""
    meaning: str
    """The claim in words."""
    column: str | None = None
    """The column that it is about, which distinguishes claims of the same property."""

    @classmethod
    def of(cls, claim: Claim, measured_value: Number | None) -> Finding:
        """Compare a claim with a measured value."""
        holds = None if measured_value is None else claim.holds(measured_value)
        column = claim.arguments.get("column")
        return cls(
            property=claim.property,
            threshold=claim.threshold,
            bound=claim.bound,
            measured=measured_value,
            holds=holds,
            needs_original=claim.needs_original,
            meaning=claim.meaning,
            column=column if isinstance(column, str) else None,
        )

    def title(self) -> str:
        """The property, and the column that it is about."""
        return self.property if self.column is None else f'{self.property} of "{self.column}"'

    def as_certified(self) -> dict[str, Any]:
        """The fields of a certificate, which names the column among the arguments of the measure."""
        fields = asdict(self)
        del fields["column"]
        return fields


@dataclass(frozen=True, repr=False)
class Release:
    """Data that may be published, the method that made it, its claims and its losses. It holds no secret key.

    `data` is rebuilt when a release is made, so that its memory holds only published values: any library may write
    or pickle it. `method` and `details` stay with the custodian: a pickled release has neither, like the one that
    `read_release` returns.
    """

    data: Any
    """A `Table`, `Baskets`, `Sequences` or `Patterns`."""
    method: Any
    """The `Method` that made it."""
    claims: tuple[Claim, ...]
    """What is promised about the data."""
    losses: Mapping[str, Number]
    """What the release costs an analyst, by the name of the measure."""
    details: Details = field(default_factory=Details)
    """The method's decisions: private, they stay with the custodian. Of data made elsewhere, values by name."""
    changes: tuple[Change, ...] = ()
    """What was done to each column, as the methods state it; measured again on the written file."""
    earlier_methods: tuple[Any, ...] = ()
    """The methods of the policy before `method`, in order."""
    suppression: Suppression = NOTHING_SUPPRESSED
    """What was done with rows that were suppressed or left out, as the methods state it."""

    def __post_init__(self) -> None:
        """Copy the data out of the memory it shares with the originals, and drop ids, which name owners."""
        object.__setattr__(self, "details", accept_details(self.details))
        if isinstance(self.data, Table):
            object.__setattr__(self, "data", self.data.to_release())
        elif getattr(self.data, "ids", None) is not None:
            object.__setattr__(self, "data", replace(self.data, ids=None))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what a certificate would tell: data, claims, ε, and the published noise parameters.

        Exact losses compare with the originals, and arguments of claims list values that were suppressed.
        """
        public = Details(public=dict(self.public))
        public_changes = tuple(replace(change, loss=None) for change in self.changes)
        losses = {"epsilon": self.losses["epsilon"]} if "epsilon" in self.losses else {}
        return Release, (self.data, None, self._list_outgoing_claims(), losses, public, public_changes)

    def _list_outgoing_claims(self) -> tuple[Claim, ...]:
        frame = self.data.frame if isinstance(self.data, Table) else None
        return tuple(
            claim.model_copy(update={"arguments": keep_published_words(claim.arguments, frame)})
            for claim in self.claims
        )

    def __copy__(self) -> Release:
        """A copy for the custodian, with its method and details."""
        return replace(self)

    def __deepcopy__(self, memo: Any) -> Release:
        """A deep copy for the custodian, with its method and details."""
        values = {entry.name: deepcopy(getattr(self, entry.name), memo) for entry in fields(self)}
        return Release(**values)

    def list_steps(self) -> tuple[Release, ...]:
        """The release as each method of the policy states it, in order: the same data, its own method and details.

        Code that needs a parameter of a method asks the step of that method: in a policy of several methods, `method`
        is only the last one.
        """
        if not self.earlier_methods:
            return (self,)
        rows, public = self.details.rows, self.details.public
        return tuple(
            replace(self, method=method, details=replace(details, rows=rows, public=public), earlier_methods=())
            for method, details in zip((*self.earlier_methods, self.method), self.details.list_steps(), strict=True)
        )

    def find_step(self, family: type[Details]) -> Release | None:
        """The last step whose method is of a family; None if there is none."""
        return next((step for step in reversed(self.list_steps()) if isinstance(step.details, family)), None)

    @property
    def public(self) -> Mapping[str, PublishedLaw]:
        """Per column, how it was randomized: analysts need it for estimates. It leaves."""
        return self.details.public

    def __repr__(self) -> str:
        """The kind of data, the method's tag, and counts."""
        method = "" if self.method is None else f" by {self.method.method}"
        loss = f", loss {self.losses['loss']:.3g}" if "loss" in self.losses else ""
        kind = f"{type(self.data).__name__} of {len(self.data):,}"
        return f"Release({kind}{method}, {len(self.claims)} claims{loss})"

    def _repr_html_(self) -> str:
        """The first rows, with roles and changes in the head, and the claims."""
        notes: dict[str, list[str]] = {}
        if isinstance(self.data, Table):
            notes = name_roles(self.data.frame.columns, self.data.roles)
            for column, lines in notes.items():
                lines.append(describe_changes(self.list_column_changes(column)))
        claims = [(c.property.replace("_", " "), f"{c.bound.replace('_', ' ')} {c.threshold:g}") for c in self.claims]
        losses = [(name.replace("_", " "), format_few_digits(value)) for name, value in self.losses.items()]
        return render_card(
            repr(self),
            render_rows(self.to_polars(), notes),
            render_grid(("claim", "promised"), claims) if claims else "",
            render_grid(("loss", ""), losses) + render_sentences([STAYS]) if losses else "",
        )

    def to_polars(self) -> pl.DataFrame:
        """The data as a polars frame: a table, or lists of items."""
        return convert_to_polars(self.data)

    def to_arrow(self) -> Any:
        """The data as a pyarrow table."""
        return self.to_polars().to_arrow()

    def to_pandas(self, *, index: bool = True) -> Any:
        """The data as a pandas frame, with the index of the originals if they were a pandas frame that had one.

        The index is the custodian's: it links published rows to the originals. Nothing that is published has it; give
        `index=False` for a frame that you hand over.
        """
        return convert_to_pandas(self.to_polars(), getattr(self.data, "row_labels", None) if index else None)

    def to_csv(self, path: str | Path) -> None:
        """Write the data alone as a CSV file; `sf.run(...).save(folder)` also writes a certificate."""
        frame = self.to_polars()
        write_frame(frame, Path(path), "csv", choose_missing_mark(frame))

    def list_column_changes(self, column: str) -> tuple[Change, ...]:
        """What was done to one column, method by method."""
        return tuple(change for change in self.changes if change.column == column)

    @property
    def are_rows_drawn(self) -> bool:
        """Whether a method drew the published rows from a model, so that none belongs to a person, as it states."""
        methods = [method for method in (*self.earlier_methods, self.method) if method is not None]
        return any(method.draws_rows(method.describe()) for method in methods)

    def list_readable_columns(self) -> tuple[str, ...]:
        """The quasi-identifying columns of a table that hold no codes: by these, people can be linked."""
        if not isinstance(self.data, Table):
            return ()
        return tuple(
            name for name in self.data.quasi_identifying if ChangeKind.CODED not in self.list_column_kinds(name)
        )

    def list_column_kinds(self, column: str) -> frozenset[ChangeKind]:
        """The kinds of change of one column."""
        return frozenset(change.kind for change in self.list_column_changes(column))


def label_rows(release: Release, original: Any) -> None:
    """Keep the pandas index of the originals with the published rows; synthetic rows have no original."""
    labels, rows = getattr(original, "row_labels", None), release.details.rows
    if labels is None or rows is None or release.are_rows_drawn:
        return
    object.__setattr__(release.data, "row_labels", labels.take(rows))  # `data` was rebuilt: nobody else holds it


def refuse_other_order(release: Any, original: Any) -> None:
    """Say so if the originals stand where the release should, or if either is still a frame of another library."""
    if hasattr(release, "release"):
        raise DataError(f"expected a Release, got {type(release).__name__}: give run.release")
    if not hasattr(release, "data"):
        raise DataError(
            f"the release comes first, and then the originals; the first argument is {type(release).__name__}, and a "
            "release is what method.protect(table) returns"
        )
    if isinstance(original, Mapping) or type(original).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow"):
        raise DataError(
            f"the originals are a Table, not {type(original).__name__}: give sf.Table.of(df, roles={{...}}), with the "
            "roles that the release was made with"
        )
