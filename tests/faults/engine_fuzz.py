# SPDX-License-Identifier: MIT
"""Random policies on random dirty tables, run by every engine: the same release and claims, or the same refusal.

`python -m tests.faults.engine_fuzz [COUNT [FIRST]]` tries more of them than the tests do, and prints what differs.
"""

from __future__ import annotations

import datetime as dt
import faulthandler
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.report import page
from sfumato.workflow.audit import audit
from sfumato.workflow.drafts.toml_text import write_value
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import verify
from tests.data.postgres_server import find_programs, run_server
from tests.data.reading.test_databases import with_password

WORDS = (
    "a",
    "A",
    "ä",
    "a\u0308",
    "ß",
    "日本",
    "🙂",
    " a",
    "a ",
    "",
    "nan",
    "null",
    "NA",
    "1e3",
    "true",
    "=1+1",
    '"',
    "a,b",
)
MORE = ("x\ty", "İ", "ı", "\u200b", "-0", "1.0", "1")
_PATIENCE = 400.0
Draw = Callable[[np.random.Generator, int], pl.Series]


def _choose(values: list[Any], kind: Any) -> Draw:
    return lambda chance, rows: pl.Series([values[n] for n in chance.integers(0, len(values), rows)], dtype=kind)


COLUMNS: dict[str, Draw] = {
    "age": _choose([*range(18, 40)], pl.Int64()),
    "small": _choose([-3, 0, 5, 127], pl.Int8()),
    "large": _choose([0, 2**63 + 1, 2**64 - 1], pl.UInt64()),
    "zip": _choose(["02139", "02141", "10001", "00000", "0", "00"], pl.String()),
    "word": _choose(list(WORDS), pl.String()),
    "mark": _choose(list(MORE), pl.String()),
    "kind": _choose(["q", "r", "Q", "s"], pl.Categorical()),
    "grade": _choose(["low", "mid", "top"], pl.Enum(["top", "mid", "low"])),
    "truth": _choose([True, False], pl.Boolean()),
    "zero": _choose([0.0, -0.0, 1.0, 2.5], pl.Float64()),
    "odd": _choose([float("nan"), 0.1, 1e300, -1e-300], pl.Float64()),
    "half": _choose([0.5, 1.0, 7.25], pl.Float32()),
    "day": _choose([dt.date(1900, 2, 28), dt.date(2024, 2, 29), dt.date(9999, 12, 31)], pl.Date()),
    "time": _choose([dt.datetime(2024, 3, 31, 1, 30), dt.datetime(1969, 12, 31, 23, 59, 59)], pl.Datetime("us")),
    "zoned": _choose(
        [dt.datetime(2024, 7, 1, 12, tzinfo=dt.UTC), dt.datetime(2024, 1, 1, tzinfo=dt.UTC)],
        pl.Datetime("us", "Europe/Berlin"),
    ),
    "price": _choose([Decimal("1.10"), Decimal("-0.00"), Decimal("99.99")], pl.Decimal(10, 2)),
    "empty": lambda chance, rows: pl.Series([None] * rows, dtype=pl.String),
}
NUMBERS = ("age", "small", "zero", "half", "odd")


def draw_table(chance: np.random.Generator) -> pl.DataFrame:
    """Some columns of every kind, with missing cells, repeated rows and a name."""
    names = [str(name) for name in chance.permutation(list(COLUMNS))[: int(chance.integers(3, 8))]]
    rows = int(chance.choice([1, 2, 40, 150, 300]))
    columns = [COLUMNS[name](chance, rows).alias(name) for name in names]
    for index, column in enumerate(columns):
        if chance.random() < 0.4:
            blanks = pl.Series(chance.random(rows) < chance.choice([0.02, 0.3]))
            columns[index] = column.zip_with(~blanks, pl.Series([None] * rows, dtype=column.dtype)).alias(column.name)
    people = pl.Series("name", [f"p{number}" for number in range(rows)])
    return pl.DataFrame([people, *columns])


