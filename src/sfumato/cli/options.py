# SPDX-License-Identifier: MIT
"""The options that several commands have, and those of `sfumato mine` and `sfumato decode`: help texts and needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import option_needs as needs
from sfumato.cli.option_needs import ALWAYS
from sfumato.engine.engine_names import EngineName

READING = "How the file is read"
IN_SEQUENCES = "Sequences"
ON_RELEASES = "Distributions and trees"
OF_ITEMSETS = "Itemsets and rules"
"""Titles in the help of a command."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts."), ALWAYS]

# What is mined.
MinedData = Annotated[
    str,
    typer.Argument(
        help="Baskets (FIMI, SPMF, long form, comma-separated); sequences (SPMF, or long form with --sequences); a "
        "table with --private; a release folder: of randomized baskets, or of a table with --column or --target."
    ),
]
MiningOut = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write all results to a file: SPMF, or CSV for rules."), ALWAYS
]
BasketEngine = Annotated[
    EngineName,
    typer.Option(
        help="Baskets: count in memory, with duckdb for files larger than memory, or with Spark; auto chooses by "
        "file size."
    ),
    ALWAYS,
]

# How the file is read.
Separator = Annotated[
    str | None,
    typer.Option(help="One character between cells; detected if omitted.", rich_help_panel=READING),
    needs.SEPARATED_CELLS,
]
BasketForm = Annotated[
    str | None,
    typer.Option("--format", help="Baskets: fimi, spmf, long or comma; detected if omitted.", rich_help_panel=READING),
    needs.BASKET_FILES,
]
HasHeader = Annotated[
    bool | None,
    typer.Option(
        help="Comma-separated baskets: whether the first line is a header; detected if omitted.",
        rich_help_panel=READING,
    ),
    needs.COMMA_LINES,
]
IdColumn = Annotated[
    str,
    typer.Option("--id", help="Long-form files: the basket or sequence column.", rich_help_panel=READING),
    needs.LONG_FORM,
]
ItemColumn = Annotated[
    str, typer.Option(help="Long-form files: the item column.", rich_help_panel=READING), needs.LONG_FORM
]
TimeColumn = Annotated[
    str,
    typer.Option(help="Long-form files of sequences: the time column.", rich_help_panel=READING),
    needs.SEQUENCES,
    needs.LONG_FORM,
]

# Which patterns are looked for.
MinSupport = Annotated[
    str | None,
    typer.Option(help="Minimum support: a count (10) or a share of the rows (0.01). Default: 0.01."),
    needs.PATTERNS,
]
FindRules = Annotated[
    bool, typer.Option("--rules", help="Find association rules instead of itemsets."), needs.BASKET_RULES
]
MinConfidence = Annotated[
    float | None,
    typer.Option(help="With --rules or --private: the minimum confidence of a rule. Default: 0.5."),
    needs.RULES,
]
PatternKind = Annotated[
    str, typer.Option(help="Itemsets or subsequences: all, closed or maximal."), needs.PATTERN_KINDS
]
MaxLength = Annotated[
    int | None,
    typer.Option(help="Maximum number of items in an itemset, a subsequence or the left side of a rule."),
    needs.PATTERNS,
]
_SEQUENCES = typer.Option(
    "--sequences",
    help="The file holds sequences; SPMF files of sequences are recognized.",
    rich_help_panel=IN_SEQUENCES,
)
MinesSequences = Annotated[bool, _SEQUENCES, needs.PATTERN_FILES]
AreSequences = Annotated[bool, _SEQUENCES, ALWAYS]
MaxGap = Annotated[
    int | None,
    typer.Option(
        help="Maximum number of elements between consecutive elements of a match (0 = adjacent).",
        rich_help_panel=IN_SEQUENCES,
    ),
    needs.SEQUENCES,
]
MatchWindow = Annotated[
    int | None,
    typer.Option(help="Maximum number of elements that a match may span.", rich_help_panel=IN_SEQUENCES),
    needs.SEQUENCES,
]
PrivateEntries = Annotated[
    str | None,
    typer.Option(
        help="Find rules that predict these private entries: a file (row, column), columns=a,b or share=0.01."
    ),
    needs.PRIVATE_TABLES,
]
FilterRequests = Annotated[
    Path | None,
    typer.Option(help="Bloom filters: the file of requests that `sfumato requests` wrote."),
    needs.FILTERS,
]

