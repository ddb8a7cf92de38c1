# SPDX-License-Identifier: MIT
"""Attack the release in a folder again, with its private record, as its custodian can."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.attack import Attack, Linking
from sfumato.attack.attack import AttackResult
from sfumato.data.reading.table_reader import TextFormat, read_frame
from sfumato.details import ChainDetails, Details, SynthesisDetails, list_families
from sfumato.errors import DataError, PolicyError
from sfumato.published_law import PublishedLaw, read_laws
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table
from sfumato.workflow.certificate import find_release_folder
from sfumato.workflow.outgoing import select_outgoing_parameters
from sfumato.workflow.policy import Policy
from sfumato.workflow.policy_parts.policy_columns import refuse_unknown_columns
from sfumato.workflow.recorded_policy import refuse_other_policy
from sfumato.workflow.step_description import describe_step


def attack_again(folder: str | Path, policy: str | Path | Policy) -> tuple[AttackResult, ...]:
    """Run the attacks of a policy on a release folder, against the data that the policy names."""
    from sfumato.workflow.verification import read_unchanged_certificate  # a run, which attacks too, needs none of it

    rules = policy if isinstance(policy, Policy) else Policy.read(policy)
    if not rules.attacks:
        file = "" if isinstance(policy, Policy) else f"{policy}: "
        raise PolicyError(f"{file}the policy names no attack; add [[attack]] to it")
    root = find_release_folder(Path(folder))
    certificate = read_unchanged_certificate(root)
    shape, output = certificate.body["data"]["shape"], rules.methods[-1].gives
    if shape != output:
        raise PolicyError(
            f"{root}: this release holds {shape}, and the policy makes {output}; give the policy that made the release"
        )
    _refuse_other_methods(rules, certificate.body["methods"], root)
    report_progress("reading")
    published_data, original = certificate.read_published(root), rules.read_original()
    refuse_unknown_columns(rules, original)
    record = _read_record(root.parent / "private")
    refuse_other_policy(rules, original, record, root.parent / "private")
    laws = read_laws(certificate.body.get("public", {}))
    *earlier_methods, last_method = rules.methods
    release = Release(
        _attach_hierarchies(published_data, original),
        last_method,
        certificate.list_claims(),
        {},
        _read_kept_details(record, root.parent / "private", laws, len(rules.methods)),
        certificate.list_changes(),
        tuple(earlier_methods),
    )
    return run_attacks(rules.attacks, release, original)


def _refuse_other_methods(policy: Policy, stated_methods: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Attacks read thresholds and models from the policy: it must be the one that made the release."""
    steps = (select_outgoing_parameters(describe_step(method)) for method in policy.methods)
    methods = [json.loads(json.dumps(step)) for step in steps]
    if methods != list(stated_methods):
        raise PolicyError(
            f"{folder}: this release was made by {', '.join(str(method['method']) for method in stated_methods)} with "
            "other parameters than the policy has; give the policy that made the release, with any attacks"
        )


def _attach_hierarchies(published_data: Any, original: Any) -> Any:
    """A published table with the hierarchies of its labels, which a file does not hold."""
    if not isinstance(published_data, Table) or not isinstance(original, Table):
        return published_data
    kept_hierarchies = {
        name: hierarchy for name, hierarchy in original.hierarchies.items() if name in published_data.frame.columns
    }
    return replace(published_data, hierarchies=MappingProxyType(kept_hierarchies))


def run_attacks(attacks: Sequence[Attack], release: Release, original: Any) -> tuple[AttackResult, ...]:
    """Run attacks on a release against its people, with the people set aside as control."""
    inputs = {sides: _split_attack_inputs(release, original, in_equal_sides=sides) for sides in (True, False)}
    outcomes = []
    for number, attack in enumerate(attacks):
        report_progress("attacking", number, len(attacks))
        outcomes.append(AttackResult(attack, attack.run(*inputs[attack.needs_equal_sides])))
    return tuple(outcomes)


