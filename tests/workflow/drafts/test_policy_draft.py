# SPDX-License-Identifier: MIT
"""`sfumato init`: a drafted policy runs as it is on any table or basket file, or a sentence says why not."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.generators.population import generate_population
from sfumato.workflow.drafts.draft_methods import PURPOSES, bound_drafted_share, round_down
from sfumato.workflow.drafts.draft_source import DraftSource, detect_shape
from sfumato.workflow.pipeline import run_policy

CANARY = "ZZSECRETZZ"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A signing key of its own, and a report without pictures: they are not what is tested here."""
    import sfumato.report

    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sfumato.report, "render_report", lambda account: "<p>report</p>")


def make_tables() -> dict[str, dict[str, Any]]:
    """Tables of every kind that a file can hold; nothing about them is known to the drafts."""
    chance = np.random.default_rng(5)
    n = 60
    days = [date(2001, 1, 1) + timedelta(days=int(day)) for day in chance.integers(0, 9000, n)]
    return {
        "dates": {"seen": [day.isoformat() for day in days], "born": [day.strftime("%d.%m.%Y") for day in days]},
        "booleans": {"smokes": chance.choice(["true", "false"], n), "age": chance.integers(18, 80, n)},
        "missing": {"empty": [""] * n, "part": ["", "a", "b"] * 20, "age": chance.integers(18, 80, n)},
        "odd names": {
            'a"b\\c': chance.integers(0, 9, n),
            "x = [1] # no": chance.choice(["u", "v", "w"], n),
            "tab\tand é 😀": chance.integers(0, 3, n),
            "../../etc": chance.choice(["Italy", "Spain", "Kenya", "Peru"], n),
        },
        "one column": {"town": chance.choice(["Rome", "Oslo", "Bern", "Kyiv"], n)},
        "only secrets": {"disease": chance.choice(["flu", "asthma", "gout"], n), "salary": chance.integers(1, 9, n)},
        "constant": {"country": ["Italy"] * n, "age": chance.integers(18, 80, n)},
        "fractions": {"height": chance.normal(1.7, 0.1, n).round(4), "bmi": chance.normal(25, 4, n).round(3)},
        "skewed": {"visits": chance.pareto(1, n).astype(int), "ill": ["no"] * 58 + ["yes"] * 2},
        "few rows": {"age": [30, 31, 32, 60, 61], "disease": ["flu", "flu", "gout", "gout", "flu"]},
        "identifiers": {
            "name": [f"Person {i}" for i in range(n)],
            "zip": chance.choice(["02139", "02138", "47910"], n),
        },
    }


TABLES = make_tables()


def mark_slow(names: Iterable[str], quick: set[str]) -> list[Any]:
    """All names as parameters, those that are not quick among the slow tests."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]


def write_table(folder: Path, name: str) -> Path:
    path = folder / "people.csv"
    pl.DataFrame({key: [str(cell) for cell in cells] for key, cells in TABLES[name].items()}).write_csv(path)
    return path


def draft_and_run(data: Path, purpose: str = "publish") -> sf.Run:
    draft = sf.draft_policy(data, purpose, data.with_name(f"{purpose}.toml"))
    draft.save()
    return run_policy(sf.Policy.read(draft.path), data.with_name(f"{purpose}-out"))


@pytest.mark.parametrize("name", mark_slow(TABLES, {"dates", "missing", "odd names", "few rows"}))
def test_a_drafted_policy_runs_and_is_not_refused(name: str, tmp_path: Path) -> None:
    result = draft_and_run(write_table(tmp_path, name))
    assert result.published, [str(refusal) for refusal in result.refusals]
    assert "[accept]" not in (tmp_path / "publish.toml").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("purpose", [purpose for purpose in PURPOSES if purpose != "publish"])
@pytest.mark.parametrize("name", TABLES)
def test_a_drafted_policy_runs_for_every_purpose(name: str, purpose: str, tmp_path: Path) -> None:
    try:
        result = draft_and_run(write_table(tmp_path, name), purpose)
    except (sf.DataError, sf.PolicyError, sf.ImpossibleRelease) as error:
        assert purpose in ("synthetic", "outsource", "hide"), error
        assert str(tmp_path / "people.csv") in str(error)
    else:
        assert result.published, [str(refusal) for refusal in result.refusals]


def test_hide_hides_people_and_not_only_entries(tmp_path: Path) -> None:
    """Blanks alone leave everybody's other values as they are, and linking finds nearly all of 300 people."""
    data = tmp_path / "people.csv"
    generate_population(300, 3).write_csv(data)
    result = draft_and_run(data, "hide")
    assert result.published, [str(refusal) for refusal in result.refusals]
    policy = tomllib.loads((tmp_path / "hide.toml").read_text())
    assert [step["method"] for step in policy["protect"]] == ["partition", "suppress_entries"]
    risks = {attack.attack: outcome.risk for attack, outcome in result.attacks}  # type: ignore[attr-defined]
    assert risks["linking"] < 0.3
    assert result.release.losses["loss"] < 0.5


