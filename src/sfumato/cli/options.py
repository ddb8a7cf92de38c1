# SPDX-License-Identifier: MIT
"""The options that several commands have, and those of `sfumato mine` and `sfumato decode`, with their help texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.engine.engine_names import EngineName

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]

# What is mined.
MinedData = Annotated[
    str,
    typer.Argument(
        help="Baskets (FIMI, SPMF, long form, comma lines); sequences (SPMF, or long form with --sequences); a "
        "table with --private; a release folder of randomized baskets, or with --column or --target."
    ),
]
MiningOut = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write all results to a file: SPMF, or CSV for rules.")
]
BasketEngine = Annotated[
    EngineName,
    typer.Option(help="Baskets: in memory, by duckdb for a file larger than memory, or by the size of the file."),
]

# How the file is read.
Separator = Annotated[str | None, typer.Option(help="One character between cells; detected if omitted.")]
CellSeparator = Annotated[str | None, typer.Option(help="One character between cells of a table.")]
BasketForm = Annotated[
    str | None, typer.Option("--format", help="Baskets: fimi, spmf, long or comma; detected if omitted.")
]
HasHeader = Annotated[
    bool | None, typer.Option(help="Comma lines: whether the first names columns; detected if omitted.")
]
IdColumn = Annotated[str, typer.Option("--id", help="The basket or sequence column of a long-form file.")]
ItemColumn = Annotated[str, typer.Option(help="The item column of a long-form file.")]
TimeColumn = Annotated[str, typer.Option(help="The time column of a long-form file of sequences.")]

# Which patterns are looked for.
MinSupport = Annotated[
    str | None,
    typer.Option(help="A count (10) or a share of the rows (0.01) from which a pattern is frequent. Default: 0.01."),
]
FindRules = Annotated[bool, typer.Option("--rules", help="Association rules instead of itemsets.")]
MinConfidence = Annotated[
    float | None, typer.Option(help="With --rules or --private: the minimum confidence of a rule. Default: 0.5.")
]
PatternKind = Annotated[str, typer.Option(help="Itemsets or subsequences: all, closed or maximal.")]
MaxLength = Annotated[
    int | None, typer.Option(help="The maximum number of items in an itemset, a subsequence or a left side.")
]
AreSequences = Annotated[
    bool, typer.Option("--sequences", help="The file holds sequences; an SPMF file of them is recognized.")
]
MaxGap = Annotated[
    int | None, typer.Option(help="Sequences: the most elements between neighbours of a match; 0: adjacent.")
]
MatchWindow = Annotated[int | None, typer.Option(help="Sequences: the most elements that a match may span.")]
PrivateEntries = Annotated[
    str | None,
    typer.Option(
        help="Find rules that predict these private entries: a file (row, column), columns=a,b or share=0.01."
    ),
]
FilterRequests = Annotated[
    Path | None,
    typer.Option(help="For Bloom filters: the custodian's requests, which `sfumato requests` wrote."),
]

# What is estimated or learned.
EstimatedColumns = Annotated[
    list[str] | None,
    typer.Option(
        help="For a release folder: estimate this column's distribution (given several times: the joint one)."
    ),
]
TreeTarget = Annotated[
    str | None,
    typer.Option(help="Train a tree that predicts this column: for a noisy release folder, or with --learner."),
]
TreeLearner = Annotated[
    str | None, typer.Option(help="For a table or a release folder with --target: c45 grows a C4.5 tree.")
]
MinRows = Annotated[int, typer.Option(help="C4.5: the least rows in two branches of each test.")]
Pruning = Annotated[float, typer.Option(help="C4.5: the confidence of error limits; lower prunes more, 1 not at all.")]
NoiseRemoval = Annotated[str, typer.Option(help="How the tree removes noise: by_class, global, local or none.")]

# What `sfumato decode` takes besides.
ProviderResult = Annotated[
    Path,
    typer.Argument(
        help="What the provider found: itemsets (SPMF), or a tree (JSON of sfumato, XGBoost or LightGBM, "
        "scikit-learn's text, or ONNX).",
    ),
]
KeyFile = Annotated[Path, typer.Argument(help="The key that encoded the data.")]
Originals = Annotated[
    str | None,
    typer.Argument(help="The originals, as a file or the address of a database table; optional for itemsets."),
]
Passphrase = Annotated[str | None, typer.Option(envvar="SFUMATO_PASSPHRASE", help="The passphrase of the key.")]
OriginalIdColumn = Annotated[str, typer.Option("--id", help="The basket column of a long-form file.")]
AskedSupport = Annotated[
    str | None,
    typer.Option(help="Itemsets: the support you asked for; by default the smallest that was found."),
]
RuleConfidence = Annotated[float, typer.Option(help="Itemsets: the minimum confidence of a rule.")]
AskedLength = Annotated[
    int | None, typer.Option(help="Itemsets: the maximum number of items, if you asked for short ones only.")
]
DecodedOut = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write the decoded itemsets (SPMF), or the tree (JSON).")
]
RulesOut = Annotated[Path | None, typer.Option(help="Itemsets: write the rules (SPMF).")]
