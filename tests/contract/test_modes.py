# SPDX-License-Identifier: MIT
"""Every option of every method has an example, and what reports say of baskets and sequences is what a diff shows."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest

import sfumato as sf
from sfumato.report.words.wording import NBSP
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.mode_examples import MODE_EXAMPLES
from tests.contract.report_pages import COMPARED, percent, read_lines
from tests.contract.runs import run_example

EXAMPLES = (*METHOD_EXAMPLES, *MODE_EXAMPLES)
EDITED_BASKETS = tuple(
    e for e in EXAMPLES if e.subject.utility == e.subject.gives == "baskets" and not e.subject.by_chance
)
EDITED_SEQUENCES = tuple(e for e in EXAMPLES if e.subject.gives == "sequences")
MARK = "?"


def list_options(hint: Any) -> Iterator[Any]:
    """The choices by name of a field, and yes and no."""
    if hint is bool:
        yield from (True, False)
    elif get_origin(hint) is Literal:
        yield from get_args(hint)
    elif get_origin(hint) in (Union, types.UnionType, Annotated):
        for part in get_args(hint):
            yield from list_options(part)


@pytest.mark.parametrize("method", sorted({type(e.subject) for e in EXAMPLES}, key=str), ids=lambda m: m.__name__)
def test_every_option_of_a_method_has_an_example(method: type[sf.Method]) -> None:
    for name, field in method.model_fields.items():
        used = [getattr(e.subject, name) for e in EXAMPLES if type(e.subject) is method]
        unused = [option for option in list_options(field.annotation) if option not in used]
        assert not unused, (
            f"no example has {method.__name__} with {name} = {', '.join(map(repr, unused))}: add one each to "
            "tests/contract/examples.py, so that its report is compared with the data"
        )


def cut_losses(page: Path) -> str:
    """The table of losses of a report."""
    text = page.read_text(encoding="utf-8")
    return text[text.index("<caption>Losses</caption>") :].split("</table>")[0]


def read_losses(page: Path) -> dict[str, tuple[str, ...]]:
    """The table of losses: the name of a loss → what the method says of it, and what was measured."""
    figures_by_name = {}
    for row in re.findall(r"<tr>(.*?)</tr>", cut_losses(page), re.DOTALL):
        name = re.search(r'<th scope="row">(.*?)<small>', row, re.DOTALL)
        if name:
            figures_by_name[unescape(name[1])] = tuple(
                unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)
            )
    return figures_by_name


def parse_count(text: str) -> int:
    """A count as a report writes it."""
    return int(re.sub(r"[^\d]", "", text))


@pytest.mark.parametrize("example", EDITED_BASKETS, ids=lambda example: example.name)
def test_what_a_report_says_of_baskets_is_what_a_diff_shows(example: Example, tmp_path: Path) -> None:
    result = run_example(example, tmp_path)
    originals = [{str(item) for item in basket} for basket in example.data().to_lists()]
    published_baskets = [{str(item) for item in basket} for basket in sf.read_release(result.out).data.to_lists()]
    unknown = [{item.removesuffix(MARK) for item in basket if item.endswith(MARK)} for basket in published_baskets]
    certain = [{item for item in basket if not item.endswith(MARK)} for basket in published_baskets]
    rows = list(zip(originals, certain, unknown, strict=True))
    counts = {
        "Removed": sum(len(old - new - unknown_items) for old, new, unknown_items in rows),
        "Added": sum(len(new - old) for old, new, _ in rows),
        "Unknown": sum(len(unknown_items) for *_, unknown_items in rows),
        "Changed baskets": sum(old != new or bool(unknown_items) for old, new, unknown_items in rows),
    }
    report_losses = read_losses(result.out / "private" / "report.html")
    missing = {*counts, "Changes", "Loss"} - {"Unknown"} - set(report_losses)
    assert not missing, (
        f"{example.name}: the report lacks {sorted(missing)}: give `losses` what `compute_change_losses` gives"
    )
    for name, count in counts.items():
        for figure in report_losses.get(name, ()):
            assert figure in ("–", "") or parse_count(figure) == count, (
                f'{example.name}: the report says {figure} of "{name}", and the baskets differ in {count}: give '
                "`compute_change_losses` and `details.changes` every change, as (row, item, what became of it)"
            )
    assert parse_count(report_losses["Changes"][0]) == counts["Removed"] + counts["Added"] + counts["Unknown"]
    loss = sum(counts[name] for name in ("Removed", "Added", "Unknown")) / sum(map(len, originals))
    assert [figure.replace(NBSP, " ") for figure in report_losses["Loss"]] == [percent(loss)] * 2, (
        f'{example.name}: let losses["loss"] be the changed items as a share of all items in the original baskets'
    )
    assert any(counts.values()), f"{example.name}: give the example parameters with which some basket changes"


@pytest.mark.parametrize("example", EDITED_SEQUENCES, ids=lambda example: example.name)
def test_what_a_report_says_of_sequences_is_what_a_diff_shows(example: Example, tmp_path: Path) -> None:
    result = run_example(example, tmp_path)
    before, after = example.data().to_lists(), sf.read_release(result.out).data.to_lists()
    report_losses = read_losses(result.out / "private" / "report.html")
    assert "basket" not in cut_losses(result.out / "private" / "report.html")
    assert len(set(report_losses["Loss"])) == 1, (
        f'{example.name}: losses["loss"] is {report_losses["Loss"][0]}, and {report_losses["Loss"][1]} when '
        "measured on the file: let it "
        "be the elements deleted and inserted, as a share of those before and after"
    )
    dropped = parse_count(report_losses["Sequences dropped"][0]) if "Sequences dropped" in report_losses else 0
    assert len(after) == len(before) - dropped
    if not dropped:
        changed = sum(list(map(str, old)) != list(map(str, new)) for old, new in zip(before, after, strict=True))
        assert parse_count(report_losses["Sequences changed"][0]) == changed
        assert changed, "an example that changes nothing compares nothing"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_report_is_compared_with_the_data(example: Example) -> None:
    for module in ("codes", "patterns", "synthesis"):
        import_module(f"tests.contract.test_reports_of_{module}")
    compared = COMPARED | {example.name for example in (*EDITED_BASKETS, *EDITED_SEQUENCES)}
    table = example.subject.gives == "table" and example.subject.shape == "table"
    assert table or example.name in compared, (
        f"{example.name}: nothing compares its report with the data; if it only changes items of baskets, say "
        f'shape = gives = utility = "baskets"; else add a test with `select({type(example.subject).__name__})` as in '
        "tests/contract/test_reports_of_codes.py"
    )


@pytest.mark.parametrize("example", (*EDITED_BASKETS, *EDITED_SEQUENCES), ids=lambda example: example.name)
def test_marks_are_no_items(example: Example, tmp_path: Path) -> None:
    result = run_example(example, tmp_path)
    published_items = {str(item) for basket in sf.read_release(result.out).data.to_lists() for item in basket}
    item_names = {item.removesuffix(MARK) for item in published_items} - {"Δ"}
    shape = example.subject.gives
    for side in ("release", "private"):
        lines = read_lines(result.out / side / "report.html")
        assert f"{len(item_names)} items" in lines, (side, len(item_names))
        assert any(
            re.fullmatch(rf"Data file data\.\w+, [\d,]+ {shape}, {len(item_names)} items", line) for line in lines
        )
