# SPDX-License-Identifier: MIT
"""What `sfumato mine` was asked for, and who does it: the search for patterns, an estimate, or a tree."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sfumato.cli.basket_estimates import (
    EstimateOptions,
    estimate_released_baskets,
    holds_randomized_baskets,
    warn_of_distortion,
)
from sfumato.cli.basket_mining import PatternOptions, mine_baskets, refuse_engine
from sfumato.cli.outsourced_mining import mine_released_filters
from sfumato.cli.sequence_mining import SequenceOptions, mine_sequences
from sfumato.cli.tree_commands import TreeOptions
from sfumato.errors import PolicyError

if TYPE_CHECKING:
    import polars as pl

    from sfumato.baskets import BasketFormat, Baskets
    from sfumato.engine.basket_staging import BasketSource
    from sfumato.engine.engine_names import EngineName


@dataclass(frozen=True)
class MinedFile:
    """Where the data is, and how it is read."""

    path: str
    separator: str | None
    form: str | None
    header: bool | None
    id_column: str
    item: str
    time: str

    def locate_baskets(self) -> BasketSource:
        """The file, as baskets."""
        from sfumato.engine.basket_staging import BasketSource

        return BasketSource(self.path, check_basket_format(self.form), self.id_column, self.item, self.separator)

    def read_baskets(self) -> Baskets:
        """All baskets of the file."""
        from sfumato.baskets import Baskets

        return Baskets.read(**self.locate_baskets()._asdict(), header=self.header)


@dataclass(frozen=True)
class PatternQuestion:
    """Which patterns are looked for."""

    min_support: str | None
    rules: bool
    min_confidence: float | None
    kind: str
    max_length: int | None
    sequences: bool
    max_gap: int | None
    window: int | None

    @property
    def support(self) -> int | float:
        """The support from which a pattern is frequent."""
        return parse_support(self.min_support or "0.01")

    @property
    def confidence(self) -> float:
        """The minimum confidence of a rule."""
        return 0.5 if self.min_confidence is None else self.min_confidence


@dataclass(frozen=True)
class EstimateQuestion:
    """What is estimated from a release folder, or learned from a table."""

    columns: tuple[str, ...]
    target: str | None
    learner: str | None
    min_rows: int
    pruning: float
    reconstruct: str


@dataclass(frozen=True)
class MiningJob:
    """All that `sfumato mine` was asked for."""

    file: MinedFile
    patterns: PatternQuestion
    estimate: EstimateQuestion
    private: str | None
    requests: Path | None
    engine: EngineName
    out: Path | None

    @property
    def path(self) -> Path:
        """The file or the folder that is mined."""
        return Path(self.file.path)

    @property
    def tree_options(self) -> TreeOptions | None:
        """How a tree is grown; None unless a learner is named."""
        question = self.estimate
        if question.learner is None:
            return None
        return TreeOptions(question.learner, question.min_rows, question.pruning, self.file.separator)

    @property
    def estimates_columns(self) -> bool:
        """Whether columns behind noise are estimated, or a tree."""
        has_columns = bool(self.estimate.columns or self.estimate.target)
        return has_columns or (self.path.is_dir() and not holds_randomized_baskets(self.path))

    def refuse_memory_only(self) -> None:
        """Refuse an engine that cannot do what was asked for."""
        from sfumato.data.items.sequence_files import is_sequence_file

        memory_options = {
            "--learner": self.estimate.learner,
            "--column": self.estimate.columns,
            "--target": self.estimate.target,
            "--private": self.private,
            "--sequences": self.patterns.sequences,
            "--requests": self.requests,
            "a file of sequences": self.engine != "auto" and is_sequence_file(self.path),
            "a release folder": self.path.is_dir(),
        }
        refuse_engine(self.engine, memory_options)


def find_patterns(job: MiningJob) -> pl.DataFrame:
    """The patterns of a file or behind a release, also written to a file if asked for."""
    from sfumato.data.items.sequence_files import is_sequence_file

    question, support = job.patterns, job.patterns.support
    confidence = question.confidence if question.rules else None
    if holds_randomized_baskets(job.path):
        options = EstimateOptions(support, confidence, question.kind, question.max_length)
        return estimate_released_baskets(job.path, options, job.out)
    if job.private is not None:
        return _find_adversarial_rules(job, job.private)
    if question.sequences or is_sequence_file(job.path):
        return _find_subsequences(job)
    if job.requests is not None:
        return _find_requested_sets(job, job.requests)
    pattern_options = PatternOptions(support, confidence, question.kind, question.max_length)
    patterns = mine_baskets(job.file.locate_baskets(), job.file.header, job.engine, pattern_options, job.out)
    warn_of_distortion(job.path)
    warn_of_ignored_time(job.file)
    return patterns


def warn_of_ignored_time(file: MinedFile) -> None:
    """Say that a file of baskets has a column of times, which baskets do not use."""
    from sfumato.cli.terminal import print_line
    from sfumato.workflow.drafts.event_columns import find_ignored_time

    time = find_ignored_time(file.path, file.id_column, file.item, file.separator)
    if time is not None:
        option = "" if time == "time" else f" --time {shlex.quote(time)}"
        print_line(
            f'sfumato: {file.path} has a column "{time}" and was read as baskets, whose items have no order; to keep '
            f"the order: --sequences{option}",
            error=True,
        )


def _find_subsequences(job: MiningJob) -> pl.DataFrame:
    question, file = job.patterns, job.file
    limits = (question.max_length, question.max_gap, question.window)
    options = SequenceOptions(
        question.support, question.kind, *limits, file.id_column, file.item, file.time, file.separator
    )
    return mine_sequences(job.path, options, job.out)


def _find_requested_sets(job: MiningJob, requests: Path) -> pl.DataFrame:
    baskets = job.file.read_baskets()
    return mine_released_filters(baskets, requests, job.patterns.support, job.patterns.max_length, job.out)


def _find_adversarial_rules(job: MiningJob, private: str) -> pl.DataFrame:
    import polars as pl

    from sfumato.mine import adversarial_rules
    from sfumato.table import Table

    table = Table.read(job.file.path, separator=job.file.separator)
    question = job.patterns
    rules = adversarial_rules(
        table, _parse_private_entries(private), question.confidence, question.support, question.max_length
    )
    frame = pl.DataFrame(
        {
            "antecedent": [", ".join(f"{name} = {value}" for name, value in rule.antecedent.items()) for rule in rules],
            "column": [rule.column for rule in rules],
            "value": [str(rule.value) for rule in rules],
            "support": [rule.public_support for rule in rules],
            "confidence": [float(rule.public_confidence) for rule in rules],
            "hidden_confidence": [float(rule.hidden_confidence) for rule in rules],
            "exposed": [len(rule.rows) for rule in rules],
            "lift": [float(rule.lift) for rule in rules],
        },
        schema_overrides={"antecedent": pl.String, "column": pl.String, "value": pl.String, "support": pl.Int64},
    ).sort("exposed", "confidence", "support", descending=True)
    if job.out is not None:
        frame.write_csv(job.out)
    return frame


def _parse_private_entries(private: str) -> Any:
    """Private entries as they are typed: columns, a share, or a file."""
    if private.startswith("columns="):
        return [name.strip() for name in private.removeprefix("columns=").split(",")]
    if not private.startswith("share="):
        return private
    try:
        return float(private.removeprefix("share="))
    except ValueError:
        raise PolicyError("--private share=… must be a number between 0 and 1") from None


def check_basket_format(form: str | None) -> BasketFormat | None:
    """The format of a file of baskets as it is typed; None to detect it."""
    if form in (None, "fimi", "spmf", "long", "comma"):
        return cast("BasketFormat | None", form)
    raise PolicyError("--format must be fimi, spmf, long or comma")


def parse_support(text: str) -> int | float:
    """A support as it is typed: a count, or a share."""
    try:
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise PolicyError("--min-support must be a count such as 10, or a share such as 0.01") from None
