# SPDX-License-Identifier: MIT
"""Runs on data in Python: every kind of data and of instruction gives the run that a policy file gives."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import sfumato as sf
from sfumato.workflow.pipeline import Run, run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import show_input

ROLES = {"name": "identifying", "age": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive"}
METHOD = sf.Partition(models=(sf.KAnonymity(k=3),))
QUICK = {"queries": 0}
HIDE = sf.HideRules(rules=("a ==> b",), min_support=2, min_confidence=0.5)
BASKETS = [["a", "b"], ["a", "b", "c"], ["b", "c"], ["a", "b"], ["c"], ["b"]] * 2


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": [f"zzperson{number}" for number in range(24)],
            "age": [20 + number * 7 % 31 for number in range(24)],
            "sex": ["f", "m"] * 12,
            "ill": ["flu", "cold", "none"] * 8,
        }
    )


def policy(**sections: Any) -> dict[str, Any]:
    return {"protect": [METHOD.model_dump(mode="json")], "measure": QUICK, **sections}


@dataclass
class Pipeline:
    """Stands before the pipeline: records what it is given, and returns the run of the first data."""

    asked: list[tuple[Policy, Any]] = field(default_factory=list)
    done: list[Run] = field(default_factory=list)

    def run_policy(self, asked_policy: Policy, out: Any, randomness: Any = None, data: Any = None) -> Run:
        self.asked.append((asked_policy, asked_policy.read_original() if data is None else data))
        if not self.done:
            self.done.append(run_policy(asked_policy, out, randomness, data))
        return replace(self.done[0], folder=Path(out))


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    stand_in = Pipeline()
    monkeypatch.setattr("sfumato.workflow.pipeline.run_policy", stand_in.run_policy)
    return stand_in


def test_every_kind_of_data_gives_the_same_table(recorded: Pipeline, tmp_path: Path) -> None:
    frame = people()
    frame.write_csv(tmp_path / "people.csv")
    table = sf.Table.of(frame, ROLES)
    forms: list[Any] = [frame, frame.lazy(), frame.to_pandas(), frame.to_arrow(), frame.to_dict(), table]
    forms += [tmp_path / "people.csv", str(tmp_path / "people.csv")]
    for data in forms:
        sf.run(data, policy(), roles=ROLES)
    sf.run(table, policy())
    assert len(recorded.asked) == len(forms) + 1
    assert all(original == table for _, original in recorded.asked)
    assert "name" not in recorded.done[0].release.to_polars().columns


def test_every_kind_of_instruction_gives_the_same_policy(recorded: Pipeline, tmp_path: Path) -> None:
    frame = people()
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(
        '[data]\npath = "people.csv"\n[roles]\nidentifying = ["name"]\nquasi_identifying = ["age", "sex"]\n'
        'sensitive = ["ill"]\n[[protect]]\nmethod = "partition"\nmodels = [{ model = "k_anonymity", k = 3 }]\n'
        "",
        encoding="utf-8",
    )
    by_role = {"identifying": ["name"], "quasi_identifying": ["age", "sex"], "sensitive": ["ill"]}
    path = tmp_path / "policy.toml"
    runs = [
        sf.run(frame, METHOD, roles=ROLES),
        sf.run(frame, [METHOD], roles=by_role),
        sf.run(frame, METHOD.model_dump(), roles=ROLES),
        sf.run(frame, {"protect": [METHOD], "roles": by_role}),
        sf.run(frame, path),
        sf.run(frame, sf.Policy.read(path), roles=ROLES),
        sf.run(path, tmp_path / "written"),
    ]
    first, _ = recorded.asked[0]
    assert len(recorded.asked) == len(runs)
    assert all(original == recorded.asked[0][1] for _, original in recorded.asked)
    assert all(
        (asked_policy.protect, asked_policy.roles, asked_policy.gate) == (first.protect, first.roles, first.gate)
        for asked_policy, _ in recorded.asked
    )
    assert runs[-1].out == tmp_path / "written"


def test_save_writes_the_folders_of_the_command_line(tmp_path: Path) -> None:
    frame = people()
    frame.write_csv(tmp_path / "people.csv")
    on_disk = sf.run(tmp_path / "people.csv", policy(), roles=ROLES, out=tmp_path / "cli")
    assert on_disk.report.internal.startswith("<!doctype")
    written_folder = on_disk.out
    result = sf.run(frame, policy(), roles=ROLES, attacks=["linking", sf.attack.Homogeneity(column="ill")])
    with pytest.raises(sf.DataError, match=r"run.save\(folder\)"):
        _ = result.out
    saved = result.save(tmp_path / "saved")
    names = [sorted(str(path.relative_to(out)) for path in out.rglob("*")) for out in (written_folder, saved.out)]
    assert names[0] == names[1]
    assert sf.verify(saved.out).holds
    assert saved.out.joinpath("private").stat().st_mode & 0o777 == 0o700
    assert (saved.out / "release" / "report.html").read_text(encoding="utf-8") == result.report.outgoing
    assert (saved.out / "private" / "report.html").read_text(encoding="utf-8") == result.report.internal
    assert [type(attack).__name__ for attack, _ in result.attacks] == ["Linking", "Homogeneity"]
    frame.write_csv(tmp_path / "input.csv")
    assert show_input(saved.out, tmp_path / "input.csv", saved.out / "private" / "input_opening.json").input_shown
    second_save = result.save(tmp_path / "saved")
    assert sf.verify(second_save.out).holds


def test_a_refused_run_publishes_nothing(tmp_path: Path) -> None:
    result = sf.run(people(), policy(), roles=ROLES, gate={"max_loss": 0.0})
    assert not result.published and result.report.outgoing is None and "refused" in result.report._repr_html_()
    saved = result.save(tmp_path / "out")
    assert [path.name for path in saved.out.iterdir()] == ["refused"]
    assert "report.html" in {path.name for path in (saved.out / "refused").iterdir()}


def test_nothing_stays_on_disk_without_saving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    result = sf.run(people(), policy(), roles=ROLES)
    assert list((tmp_path / "temporary").iterdir()) == [] and result.published
    with pytest.raises(TypeError, match=r"Run\.save"):
        pickle.dumps(result)


def test_baskets_and_their_keys(tmp_path: Path) -> None:
    for data in (BASKETS, sf.Baskets.of(BASKETS)):
        result = sf.run(data, HIDE)
        assert result.published and len(result.release.to_polars()) == len(BASKETS)
    sf.Baskets.of(BASKETS).write(tmp_path / "sales.dat")
    assert sf.run(tmp_path / "sales.dat", HIDE).published
    coded = sf.run(BASKETS, sf.EncodeItems(k=3))
    assert coded.keys["encode_items"].secret and "encode_items" in repr(coded.keys)
    saved = coded.save(tmp_path / "coded")
    assert (saved.out / "private" / "encode_items.key.json").stat().st_mode & 0o777 == 0o600


def test_hierarchies_in_every_form(tmp_path: Path) -> None:
    sexes = [["f", "*"], ["m", "*"]]
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n", encoding="utf-8")
    ages = {"kind": "intervals", "widths": [10, 20]}
    method = sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.5)
    for sex in (sexes, sf.Hierarchy.of(sexes), tmp_path / "sex.csv"):
        result = sf.run(people(), method, roles=ROLES, hierarchies={"age": ages, "sex": sex})
        assert result.published and set(result.record["levels"]) == {"age", "sex"}
        assert json.loads(result.files.contents["private/record.json"])["policy"]["data"]["path"] == "in memory"  # type: ignore[union-attr]


def test_missing_marks_of_a_policy_hold_for_data_in_memory() -> None:
    frame = people().with_columns(pl.when(pl.col("sex") == "m").then(pl.lit("-")).otherwise("sex").alias("sex"))
    result = sf.run(frame, policy(data={"missing_marks": ["-"], "missing": "drop"}), roles=ROLES)
    assert len(result.release.to_polars()) == 12
    assert "Rows that lack" in result.certificate.body["suppression"]["why"], "it does not deny that rows are gone"


def test_the_pandas_index_is_kept_and_never_written(tmp_path: Path) -> None:
    frame = people().to_pandas().set_index(pd.Index([f"zzlabel{number}" for number in range(24)], name="patient"))
    frame["age"] = frame["age"].astype("Int64").where(frame["age"] != 20)
    result = sf.run(frame, policy(data={"missing": "drop"}), roles=ROLES)
    kept_frame = result.release.to_pandas()
    assert list(kept_frame.index) == [label for label, age in frame["age"].items() if not pd.isna(age)]
    assert (kept_frame["ill"] == frame["ill"].loc[kept_frame.index]).all()
    assert result.release.to_pandas(index=False).index.equals(pd.RangeIndex(len(kept_frame)))
    shuffled = sf.run(frame, policy(output={"order": "shuffled"}), roles=ROLES)
    assert shuffled.release.to_pandas().index.equals(pd.RangeIndex(24))
    saved = result.save(tmp_path / "out")
    assert not any(b"zzlabel" in path.read_bytes() for path in saved.out.rglob("*.*"))
    assert b"zzlabel" not in pickle.dumps(result.release)
    many = pd.concat([frame.drop(columns="name")] * 20)
    synthetic = sf.Synthesize().protect(sf.Table.of(many, ROLES_WITHOUT_NAME))
    assert synthetic.to_pandas().index.equals(pd.RangeIndex(len(synthetic.data)))


ROLES_WITHOUT_NAME = {name: role for name, role in ROLES.items() if name != "name"}


def test_whole_numbers_with_gaps_stay_whole_in_pandas() -> None:
    frame = pl.DataFrame({"ill": [1, None, 2**53 + 1], "age": [1, 1, 1]})
    release = sf.Release(sf.Table.of(frame, {"ill": "sensitive", "age": "quasi_identifying"}), None, (), {})
    column = release.to_pandas()["ill"]
    assert str(column.dtype) == "Int64" and column[2] == 2**53 + 1
    assert release.to_arrow().column_names == ["ill", "age"]


@pytest.mark.parametrize(
    ("arguments", "roles", "sentence"),
    [
        ((METHOD,), None, r'Proposed, for you to check: sf.Table.of\(df, roles=\{"name": "identifying"'),
        ((METHOD,), {"nmae": "identifying"}, "did you mean"),
        ((METHOD,), {"age": "quasi"}, '"quasi" is not a role'),
        ((), ROLES, "say what to do with the data"),
        ((sf.Partition,), ROLES, r"give Partition\(...\) with its parameters"),
        ((7,), ROLES, "int does not say what to do"),
        (([],), ROLES, "list does not say what to do"),
        (({"protct": []},), ROLES, 'there is no parameter "protct"; did you mean "protect"'),
        (({"method": "partitoin"},), ROLES, 'there is no such method; did you mean "partition"'),
        ((HIDE,), ROLES, "hide_rules takes baskets, which have no columns"),
        ((METHOD,), ["age"], "roles are given by column"),
        ((METHOD, 7), ROLES, "randomness must be sf.Randomness.secure"),
    ],
)
def test_mistakes_get_a_sentence(arguments: tuple[Any, ...], roles: Any, sentence: str) -> None:
    with pytest.raises(sf.SfumatoError, match=sentence) as error_info:
        sf.run(people(), *arguments, roles=roles)
    assert "zzperson" not in str(error_info.value) and "pydantic" not in str(error_info.value)


def test_a_policy_with_further_sections_is_refused() -> None:
    full_policy = sf.Policy.model_validate({"data": {"path": "demo"}, **policy()})
    with pytest.raises(sf.PolicyError, match=r"run\(data, policy"):
        sf.run(full_policy, roles=ROLES)


def test_methods_say_what_is_missing() -> None:
    method: Any = METHOD  # a type checker refuses what is given here
    hide: Any = HIDE
    line = r'sf.Table.of\(df, roles=\{"name": "identifying", "age": "quasi_identifying"'
    for data in (people(), people().to_pandas(), sf.Table.of(people())):
        with pytest.raises(sf.DataError, match=line):
            method.protect(data)
    with pytest.raises(sf.DataError, match=r"takes Baskets, not list; make them first: sf.Baskets.of"):
        hide.protect(BASKETS)
    with pytest.raises(sf.DataError, match="takes a Table, which has a role for every column, not list"):
        method.protect(BASKETS)
    headless = sf.Table.of(people().rename({"name": "12", "age": "13"}))
    with pytest.raises(sf.DataError, match=r"roles=sf.audit\(df\).roles"):
        method.protect(headless)
