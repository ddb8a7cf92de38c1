# SPDX-License-Identifier: MIT
"""Policies drawn at random, run as a user runs them, and an independent look at whatever they publish.

The look reads the release folder with the standard library alone. It knows the meaning of claims from the docs, and
shares no code with the methods, the measures or the certificate.
"""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl

import sfumato as sf
from sfumato.workflow.policy import Policy
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.plain_claims import (
    Cells,
    Fields,
    look_at_attacks,
    look_at_columns,
    look_at_file,
    look_at_groups,
    look_at_limits,
    look_at_models,
    look_at_people,
)

CANARY = "Zzyzxq"
"""Every name begins with it; no message and no released byte may."""
LISTED = {
    "generalize", "partition", "k_optimize", "microaggregate", "top_code", "add_noise", "randomize_response",
    "swap_confidential", "synthesize", "suppress_entries",
}  # fmt: skip
"""The methods that `draw_method` draws with parameters of its own; all others are drawn from their examples."""


@dataclass(frozen=True)
class Outcome:
    """What came of one policy."""

    kind: str
    """`released`, `refused` (by a limit, a claim or a role), or `rejected` before anything was written."""
    message: str
    problems: tuple[str, ...]


def draw_people(chance: random.Random, folder: Path) -> Cells:
    """A small table of invented people, with gaps."""
    size = chance.choice((12, 30, 60, 150))
    gaps = chance.choice((0.0, 0.0, 0.05, 0.3))

    def column(draw: Callable[[], str], holed: bool = True) -> list[str]:
        return ["" if holed and chance.random() < gaps else draw() for _ in range(size)]

    people = {
        "name": [f"{CANARY}{number}" for number in range(size)],
        "age": column(lambda: str(chance.randrange(20, 60, chance.choice((1, 5))))),
        "zip": column(lambda: f"4{chance.choice('12')}{chance.choice('0123')}"),
        "sex": column(lambda: chance.choice("fm"), holed=False),
        "ill": column(lambda: chance.choice(("flu", "flu", "gout", "asthma", "ulcer")), holed=chance.random() < 0.2),
        "pay": column(lambda: str(chance.randrange(10, 99))),
        "seen": column(lambda: f"2024-{chance.choice((1, 2, 11)):02}-{chance.choice((1, 15, 28)):02}"),
    }
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(people)
        writer.writerows(zip(*people.values(), strict=True))
    return people


def draw_roles(chance: random.Random) -> dict[str, list[str]]:
    quasi_columns = chance.choice(
        (["age", "zip", "sex"], ["age", "sex"], ["zip"], ["age", "zip", "sex", "pay"], ["sex", "seen"])
    )
    secret = chance.choice((["ill"], ["ill", "pay"], []))
    secret = [name for name in secret if name not in quasi_columns]
    rest = [name for name in ("age", "zip", "sex", "ill", "pay", "seen") if name not in (*quasi_columns, *secret)]
    return {"identifying": ["name"], "quasi_identifying": quasi_columns, "sensitive": secret, "insensitive": rest}


def draw_model(chance: random.Random, roles: Fields) -> Fields:
    if not roles["sensitive"] or chance.random() < 0.5:
        return {"model": "k_anonymity", "k": chance.choice((2, 3, 5))}
    column = roles["sensitive"][0]
    models: Sequence[Fields] = (
        {"model": "l_diversity", "l": 2, "column": column},
        {"model": "t_closeness", "t": chance.choice((0.3, 0.6)), "column": column},
        {"model": "alpha_k_anonymity", "k": 2, "alpha": 0.7, "column": column},
    )
    return chance.choice(models)


NUMBERS, DATES, WORDS = ("age", "pay"), ("seen",), ("zip", "sex", "ill")


def list_alike(kind: pl.DataType) -> tuple[str, ...]:
    """The columns of the people here that are like one of an example."""
    return NUMBERS if kind.is_numeric() else DATES if kind.is_temporal() else WORDS


@cache
def find_new_examples() -> dict[str, tuple[Fields, dict[str, tuple[str, ...]]]]:
    """The example of every method on tables that `draw_method` does not list, and what its columns are like.

    So a new method is drawn without being named here.
    """
    examples = {}
    for example in METHOD_EXAMPLES:
        method, fields = example.subject, example.subject.model_dump(mode="json")
        if method.shape == method.gives == "table" and fields["method"] not in LISTED:
            schema = example.data().frame.schema
            examples[fields["method"]] = (fields, {name: list_alike(kind) for name, kind in schema.items()})
    return examples


def draw_new_method(chance: random.Random) -> Fields:
    """An example with columns of the people here, numbers for numbers, and some of its own numbers changed."""
    fields, alike = find_new_examples()[chance.choice(sorted(find_new_examples()))]
    names = {name: chance.choice(columns) for name, columns in alike.items()}

    def rename(part: Any) -> Any:
        if isinstance(part, dict):
            return {names.get(key, key): rename(value) for key, value in part.items()}
        if isinstance(part, list):
            renamed = [rename(value) for value in part]
            return list(dict.fromkeys(renamed)) if all(isinstance(value, str) for value in renamed) else renamed
        if isinstance(part, int) and not isinstance(part, bool) and part > 2:
            return chance.choice((2, 3, part))
        return names.get(part, part) if isinstance(part, str) else part

    renamed: Fields = rename({name: value for name, value in fields.items() if value is not None})
    return renamed


