# SPDX-License-Identifier: MIT
"""What runs by duckdb and Spark, and what does not: decided before any row is read."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.attack.stored_attack import StoredSetting, explain_unstored_attack, list_stored_attacks
from sfumato.data.reading.source import is_spark_table
from sfumato.engine.basket_staging import BasketSource
from sfumato.engine.choice import EngineChoice, choose_basket_engine, choose_engine
from sfumato.engine.engine_names import EngineName
from sfumato.errors import PolicyError
from sfumato.protect.stored_method import explain_unstored_method, list_stored_methods
from sfumato.workflow.policy import DEMO, Policy


def choose_run_engine(policy: Policy, wanted_engine: EngineName | None = None) -> EngineChoice:
    """The engine for a policy: as asked, or by the size of its data; an error if it cannot do what is asked."""
    name = wanted_engine or policy.data.engine
    if name == "auto" and is_spark_table(policy.data.path):
        return choose_run_engine(policy, "spark")._replace(reason="which reads its own tables")
    reasons = list_unsupported(policy)
    if name in ("duckdb", "spark"):
        if reasons:
            raise PolicyError(
                f"the engine {name} does not run {', '.join(reasons)}; it runs {_describe_runnable(policy)}. "
                "Change the policy, or use --engine memory"
            )
        return EngineChoice(name, "as asked")
    kept_in_file = policy.shape == "table" or policy.shape == policy.gives == "baskets"
    if name == "memory" or not kept_in_file or policy.data.path == DEMO:
        return EngineChoice("memory", "as asked" if name == "memory" else "which reads this kind of data")
    data = policy.data
    choice = (
        choose_engine(data.path)
        if policy.shape == "table"
        else choose_basket_engine(BasketSource(data.path, data.format, data.id, data.item, data.separator))
    )
    if choice.name == "duckdb" and reasons:
        reason = f"although the table may not fit, since duckdb does not run {', '.join(reasons)}"
        return EngineChoice("memory", reason, is_fallback=True)
    return choice


def describe_supported() -> str:
    """What duckdb and Spark run, in words."""
    methods, attacks = (_join_choices(names) for names in (list_stored_methods("table"), list_stored_attacks("table")))
    return (
        f"{methods} as the only method, every model, missing = own_value or drop, the attacks {attacks}, and a release "
        "in Parquet"
    )


def _join_choices(names: Sequence[str]) -> str:
    """Names as choices: "a, b or c"."""
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else "".join(names)


def _describe_runnable(policy: Policy) -> str:
    """What the engines run of the kind of data that a policy is about."""
    if policy.shape != "baskets":
        return describe_supported()
    methods, attacks = " or ".join(list_stored_methods("baskets")), _join_choices(list_stored_attacks("baskets"))
    return f"{methods}, as the only method, and the attack {attacks}"


def _list_unsupported_baskets(policy: Policy) -> list[str]:
    """What a policy asks of baskets that duckdb does not run."""
    features = ["several methods"] if len(policy.protect) > 1 else []
    features += [reason for method in policy.protect if (reason := explain_unstored_method(method)) is not None]
    features += _explain_attacks(policy, StoredSetting())
    if policy.data.format == "comma":
        features.append("format = comma")
    if is_spark_table(policy.data.path):
        features.append("baskets in a table of Spark")
    if policy.output.order != "as_read":
        features.append(f"order = {policy.output.order}")
    return features


def list_unsupported(policy: Policy) -> list[str]:
    """What a policy asks for that duckdb and Spark do not run."""
    if policy.shape == policy.gives == "baskets":
        return _list_unsupported_baskets(policy)
    if policy.shape != "table" or policy.gives != "table":
        return [f"{policy.protect[0].method}, which is not about tables"]
    features = ["the built-in population"] if policy.data.path == DEMO else []
    if len(policy.protect) > 1:
        features.append("several methods")
    features += [reason for method in policy.protect if (reason := explain_unstored_method(method)) is not None]
    draws = [name for method in policy.protect for name in method.list_law_columns()]
    if drawn_columns := [name for name in policy.roles.quasi_identifying if name in draws]:
        features.append(
            f"randomized quasi-identifying columns ({', '.join(drawn_columns)}), which linking searches row by row"
        )
    blanks = any(method.utility == "blanks" for method in policy.protect)
    capped_columns = [name for method in policy.protect for name in method.list_capped_columns()]
    if policy.data.missing not in (("own_value",) if draws or blanks or capped_columns else ("own_value", "drop")):
        cells = (
            "randomized columns"
            if draws
            else "blanked entries"
            if blanks
            else "capped columns"
            if capped_columns
            else ""
        )
        features.append(f"missing = {policy.data.missing}{' with ' if cells else ''}{cells}")
    roles = policy.roles
    setting = StoredSetting(roles.quasi_identifying, roles.sensitive, draws, capped_columns, blanks)
    features += _explain_attacks(policy, setting)
    if policy.output.format not in (None, "parquet"):
        features.append(f"format = {policy.output.format}")
    if policy.output.order != "as_read":
        features.append(f"order = {policy.output.order}")
    if policy.measure.classify is not None:
        features.append("measure.classify")
    if policy.data.comment is not None:
        features.append("comments in text files")
    return features


def _explain_attacks(policy: Policy, setting: StoredSetting) -> list[str]:
    """What of the attacks of a policy does not run on a stored release."""
    return [reason for attack in policy.attacks if (reason := explain_unstored_attack(attack, setting)) is not None]
