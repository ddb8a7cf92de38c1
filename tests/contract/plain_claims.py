# SPDX-License-Identifier: MIT
"""Claims of a certificate, checked again by their definitions in plain code: no arrays, no code of the package."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import exp, inf, log
from typing import Any

Cells = dict[str, list[str]]
Fields = dict[str, Any]
Row = tuple[str, ...]
_DATES = re.compile(r"^\[(\d{4}-\d\d-\d\d), (\d{4}-\d\d-\d\d)\]$")
_RANGE = re.compile(r"^([\[(])(-?[\d.]+), (-?[\d.]+)([\])])$")


def covers(label: str, value: str) -> bool:
    """Whether a published cell may stand for a value: itself, nothing, a range, a set, a prefix, a time."""
    if label in (value, "*"):
        return True
    if not value or not label:
        return not label
    match = _RANGE.match(label)
    if match:
        opening, low, high, closing = match.groups()
        number = float(value)
        is_above = number >= float(low) if opening == "[" else number > float(low)
        return is_above and (number <= float(high) if closing == "]" else number < float(high))
    if label.startswith("{"):
        return value in label[1:-1].split(", ")
    if label.endswith("*"):
        return value.startswith(label.rstrip("*"))
    dates = _DATES.match(label)  # texts in the order of time
    return value.startswith(label) or label == "any" or (dates is not None and dates[1] <= value <= dates[2])


def is_true(label: str, value: str, column: Sequence[str]) -> bool:
    """Whether a label covers a value; one that covers all values may stand for a missing one, as the claim says."""
    return covers(label, value) or (not value and all(covers(label, other) for other in column if other))


def list_classes(keys: Sequence[Row], row_numbers: Sequence[int], missing: str) -> list[list[int]]:
    """For each row, the rows that it is hidden among, by what a missing cell means."""

    def agree(key: Row, other: Row) -> bool:
        if missing == "never_matches" and "" in (*key, *other):
            return False
        if missing == "matches_any":
            return all(a == b or "" in (a, b) for a, b in zip(key, other, strict=True))
        return key == other

    return [[other for other in row_numbers if other == row or agree(keys[row], keys[other])] for row in row_numbers]


def _count_shares(counts: Counter[str]) -> list[float]:
    return [count / counts.total() for count in counts.values()]


def _find_largest_ratio(counts: Counter[str], l: int) -> float:
    ordered = sorted(counts.values(), reverse=True)
    rest = sum(ordered[l - 1 :])
    return ordered[0] / rest if len(ordered) >= l and rest else inf


def _measure_gain(counts: Counter[str], whole: Counter[str]) -> float:
    gains = (counts[v] / counts.total() / (whole[v] / whole.total()) - 1 for v in counts)
    return max(0.0, *gains)


def _measure_change(counts: Counter[str], whole: Counter[str]) -> float:
    if set(counts) != set(whole):
        return inf
    return max(abs(log(counts[v] * whole.total() / counts.total() / whole[v])) for v in counts)


def _measure_distance(counts: Counter[str], whole: Counter[str]) -> float:
    return sum(abs(counts[v] / counts.total() - whole[v] / whole.total()) for v in whole) / 2


_OF_CLASS: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    "distinct_l": (lambda counts, whole: len(counts), min),
    "entropy_l": (lambda counts, whole: exp(-sum(p * log(p) for p in _count_shares(counts))), min),
    "recursive_c": (lambda counts, whole: _find_largest_ratio(counts, 2), max),
    "alpha": (lambda counts, whole: max(_count_shares(counts)), max),
    "beta": (_measure_gain, max),
    "delta_disclosure": (_measure_change, max),
    "t_equal": (_measure_distance, max),
}
"""For each measure of the values in a class: how it is computed, and which of all classes counts."""


def look_at_models(body: Fields, cells: Cells, missing: str) -> list[str]:
    """Crowds and sensitive values: the certificate's number is the one that plain counting gives."""
    quasi_columns = [name for name, role in body["roles"].items() if role == "quasi_identifying"]
    size = len(next(iter(cells.values())))
    keys = [tuple(cells[name][row] for name in quasi_columns) for row in range(size)]
    problems = []
    for claim in body["claims"]:
        if claim["measure"] != "k_anonymity" and claim["measure"] not in _OF_CLASS:
            continue
        excludes_starred = claim["arguments"].get("starred_rows") == "suppressed"
        counted_rows = [row for row in range(size) if not (excludes_starred and set(keys[row]) == {"*"})]
        classes = list_classes(keys, counted_rows, missing)
        if not classes:
            continue
        if claim["measure"] == "k_anonymity":
            measure: float = min(map(len, classes))
        else:
            column = cells[claim["arguments"]["column"]]
            whole = Counter(column)
            compute, choose = _OF_CLASS[claim["measure"]]
            measure = choose(compute(Counter(column[row] for row in rows), whole) for rows in classes)
        if abs(measure - claim["measured"]) > 1e-9 and measure != claim["measured"]:
            problems.append(f"{claim['property']} is {measure}, not {claim['measured']}")
    return problems


