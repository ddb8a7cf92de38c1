# SPDX-License-Identifier: MIT
"""Partition: cut the table into small parts of similar people, and publish each part's ranges and sets.

Against an adversary who knows someone's quasi-identifying values. Every part is generalized separately (local
recoding), so far less is lost than with one level for a whole column. What leaks: the ends of every range and the
members of every set are values of people in it, and everything that the members of a class share. LeFevre, DeWitt,
Ramakrishnan, Mondrian (2006); the clusters inside small parts as in Byun et al. (2007).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Codes, Ints
from sfumato.change import ChangeKind, state_changes
from sfumato.details import AnonymityDetails
from sfumato.engine.stored_rows import MemoryRows, RowCounts
from sfumato.protect.anonymity.models.any_model import AnyModel
from sfumato.protect.anonymity.models.class_models import KAnonymity
from sfumato.protect.anonymity.models.model import PrivacyModel
from sfumato.protect.anonymity.models.model_columns import refuse_unfit_models
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.models.model_promises import list_model_promises
from sfumato.protect.anonymity.models.sensitive_values import SensitiveColumn
from sfumato.protect.anonymity.participants import keep_participants_leaves, select_participants
from sfumato.protect.anonymity.parts.best_cuts import (
    GroupJudge,
    RowParts,
    cut_into_parts,
    find_least_size,
    refuse_populations,
)
from sfumato.protect.anonymity.parts.k_member import choose_block_size, cluster_in_blocks, list_nested_blocks
from sfumato.protect.anonymity.parts.partition_columns import PartitionColumns, PartLabels, Publish
from sfumato.protect.anonymity.parts.partition_lines import (
    JudgedValues,
    LonePeople,
    PartitionLines,
    PeopleCounts,
    index_distinct_rows,
)
from sfumato.protect.claims import claim_nobody_named, claim_nothing_untrue
from sfumato.protect.footprint import Footprint, trace_classes
from sfumato.protect.method import Alternative, Method
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.runtime.progress import report_progress
from sfumato.suppression import Suppression
from sfumato.table import Missing, Table

_LARGEST_KEY = 1 << 62


class Partition(Method):
    """Cut the table into parts repeatedly while both sides are safe, and publish what each part spans.

    Guarantee: every class of published rows satisfies all models, and every published cell covers its original.
    Against: an adversary who knows a person's quasi-identifying values, and that the person is in the table, and looks
    for the row (the prosecutor). Limits: cuts are chosen greedily, so the release is good, not optimal; ranges overlap
    between classes, which analysts must handle; the ends of ranges are real values of someone; sensitive values are
    published unchanged; two releases of the same people can be combined to break both. Papers: LeFevre, DeWitt,
    Ramakrishnan 2006; Byun, Kamra, Bertino, Li 2007.
    """

    iso_20889: ClassVar[str] = "generalization (local)"
    hides_in_crowds: ClassVar[bool] = True
    loses_detail: ClassVar[bool] = True
    change_kinds: ClassVar[frozenset[ChangeKind]] = frozenset({ChangeKind.RANGES})
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

    @classmethod
    def list_promises(cls, parameters: Mapping[str, Any]) -> tuple[Claim, ...]:
        """What its models promise."""
        return list_model_promises(parameters.get("models", ()))

    def footprint(self, data: Table) -> Footprint:
        """The quasi-identifying columns, and those that the models judge."""
        judged_columns = (name for model in self.models for name in model.list_columns())
        return trace_classes(
            data, judged_columns, survives_blanks=all(isinstance(model, KAnonymity) for model in self.models)
        )

    def list_models(self) -> tuple[PrivacyModel, ...]:
        """The models of the policy."""
        return self.models

    def list_alternatives(self, table: Table) -> Iterator[Alternative]:
        """Ranges instead of labels."""
        if self.publish == "hierarchy":
            yield Alternative('set publish = "ranges"', self.model_copy(update={"publish": "ranges"}), table)

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Cut the table into parts, cluster the rows of small ones, publish each part's labels."""
        refuse_populations(self.models)
        refuse_unfit_models(self.models, data)
        table, rows = select_participants(data, can_overlap=True)
        report_progress("encoding the table")
        memory_rows, names = MemoryRows(table.frame), table.quasi_identifying
        columns = self.describe_columns(keep_participants_leaves(table), lambda name: memory_rows.count_rows([name]))
        lines, line_of_row = self._list_lines(table, columns)
        published_parts = self.cut_lines(lines, columns)
        published_table = table.replace_frame(
            published_parts.recode(table.frame.drop(table.identifying), names, line_of_row)
        )
        return Release(
            data=published_table,
            method=self,
            claims=self.list_claims(table, lines.sensitive),
            losses={**published_parts.losses, "dropped_rows": len(data) - len(rows)},
            details=published_parts.collect_details(table, rows),
            changes=state_changes(self, table, published_table, published_parts.list_kinds(names)),
            suppression=Suppression(drops_missing=table.missing is Missing.DROP),
        )

    def describe_columns(self, outline: Table, count_values: Callable[[str], RowCounts]) -> PartitionColumns:
        """The quasi-identifying columns, from how often each of their values occurs."""
        return PartitionColumns.of(outline, count_values, self.publish, find_least_size(self.models))

    def list_judged(self) -> tuple[str, ...]:
        """The sensitive columns that the models use."""
        return ModelJudge(self.models).list_columns()

    @property
    def unit(self) -> int | None:
        """In multiples of how many people equal ones stay together in a crowd; None if everybody may be set apart."""
        if self.relaxed:
            return None
        return find_least_size(self.models) if self.refine else 1

    def _list_lines(self, table: Table, columns: PartitionColumns) -> tuple[PartitionLines, Codes]:
        """What is cut, and the line of each row."""
        places, judged_columns = columns.place_cells(table.frame, table.quasi_identifying), self.list_judged()
        sensitive_columns = [SensitiveColumn.of(table, name) for name in judged_columns]
        values = (
            np.array([column.codes for column in sensitive_columns], dtype=np.int32)
            .reshape(len(judged_columns), len(table))
            .T
        )
        index, of_row = index_distinct_rows(
            np.hstack([places, values]), [*columns.widths, *(len(column.values) for column in sensitive_columns)]
        )
        first = np.empty(len(index.keys), dtype=np.int64)
        first[of_row] = np.arange(len(of_row))
        people = PeopleCounts(places[first], values[first], np.bincount(of_row).astype(np.int64))
        judged_values = [JudgedValues(column.name, column.values, column.hierarchy) for column in sensitive_columns]
        lines = PartitionLines.of(people, judged_values, self.unit)
        lone = LonePeople(lines)
        lone.add_rows(of_row, np.arange(len(of_row)))
        line_of_row = lines.shared_lines[of_row]
        line_of_row[lone.rows] = lines.lines_alone
        return lines, line_of_row

    def cut_lines(self, lines: PartitionLines, columns: PartitionColumns) -> PublishedParts:
        """Cut lines into parts, and choose the labels of each."""
        judge = GroupJudge(self.models, lines.weights, lines.sensitive)
        judge.refuse_impossible()
        parts = self._cut_whole(RowParts.build_single(lines.cells, lines.weights), columns, judge)
        report_progress("publishing")
        return PublishedParts.of(parts, columns)

    def _cut_whole(self, whole: RowParts, columns: PartitionColumns, judge: GroupJudge) -> RowParts:
        report_progress("cutting the table")
        largest = choose_block_size(len(whole.order), judge) if self.refine else None
        if largest is None:
            return cut_into_parts(whole, columns, judge, 0, self.relaxed)
        blocks = cut_into_parts(whole, columns, judge, largest, self.relaxed)
        nested_blocks = list_nested_blocks(blocks, columns, judge, largest, self.relaxed)
        return cluster_in_blocks(nested_blocks, cut_into_parts(blocks, columns, judge, 0, self.relaxed), columns, judge)

    def list_claims(self, table: Table, sensitive: Mapping[str, SensitiveColumn]) -> tuple[Claim, ...]:
        """What is promised of the release."""
        # No row is suppressed: a row of stars is an ordinary row, of people who have nothing in common.
        arguments = {"starred_rows": "class"}
        models = (claim for model in self.models for claim in model.state_claims(arguments, sensitive))
        return (*models, claim_nobody_named(table), claim_nothing_untrue())


