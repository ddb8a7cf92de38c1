# SPDX-License-Identifier: MIT
"""Whether a policy is the one that made a release, by what the run recorded in private/.

An attack on a stored release reads labels by the policy's hierarchies, people by its roles, and compares with the rows
of its data, in their order. With others, it looks up the wrong people, and a high risk seems low.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.errors import PolicyError, quote_names
from sfumato.table import Table
from sfumato.workflow.policy import DEMO, Policy
from sfumato.workflow.signing.commitment import OPENING, do_data_match, does_source_match
from sfumato.workflow.step_description import shorten_paths

IN_MEMORY = "in memory"
"""The path of data that was given, in the custodian's record."""
_ANY_PATH = ("path", "engine", "points")
"""What may differ under [data]: where the same data is, and where its rows are counted; points are compared apart."""


def refuse_other_policy(policy: Policy, original: Any, record: Mapping[str, Any], folder: Path) -> None:
    """Refuse a policy that has other hierarchies, roles, data or private parameters than the recorded one."""
    differences = [
        *_list_section_differences(policy, record),
        *(_list_table_differences(policy, original, record) if isinstance(original, Table) else ()),
        *_list_data_differences(policy, original, record, folder),
    ]
    if differences:
        raise PolicyError(
            f"{folder.parent}: this release was made with {', and with '.join(differences)}; attacks would look up the "
            "wrong people, so give the policy that made the release, with any attacks"
        )


def digest_hierarchies(hierarchies: Mapping[str, Hierarchy]) -> dict[str, str]:
    """A digest of what each hierarchy maps each leaf to, for the custodian's record: a file of it may change."""
    return {
        name: hashlib.sha256(json.dumps(sorted(set(hierarchy.rows))).encode()).hexdigest()
        for name, hierarchy in hierarchies.items()
    }


def _list_section_differences(policy: Policy, record: Mapping[str, Any]) -> Iterator[str]:
    """What differs in the text of the policies, private parameters of methods included."""
    content: dict[str, Any] = json.loads(json.dumps(policy.model_dump(mode="json"), default=str))
    for method, step, stated_step in zip(policy.protect, content["protect"], record["policy"]["protect"], strict=False):
        for parameters in (step, stated_step):
            shorten_paths(method, parameters)
        if step != stated_step:
            yield f"other parameters of {step['method']}"
    stated_data, data = record["policy"]["data"], content["data"]
    names = [name for name in data if name not in _ANY_PATH and data[name] != stated_data.get(name)]
    if _name_region_file(data["points"]) != _name_region_file(stated_data["points"]):
        names.append("points")
    if names and stated_data["path"] != IN_MEMORY:
        yield f"another {', '.join(names)} under [data]"


def _name_region_file(points: Any) -> Any:
    """The section of points, whose file of regions may lie elsewhere."""
    file = None if points is None else points["regions"].get("file")
    return points if file is None else {**points, "regions": {**points["regions"], "file": Path(file).name}}


def _list_table_differences(policy: Policy, original: Table, record: Mapping[str, Any]) -> Iterator[str]:
    roles = {name: role.value for name, role in original.roles.items()}
    stated_roles = record["roles"] or {}
    if names := [name for name in {**stated_roles, **roles} if roles.get(name) != stated_roles.get(name)]:
        yield f"other roles of {quote_names(names)}"
    if record["found"]["missing"] != original.missing.value and record["policy"]["data"]["path"] == IN_MEMORY:
        yield "another missing under [data]"
    entries, stated_entries = (section["hierarchies"] for section in (policy.model_dump(mode="json"), record["policy"]))
    digests, stated_digests = digest_hierarchies(original.hierarchies), record.get("hierarchies", {})
    other_names = [
        name
        for name in dict.fromkeys((*stated_entries, *stated_digests, *entries))
        if not (isinstance(entries.get(name), dict) and entries[name] == stated_entries.get(name))
        and (name not in digests or digests[name] != stated_digests.get(name))
    ]
    if other_names:
        yield f"other hierarchies of {quote_names(other_names)}"


def _list_data_differences(policy: Policy, original: Any, record: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Whether the data is what the run read, row by row, as far as the run committed to it."""
    commitment, opening = record["found"]["input_commitment"], folder / OPENING
    if commitment is None or not opening.is_file() or policy.data.path == DEMO:
        return
    if does_source_match(commitment, opening, policy.data.path):
        return
    if record["policy"]["data"]["path"] == IN_MEMORY:
        if not do_data_match(commitment, opening, original):
            yield (
                f"other data than {policy.data.path} holds: write the data that was given to a file, as "
                "table.frame.write_csv or baskets.write does, and name that file"
            )
        return
    yield f"other data, or the same rows in another order, than {policy.data.path} holds"
