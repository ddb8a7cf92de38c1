# SPDX-License-Identifier: MIT
"""What contradicts a certificate, one sentence each: its signature, its files, the forms of its claims, its figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.baskets import Baskets
from sfumato.change_kinds import ChangeKind
from sfumato.data.writing.table_writer import MARKS
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import count_noun, quote_names
from sfumato.measure.anonymity.unique_rows import UniqueRows
from sfumato.measure.checks import has_known_form
from sfumato.public.unknown_items import split_unknowns
from sfumato.release import Finding
from sfumato.runtime.lazy import find_tagged_class
from sfumato.table import Table
from sfumato.workflow.certificate import NAME, Certificate
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.outgoing import CertifiedAttack
from sfumato.workflow.published_columns import AnyTable, get_outline, split_columns
from sfumato.workflow.restated_columns import list_column_problems
from sfumato.workflow.restated_facts import list_restated_problems
from sfumato.workflow.restated_methods import list_attack_problems, list_method_problems
from sfumato.workflow.shapes.file_shapes import find_shape
from sfumato.workflow.signing.signature import check_signature
from sfumato.workflow.verdict import (
    find_unique,
    list_objections,
    list_warnings,
)

_DIGEST = re.compile(r"[0-9a-f]{64}")
_HOLES = 1000
"""A file this many times longer than its space on disk is sparse, and reading it would take forever."""


def list_signature_problems(certificate: Certificate, signer: str | None) -> list[str]:
    """A signature that is invalid, or that of another signer than the given one."""
    if check_signature(certificate.raw):
        if signer is not None and not check_signature(certificate.raw, signer):
            return ["the certificate is signed by another key than the one you gave"]
        return []
    return ["the signature does not match the certificate: it was changed after it was signed, or never signed"]


def list_file_problems(root: Path, certificate: Certificate) -> list[str]:
    """A release folder has only regular files, each listed with its checksum; nothing outside is opened."""
    certified_digests: Mapping[str, str] = certificate.body["files"]
    if any(
        Path(name).name != name or name in ("", ".", "..")
        for name in (*certified_digests, certificate.body["data"]["file"])
    ):
        return ["the certificate names a file outside the release folder"]
    if NAME in certified_digests or not all(_DIGEST.fullmatch(digest) for digest in certified_digests.values()):
        return ["the certificate lists itself, or an invalid checksum"]
    present = {entry.name: entry for entry in root.iterdir()}
    problems = [
        f"{name}: this is not a regular file"
        for name, e in sorted(present.items())
        if e.is_symlink() or not e.is_file()
    ]
    if problems:
        return problems
    if hollow := [name for name, entry in sorted(present.items()) if _is_hollow(entry)]:
        return [f"{name}: the file is sparse; it is not read" for name in hollow]
    problems += [f"{name}: the file is missing" for name in certified_digests if name not in present]
    problems += [
        f"{name}: the file was changed after it was certified"
        for name, digest in certified_digests.items()
        if name in present and hash_file(present[name]) != digest
    ]
    data = certificate.body["data"]
    if data["file"] not in certified_digests:
        problems.append("the certificate does not cover the data file")
    elif data["sha256"] != certified_digests[data["file"]]:
        problems.append("the certificate states two checksums of the data file")
    strangers = sorted(set(present) - {*certified_digests, NAME})
    return problems + [f"{name}: the certificate does not list this file" for name in strangers]


def _is_hollow(path: Path) -> bool:
    facts = path.stat()
    return facts.st_size > 1 << 30 and facts.st_size > facts.st_blocks * 512 * _HOLES


def list_claim_problems(certificate: Certificate) -> list[str]:
    """Claims that no method makes, and roles and limits that contradict a release."""
    body = certificate.body
    problems = [
        f"the claim number {number} is not one that sfumato makes: its property, measure and bound do not match"
        for number, claim in enumerate(body["claims"], 1)
        if not has_known_form(claim)
    ]
    if problems:
        return problems
    if any(claim["needs_original"] and claim["measured"] is not None for claim in body["claims"]):
        problems.append("the certificate states a measured value that only the custodian may know")
    kept_flags = [claim["holds"] is True for claim in body["claims"]] + [
        limit["open"] for limit in body.get("gate", ())
    ]
    if not all(kept_flags):
        problems.append("the certificate itself says that a claim or a limit was broken")
    problems += list_method_problems(body) + list_attack_problems(body)
    roles, removed_columns = body.get("roles", {}), set(body.get("removed_columns", ()))
    promises = [claim.get("arguments", {}) for claim in body["claims"] if claim["measure"] == "named_columns"]
    claimed_names = {name for arguments in promises for name in arguments.get("names", ())}
    if "identifying" in roles.values() or removed_columns & roles.keys() or not removed_columns <= claimed_names:
        problems.append("the certificate has identifying columns without a claim that they were removed")
    elif body["data"]["shape"] == "table" and removed_columns != claimed_names:
        problems.append("the certificate claims that columns were removed that it does not list as removed")
    return problems


def _list_verdict_problems(body: Mapping[str, Any], published_table: AnyTable) -> list[str]:
    """Compare what the verdict states about the released file with the file."""
    verdict, columns = body["verdict"], set(get_outline(published_table).frame.columns)
    counted_columns, not_counted = split_columns(body["changes"], published_table)
    problems = []
    if not columns <= {change["column"] for change in body["changes"]} or not set(verdict["accepted"]) <= columns:
        problems.append(
            "the certificate does not state a change for each column, or accepts a column that is not there"
        )
    if strange := [name for name in not_counted if name not in body["public"] and not _is_stated_coded(name, body)]:
        problems.append(f"the certificate marks {quote_names(strange)} as noise, drawn or coded without a distribution")
    unique = find_unique(published_table, counted_columns)
    unique_facts = [{"columns": list(rows.columns), "share": rows.share} for rows in unique]
    if list(verdict["not_counted"]) != list(not_counted) or list(verdict["unique_rows"]) != unique_facts:
        problems.append("the certificate counts other unique rows than the data file has")
    problems += _list_warning_problems(body, unique)
    if objections := list_objections(body["changes"], published_table, verdict["accepted"]):
        problems.append(f"the certificate accepts what its rules refuse: {objections[0].reason}")
    return problems


def _list_warning_problems(body: Mapping[str, Any], unique: Sequence[UniqueRows]) -> list[str]:
    """List the warnings again, and compare them and the status with the certificate's."""
    verdict = body["verdict"]
    attacks = [CertifiedAttack(**attack) for attack in body["attacks"]]
    warnings = list_warnings(body, attacks, verdict["accepted"], unique)
    if list(verdict["warnings"]) == list(warnings) and (verdict["status"] == "passed") == (not warnings):
        return []
    return ["the certificate's verdict is not the one that its figures and the data file give"]


