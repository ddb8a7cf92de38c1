# SPDX-License-Identifier: MIT
"""Synthetic data: publish drawn rows instead of people's, or drawn values instead of some of their cells.

Against an adversary who looks for someone's row: with `kind = "full"` no row is anybody's. Columns are drawn one after
another from trees grown on the earlier columns, as in synthpop. What leaks: everything that trees learn about groups of
`min_leaf` people, and rows that happen to equal, or nearly equal, someone's; with `rare = "keep"` or without `smooth`
also values that few people have. Synthetic data is not anonymous by itself; people set aside (`holdout`) show how much
is learned about the others. D. B. Rubin (1993); J. P. Reiter (2005); B. Nowok, G. M. Raab, C. Dibben, *synthpop:
bespoke creation of synthetic data in R* (Journal of Statistical Software 2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from sfumato.arrays import Ints
from sfumato.bound_words import format_limit
from sfumato.change import ChangeKind, state_changes
from sfumato.details import SynthesisDetails
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, count_noun, quote_names
from sfumato.protect.claims import claim_nobody_named, claim_with_originals
from sfumato.protect.footprint import Footprint, trace_all_columns, trace_columns
from sfumato.protect.method import Method
from sfumato.protect.named_columns import ask_published
from sfumato.protect.number_spelling import NumberSpelling
from sfumato.protect.synthesis.sequential_trees import ColumnModel, TreeGrowth, draw_rows, fit_models
from sfumato.protect.synthesis.synthesis_columns import (
    MOST_CLASSES,
    DrawnCells,
    SynthesisColumn,
    refuse_infinite_cells,
    settle_digits,
)
from sfumato.protect.synthesis.synthesis_copies import build_drawn_frame, redraw_copies
from sfumato.protect.synthesis.synthesis_utility import measure_pair_loss
from sfumato.public.synthetic_law import SyntheticLaw
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table


class Synthesize(Method):
    """Draw a table from trees that were grown on people, column by column.

    Guarantee: no column with the role `identifying` is published. Every drawn value comes from a leaf of at least
    `min_leaf` people, who agree in what the tree asks about the earlier columns. No drawn word is one that fewer than
    `min_leaf` people have, unless `rare = "keep"`. With `smooth` no drawn number lies beyond what at least `min_leaf`
    people reach; dates, times and amounts that a column spells as text, all in the same format, also count as numbers.
    With `kind = "full"` no row is made from one person, and with `copies = "redraw"` none equals the row of someone who
    is unique in the originals. With `kind = "partial"` all cells but those of the named columns stay unchanged, and the
    rare words and extreme numbers among them are published. Against: an adversary who looks for a person's row in the
    release and takes the rest of it for theirs. Limits: synthetic data is not anonymous by itself, and this is not
    differential privacy. A leaf whose people agree discloses their value. Anyone who knows how the release was made
    learns a little from the absence of a likely row, and that absence changes the data if many people are unique. A
    partial release shows everybody's other cells, so everybody can be found by them, and every drawn value may be the
    true one. Measure how much is learned about people beyond what is learned about anybody, with people set aside:
    `CopiedRecords`, `SinglingOut`, `Linkability`, `Inference`. Papers: Rubin 1993; Reiter 2005; Nowok, Raab, Dibben
    2016.
    """

    by_chance: ClassVar[bool] = True
    draws_columns_together: ClassVar[bool] = True
    truthful: ClassVar[bool] = False
    utility = "chance"
    section = "synthesis"
    iso_20889: ClassVar[str] = "synthetic data"
    loss_meaning: ClassVar[str] = (
        "How far the joint distribution of two columns moved (total variation), mean over all pairs."
    )
    kept_meaning: ClassVar[tuple[str, str]] = ("alike, columns in pairs", "mean overlap of joint distributions")
    threshold_fields: ClassVar[Mapping[str, str]] = {"people_at_extremes": "min_leaf", "nearer_training": "most_nearer"}
    change_kinds: ClassVar[frozenset[ChangeKind]] = frozenset({ChangeKind.DRAWN})
    public_fields: ClassVar[tuple[str, ...]] = (
        "kind",
        "columns",
        "order",
        "min_leaf",
        "smooth",
        "rows",
        "holdout",
        "copies",
        "most_nearer",
        "rare",
    )
    column_fields: ClassVar[tuple[str, ...]] = ("columns", "order")

    method: Literal["synthesize"] = "synthesize"
    kind: Literal["full", "partial"] = "full"
    """`full` draws whole rows; `partial` draws only some columns again, for everybody."""
    columns: tuple[str, ...] | None = None
    """The columns that `partial` draws again, by default the quasi-identifying and sensitive ones; `full` draws all
    that are published."""
    order: tuple[str, ...] | None = None
    """Which columns are drawn first; others follow in the order of the table, words of many categories last."""
    min_leaf: int = Field(default=10, ge=1, strict=True)
    """The smallest number of people from whom a value is drawn."""
    smooth: bool = True
    """Whether numbers that fewer than `min_leaf` people have are moved towards the next one in their leaf, and numbers
    beyond what `min_leaf` people reach are pulled back to a point of a coarse grid, since the number itself is
    someone's. If a hierarchy lists the values, they stay among them; if these are sparse in their range and of few
    people each, as days of birth are, numbers move freely, and the release is without that hierarchy. Numbers have as
    many decimals as `min_leaf` people need, and are whole if that is none; timestamps are as fine as `min_leaf` people
    need. With false, numbers are published unchanged."""
    rows: int | None = Field(default=None, ge=1)
    """How many rows `full` draws; by default as many as there are originals."""
    holdout: float | None = Field(default=None, ge=0.0, le=0.5)
    """The share of people that are set aside, at most 0.5: nothing is learned from them, so that what the release
    discloses about the others can be compared with what it says about them. By default 0.2; 0 with `partial`, which
    shows everybody."""
    copies: Literal["redraw", "allow"] | None = None
    """Whether a row that equals a unique original is drawn again, with the same words and missing cells if possible; if
    many people are unique, this changes the data. By default `redraw` with `full`; `partial` allows copies, since a
    value that is never the true one would disclose which it is not."""
    most_nearer: float | None = Field(default=None, ge=0.0, le=1.0)
    """The largest share of synthetic rows that may be nearer to a person learned from than to one set aside; 0.5 is
    fair. If given, it is claimed, so that a release above it is refused."""
    rare: Literal["redraw", "keep"] = "redraw"
    """What happens to categories that fewer than `min_leaf` training people have. `redraw` never draws them: it draws
    a category of others who agree in the earlier columns. A column in which three of four people have such a category
    is refused. `keep` publishes them."""

    @model_validator(mode="after")
    def _check_kind_options(self) -> Synthesize:
        if self.kind == "partial":
            options = {"rows": self.rows, "holdout": self.holdout or None, "most_nearer": self.most_nearer}
            given_options = [name for name, value in options.items() if value is not None]
            if given_options or self.copies == "redraw":
                raise ValueError(
                    f"a partial release keeps every person's row: {', '.join(given_options) or 'copies = redraw'} is "
                    "for full ones"
                )
        elif self.most_nearer is not None and self.holdout == 0:
            raise ValueError("most_nearer compares with people set aside: holdout must be above 0")
        return self

    @property
    def _set_aside(self) -> float:
        return (0.0 if self.kind == "partial" else 0.2) if self.holdout is None else self.holdout

    @classmethod
    def draws_rows(cls, parameters: Mapping[str, Any]) -> bool:
        """Every row of a full release is drawn."""
        return bool(parameters.get("kind", "full") == "full")

    @classmethod
    def list_change_kinds(cls, parameters: Mapping[str, Any]) -> Mapping[str, ChangeKind] | None:
        """Named columns are drawn; the roles say which if none is named."""
        return None if parameters["columns"] is None else dict.fromkeys(parameters["columns"], ChangeKind.DRAWN)

    @property
    def must_be_alone(self) -> bool:
        """A full release has no row of the originals."""
        return self.kind == "full"

    def footprint(self, data: Table) -> Footprint:
        """The drawn columns; what is drawn depends on all of them."""
        full_trace = trace_all_columns(data)
        if self.kind == "full":
            return full_trace
        trace = trace_columns(self.columns or (*data.quasi_identifying, *data.sensitive))
        return replace(trace, reads=full_trace.reads)

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Set people aside, grow a tree for each column on the earlier columns, and draw."""
        chance = (randomness or Randomness.secure()).generator()
        names = self._list_published(data)
        people = self._split_people(len(data), chance, data.source)
        report_progress("encoding the table")
        frame, learnt_columns, drawn_columns = self._encode_columns(data, names, people.learnt_rows)
        kept_names = [name for name in names if name not in drawn_columns]
        growth = TreeGrowth(self.min_leaf, self.smooth, int(chance.integers(1 << 31)), self.rare == "keep")
        models = fit_models(
            [learnt_columns[n] for n in drawn_columns], [learnt_columns[n] for n in kept_names], growth, data.source
        )
        count = len(data) if self.rows is None else self.rows
        rows = draw_rows(models, count, chance, {name: DrawnCells.keep(learnt_columns[name]) for name in kept_names})
        redrawn = 0
        if self.kind == "full" and self.copies != "allow":
            redrawn = redraw_copies(frame, models, learnt_columns, rows, chance, data.source)
        published_frame = build_drawn_frame(names, learnt_columns, rows)
        published_table = self._drop_unlisted_hierarchies(
            data.replace_frame(published_frame), learnt_columns, drawn_columns
        )
        return Release(
            data=published_table,
            method=self,
            claims=self._list_claims(data, learnt_columns, drawn_columns, kept_names),
            losses=self._measure_losses(frame, published_frame, learnt_columns, drawn_columns, redrawn),
            details=self._build_details(people, models, count, chance, redrawn),
            changes=state_changes(self, data, published_table, dict.fromkeys(drawn_columns, ChangeKind.DRAWN)),
        )

    def _encode_columns(self, table: Table, names: list[str], learnt_rows: Ints) -> _EncodedColumns:
        """The columns as models learn them; smooth ones with as many digits as enough people have."""
        frame = table.frame.select(names)
        refuse_infinite_cells(frame, table.source)
        spellings = {name: NumberSpelling.of(frame[name]) for name in names}
        columns = {
            name: SynthesisColumn.of(frame[name][learnt_rows], table.source, name in table.hierarchies, spellings[name])
            for name in names
        }
        drawn_columns = self._list_drawn_columns(table, columns)
        if self.smooth:
            fine = [name for name in drawn_columns if frame.schema[name].is_float() or spellings[name] is not None]
            loose = [name for name in fine if name not in table.hierarchies]
            frame = frame.with_columns(
                settle_digits(frame[name], learnt_rows, self.min_leaf, spellings[name]) for name in loose
            )
            for name in loose:
                spelling = NumberSpelling.of(frame[name])
                columns[name] = SynthesisColumn.of(frame[name][learnt_rows], table.source, spelling=spelling)
        return _EncodedColumns(frame, columns, drawn_columns)

    def _list_published(self, table: Table) -> list[str]:
        names = [name for name in table.frame.columns if name not in table.identifying]
        if not len(table) or not names:
            raise DataError(f"{table.source}: the table has no {'columns to publish' if len(table) else 'rows'}")
        return names

    def _split_people(self, count: int, chance: np.random.Generator, source: str) -> _PeopleRows:
        """Who is learned from, and who is set aside."""
        aside = round(self._set_aside * count)
        if count - aside < self.min_leaf:
            raise ImpossibleRelease(
                f"{source}: only {count_noun(count - aside, 'person', 'people')} can be learned from, and none may be "
                f"drawn from fewer than min_leaf = {self.min_leaf}; add people or lower min_leaf"
            )
        order = chance.permutation(count).astype(np.int64) if aside else np.arange(count, dtype=np.int64)
        return _PeopleRows(np.sort(order[aside:]), np.sort(order[:aside]))

    def _list_drawn_columns(self, table: Table, learnt_columns: Mapping[str, SynthesisColumn]) -> list[str]:
        """The columns that are drawn, in order."""
        names = list(learnt_columns)
        if self.columns is not None:
            self._refuse_strange("columns", self.columns, names, table)
            if self.kind == "full" and set(self.columns) != set(names):
                raise PolicyError(
                    f"{table.source}: a full release draws all {len(names)} columns, but `columns` names "
                    f"{len(self.columns)}; set kind = partial, or omit `columns`"
                )
        drawn_names = set(names)
        if self.kind == "partial":
            drawn_names = set(self.columns or (*table.quasi_identifying, *table.sensitive))
            if not drawn_names:
                raise PolicyError(f"{table.source}: there is nothing to draw; name `columns`")
        self._refuse_strange("order", self.order or (), [name for name in names if name in drawn_names], table)
        first = list(self.order or ())
        rest = [name for name in names if name in drawn_names and name not in first]
        return [*first, *sorted(rest, key=lambda name: _has_many_words(learnt_columns[name]))]

    def _refuse_strange(self, field: str, given_names: Sequence[str], known_names: Sequence[str], table: Table) -> None:
        strange = [name for name in given_names if name not in known_names]
        if strange or len(set(given_names)) < len(given_names):
            raise PolicyError(
                f"{table.source}: `{field}` names {quote_names(strange) or 'a column twice'}; it must "
                f"name different columns that are published and drawn{ask_published(table, strange)}"
            )

    def _drop_unlisted_hierarchies(
        self, published_table: Table, learnt_columns: Mapping[str, SynthesisColumn], drawn_columns: Sequence[str]
    ) -> Table:
        """Remove the hierarchies that do not list what was drawn."""
        moved_names = [
            name
            for name in drawn_columns
            if self.smooth
            and learnt_columns[name].kind == "number"
            and learnt_columns[name].list_allowed(self.min_leaf) is None
        ]
        hierarchies = {
            name: hierarchy for name, hierarchy in published_table.hierarchies.items() if name not in moved_names
        }
        return replace(published_table, hierarchies=MappingProxyType(hierarchies))

    @classmethod
    def find_row_count(cls, parameters: Mapping[str, Any]) -> int | None:
        """Its parameter, if whole rows are drawn."""
        count = parameters.get("rows")
        return count if isinstance(count, int) and cls.draws_rows(parameters) else None

    def state_claims(self, table: Table) -> tuple[Claim, ...]:
        """That nothing else was changed: the other claims are about what the columns hold."""
        return (_claim_only_drawn(()),) if self.kind == "partial" else ()

    def _list_claims(
        self,
        table: Table,
        learnt_columns: Mapping[str, SynthesisColumn],
        drawn_columns: Sequence[str],
        kept_names: Sequence[str],
    ) -> tuple[Claim, ...]:
        claims = []
        numbers = tuple(
            name for name in drawn_columns if learnt_columns[name].kind == "number" and len(learnt_columns[name].values)
        )
        if self.smooth and numbers:
            meaning = f"At least {self.min_leaf} people reach the highest and the lowest of every number"
            meaning += "." if self.kind == "full" else f" drawn for {quote_names(numbers)}. {_NOT_DRAWN}"
            claims.append(
                claim_with_originals("people_at_extremes", self.min_leaf, "at_least", {"columns": numbers}, meaning)
            )
        words = tuple(
            name
            for name in drawn_columns
            if learnt_columns[name].kind == "category" and len(learnt_columns[name].values)
        )
        if self.rare == "redraw" and words:
            meaning = f"At least {self.min_leaf} people have every word that was drawn"
            meaning += "." if self.kind == "full" else f" for {quote_names(words)}. {_NOT_DRAWN}"
            arguments = {"fewest": self.min_leaf, "columns": words}
            claims.append(claim_with_originals("rare_words", 0, "exactly", arguments, meaning))
        if self.kind == "partial":
            claims.append(_claim_only_drawn(kept_names))
        elif self.copies != "allow":
            claims.append(
                claim_with_originals("copied_uniques", 0, "exactly", {}, "No row equals an original that is unique.")
            )
        if self.most_nearer is not None:
            meaning = (
                f"A share of at most {format_limit(self.most_nearer)} of the synthetic rows is closer to training "
                "people than to equally many held-out people."
            )
            claims.append(claim_with_originals("nearer_training", self.most_nearer, "at_most", {}, meaning))
        return (*claims, claim_nobody_named(table))

    def _measure_losses(
        self,
        original: pl.DataFrame,
        published_frame: pl.DataFrame,
        learnt_columns: Mapping[str, SynthesisColumn],
        drawn_columns: Sequence[str],
        redrawn: int,
    ) -> dict[str, Number]:
        report_progress("comparing before and after")
        words = [name for name in drawn_columns if learnt_columns[name].kind == "category"]
        rare = sum(_count_rare_cells(original[name], published_frame[name], self.min_leaf) for name in words)
        replaced_share = (
            sum(learnt_columns[name].measure_rare_share(self.min_leaf) for name in words)
            if self.rare == "redraw"
            else 0.0
        )
        return {
            "loss": measure_pair_loss(
                *(_read_text_numbers(frame, learnt_columns) for frame in (original, published_frame))
            ),
            "redrawn_rows": redrawn,
            "rare_words": rare / max(published_frame.height * len(words), 1),
            "replaced_words": replaced_share / max(len(words), 1),
        }

    def _build_details(
        self, people: _PeopleRows, models: Sequence[ColumnModel], count: int, chance: np.random.Generator, redrawn: int
    ) -> SynthesisDetails:
        details: dict[str, Any] = {"rows": np.arange(count, dtype=np.int64)}
        if self.kind == "full":
            # No row is anybody's: these are the people that attacks target, in no order.
            rows = np.resize(chance.permutation(people.learnt_rows), count)
            details = {"rows": rows, "training": people.learnt_rows, "holdout": people.aside}
        grown_leaves = {model.column.name: model.values for model in models if model.values is not None}
        return SynthesisDetails(
            **details,
            public={model.column.name: SyntheticLaw() for model in models},
            order=[model.column.name for model in models],
            leaves={name: len(leaves.sizes) for name, leaves in grown_leaves.items()},
            smallest_leaf={name: leaves.smallest for name, leaves in grown_leaves.items()},
            redrawn=redrawn,
            words_left_out={
                model.column.name: int((model.column.counts < self.min_leaf).sum())
                for model in models
                if model.column.kind == "category" and self.rare == "redraw"
            },
        )


