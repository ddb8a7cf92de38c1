# SPDX-License-Identifier: MIT
"""What notebooks show: escaped, plain, and never a cell of the originals or a secret."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf

HOSTILE = '<script>alert("x")</script>'
ROLES = {"name": "identifying", HOSTILE: "quasi_identifying", "ill": "sensitive"}


def people() -> sf.Table:
    frame = pl.DataFrame(
        {
            "name": [f"zzperson{number}" for number in range(20)],
            HOSTILE: [1_000_003 + number for number in range(20)],
            "ill": ["<b>flu</b>", "c\u202eold"] * 10,
        }
    )
    return sf.Table.of(frame, ROLES)


@pytest.fixture(scope="module")
def run_result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SFUMATO_HOME", str(tmp_path_factory.mktemp("home")))
        method = sf.Partition(models=(sf.KAnonymity(k=4),))
        return sf.run(people(), {"protect": [method], "measure": {"queries": 0}, "title": HOSTILE})


class Tags(HTMLParser):
    """Every tag that a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def shown_things(run_result: Any) -> dict[str, Any]:
    hierarchy = sf.Hierarchy.of([["zzleaf1", "low", "*"], ["zzleaf2", "low", "*"], ["zzleaf3", "zzleaf3", "*"]])
    things = [
        people(),
        sf.audit(people()),
        run_result,
        run_result.release,
        run_result.release.data,
        run_result.certificate,
        hierarchy,
    ]
    return {
        f"{type(thing).__name__} {number}": thing for number, thing in enumerate([*things, run_result.attacks[0][1]])
    }


def test_every_view_is_well_formed_escaped_and_without_colours(run_result: Any) -> None:
    for name, thing in shown_things(run_result).items():
        html = thing._repr_html_()
        tags = Tags(html)
        assert tags.open == [] and tags.names <= {
            "div",
            "p",
            "strong",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "br",
            "span",
        }
        assert "\u202e" not in html
        assert not re.search(r"(?<![-\w])(color|background-color):", html), name
        assert len(html) < 20_000


def test_what_counts_the_originals_says_so(run_result: Any) -> None:
    for thing in (sf.audit(people()), run_result, run_result.release, run_result.attacks[0][1]):
        assert "For the custodian" in thing._repr_html_(), type(thing).__name__


def test_no_view_and_no_representation_holds_a_cell_of_the_originals(run_result: Any) -> None:
    for name, thing in shown_things(run_result).items():
        for text in (thing._repr_html_(), repr(thing), str(thing)):
            assert not re.search(r"zzperson|zzleaf", text), name
            if "Release" not in repr(thing) and not getattr(thing, "is_release", False):
                assert not re.search(r"10000[01]\d|flu", text), name
        assert len(repr(thing)) < 600


def test_a_table_shows_its_roles_and_a_release_its_rows(run_result: Any) -> None:
    assert "quasi-identifying" in people()._repr_html_() and "20 values" in people()._repr_html_()
    release = run_result.release._repr_html_()
    assert "&lt;b&gt;flu" in release and "ranges or sets of values" in release and "15 more rows" in release
    assert (
        "≥ 4" in run_result._repr_html_()
        and "linking" in run_result._repr_html_()
        and "run.save(folder)" in run_result._repr_html_()
    )
    assert "Signed by" in run_result.certificate._repr_html_()
    assert "proposed role" in sf.audit(people())._repr_html_()


def test_wide_tables_are_cut() -> None:
    wide = sf.Table.of({f"column{number}": [number] for number in range(50)})
    assert "30 more columns" in wide._repr_html_() and "column20" not in wide._repr_html_()


def test_baskets_and_pages_are_shown(run_result: Any, tmp_path: Path) -> None:
    release = sf.Release(sf.Baskets.of([["a", "b"], []]), None, (), {})
    assert "a" in release._repr_html_() and release.to_polars()["items"].to_list() == [["a", "b"], []]
    page = run_result.report.outgoing._repr_html_()
    assert page.startswith("<iframe") and 'sandbox=""' in page and Tags(page).names == {"iframe"}
    assert repr(run_result.report.internal).endswith("characters of HTML)")


def test_an_audit_takes_frames_and_paths(tmp_path: Path) -> None:
    frame = people().frame.rename({HOSTILE: "age"})
    frame.write_csv(tmp_path / "people.csv")
    roles = {"name": "identifying", "age": "quasi_identifying", "ill": "quasi_identifying"}
    for data in (frame, frame.to_pandas(), tmp_path / "people.csv"):
        assert sf.audit(data).roles.keys() == roles.keys()
    assert sf.Table.of(frame, sf.audit(frame).roles).identifying == ("name",)


def test_a_card_of_a_table_counts_one_value_in_the_singular() -> None:
    shown = sf.Table.of({"age": [1, 2], "land": ["x", "x"]})._repr_html_()
    assert ">2 values<" in shown and ">1 value<" in shown


def test_a_card_of_a_run_lists_shares_under_the_names_of_the_report() -> None:
    table = sf.Table.of(
        {"age": [20, 21, 30, 31] * 5, "ill": ["flu", "cold"] * 10},
        roles={"age": "quasi_identifying", "ill": "sensitive"},
    )
    shown = sf.run(table, sf.Partition(models=[sf.KAnonymity(k=10)]))._repr_html_()
    assert "what is lost" not in shown and ">c avg<" not in shown
    assert re.search(r">Precision</td><td[^>]*>[\d.]+\s%<", shown)