@dataclass(frozen=True)
class PublishedParts:
    """The labels of every column, and the classes that parts with equal labels form together."""

    labels: tuple[PartLabels, ...]
    of_line: Codes
    """The part of each line."""
    sizes: Ints
    """People of each part."""
    classes: Ints
    """People of each class."""
    losses: Mapping[str, Number]

    @classmethod
    def of(cls, parts: RowParts, columns: PartitionColumns) -> PublishedParts:
        """Choose the labels of every part."""
        from sfumato.kernels.anonymity.partition import list_distinct_places

        labels = tuple(
            column.label_parts(*list_distinct_places(parts.cells, number, parts.starts, column.leaves))
            for number, column in enumerate(columns.columns)
        )
        classes = _count_label_classes(labels, parts.sizes)
        return cls(labels, parts.of_line, parts.sizes, classes, _compute_losses(columns, labels, parts.sizes, classes))

    def list_kinds(self, names: Sequence[str]) -> dict[str, ChangeKind]:
        """The quasi-identifying columns in which a label covers several values."""
        return {name: ChangeKind.RANGES for name, labels in zip(names, self.labels, strict=True) if labels.is_changed}

    def recode(self, frame: pl.DataFrame, names: Sequence[str], line_of_row: Codes) -> pl.DataFrame:
        """Rows with their parts' labels; a column without changes stays as it is."""
        parts = self.of_line[line_of_row]
        for name, labels in zip(names, self.labels, strict=True):
            if labels.is_changed:
                texts = pl.Series(name, labels.texts, dtype=pl.String)
                frame = frame.with_columns(texts.gather(labels.of_part[parts]).alias(name))
        return frame

    def collect_details(self, table: Table, rows: Ints | None) -> AnonymityDetails:
        """What the custodian may look at; a table that stays where it is does not list its rows."""
        return AnonymityDetails(
            without_hierarchy=tuple(name for name in table.quasi_identifying if name not in table.hierarchies),
            rows=rows,
            suppressed=None if rows is None else np.zeros(0, dtype=np.int64),
            classes=len(self.classes),
            parts=len(self.sizes),
        )


