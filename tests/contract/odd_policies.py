# SPDX-License-Identifier: MIT
"""Random policies about odd tables: dates, Booleans, decimals, names from any alphabet, one to three rows, columns that
are constant or empty, equal rows, several marks for what is missing; two models, two methods, limits, accepted columns.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.contract.plain_claims import Cells, Fields
from tests.contract.random_policies import CANARY

MARKS = ("", "?", "n/a")
NAMES = {
    "name": "name",
    "age": "Größe",
    "zip": "名前",
    "sex": "sex",
    "ill": "è illness",
    "pay": "pay, net",
    "born": "born",
    "paid": "paid",
    "flat": "flat",
    "void": "void",
}
"""What columns are called in some tables; in others they have their short names."""
POLARS_NAMES = {
    "name": "literal",
    "age": "count",
    "zip": "len",
    "sex": "index",
    "ill": "value",
    "pay": "size",
    "born": "rows",
    "paid": "column",
    "flat": "group",
    "void": "row",
}
"""What columns are called in other tables: like those that polars or our own code adds to a frame."""


def draw_odd_people(chance: random.Random, folder: Path) -> Cells:
    """Few or many people; some columns say nothing, some rows are equal."""
    size = chance.choice((1, 2, 3, 7, 12, 30, 30, 60, 60))
    gaps = chance.choice((0.0, 0.0, 0.0, 0.1, 0.4))
    marks = chance.choice((MARKS[:1], MARKS))

    def column(draw: Callable[[], str], holed: bool = True) -> list[str]:
        return [chance.choice(marks) if holed and chance.random() < gaps else draw() for _ in range(size)]

    people = {
        "name": [f"{CANARY}{number}" for number in range(size)],
        "age": column(lambda: str(chance.randrange(20, 60, chance.choice((1, 5))))),
        "zip": column(lambda: f"0{chance.choice('12')}{chance.choice('0123')}"),
        "sex": column(lambda: chance.choice("fm"), holed=False),
        "ill": column(lambda: chance.choice(("flu", "flu", "gout", "asthma", "ulcer")), chance.random() < 0.3),
        "pay": column(lambda: f"{chance.uniform(1, 9):.{chance.choice((0, 1, 2))}f}"),
        "born": column(lambda: f"19{chance.randrange(60, 64)}-0{chance.randrange(1, 9)}-1{chance.randrange(0, 9)}"),
        "paid": column(lambda: chance.choice(("true", "false"))),
        "flat": ["same"] * size,
        "void": [""] * size,
    }
    for name in chance.sample(("born", "paid", "flat", "void", "pay"), chance.choice((1, 2, 3, 4))):
        del people[name]
    for row in range(size):
        if row and chance.random() < chance.choice((0.0, 0.0, 0.5)):
            for name, cells in people.items():
                cells[row] = cells[row] if name == "name" else cells[row - 1]
    naming = chance.choice((None, None, NAMES, POLARS_NAMES))
    if naming is not None:
        people = {naming[name]: cells for name, cells in people.items()}
    write_people(people, folder)
    return {name: ["" if cell in MARKS else cell for cell in cells] for name, cells in people.items()}


def write_people(people: Cells, folder: Path) -> None:
    with (folder / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(people)
        writer.writerows(zip(*people.values(), strict=True))


def draw_odd_roles(chance: random.Random, people: Cells) -> dict[str, list[str]]:
    """A role for every column; the first one names people."""
    first, *names = people
    roles: dict[str, list[str]] = {"identifying": [first], "quasi_identifying": [], "sensitive": [], "insensitive": []}
    for name in names:
        kind = chance.choice(("quasi_identifying", "quasi_identifying", "sensitive", "insensitive"))
        kind = "quasi_identifying" if kind == "sensitive" and len(roles["sensitive"]) > 1 else kind
        roles[kind].append(name)
    return roles


def draw_hierarchy(chance: random.Random, name: str) -> Fields | None:
    kinds: dict[str, Fields] = {
        "age": {"kind": "intervals", "widths": chance.choice(([10], [5, 20]))},
        "zip": {"kind": "prefix", "keep": chance.choice(([2], [2, 1]))},
        "pay": {"kind": "quantiles", "counts": [4, 2]},
        "born": {"kind": "date", "units": chance.choice((["year"], ["month", "year"]))},
        "sex": {"kind": "tree", "groups": {"any": ["f", "m"]}},
    }
    short = next((short for short in NAMES if name in (short, NAMES[short], POLARS_NAMES[short])), name)
    return kinds.get(short) if chance.random() < 0.7 else None


def draw_odd_model(chance: random.Random, roles: Fields) -> Fields:
    if not roles["sensitive"] or chance.random() < 0.4:
        return {"model": "k_anonymity", "k": chance.choice((1, 2, 3))}
    column = chance.choice(roles["sensitive"])
    return chance.choice(
        (
            {"model": "l_diversity", "l": 2, "column": column},
            {"model": "l_diversity", "l": 1.4, "column": column, "kind": "entropy"},
            {"model": "l_diversity", "l": 2, "column": column, "kind": "recursive", "c": 3.0},
            {"model": "t_closeness", "t": chance.choice((0.3, 0.6)), "column": column},
            {"model": "t_closeness", "t": 0.4, "column": column, "distance": "ordered"},
            {"model": "alpha_k_anonymity", "k": 2, "alpha": 0.8, "column": column},
            {"model": "beta_likeness", "beta": 2.0, "column": column},
            {"model": "delta_disclosure", "delta": 1.5, "column": column},
        )
    )


def draw_odd_method(chance: random.Random, roles: Fields, names: list[str]) -> Fields:
    """Any method on any column: many do not fit, and must be refused in words."""
    models = [draw_odd_model(chance, roles) for _ in range(chance.choice((1, 2)))]
    limit, rows = chance.choice((0.0, 0.2, 1.0)), chance.choice(("star", "drop"))
    column, secret = chance.choice(names), chance.choice(roles["sensitive"] or names)
    generalize: Fields = {"method": "generalize", "models": models, "suppression_limit": limit}
    methods: tuple[Fields, ...] = (
        generalize,
        generalize | {"suppressed_rows": rows, "metric": chance.choice(("loss", "height", "discernibility"))},
        generalize | {"recoding": "local"},
        {"method": "partition", "models": models},
        {"method": "k_optimize", "k": chance.choice((2, 3)), "seconds": 0.1},
        {"method": "microaggregate", "k": chance.choice((2, 3))},
        {"method": "top_code", "columns": [column], "k": 2, "ends": chance.choice(("top", "both"))},
        {"method": "add_noise", "columns": [column], "privacy": 0.3, "ranges": "from_data"},
        {
            "method": "add_noise",
            "columns": [column],
            "privacy": 0.3,
            "kind": "discretize",
            "ranges": {column: [0, 100]},
        },
        {"method": "randomize_response", "column": column, "epsilon": 1.0, "categories": "from_data"},
        {"method": "swap_confidential", "column": secret, "share": 0.5, "search": "random"},
        {"method": "synthesize", "kind": "partial", "columns": [column], "min_leaf": 2},
        {"method": "synthesize", "min_leaf": 2},
        {
            "method": "suppress_entries",
            "private": chance.choice(({"columns": [secret], "share": 0.3}, 0.1)),
            "confidence": 0.7,
            "min_support": 2,
            "seconds": 0.1,
        },
    )
    return chance.choice(methods)


def draw_odd_policy(chance: random.Random, folder: Path) -> tuple[Fields, Cells]:
    """A policy and the people it is about."""
    people = draw_odd_people(chance, folder)
    roles = draw_odd_roles(chance, people)
    names = [name for name in people if name not in roles["identifying"]]
    hierarchies = {name: draw_hierarchy(chance, name) for name in names}
    attacks: tuple[Any, ...] = (
        {"attack": "homogeneity"},
        {"attack": "singling_out", "attempts": 10},
        {"attack": "inference", "column": chance.choice(names), "attempts": 10},
    )
    fields: Fields = {
        "data": {
            "path": str(folder / "people.csv"),
            "missing": chance.choice(("own_value", "own_value", "matches_any", "never_matches", "drop")),
            "missing_marks": list(MARKS),
        },
        "roles": roles,
        "hierarchies": {name: hierarchy for name, hierarchy in hierarchies.items() if hierarchy},
        "protect": [draw_odd_method(chance, roles, names) for _ in range(chance.choice((1, 1, 1, 2)))],
        "attack": chance.sample(attacks, chance.choice((0, 0, 0, 1))),
        "measure": {"queries": chance.choice((0, 0, 5))},
        "output": {"format": "csv", "order": chance.choice(("as_read", "shuffled"))},
    }
    if chance.random() < 0.7:
        fields["accept"] = dict.fromkeys(names, "invented people")
    if chance.random() < 0.15:
        fields["gate"] = chance.choice(({"max_linking_risk": 0.5}, {"max_loss": 0.5}, {"max_record_risk": 0.9}))
    return fields, people
