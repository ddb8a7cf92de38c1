# SPDX-License-Identifier: MIT
"""The commands `sfumato mine`, `attack` and `decode`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sfumato.baskets import BasketFormat

from sfumato.cli.messages import SHOWN, print_attacks, print_rows
from sfumato.cli.outsourced_mining import ITEM_KEYS, DecodeOptions, decode_found_itemsets, mine_released_filters
from sfumato.cli.terminal import print_json, show_progress
from sfumato.cli.written_files import refuse_unsafe_outputs
from sfumato.engine.engine_names import EngineName

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


def mine_command(
    data: Annotated[
        str,
        typer.Argument(
            help="Baskets (FIMI, SPMF, long form, comma lines); sequences (SPMF, or long form with --sequences); a "
            "table with --private; a release folder of randomized baskets, or with --column or --target."
        ),
    ],
    min_support: Annotated[
        str | None,
        typer.Option(
            help="A count (10) or a share of the rows (0.01) from which a pattern is frequent. Default: 0.01."
        ),
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Association rules instead of itemsets.")] = False,
    min_confidence: Annotated[
        float | None, typer.Option(help="With --rules or --private: the minimum confidence of a rule. Default: 0.5.")
    ] = None,
    kind: Annotated[str, typer.Option(help="Itemsets or subsequences: all, closed or maximal.")] = "all",
    max_length: Annotated[
        int | None, typer.Option(help="The maximum number of items in an itemset, a subsequence or a left side.")
    ] = None,
    sequences: Annotated[
        bool, typer.Option("--sequences", help="The file holds sequences; an SPMF file of them is recognized.")
    ] = False,
    max_gap: Annotated[
        int | None, typer.Option(help="Sequences: the most elements between neighbours of a match; 0: adjacent.")
    ] = None,
    window: Annotated[int | None, typer.Option(help="Sequences: the most elements that a match may span.")] = None,
    private: Annotated[
        str | None,
        typer.Option(
            help="Find rules that predict these private entries: a file (row, column), columns=a,b or share=0.01."
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="For a release folder: estimate this column's distribution (given several times: the joint one)."
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Train a tree that predicts this column: for a noisy release folder, or with --learner."),
    ] = None,
    learner: Annotated[
        str | None, typer.Option(help="For a table or a release folder with --target: c45 grows a C4.5 tree.")
    ] = None,
    min_rows: Annotated[int, typer.Option(help="C4.5: the least rows in two branches of each test.")] = 2,
    pruning: Annotated[
        float, typer.Option(help="C4.5: the confidence of error limits; lower prunes more, 1 not at all.")
    ] = 0.25,
    reconstruct: Annotated[
        str, typer.Option(help="How the tree removes noise: by_class, global, local or none.")
    ] = "by_class",
    requests: Annotated[
        Path | None,
        typer.Option(help="For Bloom filters: the custodian's requests, which `sfumato requests` wrote."),
    ] = None,
    separator: Annotated[str | None, typer.Option(help="One character between cells of a table.")] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="Baskets: fimi, spmf, long or comma; detected if omitted.")
    ] = None,
    header: Annotated[
        bool | None, typer.Option(help="Comma lines: whether the first names columns; detected if omitted.")
    ] = None,
    id_column: Annotated[str, typer.Option("--id", help="The basket or sequence column of a long-form file.")] = "id",
    item: Annotated[str, typer.Option(help="The item column of a long-form file.")] = "item",
    time: Annotated[str, typer.Option(help="The time column of a long-form file of sequences.")] = "time",
    engine: Annotated[
        EngineName,
        typer.Option(help="Baskets: in memory, by duckdb for a file larger than memory, or by the size of the file."),
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write all results to a file: SPMF, or CSV for rules.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find itemsets, rules, subsequences, or rules that predict private entries; or estimate what noise covers."""
    from sfumato.baskets import Baskets
    from sfumato.cli.basket_estimates import (
        EstimateOptions,
        estimate_released_baskets,
        holds_randomized_baskets,
        warn_of_distortion,
    )
    from sfumato.cli.basket_mining import PatternOptions, mine_baskets, refuse_engine
    from sfumato.cli.noise_estimates import estimate_from_noise
    from sfumato.cli.sequence_mining import SequenceOptions, is_sequence_file, mine_sequences, spell_patterns
    from sfumato.cli.tree_commands import TreeOptions, grow_tree
    from sfumato.engine.basket_staging import BasketSource

    refuse_unsafe_outputs([out], [data, private, requests])
    _refuse_idle_options(
        learner,
        {"--rules": rules, "--private": private, "--min-confidence": min_confidence, "--min-support": min_support},
    )
    refuse_engine(
        engine,
        {
            "--learner": learner,
            "--column": column,
            "--target": target,
            "--private": private,
            "--sequences": sequences,
            "--requests": requests,
            "a release folder": Path(data).is_dir(),
        },
    )
    confidence = 0.5 if min_confidence is None else min_confidence
    if learner is not None:
        grow_tree(data, target, TreeOptions(learner, min_rows, pruning, separator), out, as_json)
        return
    distorted = not column and not target and holds_randomized_baskets(Path(data))
    if column or target or (Path(data).is_dir() and not distorted):
        estimate_from_noise(Path(data), tuple(column or ()), target, reconstruct, out, as_json)
        return
    support = parse_support(min_support or "0.01")
    with show_progress(as_json):
        if distorted:
            wanted = EstimateOptions(support, confidence if rules else None, kind, max_length)
            result = estimate_released_baskets(Path(data), wanted, out)
        elif private is not None:
            result = _mine_adversarial_rules(data, private, support, confidence, max_length, separator)
            if out is not None:
                result.write_csv(out)
        elif sequences or is_sequence_file(Path(data)):
            _refuse_rules(Path(data), rules)
            limits = (max_length, max_gap, window)
            options = SequenceOptions(support, kind, *limits, id_column, item, time, separator)
            result = mine_sequences(Path(data), options, out)
        elif requests is not None:
            form_read = _check_format(form)
            baskets = Baskets.read(data, form_read, separator=separator, id=id_column, item=item, header=header)
            _refuse_unfit_for_filters(rules, kind)
            result = mine_released_filters(baskets, requests, support, max_length, out)
        else:
            source = BasketSource(data, _check_format(form), id_column, item, separator)
            wanted_patterns = PatternOptions(support, confidence if rules else None, kind, max_length)
            result = mine_baskets(source, header, engine, wanted_patterns, out)
            warn_of_distortion(Path(data))
    if as_json:
        print_json({"count": result.height, "rows": result.to_dicts()})
    else:
        print_rows(spell_patterns(result) if "pattern" in result.columns else result, SHOWN, out)


