# SPDX-License-Identifier: MIT
"""What `sfumato mine` and `sfumato decode` do with what they were given, and which options that needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.cli import option_needs as needs
from sfumato.cli.basket_estimates import holds_randomized_baskets
from sfumato.cli.file_forms import add_item_form, add_sequence_form, add_table_form
from sfumato.cli.option_needs import CommandContext

if TYPE_CHECKING:
    from sfumato.cli.mining_job import MinedFile, MiningJob


def describe_mining(job: MiningJob, *, looks_into_file: bool) -> CommandContext:
    """What is mined, and how; how the file is written only if an option depends on it."""
    if job.tree_options is not None:
        return _describe_tree(job)
    if job.estimates_columns:
        return _describe_estimate(job)
    if holds_randomized_baskets(job.path):
        met_needs = {needs.PATTERNS, needs.BASKET_RULES, needs.PATTERN_KINDS}  # a kind is refused for a better reason
        met_needs |= {needs.RULES} if job.patterns.rules else set()
        return CommandContext(
            "mining a release folder of randomized baskets does not use {options}", frozenset(met_needs)
        )
    if job.private is not None:
        met_needs = {needs.PATTERNS, needs.PRIVATE_TABLES, needs.RULES}
        return add_table_form(CommandContext("--private finds rules in a table", frozenset(met_needs)), job.file.path)
    return _describe_patterns(job, looks_into_file=looks_into_file)


def _describe_tree(job: MiningJob) -> CommandContext:
    situation = CommandContext("--learner grows a tree, which does not use {options}")
    situation = situation.add(needs.C45_TREES)
    if job.path.is_dir():
        return situation._replace(form="a release folder is read as its certificate says")
    return add_table_form(situation, job.file.path)


def _describe_estimate(job: MiningJob) -> CommandContext:
    from sfumato.workflow.certificate import Certificate, find_release_folder, refuse_hostile

    situation = CommandContext("columns of a release folder are estimated").add(needs.ESTIMATES)
    if not job.path.is_dir():  # refused for that
        return situation.add(*_list_all_needs())
    with refuse_hostile(f"{job.path}: the certificate cannot be read"):
        shape = Certificate.read(find_release_folder(job.path)).body["data"]["shape"]
    if shape != "table":  # refused for that
        return situation.add(*_list_all_needs())
    return situation.add(needs.NOISY_TREES) if job.estimate.target is not None else situation


def _list_all_needs() -> list[needs.OptionCondition]:
    return [value for value in vars(needs).values() if isinstance(value, needs.OptionCondition)]


def _describe_patterns(job: MiningJob, *, looks_into_file: bool) -> CommandContext:
    from sfumato.data.items.sequence_files import is_sequence_file

    is_sequences = job.patterns.sequences or is_sequence_file(job.path)
    met_needs = {needs.PATTERNS, needs.PATTERN_FILES}
    if is_sequences:
        situation = CommandContext(
            "the file holds sequences", frozenset(met_needs | {needs.SEQUENCES, needs.PATTERN_KINDS})
        )
        return add_sequence_form(situation, job.file.path) if looks_into_file else situation
    met_needs |= {needs.BASKET_FILES}
    if job.requests is not None:
        situation = CommandContext("--requests finds all itemsets in filters", frozenset(met_needs | {needs.FILTERS}))
    else:
        met_needs |= {needs.BASKET_RULES, needs.RULES if job.patterns.rules else needs.PATTERN_KINDS}
        words = "--rules finds rules" if job.patterns.rules else "the file is read as baskets"
        situation = CommandContext(words, frozenset(met_needs))
    return add_basket_file(situation, job.file) if looks_into_file else situation


def add_basket_file(situation: CommandContext, file: MinedFile) -> CommandContext:
    """How a file of baskets is written."""
    return add_item_form(situation, file.path, file.form, (file.id_column, file.item), file.separator)


def find_result_kind(method: str) -> str:
    """What the key of a method decodes, as the method states it."""
    from sfumato.errors import PolicyError
    from sfumato.protect.method import KeyedMethod
    from sfumato.runtime.lazy import find_tagged_class

    kind = find_tagged_class("method", method)
    if kind is None or not issubclass(kind, KeyedMethod):
        raise PolicyError("the key is of no method that decodes: give private/METHOD.key.json of a run")
    return str(kind.decodes)


def describe_decoding(result_kind: str, originals: MinedFile | None) -> CommandContext:
    """What is decoded: trees, itemsets, or candidates among which originals tell the frequent ones."""
    met_needs = {needs.ORIGINALS} if originals is not None else set()
    if result_kind == "trees":
        situation = CommandContext("the key decodes a tree", frozenset(met_needs))
        return situation if originals is None else add_table_form(situation, originals.path)
    met_needs |= {needs.ITEMSETS, needs.BASKET_FILES}
    has_supports = originals is not None or result_kind == "itemsets"
    met_needs |= {needs.DECODED_RULES} if has_supports else set()
    words = "" if has_supports else "rules cannot be derived from filters alone"
    situation = CommandContext(words or "the key decodes itemsets", frozenset(met_needs))
    if originals is None:
        return situation._replace(words=words or "no originals are given")
    return add_basket_file(situation, originals)