def _compute_losses(
    columns: PartitionColumns, labels: Sequence[PartLabels], sizes: Ints, classes: Ints
) -> dict[str, Number]:
    people = int(sizes.sum())
    total_loss = Fraction()
    for column, part_labels in zip(columns.columns, labels, strict=True):
        total_loss += Fraction(int(part_labels.losses[part_labels.of_part] @ sizes), column.scale * people)
    return {
        "loss": float(total_loss / len(columns.columns)),
        "discernibility": int(classes @ classes),
        "height": 0,
        "average_class_size": people / len(classes),
        "suppressed_rows": 0,
    }


def _count_label_classes(labels: Sequence[PartLabels], sizes: Ints) -> Ints:
    """Rows for each distinct combination of labels; equal texts are one label."""
    key, radix = np.zeros(len(sizes), dtype=np.int64), 1
    for column in labels:
        number = {text: position for position, text in enumerate(dict.fromkeys(column.texts))}
        label_codes = np.array([number[text] for text in column.texts], dtype=np.int64)[column.of_part]
        if radix * len(number) > _LARGEST_KEY:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64).ravel()
            radix = len(sizes)
        key, radix = key * len(number) + label_codes, radix * len(number)
    of_part = np.unique(key, return_inverse=True)[1].ravel()
    return np.bincount(of_part, weights=sizes).astype(np.int64)
