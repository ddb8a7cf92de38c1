# SPDX-License-Identifier: MIT
"""What runs by duckdb and Spark, and what does not: decided before any row is read."""

from __future__ import annotations

from typing import Any

from sfumato.attack.anonymity.stored_attacks import explain_unsupported
from sfumato.data.source import is_spark_table
from sfumato.engine.choice import EngineChoice, choose_engine
from sfumato.engine.engine_names import EngineName
from sfumato.errors import PolicyError
from sfumato.protect.stored_plan import STORED_METHODS, explain_unstored
from sfumato.workflow.policy import DEMO, Policy

_RUNS = "every model, missing = own_value or drop, the attacks linking and homogeneity, and a release in Parquet"
_ON_SPARK = ("generalize", "partition", "add_noise", "randomize_response")
"""The methods that decide by counting where rows are, and whose plans can be sent to executors."""


def choose_run_engine(policy: Policy, wanted: EngineName | None = None) -> EngineChoice:
    """The engine for a policy: as asked, or by the size of its data; an error if it cannot do what is asked."""
    name = wanted or policy.data.engine
    if name == "auto" and is_spark_table(policy.data.path):
        return choose_run_engine(policy, "spark")._replace(reason="which reads its own tables")
    reasons = list_unsupported(policy)
    if name in ("duckdb", "spark"):
        if name == "spark":
            tags = [method.method for method in policy.protect]
            reasons += [tag for tag in tags if tag in STORED_METHODS and tag not in _ON_SPARK]
        if reasons:
            raise PolicyError(
                f"the engine {name} does not run {', '.join(reasons)}; it runs {describe_supported(name)}. Change the "
                "policy, or use --engine memory"
            )
        return EngineChoice(name, "as asked")
    if name == "memory" or policy.shape != "table" or policy.data.path == DEMO:
        return EngineChoice("memory", "as asked" if name == "memory" else "which reads this kind of data")
    choice = choose_engine(policy.data.path)
    if choice.name == "duckdb" and reasons:
        return EngineChoice("memory", f"although the table may not fit, since duckdb does not run {', '.join(reasons)}")
    return choice


def describe_supported(engine: EngineName = "duckdb") -> str:
    """What duckdb or Spark runs, in words."""
    methods = [known.words for tag, known in STORED_METHODS.items() if engine != "spark" or tag in _ON_SPARK]
    listed = " or ".join([", ".join(methods[:-1]), methods[-1]] if methods[1:] else methods)
    return f"{listed} as the only method, {_RUNS}"


def list_unsupported(policy: Policy) -> list[str]:
    """What a policy asks for that duckdb and Spark do not run."""
    if policy.shape != "table" or policy.gives != "table":
        return [f"{policy.protect[0].method}, which is not about tables"]
    found = []
    if policy.data.path == DEMO:
        found.append("the built-in population")
    if len(policy.protect) > 1:
        found.append("several methods")
    found += [why for method in policy.protect if (why := explain_unstored(method)) is not None]
    drawn = [name for method in policy.protect for name in list_drawn_columns(method)]
    if known := [name for name in policy.roles.quasi_identifying if name in drawn]:
        found.append(f"randomized quasi-identifying columns ({', '.join(known)}), which linking searches row by row")
    if policy.data.missing not in (("own_value",) if drawn else ("own_value", "drop")):
        found.append(f"missing = {policy.data.missing}{' with randomized columns' if drawn else ''}")
    sensitive = policy.roles.sensitive
    found += [why for attack in policy.attacks() if (why := explain_unsupported(attack, sensitive, drawn)) is not None]
    if policy.attacks() and not policy.roles.quasi_identifying:
        found.append("attacks without quasi-identifying columns")
    if policy.output.format not in (None, "parquet"):
        found.append(f"format = {policy.output.format}")
    if policy.output.order != "as_read":
        found.append(f"order = {policy.output.order}")
    if policy.measure.classify is not None:
        found.append("measure.classify")
    if policy.data.comment is not None:
        found.append("comments in text files")
    return found


def list_drawn_columns(method: Any) -> tuple[str, ...]:
    """The columns whose published cells a method draws by chance, by its parameters."""
    if not method.by_chance:
        return ()
    named = getattr(method, "columns", None) or getattr(method, "column", None) or ()
    return (named,) if isinstance(named, str) else tuple(named)
