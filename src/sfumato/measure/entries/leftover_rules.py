# SPDX-License-Identifier: MIT
"""How many adversarial rules remain in a published table, counted by code independent of the miner.

Against an adversary who mines the release for rules X → y and applies them to blank private entries. Rules are found in
the opposite direction from FAiR: for each column, from the rows whose entry is private, one set of columns at a time
(`mine.entries.agreeing_rows`), and not value by value. The count is complete. If memory does not suffice, an error says
so: 0 never means "not known". Needs the true values of the private entries, so only the custodian can check. Aggarwal,
Pei, Zhang, *On privacy preservation against adversarial data mining* (KDD 2006).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, PolicyError, quote_some_names
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.mine.entries.agreeing_rows import AgreeingRows, AgreementQuestion, count_keyed_rows, reaches
from sfumato.public.thresholds import parse_exact_confidence
from sfumato.release import Number
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_ENTRY_SCHEMA = {"row": pl.Int64, "column": pl.String, "value": pl.String}


def leftover_rules(
    published_table: Table,
    private_entries: pl.DataFrame,
    confidence: str | Fraction,
    least: int,
    max_length: int | None = None,
    prior: bool = False,
) -> int:
    """The number of adversarial rules X → y of a published table.

    `private_entries` has the `row`, `column` and true `value` (as text) of every private entry. A rule counts if X and
    the column of y are visible together in at least `least` rows, and if among those and among the private entries with
    X the share of y is at least `confidence`. The empty X counts only if `prior`. A private entry that is visible
    nevertheless counts on both sides.
    """
    return count_leftover_rules(code_entries(published_table, private_entries), confidence, least, max_length, prior)


def count_leftover_rules(
    targets: Iterable[PrivateColumn],
    confidence: str | Fraction,
    least: int,
    max_length: int | None = None,
    prior: bool = False,
) -> int:
    """The same for columns that are coded already."""
    if least < 1 or (max_length is not None and max_length < 1):
        raise PolicyError("the support and the length of a rule must be at least 1")
    share = parse_exact_confidence(Fraction(confidence))
    count = 0
    for target in targets:
        counter = _RuleCounter(target.own_entries, share, least, prior)
        target.build_question(counter.answers).walk(target.other_indices, max_length, counter, "leftover rules")
        count += counter.count
    return count


def visible_private_entries(published_table: Table, private_entries: pl.DataFrame) -> int:
    """How many private entries are not blank in the published table."""
    secrets = list_private_values(published_table, len(published_table), private_entries)
    visible = 0
    for (name,), part in secrets.group_by("column"):
        visible += int(published_table.frame[str(name)].gather(part["row"]).is_not_null().sum())
    return visible


@checks_claim("leftover_rules", "exactly", properties=("adversarial_rules",), private="hidden", of_groups=True)
def _check_leftover_rules(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    targets = code_entries(evidence.published_data, require_hidden_entries(evidence.details))
    return count_leftover_rules(targets, *read_rule_arguments(arguments))


class RuleConditions(NamedTuple):
    """What a claim says about rules."""

    confidence: Fraction
    min_support: int
    max_length: int | None
    prior: bool
    """Whether the prior counts."""


def read_rule_arguments(arguments: Mapping[str, Any]) -> RuleConditions:
    """What a claim says about rules: confidence, support, length, and whether the prior counts."""
    return RuleConditions(
        Fraction(str(arguments["confidence"])),
        int(arguments["min_support"]),
        int(arguments.get("max_length", 0)) or None,
        bool(arguments.get("prior", 0)),
    )


@checks_claim("visible_private_entries", "exactly", properties=("private_entries_blanked",), private="hidden")
def _check_visible_private_entries(evidence: Evidence, _: Mapping[str, Any]) -> Number:
    return visible_private_entries(evidence.published_data, require_hidden_entries(evidence.details))


checks_claim("search_ended", "exactly", private="complete", unit="truth")(
    lambda evidence, _: int(bool(evidence.details["complete"]))
)


def require_hidden_entries(details: Mapping[str, Any]) -> pl.DataFrame:
    """The private entries and their values, from the custodian's details of a release."""
    private_entries = details.get("hidden")
    if private_entries is None:
        raise PolicyError("a claim is about private entries, which are not available; only the custodian can check it")
    return (
        private_entries
        if isinstance(private_entries, pl.DataFrame)
        else pl.DataFrame(private_entries, schema=_ENTRY_SCHEMA, orient="row")
    )