def draw_method(chance: random.Random, roles: Fields) -> Fields:
    """One method with parameters that are sometimes unsuitable."""
    if find_new_examples() and chance.random() < 0.15:
        return draw_new_method(chance)
    models = [draw_model(chance, roles) for _ in range(chance.choice((1, 1, 2)))]
    limit = chance.choice((0.0, 0.1, 0.5))
    rows = chance.choice(("star", "drop"))
    column = chance.choice(("age", "pay"))
    methods: Sequence[Fields] = (
        {"method": "generalize", "models": models, "suppression_limit": limit},
        {"method": "generalize", "models": models, "suppression_limit": limit, "suppressed_rows": rows},
        {"method": "generalize", "models": models, "suppression_limit": limit, "recoding": "local"},
        {"method": "partition", "models": models},
        {"method": "k_optimize", "k": chance.choice((2, 3)), "seconds": 0.2},
        {"method": "microaggregate", "k": chance.choice((2, 4))},
        {"method": "top_code", "columns": [column], "k": 3},
        {"method": "add_noise", "columns": [column], "privacy": 0.4, "ranges": {column: [0, 100]}},
        {"method": "randomize_response", "column": "ill", "epsilon": 1.0, "categories": "from_data"},
        {"method": "swap_confidential", "column": "ill", "share": 0.5, "search": "random"},
        {"method": "synthesize", "kind": "partial", "columns": ["ill"], "min_leaf": 3},
        {"method": "synthesize", "min_leaf": 3},
        {
            "method": "suppress_entries",
            "private": {"columns": ["ill"], "where": {"sex": chance.choice(("f", "x"))}},
            "confidence": 0.7,
            "min_support": 2,
            "seconds": 0.2,
        },
    )
    return chance.choice(methods)


def draw_policy(chance: random.Random, folder: Path) -> tuple[Fields, Cells]:
    """A policy and the people it is about."""
    people, roles = draw_people(chance, folder), draw_roles(chance)
    attacks = (
        {"attack": "homogeneity"},
        {"attack": "linking"},
        {"attack": "inference", "column": "ill", "attempts": 20},
    )
    fields: Fields = {
        "data": {
            "path": str(folder / "people.csv"),
            "missing": chance.choice(("own_value", "own_value", "matches_any", "never_matches", "drop")),
        },
        "roles": roles,
        "hierarchies": {"zip": {"kind": "prefix", "keep": [2, 1]}, "age": {"kind": "intervals", "widths": [10, 20]}},
        "protect": [draw_method(chance, roles) for _ in range(chance.choice((1, 1, 2)))],
        "attack": chance.sample(attacks, chance.choice((0, 0, 1))),
        "measure": {"queries": 0},
        "output": {"format": "csv", "order": chance.choice(("as_read", "shuffled"))},
    }
    if chance.random() < 0.5:
        fields["accept"] = dict.fromkeys(roles["insensitive"], "invented people")
    if chance.random() < 0.2:
        fields["gate"] = {"max_linking_risk": chance.choice((0.05, 0.5))}
    fields["hierarchies"] = {n: h for n, h in fields["hierarchies"].items() if chance.random() < 0.8}
    return fields, people


def run_random_policy(fields: Fields, people: Cells, folder: Path) -> Outcome:
    """Run a policy, and look at everything it says and writes."""
    out = folder / "out"
    try:
        policy = Policy.model_validate(fields)
        with mock.patch("sfumato.report.page.render_page", lambda account: "<!doctype html>"):
            result = sf.run(policy, out)
    except (sf.SfumatoError, ValueError) as error:
        message = str(error)
        problems = [] if not out.exists() or not any(out.iterdir()) else ["something was written"]
        problems += ["a name is in the message"] if CANARY in message else []
        problems += [] if len(message) > 20 else ["the message says nothing"]
        return Outcome("rejected", message, tuple(problems))
    if not result.published:
        message = "; ".join(map(str, result.refusals))
        problems = ["there is a release"] if (out / "release").exists() else []
        return Outcome(
            "refused", message, tuple(problems + (["a name is in the message"] if CANARY in message else []))
        )
    return Outcome("released", "", (*look_at_release(out, fields, people), *look_plainly(out, people)))


def look_plainly(out: Path, people: Cells) -> list[str]:
    """The numbers of the certificate, computed again by their definitions."""
    body = json.loads((out / "release" / "certificate.json").read_text())
    record = json.loads((out / "private" / "record.json").read_text())["found"]
    cells = read_cells(out)
    problems = look_at_models(body, cells, body["missing"]) + look_at_limits(body, cells) + look_at_groups(body, cells)
    problems += look_at_file(body, cells) + look_at_columns(body, cells) + look_at_attacks(body, record)
    path = out / "private" / "rows.parquet"
    if path.exists():
        problems += look_at_people(body, cells, people, pl.read_parquet(path)["original_row"].to_list())
    return problems