class _AttackInputs(NamedTuple):
    """What attacks are run on."""

    release: Release
    truth: Any
    strangers: Any
    """The control, if people were set aside."""


def add_plain_linking(
    attacks: tuple[Attack, ...], known_columns: tuple[str, ...], *, has_codes: bool = False
) -> tuple[Attack, ...]:
    """The attacks, and linking of everybody by all quasi-identifying columns, which the gate needs, if it is missing.

    A policy may list another linking, of fewer columns or of people elsewhere, which finds fewer. If other
    quasi-identifying columns hold codes, linking does not read these, and the columns that it reads are named; no gate
    rests on it then.
    """
    is_there = any(attack.looks_up_everybody(known_columns) for attack in attacks)
    return attacks if is_there else (Linking(knowledge=known_columns if has_codes else None), *attacks)


def _split_attack_inputs(release: Release, original: Any, *, in_equal_sides: bool) -> _AttackInputs:
    """The release as attacks see it, the originals, and the control: people who were set aside, if any were.

    In equal sides, as many of those who were learned from stand against them.
    """
    synthesis = release.details.get_family(SynthesisDetails)
    if synthesis is None or synthesis.holdout is None or synthesis.training is None or not len(synthesis.holdout):
        return _AttackInputs(release, original, None)
    aside, training_rows = (np.asarray(rows, dtype=np.int64) for rows in (synthesis.holdout, synthesis.training))
    if in_equal_sides:
        size, chance = min(len(aside), len(training_rows)), np.random.default_rng(0)
        training_rows, aside = (np.sort(chance.choice(side, size, replace=False)) for side in (training_rows, aside))
    # No synthetic row is anybody's: some attacks need one for each.
    rows = np.resize(np.arange(len(training_rows)), len(release.data)) if in_equal_sides else None
    judged_release = replace(release, details=replace(release.details, rows=rows))
    return _AttackInputs(
        judged_release, *(original.replace_frame(original.frame[side]) for side in (training_rows, aside))
    )


def _read_record(folder: Path) -> dict[str, Any]:
    if not (folder / "record.json").is_file():
        raise DataError(f"{folder}: the custodian's record is missing; attack a release in the folder of its run")
    record: dict[str, Any] = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    return record


def _read_kept_details(
    record: Mapping[str, Any], folder: Path, laws: Mapping[str, PublishedLaw], step_count: int
) -> Details:
    """The decisions of each method, as the run stored them."""
    frames: dict[str, Any] = {path.stem: read_frame(path, TextFormat()) for path in sorted(folder.glob("*.parquet"))}
    rows = None if (numbers := frames.pop("rows", None)) is None else numbers["original_row"].to_numpy()
    steps = record["steps"]
    if len(steps) != step_count:
        raise PolicyError(
            f"{folder}: this release was made by {len(steps)} methods, and the policy has {step_count}; give the "
            "policy that made the release"
        )
    families = list_families()
    details = [_read_step(families[step["family"]], step, frames) for step in steps]
    if len(steps) == 1:
        return replace(details[0], rows=rows, public=laws)
    return ChainDetails(rows=rows, public=laws, steps=tuple(details))


def _read_step(family: type[Details], step: Mapping[str, Any], frames: Mapping[str, pl.DataFrame]) -> Details:
    """The decisions of one method: the fields that its family stores, and its files."""
    values: dict[str, Any] = {name: _restore_tuples(step[name]) for name in family.stored_fields if name in step}
    values |= {name: frames[file_name] for name, file_name in step["files"].items()}
    if "marks" in values:
        values["marks"] = values["marks"].rows()
    return family(**values)


def _restore_tuples(value: Any) -> Any:
    """Pairs as tuples again: JSON has only lists."""
    return tuple(_restore_tuples(item) for item in value) if isinstance(value, list) else value
