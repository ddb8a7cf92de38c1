# SPDX-License-Identifier: MIT
"""Every number that a report says of codes and of randomized baskets, counted plainly.

Nothing here uses a measure of the package. What only the holder of a key can count is counted with the key.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf
from sfumato.bound_words import spell_at_most
from tests.contract.examples import Example
from tests.contract.report_pages import (
    Itemset,
    check_both,
    complete_rows,
    count,
    percent,
    read_lines,
    select,
    take_baskets,
)
from tests.contract.runs import run_example


def read_codes(folder: Path) -> list[set[str]]:
    """The published baskets of codes."""
    return [set(line.split()) for line in (folder / "release" / "data.dat").read_text(encoding="utf-8").splitlines()]


def read_secret(folder: Path, method: str) -> dict[str, Any]:
    """The key that stays private."""
    sealed = json.loads((folder / "private" / f"{method}.key.json").read_text(encoding="utf-8"))
    secret: dict[str, Any] = json.loads(base64.b64decode(sealed["content"]))["secret"]
    return secret


@select(sf.EncodeItems)
def test_what_a_report_says_of_codes_for_items(example: Example, tmp_path: Path) -> None:
    result, baskets = run_example(example, tmp_path), take_baskets(example)
    codes, secret = read_codes(result.out), read_secret(result.out, "encode_items")
    kinds = set().union(*codes)
    images = {
        item: {str(secret["codes"][index]) for index in places}
        for item, places in zip(secret["items"], secret["images"], strict=True)
    }
    true = sum(len(set().union(*(images[item] for item in basket))) for basket in baskets)
    total = sum(map(len, codes))
    size = [
        f"baskets in the release {len(codes)}",
        count(len(kinds), "code"),
        f"Data file data.dat, {len(codes)} baskets, {count(len(kinds), 'code')}",
    ]
    lines = read_lines(result.out / "private" / "report.html")
    losses = {"Baskets added": len(codes) - len(baskets), "Codes added": len(kinds) - len(images)}
    private_lines = [
        *size,
        f"of the codes stand for items {percent(true / total)}",
        (
            f"Loss Of the published codes, the share that was added to hide supports. | {percent(1 - true / total)} | "
            f"{percent(1 - true / total)}"
        ),
        *complete_rows(lines, losses),
        f"Baskets in the originals {len(baskets)}",
    ]
    check_both(result, size, private_lines)


@select(sf.EncodeBloom)
def test_what_a_report_says_of_filters(example: Example, tmp_path: Path) -> None:
    method, result, baskets = example.subject, run_example(example, tmp_path), take_baskets(example)
    filters = read_codes(result.out)
    # An item's bits are common to all baskets with it, and these baskets are many and unlike.
    bits = {
        item: set.intersection(*(bits for basket, bits in zip(baskets, filters, strict=True) if item in basket))
        for item in frozenset().union(*baskets)
    }
    false_positives = sum(
        item not in basket and bits[item] <= published_bits
        for basket, published_bits in zip(baskets, filters, strict=True)
        for item in bits
    )
    absent = sum(len(bits) - len(basket) for basket in baskets)
    bit_count, total = len(set().union(*filters)), sum(map(len, filters))
    size = [
        f"baskets in the release {len(filters)}",
        count(bit_count, "bit that is set", "bits that are set"),
        f"Data file data.dat, {len(filters)} baskets, {count(bit_count, 'bit that is set', 'bits that are set')}",
    ]
    lines = read_lines(result.out / "private" / "report.html")
    losses = {
        "False positives of the filters": false_positives,
        "Bits set": float(total / (len(filters) * method.bits)),
    }
    private_lines = [
        *size,
        f"of absent items not shown {percent(1 - false_positives / absent)}",
        (
            "Loss Of the items that a basket does not hold, the share that its filter shows. | "
            f"{percent(false_positives / absent)} | {percent(false_positives / absent)}"
        ),
        *complete_rows(lines, losses),
        f"Baskets in the originals {len(baskets)}",
    ]
    check_both(result, size, private_lines)


@select(sf.EncodeForTrees)
def test_what_a_report_says_of_codes_for_trees(example: Example, tmp_path: Path) -> None:
    method, result, table = example.subject, run_example(example, tmp_path), example.data()
    codes = pl.read_csv(result.out / "release" / "data.csv")
    kept_columns = [name for name in table.frame.columns if table.roles[name] != "identifying"]
    assert codes.columns == kept_columns and codes.height == len(table)
    coded_columns = kept_columns if method.columns is None else [*method.columns, method.target]
    words = pl.read_csv(result.out / "release" / "data.csv", infer_schema=False)
    assert all(
        (words[name] == table.frame[name].cast(pl.String)).all() for name in kept_columns if name not in coded_columns
    )
    for name in coded_columns:  # a code stands for one value, and a value has one code
        pairs = set(zip(table.frame[name].to_list(), codes[name].to_list(), strict=True))
        assert len(pairs) == table.frame[name].n_unique() == codes[name].n_unique()
        assert not any(str(was) == str(new_cell) for was, new_cell in pairs if was is not None and isinstance(was, str))
    size = [
        f"people in the release {len(table)}",
        f"{len(kept_columns)} columns",
        f"Data file data.csv, {len(table)} rows, {len(kept_columns)} columns",
    ]
    numbers = [name for name in coded_columns if table.frame[name].dtype.is_numeric()]
    lines = read_lines(result.out / "private" / "report.html")
    rows, notes, unsafe = [], [], 0
    for name in numbers:
        values = sorted(table.frame[name].unique().to_list())
        width = values[-1] - values[0]
        gaps, pure = width + 1 - len(values), measure_pure_share(table, name, method.target, method.min_width)
        bound = min(2 * 0.02 * width / gaps, 1.0) if gaps else 1.0
        step = width / (len(values) - 1)
        even = sum(abs(values[0] + step * rank - value) <= 0.02 * width for rank, value in enumerate(values))
        read = count_read_by_sorting(codes[name].to_list(), table.frame[name].to_list())
        worst = max(bound, even / len(values), read / len(table))
        rows.append(f"{name} | {len(values)} | {gaps} | {percent(pure)} | {percent(worst)}")
        note = next(line for line in lines if line.startswith(f"{name}: "))
        is_unsafe = note.startswith(f"{name}: not safe")
        unsafe += is_unsafe
        shares = [int(share) for share in re.findall(r"(\d+)%", note)]
        assert shares == [round(100 * share) for share in (pure, gaps / (width + 1), worst)], note
        assert is_unsafe == (worst > 0.3)
        notes.append(note)
    uncoded = [name for name in kept_columns if name not in coded_columns]
    private_lines = [
        *size,
        *list_value_lines(table, uncoded, " | {0} | {0}"),
        *list_unique_lines(table, uncoded, " | {0} | {0}", lines),
        "of codes stand for one value 100 %",
        (
            f"{count(len(numbers), 'numeric column was', 'numeric columns were')} encoded. The key in private/ decodes "
            "the tree. Someone who sorts the codes and knows the smallest and the largest value may learn more than "
            f"30 % of the values of {count(unsafe, 'column') if unsafe else 'no column'}."
        ),
        (
            "The share of values that sorting reveals to within 2 % of the range, at worst: of distinct values or, if "
            "that is more, of people. Pure pieces and gaps in the domain protect a column."
        ),
        *rows,
        *notes,
        (
            "Loss Of the coded cells, the share whose code stands for several values: the key decodes the others. | "
            "0 % | 0 %"
        ),
        *complete_rows(lines, {"Suppressed rows": 0}),
        f"People in the originals {len(table)}",
    ]
    size += list_value_lines(table, uncoded, " | {0}") + list_unique_lines(table, uncoded, " | {0}", lines)
    check_both(result, size, private_lines)


def count_read_by_sorting(codes: list[float], values: list[int]) -> int:
    """How many people's values are near if sorted codes are values spread evenly, counted up or counted down."""
    low, high, order = min(values), max(values), sorted(set(codes))
    steps, right = len(order) - 1, [0]
    for ranks in (order, order[::-1]):
        even, up, down = (
            {code: start + step * at for at, code in enumerate(ranks)}
            for start, step in ((low, (high - low) / steps), (low, 1.0), (high - steps, 1.0))
        )
        for guess in (even, up, down):
            pairs = zip(codes, values, strict=True)
            right.append(sum(abs(guess[code] - value) <= 0.02 * (high - low) + 1e-9 for code, value in pairs))
    return max(right)