def draw_policy(chance: np.random.Generator, frame: pl.DataFrame, path: str) -> dict[str, Any]:
    """Roles, a method with options, and attacks, some of which cannot run."""
    names = frame.columns[1:]
    split = int(chance.integers(1, len(names)))
    quasi, rest = names[:split], names[split:]
    sensitive, other = rest[:2], rest[2:]
    policy: dict[str, Any] = {
        "data": {"path": path, "missing": str(chance.choice(["own_value", "own_value", "drop", "matches_any"]))},
        "roles": {"identifying": ["name"], "quasi_identifying": quasi, "sensitive": sensitive, "insensitive": other},
        "protect": [_draw_method(chance, quasi, sensitive)],
        "measure": {"queries": 0},
        "output": {"format": "parquet"},
    }
    if "zip" in quasi:
        policy["hierarchies"] = {"zip": {"kind": "prefix", "keep": [3, 1]}}
    if chance.random() < 0.4:
        policy["attack"] = [{"attack": "homogeneity", "column": sensitive[0]}]
    return policy


def _draw_method(chance: np.random.Generator, quasi: list[str], sensitive: list[str]) -> dict[str, Any]:
    first = sensitive[0]
    models: list[dict[str, Any]] = [
        {"model": "k_anonymity", "k": int(chance.integers(1, 6))},
        {"model": "l_diversity", "l": 2, "column": first},
        {"model": "t_closeness", "t": 0.4, "column": first, "distance": "equal"},
        {"model": "beta_likeness", "beta": 2.0, "column": first},
    ]
    chosen_models = [models[0], *[models[n] for n in {int(chance.integers(1, 4))} if chance.random() < 0.5]]
    numbers = [name for name in (*quasi, *sensitive) if name in NUMBERS]
    kinds = (
        ["generalize"] * 4
        + ["partition"] * 2
        + ["suppress_entries"] * 2
        + ["top_code", "add_noise", "randomize_response"]
    )
    match str(chance.choice(kinds)):
        case "generalize":
            limit, suppression = float(chance.choice([0.0, 0.1, 1.0])), str(chance.choice(["star", "drop", "blank"]))
            method_fields = {"method": "generalize", "models": chosen_models, "suppression_limit": limit}
            compares = any(model["model"] in ("t_closeness", "beta_likeness") for model in chosen_models)
            return (
                method_fields
                if suppression == "star" or compares
                else {**method_fields, "suppressed_rows": suppression}
            )
        case "partition":
            return {"method": "partition", "models": chosen_models}
        case "suppress_entries":
            share = {"share": float(chance.choice([0.05, 0.3]))}
            search = str(chance.choice(["grades", "grades_once"]))
            return {
                "method": "suppress_entries", "private": [share], "confidence": 0.7, "min_support": 2, "search": search
            }  # fmt: skip
        case "top_code" if numbers:
            return {"method": "top_code", "columns": numbers[:2], "k": 3, "ends": str(chance.choice(["top", "both"]))}
        case "add_noise" if numbers:
            return {"method": "add_noise", "columns": numbers[:1], "ranges": {numbers[0]: [-10, 200]}}
        case _:
            categories = ["a", "b", "A", "q", "r", "top", "mid", "low"]
            return {"method": "randomize_response", "column": [first], "epsilon": 1.0, "categories": categories}


def write_toml(policy: dict[str, Any]) -> str:
    """A policy as its file."""
    lines: list[str] = []
    for section, content in policy.items():
        for table in content if isinstance(content, list) else [content]:
            lines.append(f"[[{section}]]" if isinstance(content, list) else f"[{section}]")
            lines += [f"{key} = {write_value(value)}" for key, value in table.items()]
    return "\n".join(lines)


def try_once(action: Callable[[], Any]) -> Any:
    """What comes out, or the sentence of the refusal; any other error is a finding of its own."""
    try:
        return action()
    except SfumatoError as error:
        return f"{type(error).__name__}: {error}"