def _list_attack_problems(body: Mapping[str, Any], published_data: Any) -> list[str]:
    """Count again what the certificate of an attack says about the released file itself."""
    for attack in body["attacks"]:
        kind = find_tagged_class("attack", str(attack["attack"]))
        is_counted = kind is not None and kind.recounts_file and isinstance(published_data, Baskets | StoredBaskets)
        count = _count_one_basket_short(body["methods"], attack["parameters"], published_data) if is_counted else None
        if attack["one_basket_short"] != count:
            return ["the certificate counts other rules that are one basket short than the data file has"]
    return []


def _count_one_basket_short(
    methods: Sequence[Mapping[str, Any]], attack_parameters: Mapping[str, Any], published_data: Baskets | StoredBaskets
) -> int | None:
    """Rules that one more basket would show, at the thresholds of each method that hides or those of the attack."""
    from sfumato.attack.baskets.mined_rules import count_one_basket_short, replace_thresholds
    from sfumato.attack.baskets.stored_remining import count_stored_one_basket_short

    kinds = [(find_tagged_class("method", str(method.get("method"))), method) for method in methods]
    stated_thresholds = [kind.find_thresholds(method) for kind, method in kinds if kind is not None]
    thresholds = [
        replace_thresholds(
            method_thresholds, attack_parameters.get("min_support"), attack_parameters.get("min_confidence")
        )
        for method_thresholds in [
            method_thresholds for method_thresholds in stated_thresholds if method_thresholds is not None
        ]
        or [None]
    ]
    if isinstance(published_data, StoredBaskets):
        return count_stored_one_basket_short(published_data, thresholds)
    mark = next((mark for kind, method in kinds if kind is not None and (mark := kind.find_mark(method))), "")
    return count_one_basket_short(split_unknowns(published_data, mark).known_items, thresholds)