def _refuse_idle_options(learner: str | None, given: Mapping[str, object]) -> None:
    """Refuse options that would change nothing."""
    from sfumato.errors import PolicyError

    named = [name for name, value in given.items() if value not in (None, False)]
    if learner is not None and named:
        raise PolicyError(f"--learner grows a tree, which has no use for {', '.join(named)}; leave it out")
    if "--min-confidence" in named and not {"--rules", "--private"} & set(named):
        raise PolicyError("--min-confidence is about rules; add --rules, or leave it out")


def _refuse_unfit_for_filters(rules: bool, kind: str) -> None:
    from sfumato.errors import PolicyError

    if rules or kind != "all":
        raise PolicyError(
            "--requests finds all itemsets in filters, which the custodian decodes; leave --rules and --kind out"
        )


def _refuse_rules(data: Path, rules: bool) -> None:
    from sfumato.errors import PolicyError

    if rules:
        raise PolicyError(f"{data}: --rules finds association rules in baskets, and this file holds sequences")


def attack_command(
    folder: Annotated[Path, typer.Argument(help="The folder of a run, with release/ and private/.")],
    policy: Annotated[Path, typer.Argument(help="The policy file; its attacks run against its data.")],
    as_json: Json = False,
) -> None:
    """Attack a release again, with the attacks of a policy."""
    from sfumato.workflow.attack_run import attack_again

    with show_progress(as_json):
        outcomes = attack_again(folder, policy)
    if as_json:
        print_json([{"attack": attack.model_dump()["attack"], **outcome.as_json()} for attack, outcome in outcomes])
    else:
        print_attacks(outcomes)