def describe_run(policy: Policy, folder: Path, engine: Any, seed: int) -> dict[str, Any] | str:
    """All of a run that must not depend on the engine."""
    result = try_once(lambda: run_policy(policy, folder / engine, sf.Randomness.seeded(seed), engine=engine))
    if isinstance(result, str):
        return result
    description: dict[str, Any] = {"published": result.published, "claims": result.release.claims}
    for part in ("changes", "levels", "suppression", "formulas", "roles", "gate"):
        description[part] = result.record.get(part)
    for part in ("unique_rows", "objections", "unchecked", "status"):
        description[part] = result.record["verdict"].get(part)
    description["findings"] = [(f.property, f.holds, _round(f.measured)) for f in result.findings]
    file = result.out / "release" / "data.parquet"
    if file.exists():
        frame = pl.read_parquet(file)
        description["schema"], description["rows"] = dict(frame.schema), [repr(row) for row in frame.rows()]
        for checker in ("memory", "duckdb"):
            verification = verify(result.out, engine=checker).as_json()
            description[f"verify by {checker}"] = {
                k: repr(v) for k, v in verification.items() if k in ("holds", "problems", "findings")
            }
    return description


def _round(value: Any) -> Any:
    return round(value, 9) if isinstance(value, float) else value


def find_difference(seed: int, folder: Path) -> str | None:
    """Draw a table in two files and a policy, and compare both engines by audit, run and verify."""
    chance = np.random.default_rng(seed)
    frame = draw_table(chance)
    kind = str(chance.choice(["parquet", "parquet", "csv"]))
    (folder / "parts").mkdir()
    for number, part in enumerate(frame.iter_slices(max(1, (frame.height + 1) // 2))):
        path = folder / "parts" / f"{number}.{kind}"
        part.write_parquet(path) if kind == "parquet" else part.write_csv(path)
    return _compare_engines(draw_policy(chance, frame, f"{folder}/parts/*.{kind}"), folder, seed)


def find_server_difference(seed: int, folder: Path, address: str) -> str | None:
    """The same of a table on a PostgreSQL server, which has neither unsigned numbers nor categories."""
    chance = np.random.default_rng(seed)
    frame = draw_table(chance).with_columns(cs.categorical().cast(pl.String), cs.enum().cast(pl.String))
    frame = frame.with_columns(cs.unsigned_integer().cast(pl.Float64), cs.by_dtype(pl.Int8).cast(pl.Int16))
    table = f"fuzz{seed}"
    frame.write_database(table, address, engine="adbc")
    return _compare_engines(draw_policy(chance, frame, f"{address}?table={table}"), folder, seed)


def _compare_engines(fields: dict[str, Any], folder: Path, seed: int) -> str | None:
    policy = try_once(lambda: Policy.parse(write_toml(fields), folder / "policy.toml"))
    if isinstance(policy, str):
        return f"the policy is not valid: {policy}"
    path, quasi = fields["data"]["path"], fields["roles"]["quasi_identifying"]
    audits = [
        repr(audit_result if isinstance(audit_result, str) else audit_result.as_json())
        for audit_result in (try_once(partial(audit, path, quasi, engine=engine)) for engine in ("memory", "duckdb"))
    ]
    if audits[0] != audits[1]:
        return f"audit: {audits[0]}\n  != {audits[1]}"
    return compare_accounts(*(describe_run(policy, folder, engine, seed) for engine in ("memory", "duckdb")))


def compare_accounts(ours: dict[str, Any] | str, theirs: dict[str, Any] | str) -> str | None:
    """What differs; an engine may refuse what it does not run, in words of its own."""
    if isinstance(theirs, str) and ("the engine duckdb does not run" in theirs or theirs == ours):
        return None
    if isinstance(ours, str) or isinstance(theirs, str):
        return (
            f"{ours if isinstance(ours, str) else 'released'}\n  != {theirs if isinstance(theirs, str) else 'released'}"
        )
    for part, value in ours.items():
        if repr(value) != repr(theirs.get(part)):
            return f"{part}: {repr(value)[:600]}\n  != {repr(theirs.get(part))[:600]}"
    return None


def find_basket_difference(seed: int, folder: Path) -> str | None:
    """Draw baskets in long form and rules or items to hide, and compare both engines by mining and by run."""
    chance = np.random.default_rng(seed)
    words = [*WORDS[:8], *MORE, *(f"item {n}" for n in range(6))]
    rows = int(chance.choice([3, 60, 400]))
    ids = _choose([*range(max(2, rows // 5))], pl.Int64())(chance, rows)
    frame = pl.DataFrame({"visit": ids, "product": _choose(words, pl.String())(chance, rows)})
    if chance.random() < 0.3:
        frame = frame.with_columns(visit=pl.format("{}", "visit"))
    kind = str(chance.choice(["parquet", "csv"]))
    path = folder / f"sales.{kind}"
    frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)
    support = int(chance.integers(1, 4))
    mine = partial(sf.mine.frequent_itemsets, path, support, id="visit", item="product")
    mined = [
        repr(mining_result if isinstance(mining_result, str) else mining_result.rows())
        for mining_result in (try_once(partial(mine, engine=engine)) for engine in ("memory", "duckdb"))
    ]
    if mined[0] != mined[1]:
        return f"mining: {mined[0][:600]}\n  != {mined[1][:600]}"
    first, second = (words[int(n)] for n in chance.choice(len(words), 2, replace=False))
    hide: dict[str, Any] = {"method": "hide_items", "items": [first], "min_support": support, "min_confidence": 0.5}
    if chance.random() < 0.5 and not set(f"{first}{second}") & set(',"='):
        hide = {
            "method": "hide_rules",
            "rules": [f"{first} ==> {second}"],
            "min_support": support,
            "min_confidence": 0.2,
        }
    fields = {"data": {"path": path.name, "id": "visit", "item": "product"}, "protect": [hide]}
    policy = try_once(lambda: Policy.parse(write_toml(fields), folder / "policy.toml"))
    if isinstance(policy, str):
        return f"the policy is not valid: {policy}"
    return compare_accounts(*(_describe_hiding(policy, folder, engine, seed) for engine in ("memory", "duckdb")))


def _describe_hiding(policy: Policy, folder: Path, engine: Any, seed: int) -> dict[str, Any] | str:
    result = try_once(lambda: run_policy(policy, folder / engine, sf.Randomness.seeded(seed), engine=engine))
    if isinstance(result, str):
        return result
    description: dict[str, Any] = {
        "published": result.published,
        "claims": result.release.claims,
        "findings": result.findings,
    }
    description |= {part: result.record[part] for part in ("losses", "formulas", "suppression", "gate", "methods")}
    file = result.out / "release" / result.certificate.body["data"]["file"] if result.published else None
    description["bytes"] = file.read_bytes() if file else None
    return description


def main() -> None:
    """Try many, and print what differs."""
    count, first = (
        (int(argument) for argument in (*sys.argv[1:3], "200", "0")[:2])
        if len(sys.argv) != 2
        else (int(sys.argv[1]), 0)
    )
    page.render_page = lambda account: "<!doctype html><p>a report</p>"  # the pictures are not the point
    programs = find_programs()
    with run_server(programs) if programs else nullcontext("") as address:
        kinds = [find_difference, find_difference, find_basket_difference]
        if address:
            kinds.append(partial(find_server_difference, address=with_password(address)))
        for seed in range(first, first + count):
            faulthandler.dump_traceback_later(_PATIENCE, exit=True)
            with tempfile.TemporaryDirectory() as name:
                try:
                    difference = kinds[seed % len(kinds)](seed, Path(name))
                except Exception as error:  # a traceback instead of a sentence is a finding, too
                    difference = f"{type(error).__name__}: {error}"
                print(f"seed {seed}: {difference or 'the same'}".replace(name, "…"), flush=True)


if __name__ == "__main__":
    main()