def test_the_release_loses_no_more_than_partition_alone() -> None:
    frame = generate_population(2000, 3)
    roles = {"name": "identifying", "salary_level": "sensitive", "disease": "sensitive"}
    known_roles = {name: roles.get(name, "quasi_identifying") for name in frame.columns}
    models = [sf.KAnonymity(k=5)]
    bare = sf.Partition(models=models).protect(sf.Table.of(frame, known_roles))
    hierarchies = {
        name: proposal.hierarchy
        for name, role in known_roles.items()
        if role == "quasi_identifying" and (proposal := sf.propose_hierarchy(frame[name]))
    }
    drafted = sf.Partition(models=models).protect(sf.Table.of(frame, known_roles, hierarchies))
    assert drafted.losses["loss"] <= 1.1 * bare.losses["loss"]


def test_alternatives_take_effect_without_their_marks(tmp_path: Path) -> None:
    data = write_table(tmp_path, "skewed")
    for purpose in ("publish", "share", "synthetic", "hide"):
        text = sf.draft_policy(data, purpose, tmp_path / "policy.toml").text
        alternatives = [block for block in re.split(r"\n\n", text) if "\n#| [[protect]]" in block]
        assert alternatives
        for block in alternatives:
            head = text.partition("[[protect]]")[0]
            method_text = "\n".join(
                line.removeprefix("#|").removeprefix(" ") for line in block.splitlines() if line.startswith("#|")
            )
            assert sf.Policy.parse(f"{head}\n{method_text}\n", tmp_path / "policy.toml").protect


def test_a_skewed_sensitive_column_gets_no_l_diversity() -> None:
    """Otherwise each class must hold one of the two people in sixty, and half of the table is lost."""
    frame = pl.DataFrame({"age": list(range(60)), "ill": ["no"] * 58 + ["yes"] * 2, "disease": ["flu", "gout"] * 30})
    from sfumato.data.roles.role_proposals import propose_roles
    from sfumato.workflow.drafts.draft_methods import DraftTable

    proposals = tuple(propose_roles(frame.rename({"ill": "hiv"})))
    table = DraftTable("people", frame.rename({"ill": "hiv"}), proposals, 5)
    assert table.diverse == ("disease",)


def test_nothing_is_written_over_and_files_are_private(tmp_path: Path) -> None:
    data = write_table(tmp_path, "odd names")
    draft = sf.draft_policy(data, out=tmp_path / "policy.toml")
    paths = draft.save()
    assert len(paths) > 1
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}
    assert all(path.parent == tmp_path for path in paths)
    contents = [path.read_bytes() for path in paths]
    with pytest.raises(sf.PolicyError, match="exists and is not overwritten"):
        draft.save()
    assert [path.read_bytes() for path in paths] == contents


def test_an_existing_hierarchy_stops_everything(tmp_path: Path) -> None:
    draft = sf.draft_policy(write_table(tmp_path, "odd names"), out=tmp_path / "policy.toml")
    name = next(iter(draft.hierarchies))
    (tmp_path / name).write_text("mine")
    with pytest.raises(sf.PolicyError, match="exists and is not overwritten"):
        draft.save()
    assert (tmp_path / name).read_text() == "mine"
    assert not (tmp_path / "policy.toml").exists()