# What is estimated or learned.
EstimatedColumns = Annotated[
    list[str] | None,
    typer.Option(
        help="Release folders: estimate the distribution of this column; repeat the option for a joint distribution.",
        rich_help_panel=ON_RELEASES,
    ),
    needs.ESTIMATES,
]
TreeTarget = Annotated[
    str | None,
    typer.Option(
        help="Train a tree that predicts this column: on a noisy release folder, or with --learner.",
        rich_help_panel=ON_RELEASES,
    ),
    ALWAYS,
]
TreeLearner = Annotated[
    str | None,
    typer.Option(help="With --target: c45 grows a C4.5 tree on a table or a release.", rich_help_panel=ON_RELEASES),
    ALWAYS,
]
MinRows = Annotated[
    int,
    typer.Option(
        help="C4.5: minimum number of rows in at least two branches of every test.", rich_help_panel=ON_RELEASES
    ),
    needs.C45_TREES,
]
Pruning = Annotated[
    float,
    typer.Option(
        help="C4.5: confidence level of pruning; lower values prune more, 1 turns pruning off.",
        rich_help_panel=ON_RELEASES,
    ),
    needs.C45_TREES,
]
NoiseRemoval = Annotated[
    str,
    typer.Option(
        help="Noisy releases: how the tree removes noise: by_class, global, local or none.", rich_help_panel=ON_RELEASES
    ),
    needs.NOISY_TREES,
]

# What only `sfumato decode` takes.
ProviderResult = Annotated[
    Path,
    typer.Argument(
        help="The provider's result: itemsets (SPMF), or a tree (JSON of sfumato, XGBoost or LightGBM, "
        "scikit-learn's text, or ONNX).",
    ),
]
KeyFile = Annotated[Path, typer.Argument(help="The key that encoded the data.")]
Originals = Annotated[
    str | None,
    typer.Argument(help="The originals, as a file or the address of a database table; optional for itemsets."),
]
Passphrase = Annotated[str | None, typer.Option(envvar="SFUMATO_PASSPHRASE", help="The passphrase of the key."), ALWAYS]
OriginalSeparator = Annotated[
    str | None,
    typer.Option("--separator", help="One character between cells; detected if omitted.", rich_help_panel=READING),
    needs.ORIGINALS,
    needs.SEPARATED_CELLS,
]
OriginalForm = Annotated[
    str | None,
    typer.Option("--format", help="Baskets: fimi, spmf, long or comma; detected if omitted.", rich_help_panel=READING),
    needs.ORIGINALS,
    needs.BASKET_FILES,
]
OriginalIdColumn = Annotated[
    str,
    typer.Option("--id", help="Long-form files: the basket column.", rich_help_panel=READING),
    needs.ORIGINALS,
    needs.LONG_FORM,
]
OriginalItemColumn = Annotated[
    str,
    typer.Option("--item", help="Long-form files: the item column.", rich_help_panel=READING),
    needs.ORIGINALS,
    needs.LONG_FORM,
]
AskedSupport = Annotated[
    str | None,
    typer.Option(
        help="The minimum support that you asked the provider for. Default: the smallest in the file.",
        rich_help_panel=OF_ITEMSETS,
    ),
    needs.ITEMSETS,
]
RuleConfidence = Annotated[
    float, typer.Option(help="The minimum confidence of a rule.", rich_help_panel=OF_ITEMSETS), needs.DECODED_RULES
]
AskedLength = Annotated[
    int | None,
    typer.Option(
        help="The maximum number of items that you asked the provider for, if any.", rich_help_panel=OF_ITEMSETS
    ),
    needs.ITEMSETS,
]
DecodedOut = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write the decoded itemsets (SPMF), or the tree (JSON)."), ALWAYS
]
RulesOut = Annotated[
    Path | None, typer.Option(help="Write the rules (SPMF).", rich_help_panel=OF_ITEMSETS), needs.ITEMSETS
]