def list_value_lines(table: sf.Table, names: list[str], ending: str) -> list[str]:
    """How many people have each value of the columns that are not coded; of many values, the rest in one line."""
    lines = []
    for name in names:
        counts = Counter(table.frame[name].fill_null("(missing)").to_list())
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        top = 20 if len(ranked) > 24 else len(ranked)
        lines += [f"{value}{ending.format(number)}" for value, number in ranked[:top]]
        rest = sum(number for _, number in ranked[top:])
        lines += [f"{len(ranked) - top} others{ending.format(rest)}"] if rest else []
    return lines


def list_unique_lines(table: sf.Table, names: list[str], ending: str, page: list[str]) -> list[str]:
    """The rows that are unique by one, two and three columns that are not coded; of equal ones, those of the page."""
    lines = []
    for words, size in (("one column", 1), ("two columns", 2), ("three columns", 3)):
        shares = {
            columns: sum(n == 1 for n in Counter(table.frame.select(columns).rows()).values()) / len(table)
            for columns in itertools.combinations(names, size)
        }
        most = max(shares.values(), default=0.0)
        texts = [", ".join(f'"{name}"' for name in columns) for columns, share in shares.items() if share == most]
        share_texts = [f"{percent(most)}, by {text}" if most else "none found" for text in texts]
        lines += [
            row for text in share_texts if (row := f"{words}{ending.format(text)}") in page or len(share_texts) == 1
        ]
        if most > 0.1 and not any(line.startswith("!") for line in lines):
            lines += [f"! {percent(most)} of the published rows are unique by {text}." for text in texts[:1]]
    return lines


