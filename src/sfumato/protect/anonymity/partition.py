# SPDX-License-Identifier: MIT
"""Partition: cut the table into small parts of similar people, and publish each part's ranges and sets.

Against an adversary who knows somebody's quasi-identifying values. Every part is generalized separately (local
recoding), so far less is lost than with one level for a whole column. What leaks: the ends of every range and the
members of every set are values of people in it, and everything that the members of a class share. LeFevre, DeWitt,
Ramakrishnan, Mondrian (2006); the clusters inside small parts as in Byun et al. (2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Codes, Ints
from sfumato.change import ChangeKind, state_changes
from sfumato.details import AnonymityDetails
from sfumato.errors import ImpossibleRelease
from sfumato.progress import report_progress
from sfumato.protect.anonymity.any_model import AnyModel
from sfumato.protect.anonymity.k_member import choose_block_size, cluster_in_blocks, list_nested_blocks
from sfumato.protect.anonymity.model_columns import refuse_unfit_models
from sfumato.protect.anonymity.models import KAnonymity
from sfumato.protect.anonymity.participants import select_participants
from sfumato.protect.anonymity.partition_columns import PartitionColumns, PartLabels, Publish
from sfumato.protect.anonymity.parts import GroupJudge, RowParts, cut_into_parts
from sfumato.protect.anonymity.sensitive_values import SensitiveColumn
from sfumato.protect.claims import claim_nobody_named, claim_nothing_untrue
from sfumato.protect.footprint import Footprint, trace_classes
from sfumato.protect.method import Method
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.table import Table

_LARGEST_KEY = 1 << 62


class Partition(Method):
    """Cut the table into parts repeatedly while both sides are safe, and publish what each part spans.

    Guarantee: every class of published rows satisfies all models, no row is suppressed, and every published cell covers
    its original. Against: an adversary who knows quasi-identifying values of anybody and links (prosecutor). Limits:
    cuts are chosen greedily, so the release is good, not optimal; ranges overlap between classes, which analysts must
    handle; the ends of ranges are real values of somebody; sensitive values are published unchanged; two releases of
    the same people can be combined to break both. Papers: LeFevre, DeWitt, Ramakrishnan 2006; Byun, Kamra, Bertino, Li
    2007.
    """

    iso_20889: ClassVar[str] = "generalization (local)"
    hides_in_crowds: ClassVar[bool] = True
    public_fields: ClassVar[tuple[str, ...]] = ("models", "relaxed", "publish", "refine")

    method: Literal["partition"] = "partition"
    models: tuple[AnyModel, ...] = Field(min_length=1)
    """What every class of published rows must satisfy."""
    relaxed: bool = False
    """Whether equal values may fall on both sides of a cut: smaller classes, but more is lost."""
    publish: Publish = "ranges"
    """`ranges`: numbers, dates and times as ranges, others as sets if these fit on a line; `hierarchy`: the lowest
    label that covers a class's values."""
    refine: bool = True
    """Whether the rows of small parts are clustered instead of cut, if that loses less."""

    def footprint(self, data: Table) -> Footprint:
        """The quasi-identifying columns, and those that the models judge."""
        judged = (name for model in self.models for name in model.columns())
        return trace_classes(data, judged, survives_blanks=all(isinstance(model, KAnonymity) for model in self.models))

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Cut the table into parts, cluster the rows of small ones, publish each part's labels."""
        refuse_unfit_models(self.models, data)
        table, rows = select_participants(data, overlapping=True)
        report_progress("encoding the table")
        judge = GroupJudge(table, self.models)
        self._refuse_impossible(table, judge)
        columns = PartitionColumns.of(data, self.publish, judge.least)
        parts = self._parts(RowParts.whole(columns.cells(table)), columns, judge)
        report_progress("publishing")
        published = _PublishedParts.of(parts, columns)
        recoded = _recode_parts(table, published, parts.of_row)
        return Release(
            data=recoded,
            method=self,
            claims=self._claims(table),
            losses=published.losses(columns) | {"dropped_rows": len(data) - len(rows)},
            details=AnonymityDetails(
                without_hierarchy=tuple(name for name in table.quasi_identifying if name not in table.hierarchies),
                rows=rows,
                suppressed=np.zeros(0, dtype=np.int64),
                classes=len(published.classes),
                parts=len(parts.starts) - 1,
            ),
            changes=state_changes(self, table, recoded, published.kinds(table)),
        )

    def _parts(self, whole: RowParts, columns: PartitionColumns, judge: GroupJudge) -> RowParts:
        report_progress("cutting the table")
        largest = choose_block_size(len(whole.order), judge) if self.refine else None
        if largest is None:
            return cut_into_parts(whole, columns, judge, 0, self.relaxed)
        blocks = cut_into_parts(whole, columns, judge, largest, self.relaxed)
        within = list_nested_blocks(blocks, columns, judge, largest, self.relaxed)
        return cluster_in_blocks(within, cut_into_parts(blocks, columns, judge, 0, self.relaxed), columns, judge)

    def _refuse_impossible(self, table: Table, judge: GroupJudge) -> None:
        everybody = np.zeros(len(table), dtype=np.int32)
        if not judge.refused(everybody).any():
            return
        names = [model.model for model in self.models if GroupJudge(table, (model,)).refused(everybody).any()]
        raise ImpossibleRelease(
            f"even all {len(table)} rows as a single class do not satisfy {', '.join(names)}; relax "
            f"{'it' if len(names) == 1 else 'them'} (k = {len(table)} at most), or add rows"
        )

    def _claims(self, table: Table) -> tuple[Claim, ...]:
        # No row is suppressed: a row of stars is an ordinary row, of people who have nothing in common.
        arguments = {"starred_rows": "class"}
        sensitive = {name: SensitiveColumn.of(table, name) for model in self.models for name in model.columns()}
        models = (claim for model in self.models for claim in model.claims(arguments, sensitive))
        return (*models, claim_nobody_named(table), claim_nothing_untrue())