def list_private_values(outline: Table, rows: int, private_entries: pl.DataFrame) -> pl.DataFrame:
    """The private entries that have a value, with the value as text; an error for one that is not in the table, of
    which the columns and the number of rows are known.
    """
    if not {"row", "column", "value"} <= set(private_entries.columns):
        raise DataError("list private entries as row, column and value")
    listed_entries = private_entries.select(
        pl.col("row").cast(pl.Int64), pl.col("column").cast(pl.String), spell_cells(private_entries["value"])
    )
    listed_entries = listed_entries.drop_nulls("value")
    strange = sorted(set(listed_entries["column"].drop_nulls().unique().to_list()) - set(outline.frame.columns))
    if strange:
        raise DataError(
            f"{outline.source}: private entries are listed in {quote_some_names(strange)}, which is not a column of it"
        )
    outside_count = listed_entries.filter(~pl.col("row").is_between(0, rows - 1).fill_null(value=False)).height
    unnamed_count, duplicate_count = (
        listed_entries["column"].null_count(),
        listed_entries.height - listed_entries.select("row", "column").n_unique(),
    )
    if outside_count or unnamed_count or duplicate_count:
        raise DataError(
            f"{outline.source}: of {listed_entries.height} private entries {outside_count} have no row of the table "
            f"(rows are counted from 0), {unnamed_count} no column, and {duplicate_count} are listed twice"
        )
    return listed_entries


@dataclass(frozen=True, eq=False)
class CodedEntries:
    """A column as codes: the visible value of each row, and the hidden values."""

    visible_codes: npt.NDArray[np.integer[Any]]
    """The visible value of each row; `width` where there is none."""
    secret: Ints
    """The values of the private entries, in their order."""
    width: int

    @classmethod
    def of(cls, texts: pl.Series, secrets: pl.Series) -> CodedEntries:
        """Number the values of both, which are texts."""
        all_values = pl.concat([texts.alias("value"), secrets.alias("value")])
        ranks = all_values.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
        width = int(ranks.max(initial=0))
        numbers = np.where(ranks > 0, ranks - 1, width).astype(np.int64)
        return cls(numbers[: len(texts)], numbers[len(texts) :], width)


@dataclass(frozen=True, eq=False)
class PrivateColumn:
    """A column with private entries, and what may predict them."""

    own_entries: CodedEntries
    rows: Ints
    """The rows of its private entries."""
    coded_columns: list[CodedEntries]
    """All columns."""
    other_indices: list[int]
    """The other columns, those with many values first."""

    def build_question(self, answers: Ints) -> AgreementQuestion:
        """Rows with a private entry ask, rows with a visible one answer."""
        query_codes = [column.visible_codes[self.rows].astype(np.int64) for column in self.coded_columns]
        candidate_codes = [column.visible_codes[answers] for column in self.coded_columns]
        return AgreementQuestion(query_codes, candidate_codes, [column.width for column in self.coded_columns])


def code_entries(published_table: Table, private_entries: pl.DataFrame) -> Iterator[PrivateColumn]:
    """The columns that have private entries, one at a time."""
    secrets = list_private_values(published_table, len(published_table), private_entries)
    names = published_table.frame.columns
    by_column = {name: secrets.filter(pl.col("column") == name) for name in names}
    coded_columns = [
        CodedEntries.of(spell_cells(published_table.frame[name]), by_column[name]["value"]) for name in names
    ]
    rows = [by_column[name]["row"].to_numpy().astype(np.int64) for name in names]
    return list_private_columns(coded_columns, rows)


def list_private_columns(coded_columns: list[CodedEntries], rows: list[Ints]) -> Iterator[PrivateColumn]:
    """Of all columns those that have private entries, in these rows."""
    for index, target_entries in enumerate(coded_columns):
        report_progress("leftover rules", index, len(coded_columns))
        if len(rows[index]):
            other_indices = sorted(
                set(range(len(coded_columns))) - {index}, key=lambda other: -coded_columns[other].width
            )
            yield PrivateColumn(target_entries, rows[index], coded_columns, other_indices)


class _RuleCounter:
    """Counts the rules that predict one column, one set of columns at a time."""

    def __init__(self, target: CodedEntries, share: Fraction, least: int, prior: bool) -> None:
        self.width, self.share, self.least, self.prior = target.width, share, least, prior
        self.answers = np.flatnonzero(target.visible_codes < target.width)
        self.visible_codes, self.secret = target.visible_codes[self.answers], target.secret
        self.fewest = ceil(share * least)
        self.count = 0

    def __call__(self, agreeing_rows: AgreeingRows) -> Flags:
        """Count the rules of these groups; a group is split while one of its values can still be predicted."""
        public = np.bincount(agreeing_rows.answering_group, minlength=agreeing_rows.groups)
        hidden_counts = np.bincount(agreeing_rows.asking_group, minlength=agreeing_rows.groups)
        pairs, fits = np.unique(
            agreeing_rows.asking_group * self.width + self.secret[agreeing_rows.query_rows], return_counts=True
        )
        shown_counts = count_keyed_rows(
            pairs,
            agreeing_rows.candidate_rows,
            agreeing_rows.answering_group,
            self.visible_codes,
            self.width,
            agreeing_rows.groups,
        )
        group = pairs // max(self.width, 1)
        # A larger X is visible in fewer rows and hidden with fewer: what is too rare here is too rare further down.
        hopeful = (public[group] >= self.least) & (shown_counts >= self.fewest)
        if agreeing_rows.columns or self.prior:
            rule_mask = reaches(shown_counts, public[group], self.share) & reaches(
                fits, hidden_counts[group], self.share
            )
            self.count += int((hopeful & rule_mask).sum())
        group_mask = np.zeros(agreeing_rows.groups, dtype=np.bool_)
        group_mask[group[hopeful]] = True
        return group_mask
