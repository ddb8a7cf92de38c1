# SPDX-License-Identifier: MIT
"""Releases that are baskets, patterns or tables with blanks: written, read back, verified, attacked again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.workflow.attack_run import attack_again
from sfumato.workflow.shapes.file_shapes import find_shape

SECRET = "zzbeer"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def write_purchases(tmp_path: Path) -> Path:
    """Baskets in long form; the name of one item holds a blank, and one basket holds nothing else."""
    rows = ["id,item"]
    for number in range(60):
        rows += [f"{number},whole milk"] if number % 3 else []
        rows += [f"{number},{SECRET}", f"{number},zznuts"] if number % 2 else [f"{number},eggs"]
    (tmp_path / "bought.csv").write_text("\n".join([*rows, "60,zznuts"]) + "\n")
    return tmp_path / "bought.csv"


def hiding(tmp_path: Path, **fields: object) -> Path:
    write_purchases(tmp_path)
    policy = tmp_path / "policy.toml"
    lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    policy.write_text(
        '[data]\npath = "bought.csv"\n[[protect]]\nmethod = "hide_rules"\nmin_support = 0.1\nmin_confidence = 0.6\n'
        + "\n".join(lines)
        + '\n[[attack]]\nattack = "remining"\n[output]\npath = "out"\n'
    )
    return policy


def test_baskets_are_released_verified_and_attacked_again(tmp_path: Path) -> None:
    policy = hiding(tmp_path, rules=[f"{SECRET} ==> zznuts"])
    result = sf.run(sf.Policy.read(policy))
    assert all(finding.holds for finding in result.findings)
    checked = sf.verify(tmp_path / "out")
    assert checked.holds
    assert [finding.property for finding in checked.findings if finding.measured is None] == [
        "hidden_rules",
        "foreign_items",
    ]
    ((_, outcome),) = attack_again(tmp_path / "out", policy)
    assert outcome.attempts == 1


def test_two_releases_of_baskets_compare(tmp_path: Path) -> None:
    sf.run(sf.Policy.read(hiding(tmp_path, rules=[f"{SECRET} ==> zznuts"])))
    comparison = sf.compare(tmp_path / "out", tmp_path / "out")
    assert not any(row.differs for row in comparison.rows)
    assert ("data", "items") in {(row.topic, row.name) for row in comparison.rows}


def test_nothing_that_leaves_names_what_was_hidden(tmp_path: Path) -> None:
    policy = hiding(tmp_path, rules=[f"{SECRET} ==> zznuts"])
    attack_text = f'attack = "remining"\nrules = ["{SECRET} ==> zznuts"]\nitems = ["{SECRET}"]'
    policy.write_text(policy.read_text().replace('attack = "remining"', attack_text))
    sf.run(sf.Policy.read(policy))
    release = tmp_path / "out" / "release"
    for file in ("certificate.json", "report.html"):
        assert SECRET not in (release / file).read_text()
    assert (
        SECRET
        in (tmp_path / "out" / "private" / "report.html").read_text()
        + (tmp_path / "out" / "private" / "record.json").read_text()
    )


def test_rules_may_stand_in_a_file_beside_the_policy(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text(f"{SECRET} ==> zznuts\n")
    result = sf.run(sf.Policy.read(hiding(tmp_path, file="secret.txt")))
    assert result.record["losses"]["changes"] > 0


def test_a_basket_that_becomes_empty_comes_back(tmp_path: Path) -> None:
    """Names with blanks and empty baskets: only the long form holds both."""
    baskets = sf.Baskets.of([["whole milk"], ["whole milk", "eggs"], []])
    shape = find_shape(baskets)
    form = shape.choose_format(baskets)
    assert form == "long"
    path = tmp_path / shape.name_file(form)
    shape.write(baskets, path, form)
    read = shape.read(path, {"data": {"format": form}})
    shape.refuse_changed(baskets, read)
    assert read.to_lists() == baskets.to_lists()
    with pytest.raises(sf.ClaimBroken):
        shape.refuse_changed(baskets, sf.Baskets.of([["whole milk"], ["eggs"], []]))


@pytest.mark.parametrize(
    ("lists", "form"),
    [
        ([[1, 2], [2]], "fimi"),
        ([["a", "b"], []], "fimi"),
        ([["oat milk"], ["b"]], "spmf"),
        ([["-7", "b"]], "spmf"),
        ([["oat milk"], []], "long"),
        ([[1, -7], [2]], "long"),
        ([["a\nb", "c"], ["c"]], "long"),
    ],
)
def test_the_first_format_that_holds_all_items_is_chosen(tmp_path: Path, lists: list[Any], form: str) -> None:
    baskets = sf.Baskets.of(lists)
    shape = find_shape(baskets)
    assert shape.choose_format(baskets) == form
    path = tmp_path / shape.name_file(form)
    shape.write(baskets, path, form)
    shape.refuse_changed(baskets, shape.read(path, {"data": {"format": form}}))


NEGATIVE = "id,item\n" + "".join(f"{row},{item}\n" for row in range(15) for item in (-7, 1, 2)[row % 3 == 0 :])


@pytest.mark.parametrize(
    ("method", "engine"),
    [
        ('method = "hide_rules"\nitemsets = [["1", "2"]]\nmin_support = 3', "memory"),
        ('method = "hide_rules"\nitemsets = [["1", "2"]]\nmin_support = 3', "duckdb"),
        ('method = "publish_patterns"\nk = 2\nmin_support = 2', "memory"),
        ('method = "publish_rules"\nk = 2\nmin_support = 2', "memory"),
    ],
)
def test_negative_items_are_published_in_a_format_that_holds_them(tmp_path: Path, method: str, engine: str) -> None:
    (tmp_path / "bought.csv").write_text(NEGATIVE)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        f'[data]\npath = "bought.csv"\nengine = "{engine}"\n[[protect]]\n{method}\n[output]\npath = "out"\n'
    )
    sf.run(sf.Policy.read(policy))
    assert sf.verify(tmp_path / "out").holds


@pytest.mark.parametrize("form", ["fimi", "spmf"])
def test_an_error_names_the_field_and_not_the_hidden_folder(tmp_path: Path, form: str) -> None:
    (tmp_path / "bought.csv").write_text(NEGATIVE)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[data]\npath = "bought.csv"\n[[protect]]\nmethod = "hide_rules"\nitemsets = [["1", "2"]]\nmin_support = 3\n'
        f'[output]\npath = "out"\nformat = "{form}"\n'
    )
    with pytest.raises(sf.PolicyError, match=r'1 item holds .* or is negative; set format = "long"') as caught:
        sf.run(sf.Policy.read(policy))
    assert "sfumato-partial" not in str(caught.value)


def test_ids_do_not_leave(tmp_path: Path) -> None:
    baskets = sf.Baskets.of([["a"], ["b"]], ids=["ann", "bob"])
    shape = find_shape(baskets)
    shape.write(baskets, tmp_path / "data.csv", "long")
    assert "ann" not in (tmp_path / "data.csv").read_text()


def test_patterns_are_released_and_verified(tmp_path: Path) -> None:
    write_purchases(tmp_path)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[data]\npath = "bought.csv"\n[[protect]]\nmethod = "publish_patterns"\nk = 3\nmin_support = 10\n'
        '[[attack]]\nattack = "support_inference"\n[output]\npath = "out"\n'
    )
    sf.run(sf.Policy.read(policy))
    checked = sf.verify(tmp_path / "out")
    assert checked.holds
    assert {"least_support", "inferable_patterns"} <= {
        finding.property for finding in checked.findings if finding.holds
    }


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('[roles]\nsensitive = ["item"]', "baskets, which have no columns"),
        ('[[attack]]\nattack = "linking"', "linking cannot attack baskets"),
        ('[output]\nformat = "parquet"', "can be written as fimi, spmf, long"),
        ("[gate]\nmax_risk = { remining = 0.1 }", "which is not listed under"),
        ('[output]\norder = "shuffled"', "baskets keep their order"),
        ('[[protect]]\nmethod = "generalize"\nmodels = [{ model = "k_anonymity", k = 2 }]', "generalize takes table"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, toml: str, message: str) -> None:
    write_purchases(tmp_path)
    text = '[data]\npath = "bought.csv"\n[[protect]]\nmethod = "hide_rules"\nrules = ["a ==> b"]\nmin_support = 2\n'
    text += f"min_confidence = 0.5\n{toml}\n"
    with pytest.raises(sf.PolicyError, match=message):
        sf.Policy.parse(text, tmp_path / "policy.toml")


def blanking(tmp_path: Path, private: str, extra: str = "") -> Path:
    jobs = ("nurse", "driver", "clerk")
    rows = [f"ZZ{n},{jobs[n % 3]},{jobs[n % 3][0]}{n % 7 == 0},{n % 2}" for n in range(120)]
    (tmp_path / "staff.csv").write_text("name,job,pay,sex\n" + "\n".join(rows) + "\n")
    (tmp_path / "cells.csv").write_text("row,column\n" + "\n".join(f"{n},pay" for n in range(0, 30, 3)) + "\n")
    policy = tmp_path / "staff.toml"
    policy.write_text(
        '[data]\npath = "staff.csv"\n[roles]\nidentifying = ["name"]\nquasi_identifying = ["sex"]\n'
        'sensitive = ["pay"]\ninsensitive = ["job"]\n'
        f'[[protect]]\nmethod = "suppress_entries"\nprivate = {private}\nconfidence = 0.7\nmin_support = 2\n{extra}'
        '[[attack]]\nattack = "rule_inference"\n[gate]\nmax_risk = { rule_inference = 0.9 }\n[output]\npath = "out"\n'
    )
    return policy


@pytest.mark.parametrize(
    ("private", "cells"),
    [
        ('{ file = "cells.csv" }', 10),
        ('{ cells = [[0, "pay"], [5, "pay"]] }', 2),
        ('{ columns = ["pay"], where = { job = "nurse" } }', 40),
        ('[{ columns = ["pay"], share = 0.1 }, { cells = [[1, "job"]] }]', 13),
    ],
)
def test_private_entries_from_a_policy(tmp_path: Path, private: str, cells: int) -> None:
    result = sf.run(sf.Policy.read(blanking(tmp_path, private)))
    assert all(finding.holds for finding in result.findings)
    assert result.record["losses"]["private_entries"] == cells
    text = (tmp_path / "out" / "release" / "certificate.json").read_text()
    assert "nurse" not in text
    assert str(tmp_path) not in text


def test_shuffled_rows_keep_their_private_entries(tmp_path: Path) -> None:
    policy = blanking(tmp_path, '{ file = "cells.csv" }')
    policy.write_text(policy.read_text() + 'order = "shuffled"\n')
    result = sf.run(sf.Policy.read(policy), randomness=sf.Randomness.seeded(3))
    assert all(finding.holds for finding in result.findings)


def test_a_budget_that_stops_mining_stops_the_release(tmp_path: Path) -> None:
    policy = blanking(tmp_path, '{ columns = ["pay"], share = 0.5 }', "mining_seconds = 1e-9\n")
    with pytest.raises(sf.ClaimBroken, match="search_ended"):
        sf.run(sf.Policy.read(policy))
    assert not (tmp_path / "out").exists()


def test_codes_for_a_tree_leave_and_the_key_stays(tmp_path: Path) -> None:
    """Encode by a policy, grow a tree on the release, decode it from files: the tree of the originals."""
    from sklearn.tree import DecisionTreeClassifier

    rows = [f"ZZ{n},{20 + n * 7 % 50},{n * 37 % 501},{'ab'[n * 37 % 501 > 250]}" for n in range(200)]
    (tmp_path / "loans.csv").write_text("name,age,sum,kind\n" + "\n".join(rows) + "\n")
    policy = tmp_path / "loans.toml"
    policy.write_text(
        '[data]\npath = "loans.csv"\n[roles]\nidentifying = ["name"]\ninsensitive = ["age", "sum", "kind"]\n'
        '[[protect]]\nmethod = "encode_for_trees"\ntarget = "kind"\n[[attack]]\nattack = "sorting"\n'
        '[output]\npath = "out"\n'
    )
    result = sf.run(sf.Policy.read(policy))
    assert all(finding.holds for finding in result.findings)
    key = tmp_path / "out" / "private" / "encode_for_trees.key.json"
    assert key.stat().st_mode & 0o777 == 0o600
    assert not any("key" in file.name for file in (tmp_path / "out" / "release").iterdir())
    assert "What protects the codes" in (tmp_path / "out" / "private" / "report.html").read_text()
    codes = sf.Table.read(tmp_path / "out" / "release" / "data.csv").frame
    tree = DecisionTreeClassifier(random_state=0).fit(codes.select("age", "sum").to_pandas(), codes["kind"].to_numpy())
    sf.mine.write_tree(tree, tmp_path / "tree.json")
    table = sf.Table.read(tmp_path / "loans.csv")
    decoded = sf.decode_tree(tmp_path / "tree.json", sf.Key.load(key), table)
    frame = table.frame
    direct = DecisionTreeClassifier(random_state=0).fit(
        frame.select("age", "sum").to_pandas(), frame["kind"].to_numpy()
    )
    assert sf.measure.same_tree(decoded, direct)