_NOT_DRAWN = "Of other columns this is not claimed."


@dataclass(frozen=True, eq=False)
class _PeopleRows:
    """Row numbers of the originals."""

    learnt_rows: Ints
    aside: Ints


class _EncodedColumns(NamedTuple):
    """The columns of a table as models learn them."""

    frame: pl.DataFrame
    """All rows, with the digits that are published."""
    learnt_columns: dict[str, SynthesisColumn]
    drawn_columns: list[str]
    """The columns to draw, in order."""


def _claim_only_drawn(kept_names: Sequence[str]) -> Claim:
    meaning = "Nothing but the drawn columns was changed."
    return claim_with_originals("kept_cells_changed", 0, "exactly", {"columns": tuple(kept_names)}, meaning)


def _has_many_words(column: SynthesisColumn) -> bool:
    return column.kind == "category" and len(column.values) > MOST_CLASSES


def _read_text_numbers(frame: pl.DataFrame, learnt_columns: Mapping[str, SynthesisColumn]) -> pl.DataFrame:
    """Numbers that are kept as text, as numbers."""
    spellings = {name: column.spelling for name, column in learnt_columns.items()}
    return frame.with_columns(
        spelling.read(frame[name]).alias(name) for name, spelling in spellings.items() if spelling is not None
    )


def _count_rare_cells(original: pl.Series, published_cells: pl.Series, fewest: int) -> int:
    """How many cells hold a word that fewer than this many people have."""
    word_counts = original.drop_nulls().alias("word").value_counts(name="people")
    rare = word_counts.filter(pl.col("people") < fewest)["word"]
    return int(published_cells.is_in(rare.implode()).sum())
