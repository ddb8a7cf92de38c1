# SPDX-License-Identifier: MIT
"""Dates in any spelling are dates in methods that need an order: ranges and means of dates, or a sentence."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from tests.command_line import Invoke

CHANCE = np.random.default_rng(1)
MOMENTS = [dt.datetime(1950, 1, 1) + dt.timedelta(minutes=int(m)) for m in CHANCE.integers(0, 25_000_000, 200)]
EARLY = [moment.replace(day=moment.day % 12 + 1) for moment in MOMENTS]
K = [sf.KAnonymity(k=5)]
ORDERED: dict[str, Callable[[], sf.Method]] = {
    "partition": lambda: sf.Partition(models=K),
    "k_optimize": lambda: sf.KOptimize(k=5, seconds=1),
}
READ = {
    "iso": "%Y-%m-%d", "us": "%m/%d/%Y", "european": "%d/%m/%Y", "dots": "%d.%m.%Y", "dashes": "%d-%m-%Y",
    "words": "%d %B %Y", "comma": "%B %d, %Y", "sas": "%d%b%Y", "month": "%Y-%m", "slashed month": "%m/%Y",
    "named month": "%b %Y", "clock": "%m/%d/%Y %I:%M %p", "postgres": "%Y-%m-%d %H:%M:%S+02", "time": "%I:%M %p",
}  # fmt: skip
UNREAD = {
    "day or month": ([f"{m:%d/%m/%Y}" for m in EARLY], 'fits them as well as %m/%d/%Y. Say which: dates = { "when"'),
    "two digits": ([f"{m:%m/%d/%y}" for m in MOMENTS], "two digits for the year. Write four, or state the form"),
    "another language": ([f"{m.day}. Dezember {m.year}" for m in MOMENTS], "in a spelling that is not read"),
    "a word": ([f"{m:%Y-%m-%d}" for m in MOMENTS[1:]] + ["unknown"], "1 does not. Correct those, or mark"),
}
END = r"[\d-]+(?: [\d:]+(?:\+02)?)?|[\d:]+|\d\d\.\d\d\.\d{4}"


def make_table(cells: list[str]) -> sf.Table:
    roles = {"when": "quasi_identifying", "ill": "insensitive"}
    return sf.Table.of(pl.DataFrame({"when": cells, "ill": ["flu", "gout"] * (len(cells) // 2)}), roles)


@pytest.mark.parametrize("form", READ.values(), ids=READ)
@pytest.mark.parametrize("name", ORDERED)
def test_a_range_of_dates_is_published_in_any_spelling(name: str, form: str) -> None:
    table = make_table([moment.strftime(form) for moment in MOMENTS])
    release = ORDERED[name]().protect(table)
    assert all(re.fullmatch(rf"\[({END}), ({END})\]|{END}|\*", cell) for cell in release.data.frame["when"])
    assert all(finding.holds for finding in sf.check(release, table))


@pytest.mark.parametrize("form", [form for form in READ.values() if "%d" in form and "%I" not in form])
def test_a_mean_is_a_date_of_nobody(form: str) -> None:
    table = make_table([moment.strftime(form) for moment in MOMENTS])
    release = sf.Microaggregate(k=5).protect(table)
    assert len(set(release.data.frame["when"]) - set(table.frame["when"])) > 20


def test_months_are_averaged_and_drawn_as_months() -> None:
    table = make_table([f"{moment:%Y-%m}" for moment in MOMENTS])
    for method in (sf.Microaggregate(k=5), sf.Synthesize(min_leaf=5)):
        published = method.protect(table).data.frame["when"]
        assert published.str.contains(r"^\d{4}-(0[1-9]|1[0-2])$").all()
        assert published.n_unique() > 5


@pytest.mark.parametrize("case", UNREAD)
@pytest.mark.parametrize("name", [*ORDERED, "microaggregate"])
def test_dates_without_an_order_are_refused_with_the_cure(name: str, case: str) -> None:
    cells, cure = UNREAD[case]
    method = ORDERED.get(name, lambda: sf.Microaggregate(k=5))()
    with pytest.raises(sf.DataError, match=r'^table: in "when", \d+ values look like dates') as error_info:
        method.protect(make_table(cells))
    assert cure in str(error_info.value)
    assert not any(cell in str(error_info.value) for cell in cells)


def test_times_without_a_zero_have_an_order_and_keep_their_spelling() -> None:
    table = make_table([f"{moment.hour}:{moment.minute:02}" for moment in MOMENTS])
    assert table.frame["when"][0] == f"{MOMENTS[0].hour}:{MOMENTS[0].minute:02}"
    for method in ORDERED.values():
        release = method().protect(table)
        assert release.data.frame["when"].str.contains(r"^\[\d{1,2}:\d\d, \d{1,2}:\d\d\]$").any()
        assert all(finding.holds for finding in sf.check(release, table))


def test_the_stated_form_cures_it() -> None:
    cells = UNREAD["day or month"][0]
    frame = pl.DataFrame({"when": cells})
    dated_table = sf.Table.of(frame, dates={"when": "%d/%m/%Y"})
    release = sf.run(dated_table, ORDERED["partition"](), roles={"when": "quasi_identifying"})
    assert release.release.data.frame["when"].str.contains(r"^\[\d{4}-\d\d-\d\d, \d{4}-\d\d-\d\d\]$").all()
    table = sf.Table.of(frame, dates={"when": "%m/%d/%Y"})
    assert table.frame["when"].dtype == pl.Date


def test_some_dates_among_words_are_not_listed() -> None:
    words = [f"word {n % 40}" for n in range(160)]
    table = make_table([*words, *(f"{moment:%d.%m.%Y}" for moment in MOMENTS[:20])])
    labels = sf.Partition(models=K).protect(table).data.frame["when"]
    listed = labels.filter(labels.str.starts_with("{"))
    assert len(listed)
    assert not listed.str.contains(r"\d\d\.\d\d\.\d{4}").any()


def test_a_hierarchy_of_text_dates_gives_its_labels_and_no_set() -> None:
    cells = UNREAD["day or month"][0]
    hierarchy = {"kind": "date", "units": ["year", "decade"], "format": "%d/%m/%Y"}
    roles = {"when": "quasi_identifying"}
    table = sf.Table.of(pl.DataFrame({"when": cells}), roles, {"when": hierarchy})
    assert table.frame["when"].dtype == pl.String
    release = sf.Partition(models=K).protect(table)
    assert release.data.frame["when"].str.contains(r"^(\d{4}|\d{4}s|.*\*|\d{4}.\d{4})$").all()
    assert all(finding.holds for finding in sf.check(release, table))
    typed = sf.Table.of(pl.DataFrame({"when": [f"{m:%d/%m/%Y}" for m in MOMENTS]}), roles)
    with_format = sf.run(typed, sf.Generalize(models=K), roles=roles, hierarchies={"when": hierarchy})
    assert with_format.release.losses["loss"] < 1


def test_a_policy_by_hand_needs_no_form(tmp_path_factory: pytest.TempPathFactory, invoke: Invoke) -> None:
    folder = tmp_path_factory.mktemp("dates")
    (folder / "people.csv").write_text("born\n" + "".join(f"{m.month}/{m.day}/{m.year}\n" for m in MOMENTS))
    (folder / "policy.toml").write_text(
        '[data]\npath = "people.csv"\n[roles]\nquasi_identifying = ["born"]\n'
        '[[protect]]\nmethod = "partition"\nmodels = [{ model = "k_anonymity", k = 5 }]\n'
    )
    assert invoke("run", folder / "policy.toml", "--out", folder / "out").code == 0
    lines = (folder / "out" / "release" / "data.csv").read_text().splitlines()[1:]
    assert all(re.fullmatch(r'"\[\d{4}-\d\d-\d\d, \d{4}-\d\d-\d\d\]"', line) for line in lines)
    assert invoke("verify", folder / "out" / "release").code == 0


def test_k_optimize_does_not_list_text_dates_with_a_hierarchy() -> None:
    hierarchy = {"kind": "date", "units": ["year", "decade"], "format": "%d/%m/%Y"}
    frame = pl.DataFrame({"when": [f"{m:%d/%m/%Y}" for m in EARLY]})
    table = sf.Table.of(frame, {"when": "quasi_identifying"}, {"when": hierarchy})
    with pytest.raises(sf.DataError, match=r"look like dates.*Say which: dates = "):
        sf.KOptimize(k=20, seconds=1).protect(table)