def _is_stated_coded(column: str, body: Mapping[str, Any]) -> bool:
    """Whether a column is stated to hold codes by a method of the certificate that publishes codes."""
    tags = {str(method.get("method")) for method in body["methods"]}
    changes = [change for change in body["changes"] if change["column"] == column]
    coding_tags = {change["method"] for change in changes if change["kind"] == ChangeKind.CODED}
    kinds = [find_tagged_class("method", tag) for tag in tags & coding_tags]
    return any(kind is not None and kind.utility == "codes" for kind in kinds)


def list_content_problems(certificate: Certificate, published_data: Any) -> list[str]:
    """Compare the certificate with the data file."""
    data = certificate.body["data"]
    description = find_shape(published_data).describe_file(published_data, data["format"])["data"]
    problems = []
    if any(data.get(name) != description.get(name) for name in ("rows", "columns", "items")):
        problems.append("the certificate states another number of rows or columns than the data file has")
    if any(data[name] for name in ("missing_mark", "numbers", "integers") if name not in description):
        problems.append("the certificate describes columns of a data file that has none")
    if certificate.body.get("formulas") not in (None, find_shape(published_data).count_formulas(published_data)):
        problems.append("the certificate's count of formulas differs from the data file's")
    if isinstance(published_data, Table | StoredTable):
        column_names = {*data.get("numbers", ()), *data.get("integers", ()), *certificate.body.get("roles", ())}
        if not column_names <= set(get_outline(published_data).frame.columns):
            problems.append("the certificate names columns that the data file does not have")
        problems += _list_verdict_problems(certificate.body, published_data)
        problems += list_column_problems(certificate.body, get_outline(published_data).frame.columns)
        if count := published_data.count_uncounted_rows():
            problems.append(
                f"{count_noun(count, 'row has', 'rows have')} a missing quasi-identifying cell, and the certificate "
                "leaves such rows out of every count"
            )
        if data["missing_mark"] not in MARKS:
            problems.append("the certificate describes missing cells in a way that sfumato does not write")
    else:
        problems += _list_warning_problems(certificate.body, ())
        if any(certificate.body["verdict"][name] for name in ("not_counted", "unique_rows")):
            problems.append("the certificate counts unique rows of data without columns")
        if any(attack["targets"] or attack["known_columns"] for attack in certificate.body["attacks"]):
            problems.append("the attacks name columns, and the data have none")
    problems += list_restated_problems(certificate.body, published_data)
    return problems + _list_attack_problems(certificate.body, published_data)


def list_finding_problems(certificate: Certificate, findings: tuple[Finding, ...]) -> list[str]:
    """Compare the measured claims with the certificate."""
    problems = []
    for finding, certified_claim in zip(findings, certificate.body["claims"], strict=False):
        if finding.holds is False:
            problems.append(
                f'the claim "{finding.property}" is broken: promised {finding.threshold}, measured {finding.measured}'
            )
        elif certified_claim["threshold"] != finding.threshold or (
            finding.measured is not None and certified_claim["measured"] != finding.measured
        ):
            problems.append(f'the certificate\'s figures for "{finding.property}" differ from those of the data file')
    return problems