def measure_pure_share(table: sf.Table, name: str, target: str, least: int) -> float:
    """The share of values that lie in runs of so many values, of which everybody has the same class."""
    classes: dict[Any, set[Any]] = {}
    for value, kind in zip(table.frame[name].to_list(), table.frame[target].to_list(), strict=True):
        classes.setdefault(value, set()).add(kind)
    runs: list[list[Any]] = []
    for value in sorted(classes):
        same = runs and classes[runs[-1][-1]] == classes[value] and len(classes[value]) == 1
        if same:
            runs[-1].append(value)
        else:
            runs.append([value])
    return sum(len(run) for run in runs if len(run) >= least and len(classes[run[0]]) == 1) / len(classes)


@select(sf.RandomizeBaskets)
def test_what_a_report_says_of_randomized_baskets(example: Example, tmp_path: Path) -> None:
    method, result, baskets = example.subject, run_example(example, tmp_path), take_baskets(example)
    published_baskets = [frozenset(map(str, basket)) for basket in sf.read_release(result.out).data.to_lists()]
    items = sorted(frozenset().union(*baskets))
    assert len(published_baskets) == len(baskets)
    lines = read_lines(result.out / "release" / "report.html")
    size = [
        f"baskets in the release {len(published_baskets)}",
        count(len(items), "item"),
        f"Data file data.csv, {len(published_baskets)} baskets, {count(len(items), 'item')}",
    ]
    if method.operator == "mask":
        laws = {item: (take_share(method.keep, item), take_share(method.add, item)) for item in items}
        depends = sum(keep - add for keep, add in laws.values()) / len(laws)
        ratios = [max(keep / add, (1 - add) / (1 - keep)) for keep, add in laws.values()]
        budget = sum(map(math.log, ratios))
        figures = check_estimates(lines, published_baskets, laws)
    else:
        assert method.operator == "cut_and_paste"
        pasted = sum(expect_pasted(len(basket), method.cutoff) for basket in baskets)
        depends = pasted / sum(map(len, baskets)) * (1 - method.level)
        budget = float(result.certificate.body["losses"]["epsilon"])  # its claim is measured on its own
        figures = [line for line in lines if re.match(r".* \| [\d.]+ % \| [\d.]+ to [\d.]+ %$", line)]
    epsilon = spell_at_most(budget)
    words = (
        "Privacy budget ε What is published of a person is at most e^ε times as likely for one truth as for another, "
        f"under the conditions that the claims name. Less is safer. | {epsilon}"
    )
    public_lines = [
        *size,
        *(line for line in lines if line.startswith("The most common items: ")),
        "The line over an estimate is its 95 % interval. Itemsets and rules are estimated in the same way.",
        "item | estimate | 95 % interval",
        *figures,
        words,
    ]
    private_lines = [
        *size,
        f"of items depend on the truth {percent(depends)}",
        (
            "Loss The share of items, present or absent, that are drawn at random, whatever the truth is. | "
            f"{percent(1 - depends)} | –"
        ),
        f"{words} | –",
        f"Baskets in the originals {len(baskets)}",
    ]
    check_both(result, public_lines, private_lines)


def take_share(shares: Any, item: str) -> float:
    """A probability, or that of an item."""
    return float(shares.get(item, shares["*"]) if isinstance(shares, Mapping) else shares)


def expect_pasted(size: int, cutoff: int) -> float:
    """How many items of a basket are pasted on average: any number up to the cutoff, but no more than it has."""
    return sum(min(number, size) for number in range(cutoff + 1)) / (cutoff + 1)


def check_estimates(
    lines: Iterable[str], published_baskets: list[Itemset], laws: Mapping[str, tuple[float, float]]
) -> list[str]:
    """The estimated shares: what is published, turned round by the two probabilities, and twice its standard error."""
    checked_lines = []
    for line in lines:
        cells = line.split(" | ")
        if len(cells) == 3 and cells[0] in laws:
            keep, add = laws[cells[0]]
            published_share = sum(cells[0] in basket for basket in published_baskets) / len(published_baskets)
            estimate = (published_share - add) / (keep - add)
            low, high = (float(part) / 100 for part in re.findall(r"[\d.]+", cells[2]))
            variance = estimate * keep * (1 - keep) + (1 - estimate) * add * (1 - add)  # the originals are not drawn
            half = 1.96 * math.sqrt(variance / len(published_baskets)) / (keep - add)
            is_near = abs(low - max(estimate - half, 0)) < 0.01 and abs(high - min(estimate + half, 1)) < 0.01
            checked_lines.append(
                line if is_near and cells[1] == percent(min(estimate, 1.0)) else f"false: {line}, but {estimate}"
            )
    assert len(checked_lines) == len(laws)
    return checked_lines
