# SPDX-License-Identifier: MIT
"""The commands `sfumato mine`, `attack` and `decode`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import options
from sfumato.cli.messages import MOST_ROWS, print_attacks, print_rows
from sfumato.cli.option_needs import asks_about_file, refuse_idle_options
from sfumato.cli.outsourced_mining import DecodeOptions, decode_found_itemsets
from sfumato.cli.terminal import print_json, show_progress
from sfumato.cli.written_files import refuse_unsafe_outputs

if TYPE_CHECKING:
    import polars as pl

    from sfumato.cli.mining_job import MiningJob
    from sfumato.key import Key


def mine_command(
    context: typer.Context,
    data: options.MinedData,
    min_support: options.MinSupport = None,
    rules: options.FindRules = False,
    min_confidence: options.MinConfidence = None,
    kind: options.PatternKind = "all",
    max_length: options.MaxLength = None,
    sequences: options.MinesSequences = False,
    max_gap: options.MaxGap = None,
    window: options.MatchWindow = None,
    private: options.PrivateEntries = None,
    column: options.EstimatedColumns = None,
    target: options.TreeTarget = None,
    learner: options.TreeLearner = None,
    min_rows: options.MinRows = 2,
    pruning: options.Pruning = 0.25,
    reconstruct: options.NoiseRemoval = "by_class",
    requests: options.FilterRequests = None,
    separator: options.Separator = None,
    form: options.BasketForm = None,
    header: options.HasHeader = None,
    id_column: options.IdColumn = "id",
    item: options.ItemColumn = "item",
    time: options.TimeColumn = "time",
    engine: options.BasketEngine = "auto",
    out: options.MiningOut = None,
    as_json: options.Json = False,
) -> None:
    """Find itemsets, rules, subsequences or rules that predict private entries; estimate distributions under noise."""
    from sfumato.cli.mining_job import EstimateQuestion, MinedFile, MiningJob, PatternQuestion
    from sfumato.cli.mining_situation import describe_mining

    refuse_unsafe_outputs([out], [data, private, requests])
    job = MiningJob(
        MinedFile(data, separator, form, header, id_column, item, time),
        PatternQuestion(min_support, rules, min_confidence, kind, max_length, sequences, max_gap, window),
        EstimateQuestion(tuple(column or ()), target, learner, min_rows, pruning, reconstruct),
        private,
        requests,
        engine,
        out,
    )
    refuse_idle_options(context, describe_mining(job, looks_into_file=asks_about_file(context)))
    job.refuse_memory_only()
    _do_job(job, as_json)


def _do_job(job: MiningJob, as_json: bool) -> None:
    """Grow a tree, estimate columns, or find patterns and print them."""
    from sfumato.cli.mining_job import find_patterns
    from sfumato.cli.noise_estimates import estimate_from_noise
    from sfumato.cli.tree_commands import grow_printed_tree

    question = job.estimate
    if job.tree_options is not None:
        grow_printed_tree(job.file.path, question.target, job.tree_options, job.out, as_json)
    elif job.estimates_columns:
        estimate_from_noise(job.path, question.columns, question.target, question.reconstruct, job.out, as_json)
    else:
        with show_progress(as_json):
            patterns = find_patterns(job)
        _print_patterns(patterns, job.out, as_json)


def _print_patterns(patterns: pl.DataFrame, out: Path | None, as_json: bool) -> None:
    from sfumato.cli.sequence_mining import spell_patterns

    if as_json:
        print_json({"count": patterns.height, "rows": patterns.to_dicts()})
    else:
        print_rows(spell_patterns(patterns) if "pattern" in patterns.columns else patterns, MOST_ROWS, out)


def attack_command(
    folder: Annotated[Path, typer.Argument(help="The folder of a run, with release/ and private/.")],
    policy: Annotated[Path, typer.Argument(help="The policy that made the release; you may change its attacks.")],
    as_json: options.Json = False,
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
    context: typer.Context,
    result: options.ProviderResult,
    key: options.KeyFile,
    data: options.Originals = None,
    passphrase: options.Passphrase = None,
    separator: options.OriginalSeparator = None,
    form: options.OriginalForm = None,
    id_column: options.OriginalIdColumn = "id",
    item: options.OriginalItemColumn = "item",
    min_support: options.AskedSupport = None,
    min_confidence: options.RuleConfidence = 0.5,
    max_length: options.AskedLength = None,
    out: options.DecodedOut = None,
    rules_out: options.RulesOut = None,
    as_json: options.Json = False,
) -> None:
    """Decode a provider's results: itemsets (and their rules), or a tree."""
    from sfumato.cli.mining_job import MinedFile, parse_support
    from sfumato.cli.mining_situation import describe_decoding, find_result_kind
    from sfumato.key import Key

    refuse_unsafe_outputs([out, rules_out], [result, key, data])
    loaded_key = Key.load(key, passphrase)
    originals = None if data is None else MinedFile(data, separator, form, None, id_column, item, "time")
    result_kind = find_result_kind(loaded_key.method)
    refuse_idle_options(context, describe_decoding(result_kind, originals))
    if result_kind != "trees":
        support = None if min_support is None else parse_support(min_support)
        decode_options = DecodeOptions(support, min_confidence, max_length, out, rules_out, as_json)
        baskets = None if originals is None else originals.read_baskets()
        decode_found_itemsets(result, loaded_key, baskets, decode_options)
    else:
        _decode_found_tree(result, loaded_key, data, separator, out, as_json)


def _decode_found_tree(
    tree_file: Path, key: Key, data: str | None, separator: str | None, out: Path | None, as_json: bool
) -> None:
    """Decode a provider's tree, and print or write it."""
    from sfumato.cli.tree_commands import count_nodes, print_tree
    from sfumato.errors import PolicyError
    from sfumato.mine import decode_tree, write_tree
    from sfumato.table import Table

    if data is None:
        raise PolicyError("a tree is decoded with the original table: sfumato decode TREE KEY DATA")
    with show_progress(as_json):
        decoded_tree = decode_tree(tree_file, key, Table.read(data, separator=separator))
        if out is not None:
            write_tree(decoded_tree, out)
    names = [str(name) for name in decoded_tree.feature_names_in_]
    if as_json:
        print_json({"features": names, "nodes": count_nodes(decoded_tree), "written": str(out) if out else None})
    else:
        print_tree(decoded_tree, names, out)
