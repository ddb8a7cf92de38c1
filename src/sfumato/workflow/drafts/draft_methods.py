# SPDX-License-Identifier: MIT
"""What a drafted policy does with a table: the method for each purpose, its alternatives, attacks and gate.

The alternatives are written as comments that take effect when their marks `#|` are removed. Limits of the gate are such
that a release which keeps its promises passes: they stop a later run on other data, or with other settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, comb
from typing import Any, Literal, get_args

import polars as pl

from sfumato.attack.attack import compute_wilson_interval
from sfumato.data.cells.coded_cells import count_cells
from sfumato.data.roles.role import Role
from sfumato.data.roles.role_proposals import RoleProposal
from sfumato.errors import DataError, PolicyError, ask_meant, count_noun
from sfumato.report.words.wording import spell_percent
from sfumato.workflow.drafts.toml_text import (
    comment_out,
    quote_toml_text,
    write_comment,
    write_entry,
    write_list,
    write_value,
)

Purpose = Literal["publish", "share", "synthetic", "outsource", "hide"]
PURPOSES: Mapping[str, str] = {
    "publish": "anyone may read it",
    "share": "a recipient whom you know gets it",
    "synthetic": "invented rows that resemble yours",
    "outsource": "someone else mines codes, you decode the result",
    "hide": "single entries, items, rules or patterns must not show",
}
"""What a release is for, in words."""
USUAL_K, USUAL_LEAF, MOST_CLASSES = 5, 10, 50
UNLIKELY = 1e-4
MOST_RARE = 0.6
"""The share of rows with a rare word from which a column is not drawn; synthesis itself refuses 0.75."""
_LINKING = write_entry("attack", "linking", "tries to find people by what others know of them")


def parse_purpose(word: str) -> Purpose:
    """Read a purpose by its name."""
    for purpose in get_args(Purpose):
        if purpose == word:
            return purpose  # type: ignore[no-any-return]  # one of the values of Purpose
    cure = ask_meant([word], PURPOSES) or f"; choose {', '.join(PURPOSES)}"
    raise PolicyError(f'"{word}" is not a purpose{cure}')


@dataclass(frozen=True)
class DraftTable:
    """A table with the roles that were decided, as far as a method must know it."""

    source: str
    frame: pl.DataFrame
    proposals: tuple[RoleProposal, ...]
    k: int

    def list_role_columns(self, role: Role) -> tuple[str, ...]:
        """The columns of a role."""
        return tuple(proposal.column for proposal in self.proposals if proposal.role is role)

    def measure_uniformity(self, column: str) -> float:
        """The share of the rows that hold the most common value of a column."""
        counts = count_cells(self.frame[column]).counts
        return float(counts.max(initial=0)) / self.frame.height

    @property
    def diverse(self) -> tuple[str, ...]:
        """The sensitive columns of which a class of k people can hold two values without being enlarged much."""
        return tuple(
            name for name in self.list_role_columns(Role.SENSITIVE) if self.measure_uniformity(name) <= 1 - 1 / self.k
        )


def choose_k(rows: int, source: str) -> int:
    """Five, or fewer in a small table."""
    if rows < 2:
        raise DataError(f"{source}: there is only {rows} row, and no one to hide a person among; add rows")
    return min(USUAL_K, max(2, rows // 4))


def write_table_methods(table: DraftTable, purpose: Purpose) -> list[str]:
    """The sections [[protect]], [[attack]] and [gate]."""
    writers: dict[str, Callable[[DraftTable], list[str]]] = {
        "publish": lambda draft_table: _write_crowds(draft_table, diverse=True),
        "share": lambda draft_table: _write_crowds(draft_table, diverse=False),
        "synthetic": _write_synthesis,
        "outsource": _write_codes,
        "hide": _write_entries,
    }
    return writers[purpose](table)


def _write_crowds(table: DraftTable, *, diverse: bool) -> list[str]:
    """Everybody is hidden among k; in a publication, a class must also mix sensitive values."""
    models: list[tuple[Any, str]] = [
        (
            {"model": "k_anonymity", "k": table.k},
            f"Every person shares their values with at least {table.k - 1} others.",
        )
    ]
    diversity_models: list[tuple[Any, str]] = [
        ({"model": "l_diversity", "l": 2, "column": name}, "No class has only one value of this column.")
        for name in table.diverse
    ]
    models += diversity_models if diverse else []
    lines = [*_write_partition(models), *(_explain_uniform_columns(table) if diverse else [])]
    if diversity_models and not diverse:
        lines += [
            *write_comment("If the recipient should not learn a sensitive value by finding a person's group, add:"),
            *(f"#     {write_value(model)}," for model, _ in diversity_models),
        ]
    lines += [*_write_other_crowds(table, models), "", "[[attack]]", _LINKING]
    if table.list_role_columns(Role.SENSITIVE):
        lines += [
            "",
            "[[attack]]",
            write_entry("attack", "homogeneity", "learns what all people in a class have in common"),
        ]
    return [*lines, "", *_write_linking_gate(table)]


def _write_partition(models: Sequence[tuple[Any, str]]) -> list[str]:
    """The method that is proposed, with its models and what each promises."""
    return [
        "[[protect]]",
        *write_comment("Cuts the table into small groups of similar people and publishes what each group spans."),
        'method = "partition"',
        *write_list("models", models),
        *write_comment(
            "Ranges end in values of the data and sets list them, a value that only one person has among them. If such "
            'values must not be seen, add publish = "hierarchy": it publishes labels of the hierarchies instead.'
        ),
    ]


def _explain_uniform_columns(table: DraftTable) -> list[str]:
    """Why a column in which most people have the same value gets no l-diversity."""
    lines: list[str] = []
    uniform = [name for name in table.list_role_columns(Role.SENSITIVE) if name not in table.diverse]
    for name in uniform:
        share = table.measure_uniformity(name)
        lines += write_comment(
            f"No l-diversity for {quote_toml_text(name)}: {spell_percent(share)} of the rows have the same value, so "
            "that every class would have to be large to hold another one. Anyone who guesses that value is mostly "
            "right anyway."
        )
    return lines


def _write_other_crowds(table: DraftTable, models: Sequence[tuple[Any, str]]) -> list[str]:
    """Two other methods, as comments."""
    lines = ["", *write_comment("Instead: one level of each hierarchy for all rows. Easier to read; more is lost.")]
    lines += comment_out(
        [
            "[[protect]]",
            'method = "generalize"',
            *write_list("models", [(model, "") for model, _ in models]),
            "suppression_limit = 0.05",
        ]
    )
    lines += [
        "",
        *write_comment("Instead: means of small groups, for analysts who need totals. Cells fit no single person."),
    ]
    return [*lines, *comment_out(["[[protect]]", 'method = "microaggregate"', f"k = {table.k}"])]


def _limit_linking(table: DraftTable) -> str:
    share = bound_drafted_share(1 / table.k, table.frame.height)
    return write_entry("max_linking_risk", share, "the share of people found, at the upper end of its interval")


def _write_linking_gate(table: DraftTable) -> list[str]:
    return [
        "[gate]",
        write_entry("max_record_risk", ceil(10_000 / table.k) / 10_000, "the probability of finding any one person"),
        _limit_linking(table),
        "#| max_loss = 0.3  # refuses a release that tells too little",
    ]


def bound_drafted_share(share: float, count: int) -> float:
    """An upper bound on an observed share and its 95 % interval, rounded up; exceeded by chance once in 10,000."""
    return min(1.0, ceil(100 * compute_wilson_interval(_bound_hits(share, count), count).high) / 100)


def round_down(count: int) -> int:
    """A count with one digit: exact ones are published with the policy, and disclose how many people there were."""
    digits: int = 10 ** (len(str(count)) - 1)
    return count // digits * digits


def _bound_hits(share: float, count: int) -> int:
    """The hits that are exceeded once in 10,000: exact in a small table, where the normal law is too far off."""
    if count > 500:
        return ceil(compute_wilson_interval(round(share * count), count, z=3.72).high * count)
    hits, tail = count, share**count
    while tail <= UNLIKELY:
        hits -= 1
        tail += comb(count, hits) * share**hits * (1 - share) ** (count - hits)
    return hits


def _write_synthesis(table: DraftTable) -> list[str]:
    lines = [
        "[[protect]]",
        *write_comment("Learns the table column by column and draws rows that belong to no person."),
        'method = "synthesize"',
        write_entry("min_leaf", choose_leaf(table.frame.height), "the fewest people that a value is drawn from"),
        "",
        *write_comment("Instead: keep every person's row, and draw only the sensitive columns again."),
    ]
    lines += comment_out(["[[protect]]", 'method = "synthesize"', 'kind = "partial"'])
    for column in table.list_role_columns(Role.SENSITIVE)[:1]:
        lines += ["", "[[attack]]", write_entry("attack", "inference", "reads a secret from the most similar row")]
        lines += [write_entry("column", column)]
    lines += ["", "[[attack]]", write_entry("attack", "singling_out", "describes exactly one person")]
    limits = [
        "[gate]",
        *write_comment(
            "The loss is the mean difference between the joint distributions of two columns. Add limits on attacks, "
            "such as max_risk = { singling_out = 0.3 }, once you have seen a first run."
        ),
        write_entry("max_loss", 0.5 if table.frame.height >= 1000 else 0.9),
    ]
    return [*lines, "", *limits]


def choose_leaf(rows: int) -> int:
    """Ten people, or fewer in a small table."""
    return min(USUAL_LEAF, max(2, rows // 25))


def drop_unlearnable(proposals: tuple[RoleProposal, ...], frame: pl.DataFrame) -> tuple[RoleProposal, ...]:
    """Leave out the columns that cannot be drawn: too few values, or words that nearly everybody has alone."""
    leaf = choose_leaf(frame.height)
    return tuple(
        replace(proposal, role=Role.IDENTIFYING, reason=f"{reason} {proposal.reason}")
        if proposal.role is not Role.IDENTIFYING and (reason := _explain_unlearnable(frame[proposal.column], leaf))
        else proposal
        for proposal in proposals
    )


def _explain_unlearnable(column: pl.Series, leaf: int) -> str:
    """Why a column cannot be drawn; empty if it can."""
    known_cells = column.drop_nulls()
    if len(known_cells) < 4 * leaf:
        return f"Left out: only {count_noun(len(known_cells), 'row has', 'rows have')} a value, too few to learn from."
    if not known_cells.dtype.is_numeric() and _measure_rarity(known_cells, leaf) > MOST_RARE:
        return "Left out: most of its values are too rare to be drawn. Make it coarser to keep it."
    return ""


def _measure_rarity(column: pl.Series, leaf: int) -> float:
    """The share of rows whose value few others have; a fifth of the people is set aside."""
    counts = count_cells(column.cast(pl.String)).counts
    return float(counts[counts < 2 * leaf].sum()) / len(column)


def _write_codes(table: DraftTable) -> list[str]:
    return [
        "[[protect]]",
        *write_comment("Replaces every value by a code. Trees that are trained on the codes are decoded exactly."),
        'method = "encode_for_trees"',
        write_entry("target", _choose_target(table), "the column that the trees predict: choose yours"),
        "",
        "[[attack]]",
        write_entry("attack", "sorting", "a provider who knows the ranges of your columns"),
        "",
        "[[attack]]",
        write_entry("attack", "quantile_matching", "a provider who has similar data"),
        "",
        "[gate]",
        *write_comment(
            "The risk of codes is measured, not bounded, and is high against a provider who has similar data. Once you "
            "have seen a first run, you may set limits, such as max_risk = { sorting = 0.5 }."
        ),
    ]


def _choose_target(table: DraftTable) -> str:
    """A column of few classes without gaps, the sensitive ones first, then the last; a number must be left to learn."""
    candidates = [proposal for proposal in table.proposals if proposal.role is not Role.IDENTIFYING]
    numbers = {p.column for p in candidates if table.frame.schema[p.column].is_numeric() and p.distinct}
    usable = [p for p in candidates if 2 <= p.distinct <= MOST_CLASSES and not p.missing and numbers - {p.column}]
    if not usable:
        raise DataError(
            f"{table.source}: a tree needs a column to predict, of 2 to {MOST_CLASSES} values and without missing "
            "cells, and another column of numbers to learn from; add one, or choose --for publish"
        )
    return max(usable, key=lambda p: (p.role is Role.SENSITIVE, table.frame.columns.index(p.column))).column


def _write_entries(table: DraftTable) -> list[str]:
    candidates = [
        proposal for proposal in table.proposals if proposal.role is not Role.IDENTIFYING and proposal.distinct
    ]
    secret = [p.column for p in candidates if p.role is Role.SENSITIVE] or [candidates[-1].column]
    support = max(3, ceil(table.frame.height / 100))
    has_crowd = bool(table.list_role_columns(Role.QUASI_IDENTIFYING))
    return [
        *(_write_crowd_first(table) if has_crowd else []),
        "[[protect]]",
        *write_comment("Blanks private entries, and as few others as needed so that no rule predicts them."),
        'method = "suppress_entries"',
        *write_comment(
            "AN EXAMPLE: a random twentieth of the sensitive entries. Put those that people asked you to hide: "
            '{ file = "private.csv" } with the columns row (from 0) and column, or { columns = [...], where = {...} }.'
        ),
        f"private = [{write_value({'columns': secret, 'share': 0.05})}]",
        write_entry("confidence", 0.8, "a rule that is right so often discloses an entry"),
        write_entry("min_support", support, "on this many rows"),
        "",
        *write_comment(
            "Instead of all above: exchange sensitive values between people. That hides values, not people: anyone who "
            "knows someone's other values still finds their row."
        ),
        *comment_out(
            [
                "[[protect]]",
                'method = "swap_confidential"',
                write_entry("column", secret[0]),
                "share = 0.5",
                'search = "random"',
            ]
        ),
        "",
        "[[attack]]",
        write_entry("attack", "rule_inference", "mines the release for rules and fills the blanks"),
        *(["", "[[attack]]", _LINKING] if has_crowd else []),
        "",
        "[gate]",
        *([_limit_linking(table)] if has_crowd else []),
        "#| max_risk = { rule_inference = 0.5 }  # set it once you have seen how often guessing is right",
    ]


def _write_crowd_first(table: DraftTable) -> list[str]:
    """Blanks hide entries and not people, so people are hidden first."""
    return [
        "[[protect]]",
        *write_comment(
            "Hides each person among others first. Blanks alone hide entries and not people: anyone who knows "
            "someone's other values would find their row, and see which entry is blank. Leave this out only if the "
            "recipient may know who is who."
        ),
        'method = "partition"',
        *write_list("models", [({"model": "k_anonymity", "k": table.k}, "")]),
        "",
    ]