def decode_command(
    found: Annotated[
        Path,
        typer.Argument(
            help="What the provider found: itemsets (SPMF), or a tree (JSON of sfumato, XGBoost or LightGBM, "
            "scikit-learn's text, or ONNX)."
        ),
    ],
    key: Annotated[Path, typer.Argument(help="The key that encoded the data.")],
    data: Annotated[
        str | None,
        typer.Argument(help="The originals, as a file or the address of a database table; optional for itemsets."),
    ] = None,
    passphrase: Annotated[
        str | None, typer.Option(envvar="SFUMATO_PASSPHRASE", help="The passphrase of the key.")
    ] = None,
    separator: Annotated[str | None, typer.Option(help="One character between cells; detected if omitted.")] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="Baskets: fimi, spmf, long or comma; detected if omitted.")
    ] = None,
    id_column: Annotated[str, typer.Option("--id", help="The basket column of a long-form file.")] = "id",
    item: Annotated[str, typer.Option(help="The item column of a long-form file.")] = "item",
    min_support: Annotated[
        str | None,
        typer.Option(help="Itemsets: the support you asked for; by default the smallest that was found."),
    ] = None,
    min_confidence: Annotated[float, typer.Option(help="Itemsets: the minimum confidence of a rule.")] = 0.5,
    max_length: Annotated[
        int | None, typer.Option(help="Itemsets: the maximum number of items, if you asked for short ones only.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the decoded itemsets (SPMF), or the tree (JSON).")
    ] = None,
    rules_out: Annotated[Path | None, typer.Option(help="Itemsets: write the rules (SPMF).")] = None,
    as_json: Json = False,
) -> None:
    """Decode what a provider found in codes: itemsets, with the rules that follow, or a tree."""
    from sfumato.baskets import Baskets
    from sfumato.cli.tree_commands import count_nodes, print_tree
    from sfumato.errors import PolicyError
    from sfumato.key import Key
    from sfumato.mine import decode_tree, write_tree
    from sfumato.table import Table

    refuse_unsafe_outputs([out, rules_out], [found, key, data])
    opened = Key.load(key, passphrase)
    if opened.method in ITEM_KEYS:
        form_read = _check_format(form)
        support = None if min_support is None else parse_support(min_support)
        originals = (
            None if data is None else Baskets.read(data, form_read, separator=separator, id=id_column, item=item)
        )
        options = DecodeOptions(support, min_confidence, max_length, out, rules_out, as_json)
        decode_found_itemsets(found, opened, originals, options)
        return
    if data is None:
        raise PolicyError("a tree is decoded with the original table: sfumato decode TREE KEY DATA")
    with show_progress(as_json):
        table = Table.read(data, separator=separator)
        decoded = decode_tree(found, opened, table)
        if out is not None:
            write_tree(decoded, out)
    names = [str(name) for name in decoded.feature_names_in_]
    if as_json:
        print_json({"features": names, "nodes": count_nodes(decoded), "written": str(out) if out else None})
    else:
        print_tree(decoded, names, out)


def _check_format(form: str | None) -> BasketFormat | None:
    from sfumato.errors import PolicyError

    if form in (None, "fimi", "spmf", "long", "comma"):
        return cast("BasketFormat | None", form)
    raise PolicyError("--format is fimi, spmf, long or comma")


def parse_support(text: str) -> int | float:
    """A support as it is typed: a count, or a share."""
    from sfumato.errors import PolicyError

    try:
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise PolicyError("--min-support is a count such as 10, or a share such as 0.01") from None


def _parse_share(text: str) -> float:
    from sfumato.errors import PolicyError

    try:
        return float(text)
    except ValueError:
        raise PolicyError("--private share=… is a number between 0 and 1") from None


def _mine_adversarial_rules(
    data: str, private: str, support: int | float, confidence: float, max_length: int | None, separator: str | None
) -> Any:
    import polars as pl

    from sfumato.mine import adversarial_rules
    from sfumato.table import Table

    table = Table.read(data, separator=separator)
    entries: Any = private
    if private.startswith("columns="):
        entries = [name.strip() for name in private.removeprefix("columns=").split(",")]
    elif private.startswith("share="):
        entries = _parse_share(private.removeprefix("share="))
    rules = adversarial_rules(table, entries, confidence, support, max_length)
    return pl.DataFrame(
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