def test_missing_marks_are_noticed_and_not_applied(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    rows = [
        f"{age},{job},{pay}"
        for age, job, pay in zip([30, 40, -1] * 20, ["cook", "unknown", "nurse"] * 20, [7, 8, 9999] * 20, strict=True)
    ]
    path.write_text("\n".join(["age,job,pay", *rows]) + "\n")
    draft = sf.draft_policy(path, out=tmp_path / "policy.toml")
    assert tomllib.loads(draft.text)["data"]["missing_marks"] == ["", "?"]
    assert [mark in draft.text for mark in ('"-1"', '"unknown"', '"9999"')] == [True] * 3
    assert any("60 cells in 3 columns may mean missing" in note for note in draft.notes)
    marked = DraftSource.of(path).mark_missing(("unknown", "-1", "9999"))
    assert marked.frame.null_count().row(0) == (20, 20, 20)
    assert marked.noticed_marks == ()


def test_sensitive_columns_can_be_chosen_but_names_stay_out(tmp_path: Path) -> None:
    data = write_table(tmp_path, "identifiers")
    roles = tomllib.loads(sf.draft_policy(data, out=tmp_path / "p.toml", sensitive=["name"]).text)["roles"]
    assert roles == {"identifying": ["name"], "quasi_identifying": ["zip"]}
    data = write_table(tmp_path, "few rows")
    roles = tomllib.loads(sf.draft_policy(data, out=tmp_path / "p.toml", sensitive=["age"]).text)["roles"]
    assert roles == {"quasi_identifying": ["disease"], "sensitive": ["age"]}
    with pytest.raises(sf.PolicyError, match='no column "agee"'):
        sf.draft_policy(data, sensitive=["agee"])


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("age,zip\n30,02139\n", "only 1 row"),
        ("name,email\n" + f"Ada,{CANARY}@b.org\nBob,b@b.org\n" * 20, "every column names people"),
        ("age\n", "no rows"),
    ],
)
def test_what_cannot_be_drafted_gets_a_sentence(lines: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(lines)
    with pytest.raises(sf.DataError, match=sentence) as error:
        sf.draft_policy(path)
    assert CANARY not in str(error.value)


def test_a_first_line_of_values_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("39, Bachelors, <=50K\n" + "50, Bachelors, >50K\n28, Masters, <=50K\n" * 20)
    draft = sf.draft_policy(path, out=tmp_path / "policy.toml")
    assert tomllib.loads(draft.text)["data"]["header"] is False
    assert any("first line" in note for note in draft.notes)
    path.write_text("country,2019,2020\nItaly,5,7\nNorway,8,1\nSpain,3,1\n")
    assert DraftSource.of(path).header is True
    path.write_text("age,education\n39,Bachelors\n50,Masters\n")
    assert DraftSource.of(path).header is True


def test_the_data_is_found_from_the_policys_folder(tmp_path: Path) -> None:
    data = write_table(tmp_path, "few rows")
    (tmp_path / "policies").mkdir()
    draft = sf.draft_policy(data, out=tmp_path / "policies" / "p.toml")
    draft.save()
    assert len(sf.Policy.read(draft.path).read_original_table()) == 5


def test_the_built_in_population_is_drafted(tmp_path: Path) -> None:
    draft = sf.draft_policy("demo", out=tmp_path / "policy.toml")
    draft.save()
    table = sf.Policy.read(draft.path).read_original_table()
    assert len(table) == 20_000
    assert {"age", "zip", "education"} <= table.hierarchies.keys()


def write_baskets(folder: Path, form: str) -> Path:
    chance = np.random.default_rng(2)
    baskets = [
        [1, 2, *map(int, chance.integers(3, 12, 3))] if i % 3 else [int(chance.integers(1, 12))] for i in range(120)
    ]
    path = folder / ("baskets.csv" if form == "long" else "baskets.dat" if form == "fimi" else "baskets.txt")
    if form == "long":
        path.write_text("id,item\n" + "".join(f"{i},{item}\n" for i, row in enumerate(baskets) for item in row))
    else:
        path.write_text("".join(" ".join(map(str, row)) + "\n" for row in baskets))
    return path


@pytest.mark.parametrize(
    ("form", "purpose"),
    [
        ("fimi", "publish"),
        ("txt", "outsource"),
        pytest.param("long", "hide", marks=pytest.mark.slow),
        pytest.param("fimi", "share", marks=pytest.mark.slow),
    ],
)
def test_baskets_are_drafted_and_run(form: str, purpose: str, tmp_path: Path) -> None:
    path = write_baskets(tmp_path, form)
    assert detect_shape(str(path)) == "baskets"
    assert draft_and_run(path, purpose).published


@pytest.mark.parametrize("lines", ["1 2\n1 3\n2 3\n", "1 2\n2 3 4\n1 4\n3 5 6\n1 2 6\n5 6\n" * 3])
def test_few_baskets_are_not_refused_by_the_draft_s_own_gate(lines: str, tmp_path: Path) -> None:
    path = tmp_path / "baskets.dat"
    path.write_text(lines)
    result = draft_and_run(path)
    assert result.published, [str(refusal) for refusal in result.refusals]


@pytest.mark.parametrize(
    ("purpose", "form"),
    [
        ("publish", "spmf"),
        ("hide", "long"),
        pytest.param("publish", "long", marks=pytest.mark.slow),
        pytest.param("share", "spmf", marks=pytest.mark.slow),
        pytest.param("hide", "spmf", marks=pytest.mark.slow),
    ],
)
def test_sequences_are_drafted_and_run(tmp_path: Path, purpose: str, form: str) -> None:
    path = tmp_path / ("sequences.txt" if form == "spmf" else "sequences.csv")
    sequences = sf.Sequences.of([["home", "work", "shop"], ["home", "work"], ["work", "home", "park"]] * 12)
    sequences.write(path)
    assert detect_shape(str(path)) == "sequences"
    assert draft_and_run(path, purpose).published


def test_comma_lines_are_baskets(tmp_path: Path) -> None:
    path = tmp_path / "groceries.csv"
    path.write_text("milk,bread\nbread,butter,jam\nmilk\nbeer,bread,milk\nmilk,butter\nbread,milk,butter\n" * 5)
    assert detect_shape(str(path)) == "baskets"
    assert draft_and_run(path, "hide").published


def test_shapes_without_a_draft_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(sf.PolicyError, match="no method for synthetic baskets"):
        sf.draft_policy(write_baskets(tmp_path, "fimi"), "synthetic")
    path = tmp_path / "sequences.txt"
    path.write_text("1 -1 2 3 -1 -2\n4 -1 -2\n")
    with pytest.raises(sf.PolicyError, match="no method to outsource sequences"):
        sf.draft_policy(path, "outsource")
    with pytest.raises(sf.DataError, match="nothing to hide"):
        sf.draft_policy(path, "hide")
    with pytest.raises(sf.PolicyError, match="not a purpose"):
        sf.draft_policy(path, "sell")


@pytest.mark.parametrize(("count", "share"), [(20, 0.2), (1000, 0.2), (30_000, 0.1), (10, 0.5)])
def test_the_gates_limit_is_above_what_chance_gives(count: int, share: float) -> None:
    chance = np.random.default_rng(count)
    from sfumato.attack.attack import Outcome

    highest = max(int(hits) for hits in chance.binomial(count, share, 1000))
    outcome = Outcome(attempts=count, successes=highest, baseline=0)
    assert outcome.high <= bound_drafted_share(share, count) <= 1


def test_numbers_of_a_draft_that_leave_do_not_count_the_originals(tmp_path: Path) -> None:
    """Limits and thresholds stand in the certificate: each number of sequences had a limit of its own."""
    limits: set[float] = set()
    supports: set[int] = set()
    for count in (51, 55, 59):
        walks = [["home", "work"]] * count + [["shop"]]
        sf.Sequences.of(walks).write(tmp_path / "walks.txt")
        limits.add(_draft(tmp_path / "walks.txt", "publish")["gate"]["max_risk"]["sequence_linking"])
        supports.add(_draft(tmp_path / "walks.txt", "hide")["protect"][0]["threshold"])
        sf.Baskets.of(walks).write(tmp_path / "baskets.dat")
        supports.add(_draft(tmp_path / "baskets.dat", "publish")["protect"][0]["min_support"])
    assert len(limits) == 1
    assert all(round_down(support) == support for support in supports)
    assert [round_down(count) for count in (0, 7, 59, 1234)] == [0, 7, 50, 1000]


def _draft(path: Path, purpose: str) -> dict[str, Any]:
    return tomllib.loads(sf.draft_policy(path, purpose, path.with_suffix(".toml")).text)


@pytest.mark.parametrize(("width", "noted"), [(12, False), (30, True)])
def test_many_columns_that_others_may_know_are_noted(tmp_path: Path, width: int, noted: bool) -> None:
    frame = pl.DataFrame({f"q{n}": [(row * (n + 3)) % 7 for row in range(60)] for n in range(width)})
    frame.write_csv(tmp_path / "wide.csv")
    notes = " ".join(sf.draft_policy(tmp_path / "wide.csv", out=tmp_path / "p.toml").notes)
    assert (re.search(r"\d+ columns are taken as known to others", notes) is not None) is noted


@pytest.mark.parametrize("purpose", PURPOSES)
def test_small_numbers_and_a_column_called_count_are_drafted(purpose: str, tmp_path: Path) -> None:
    """Polars compares narrow numbers with narrow ones only, and calls its counts "count"."""
    frame = pl.DataFrame(
        {
            "count": pl.Series([number % 40 for number in range(300)], dtype=pl.Int8),
            "age": pl.Series([number % 90 for number in range(300)], dtype=pl.UInt8),
            "index": ["a", "b", "c"] * 100,
            "len": pl.Series([number % 7 for number in range(300)], dtype=pl.Int16),
        }
    )
    frame.write_parquet(tmp_path / "people.parquet")
    assert sf.draft_policy(tmp_path / "people.parquet", purpose).text
