# SPDX-License-Identifier: MIT
"""Run methods or a policy on data in Python, without a policy file: the same pipeline as on the command line.

Data in memory has no file, so the certificate commits to the file that the table or the baskets would be written to.
Everything is written to a private temporary folder, measured there, and kept in memory until it is saved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ValidationError

from sfumato.attack import Attack
from sfumato.baskets import Baskets
from sfumato.data.hierarchies.hierarchy import Hierarchy, spell_cells
from sfumato.data.reading.plain_frames import build_table_frame, get_row_labels, simplify_frame
from sfumato.data.roles.role import Role
from sfumato.data.roles.role_lines import explain_missing_roles
from sfumato.errors import DataError, PolicyError
from sfumato.fields.parameter_errors import explain_parameters
from sfumato.fields.problem_words import find_other_name
from sfumato.protect.method import Method
from sfumato.randomness import Randomness
from sfumato.runtime.lazy import find_tagged_class
from sfumato.sequences import Sequences
from sfumato.table import Table
from sfumato.workflow import pipeline
from sfumato.workflow.finished_run import Run, RunFiles
from sfumato.workflow.policy import DEMO, Policy
from sfumato.workflow.recorded_policy import IN_MEMORY
from sfumato.workflow.shapes.file_shapes import get_shape
from sfumato.workflow.stored.stored_support import choose_run_engine


def run(
    data: Any,
    protection: Any = None,
    randomness: Randomness | None = None,
    *,
    out: str | Path | None = None,
    roles: Mapping[str, Any] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    attacks: Any = None,
    gate: Any = None,
    accept: Mapping[str, str] | None = None,
    title: str | None = None,
) -> Run:
    """Protect data, measure the claims on the written file, attack it, judge it and certify it.

    `data` is a pandas, polars or pyarrow frame, a `Table`, `Baskets`, lists of items, or a path. `protection` is a
    method, several methods, a `Policy`, a dict in the shape of a policy file, or the path of one. The other arguments
    replace sections of the policy; `roles` may be column → role, or role → columns.

    Nothing is written until `Run.save(folder)`, unless `out` names a folder. `run(policy, out)` runs a policy on its
    own data and writes its folders, as the command line does.
    """
    if not isinstance(randomness, Randomness | None):
        if isinstance(randomness, Mapping):
            raise PolicyError("roles are given by name: run(data, method, roles={...})")
        raise PolicyError(
            "randomness must be sf.Randomness.secure(), the default, or sf.Randomness.seeded(7) for tests"
        )
    arguments = {
        "hierarchies": hierarchies,
        "attack": attacks,
        "gate": gate,
        "accept": accept,
        "title": title,
    }
    sections = {name: value for name, value in arguments.items() if value is not None}
    if isinstance(data, Policy) or (_is_path(data) and str(data).endswith(".toml")):
        if sections or roles is not None or not (protection is None or _is_path(protection)):
            raise PolicyError("a policy has its own data, roles and sections; to replace them: run(data, policy, ...)")
        return pipeline.run_policy(
            data if isinstance(data, Policy) else Policy.read(data), protection or out, randomness
        )
    if protection is None:
        raise PolicyError("say what to do with the data: run(data, method, roles={...}), or a policy for the method")
    policy = _build_policy(data, protection, _group_roles(roles, data), sections)
    original = None if _is_path(data) else _build_original(data, policy)
    if policy.shape == "table" and not policy.roles.group_by_column() and policy.data.path != DEMO:
        _refuse_without_roles(policy, original)
    if out is not None:
        return pipeline.run_policy(policy, out, randomness, original)
    if original is None and (engine := choose_run_engine(policy).name) != "memory":
        raise PolicyError(f"a run by {engine} keeps nothing in memory: name a folder, as in run(data, method, out=...)")
    with TemporaryDirectory(prefix="sfumato-") as folder:  # mode 0700
        finished_run = pipeline.run_policy(policy, Path(folder) / "run", randomness, original)
        return replace(finished_run, folder=None, files=RunFiles.read(finished_run.out))


def _is_path(data: Any) -> bool:
    return isinstance(data, str | Path)


def _build_policy(data: Any, protection: Any, roles: Mapping[str, Any], sections: Mapping[str, Any]) -> Policy:
    """The policy that says the same as the arguments."""
    content = _read_policy(protection)
    reading = content.get("data", {})
    reads = {"path": str(data) if _is_path(data) else IN_MEMORY}
    content["data"] = {**reading, **reads} if isinstance(reading, Mapping) else reading.model_copy(update=reads)
    if roles:
        content["roles"] = roles
    content |= {name: _spell_section(name, value) for name, value in sections.items()}
    try:
        return Policy.model_validate(content)
    except ValidationError as error:
        raise explain_parameters(error, Policy, content, "run") from None


def _read_policy(protection: Any) -> dict[str, Any]:
    """The sections of a policy in any of its forms."""
    name = (
        find_other_name(protection) or protection.lower()
        if isinstance(protection, str) and not Path(protection).exists()
        else ""
    )
    if (kind := find_tagged_class("method", name)) is not None:
        raise PolicyError(f"give the method with its parameters, as in sf.{kind.__name__}(...), not its name")
    if isinstance(protection, str | Path):
        protection = Policy.read(protection)
    if isinstance(protection, Policy):
        return {name: getattr(protection, name) for name in Policy.model_fields}
    if isinstance(protection, type) and issubclass(protection, Method):
        raise PolicyError(f"give {protection.__name__}(...) with its parameters, not the class {protection.__name__}")
    if isinstance(protection, Mapping):
        return {"protect": [protection]} if "method" in protection else dict(protection)
    several = (
        [protection] if isinstance(protection, Method) else list(protection) if isinstance(protection, Sequence) else []
    )
    if not several or not all(isinstance(method, Method | Mapping) for method in several):
        raise PolicyError(
            f"{type(protection).__name__} does not say what to do; give a method such as "
            "sf.Partition(models=[sf.KAnonymity(k=5)]), several methods, a Policy, a dict, or the path of a policy file"
        )
    return {"protect": several}


def _spell_section(name: str, value: Any) -> Any:
    """An argument as its section of a policy takes it."""
    if name == "attack":
        several = [value] if isinstance(value, Attack | Mapping | str) else value
        return [{"attack": attack} if isinstance(attack, str) else attack for attack in several]
    if name == "hierarchies":
        return {
            column: str(entry) if isinstance(entry, Path) else _build_rows(column, entry) if _is_rows(entry) else entry
            for column, entry in value.items()
        }
    return value


def _build_rows(column: str, rows: Any) -> Hierarchy:
    if not all(isinstance(row, Sequence) and not isinstance(row, str) for row in rows):
        raise PolicyError(
            f'the hierarchy of "{column}" is a list, but not of rows; give rows such as ["13053", "130**", "*"], or a '
            'description such as {"kind": "intervals", "widths": [5, 10]}'
        )
    return Hierarchy.of(rows, name=f'hierarchy of "{column}"')


def _is_rows(hierarchy: Any) -> bool:
    return isinstance(hierarchy, Sequence) and not isinstance(hierarchy, str)


def _group_roles(roles: Mapping[str, Any] | None, data: Any) -> dict[str, list[str]]:
    """Roles as a policy lists them: role → columns."""
    if roles is None:
        roles = data.roles if isinstance(data, Table) else {}
    if not isinstance(roles, Mapping):
        raise PolicyError(
            'roles are given by column, {"age": "quasi_identifying", ...}, or by role, {"sensitive": [...]}'
        )
    columns_by_role: dict[str, list[str]] = {}
    for key, value in roles.items():
        if isinstance(value, str) and not (Role.is_role(key) and not Role.is_role(value)):
            columns_by_role.setdefault(Role.parse(value).value, []).append(str(key))  # pandas may number its columns
        elif value is None:
            raise PolicyError(f'roles: "{key}" has none; give it one of {", ".join(role.value for role in Role)}')
        else:
            columns = [value] if isinstance(value, str) else value
            columns_by_role.setdefault(Role.parse(str(key)).value, []).extend(str(column) for column in columns)
    return columns_by_role


def _build_original(data: Any, policy: Policy) -> Any:
    """The originals in the shape that the first method takes."""
    if policy.shape != "table":
        kind = get_shape(policy.shape).kind
        if isinstance(data, Baskets | Sequences | Table) and not isinstance(data, kind):
            raise DataError(f"{policy.protect[0].method} takes {kind.__name__}, not {type(data).__name__}")
        return data if isinstance(data, kind) else kind.of(data)  # type: ignore[attr-defined]  # each kind has `of`
    if isinstance(data, Baskets | Sequences):
        raise DataError(f"{policy.protect[0].method} takes a table, not {type(data).__name__}")
    table = data if isinstance(data, Table) else None
    source = "table" if table is None else table.source
    plain = simplify_frame(build_table_frame(data, source), source) if table is None else table.frame
    marks = policy.data.missing_marks if "missing_marks" in policy.data.model_fields_set else ()
    frame = plain.with_columns(
        column.set(spell_cells(column).is_in(list(marks)).fill_null(False), None) for column in plain if marks
    )
    hierarchies = {**({} if table is None else table.hierarchies), **policy.hierarchies}
    is_policy_rule = table is None or "missing" in policy.data.model_fields_set
    missing = policy.data.missing if is_policy_rule or table is None else table.missing
    roles = policy.roles.group_by_column() or None
    original = Table.of(frame, roles, hierarchies, missing, source=source, dates=policy.data.dates)
    return replace(original, row_labels=get_row_labels(data) if table is None else table.row_labels)


def _refuse_without_roles(policy: Policy, original: Table | None) -> None:
    path = policy.data.path
    frame = Table.read(path, separator=policy.data.separator).frame if original is None else original.frame
    raise DataError(explain_missing_roles(frame, path if original is None else original.source))