def read_cells(out: Path) -> Cells:
    with (out / "release" / "data.csv").open(newline="") as file:
        first, *rows = list(csv.reader(file))
    return {name: [row[column_index] for row in rows] for column_index, name in enumerate(first)}


def look_at_release(out: Path, fields: Fields, people: Cells) -> list[str]:
    """Every sentence of a certificate that plain code can check, and what is wrong with it."""
    body = json.loads((out / "release" / "certificate.json").read_text())
    cells = read_cells(out)
    problems = [f"{claim['property']} does not hold" for claim in body["claims"] if claim["holds"] is not True]
    leaky_files = [path.name for path in (out / "release").iterdir() if CANARY.encode() in path.read_bytes()]
    problems += [f"a name is in {name}" for name in leaky_files]
    problems += look_at_claims(body, cells, fields)
    problems += look_at_changes(body, cells, people, out)
    problems += look_at_verdict(body, cells)
    if not sf.verify(out).holds:
        problems.append("verify finds a problem")
    return problems


def look_at_claims(body: Fields, cells: Cells, fields: Fields) -> list[str]:
    """k-anonymity, diversity and suppression, by counting."""
    quasi_columns = [name for name, role in body["roles"].items() if role == "quasi_identifying"]
    size = len(next(iter(cells.values())))
    keys = [tuple(cells[name][row] for name in quasi_columns) for row in range(size)]
    starred = [bool(quasi_columns) and all(cell == "*" for cell in key) for key in keys]
    problems = []
    for claim in body["claims"]:
        arguments, name = claim["arguments"], claim["property"]
        excludes_starred = arguments.get("starred_rows") == "suppressed"
        counted_rows = [row for row in range(size) if not (excludes_starred and starred[row])]
        exact_keys = fields["data"]["missing"] == "own_value" or not any("" in keys[row] for row in counted_rows)
        if name == "k_anonymity" and exact_keys:
            least = min(Counter(keys[row] for row in counted_rows).values(), default=claim["threshold"])
            problems += [] if least >= claim["threshold"] else [f"k is {least}"]
        if name == "suppressed_share" and not claim["needs_original"]:
            # Where each column's level says "*", such rows are an ordinary class, and none was suppressed.
            share = sum(starred) / size if size and excludes_starred else 0.0
            problems += [] if abs(share - claim["measured"]) < 1e-9 else [f"{share} of rows are starred"]
        if claim["measure"] == "distinct_l" and exact_keys:
            classes: dict[tuple[str, ...], set[str]] = {}
            for row in counted_rows:
                classes.setdefault(keys[row], set()).add(cells[arguments["column"]][row])
            least = min(map(len, classes.values()), default=claim["threshold"])
            problems += [] if least >= claim["threshold"] else [f"l is {least}"]
        if name == "identifying_columns" and "name" in cells:
            problems.append("a column of names is published")
    return problems


def look_at_changes(body: Fields, cells: Cells, people: Cells, out: Path) -> list[str]:
    """Columns that are said to be kept are kept, cell by cell."""
    changed = {change["column"] for change in body["changes"] if change["kind"] != "kept" or change["starred"]}
    path = out / "private" / "rows.parquet"
    if not path.exists():
        return []
    rows = pl.read_parquet(path)["original_row"].to_list()
    wrong = [
        name
        for name in cells
        if name not in changed and not all(map(is_same, cells[name], [people[name][row] for row in rows]))
    ]
    missing = [
        name for name in people if name not in cells and name not in body["removed_columns"] and name not in changed
    ]
    return [f"{name} is not as it was" for name in wrong] + [f"{name} is gone unsaid" for name in missing]


def is_same(cell: str, value: str) -> bool:
    """Whether two cells are the same text, or the same number."""
    try:
        return cell == value or float(cell) == float(value)
    except ValueError:
        return False


def look_at_verdict(body: Fields, cells: Cells) -> list[str]:
    """Unique rows by every combination of up to three columns."""
    verdict = body["verdict"]
    counted_columns = [name for name in cells if name not in verdict["not_counted"]]
    problems = []
    for size, uniqueness in enumerate(verdict["unique_rows"], 1):
        shares = []
        for columns in combinations(counted_columns, size):
            keys = Counter(zip(*(cells[name] for name in columns), strict=True))
            shares.append(sum(count == 1 for count in keys.values()) / max(1, keys.total()))
        if abs(max(shares) - uniqueness["share"]) > 1e-9:
            problems.append(f"{max(shares)} of the rows are unique by {size} columns, not {uniqueness['share']}")
    if any(uniqueness["share"] > 0.1 for uniqueness in verdict["unique_rows"]) and verdict["status"] == "passed":
        problems.append("many rows are unique, and nothing warns of it")
    return problems