def look_at_people(body: Fields, cells: Cells, people: Cells, rows: Sequence[int]) -> list[str]:
    """What only the custodian can check: true cells, kept cells, and people who fit every row."""
    quasi_columns = [name for name, role in body["roles"].items() if role == "quasi_identifying" and name in cells]
    claimed = {claim["property"]: claim for claim in body["claims"]}
    problems = look_at_labels(body, cells, people, rows)
    if "untrue_cells" in claimed:
        problems += [
            f"{name} has an untrue cell"
            for name in quasi_columns
            if not all(
                is_true(label, people[name][row], people[name]) for label, row in zip(cells[name], rows, strict=True)
            )
        ]
    if "fitting_people" in claimed:
        excludes_starred = any(claim["arguments"].get("starred_rows") == "suppressed" for claim in body["claims"])
        person_indices = range(len(people["name" if "name" in people else next(iter(people))]))
        for row in range(len(rows)):
            labels = {name: cells[name][row] for name in quasi_columns}
            if excludes_starred and set(labels.values()) == {"*"}:
                continue
            fit = sum(
                all(is_true(label, people[name][person], people[name]) for name, label in labels.items())
                for person in person_indices
            )
            if fit < claimed["fitting_people"]["threshold"]:
                problems.append(f"a row fits {fit} people")
                break
    return problems


def look_at_limits(body: Fields, cells: Cells) -> list[str]:
    """Caps and floors: nothing lies beyond them, and enough rows have them."""
    problems = []
    for claim in body["claims"]:
        if claim["measure"] not in ("beyond_limits", "rows_at_limits"):
            continue
        ends, name = claim["arguments"], claim["arguments"]["column"]
        numbers = [float(cell) for cell in cells[name] if cell not in ("", "*")]
        low, high = ends.get("floor", -inf), ends.get("cap", inf)
        if claim["measure"] == "beyond_limits":
            problems += [f"{name} lies beyond its limits"] if any(not low <= n <= high for n in numbers) else []
        else:
            fewest = min(sum(n == end for n in numbers) for end in (low, high) if abs(end) < inf)
            problems += [f"{fewest} rows have a limit of {name}"] if fewest < claim["threshold"] else []
    return problems


def look_at_groups(body: Fields, cells: Cells) -> list[str]:
    """Whatever a cell holds, the certificate's number of rows holds it, an empty cell included."""
    problems = []
    for claim in body["claims"]:
        if claim["measure"] == "rows_with_each_value":
            names = claim["arguments"]["columns"]
            fewest = min(min(Counter(cells[name]).values()) for name in names)
            problems += [f"a cell of {names} is in {fewest} rows"] if fewest != claim["measured"] else []
    return problems


def look_at_labels(body: Fields, cells: Cells, people: Cells, rows: Sequence[int]) -> list[str]:
    """A grouped cell is its original, or the label if its original is not published."""
    problems = []
    changes = Counter(change["column"] for change in body["changes"] if change["kind"] != "kept")
    for method in body["methods"]:
        if method["method"] == "group_rare_values":
            for name in method["columns"]:
                pairs = {(label, people[name][row]) for label, row in zip(cells[name], rows, strict=True)}
                wrong = [
                    new_cell
                    for new_cell, was in pairs
                    if new_cell != was and (new_cell != method["label"] or was in cells[name])
                ]
                problems += [f"{name} is grouped wrongly"] if wrong and changes[name] == 1 else []
    return problems


def look_at_file(body: Fields, cells: Cells) -> list[str]:
    """What is said about the file itself."""
    size = len(next(iter(cells.values()), []))
    problems = [] if body["data"]["rows"] == size else [f"the file has {size} rows"]
    problems += [] if body["data"]["columns"] == len(cells) else [f"the file has {len(cells)} columns"]
    quasi_columns = [name for name, role in body["roles"].items() if role == "quasi_identifying" and name in cells]
    starred = sum(all(cells[name][row] == "*" for name in quasi_columns) for row in range(size)) if quasi_columns else 0
    stated_count = body["suppression"]["rows"]
    problems += (
        [f"{starred} rows are starred, not {stated_count}"]
        if stated_count is not None and stated_count not in (0, starred)
        else []
    )
    problems += [f"{name} is published" for name in body["removed_columns"] if name in cells]
    return problems


def look_at_columns(body: Fields, cells: Cells) -> list[str]:
    """Columns that are said to hold numbers do, and whole ones where that is said."""
    problems = []
    for kind, pattern in (("numbers", r"-?[\d.]+(e[-+]?\d+)?"), ("integers", r"-?\d+")):
        for name in body["data"][kind]:
            strange = [cell for cell in cells[name] if cell and not re.fullmatch(pattern, cell)]
            problems += [f"{name} has {len(strange)} cells that are not {kind}"] if strange else []
    return problems


def look_at_attacks(body: Fields, record: Fields) -> list[str]:
    """The risk that leaves is never below the upper end of the interval that the custodian has."""
    problems = []
    for published_attack, private_attack in zip(body["attacks"], record["attacks"], strict=True):
        if (
            published_attack["risk_at_most"] is not None
            and published_attack["risk_at_most"] < private_attack["high"] - 1e-9
        ):
            problems.append(
                f"{published_attack['attack']} is said to be at most {published_attack['risk_at_most']}, and is "
                f"{private_attack['high']}"
            )
    return problems