@dataclass(frozen=True)
class _PublishedParts:
    """The labels of every column, and the classes that parts with equal labels form together."""

    labels: tuple[PartLabels, ...]
    sizes: Ints
    """Rows of each part."""
    classes: Ints
    """Rows of each class."""

    def kinds(self, table: Table) -> dict[str, ChangeKind]:
        """The quasi-identifying columns in which a label covers several values."""
        named = zip(table.quasi_identifying, self.labels, strict=True)
        return {name: ChangeKind.RANGES for name, labels in named if labels.changed}

    @classmethod
    def of(cls, parts: RowParts, columns: PartitionColumns) -> _PublishedParts:
        from sfumato.kernels.anonymity.partition import list_distinct_places

        labels = tuple(
            column.labels(*list_distinct_places(parts.cells, number, parts.starts, column.leaves))
            for number, column in enumerate(columns.each)
        )
        sizes = np.diff(parts.starts)
        return cls(labels, sizes, _count_label_classes(labels, sizes))

    def losses(self, columns: PartitionColumns) -> dict[str, Number]:
        rows = int(self.sizes.sum())
        lost = Fraction()
        for column, labels in zip(columns.each, self.labels, strict=True):
            lost += Fraction(int(labels.lost[labels.of_part] @ self.sizes), column.scale * rows)
        return {
            "loss": float(lost / len(columns.each)),
            "discernibility": int(self.classes @ self.classes),
            "height": 0,
            "average_class_size": rows / len(self.classes),
            "suppressed_rows": 0,
        }


def _count_label_classes(labels: Sequence[PartLabels], sizes: Ints) -> Ints:
    """Rows for each distinct combination of labels; equal texts are one label."""
    key, radix = np.zeros(len(sizes), dtype=np.int64), 1
    for column in labels:
        number = {text: position for position, text in enumerate(dict.fromkeys(column.texts))}
        same = np.array([number[text] for text in column.texts], dtype=np.int64)[column.of_part]
        if radix * len(number) > _LARGEST_KEY:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64).ravel()
            radix = len(sizes)
        key, radix = key * len(number) + same, radix * len(number)
    of_part = np.unique(key, return_inverse=True)[1].ravel()
    return np.bincount(of_part, weights=sizes).astype(np.int64)


def _recode_parts(table: Table, published: _PublishedParts, of_row: Codes) -> Table:
    """The table with every part's labels; a column without changes stays as it is."""
    frame = table.frame.drop(table.identifying)
    for name, labels in zip(table.quasi_identifying, published.labels, strict=True):
        if labels.changed:
            texts = pl.Series(name, labels.texts, dtype=pl.String)
            frame = frame.with_columns(texts.gather(labels.of_part[of_row]).alias(name))
    return table.with_frame(frame)
