# SPDX-License-Identifier: MIT
"""Two tables that differ in one person: where chance protects, nothing but chance tells their releases apart.

The adversary knows everybody else, has this code, and reads all of `release/`. Here one person's value becomes the
greatest of all, one that nobody else has, or the only decimal. What leaves beside the column itself must be the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import ImpossibleRelease, PolicyError
from sfumato.mine.noise.reconstruction import reconstruct_distribution
from sfumato.workflow.policy import Policy

PEOPLE = 120
FORMATS = ("csv", "parquet", "arrow")
SECRETS: dict[str, dict[str, Any]] = {
    "like others": {},
    "greatest": {"pay": 98_765},
    "unique": {"ill": "lupus"},
    "decimal": {"pay": 2_345.5},
}
PAY = {"pay": [0.0, 100_000.0]}
ILLS = ["flu", "gout", "lupus", "none", "42"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def people(secret: Mapping[str, Any]) -> pl.DataFrame:
    """Everybody, of whom the last has a secret."""
    columns: dict[str, list[Any]] = {
        "age": [20 + number * 7 % 60 for number in range(PEOPLE)],
        "pay": [1_000 + number * 37 % 3_000 for number in range(PEOPLE)],
        "ill": [("flu", "gout", "none")[number % 3] for number in range(PEOPLE)],
    }
    # As text: a reader finds out itself whether a column holds whole numbers.
    return pl.DataFrame(
        {name: [*map(str, cells[:-1]), str(secret.get(name, cells[-1]))] for name, cells in columns.items()}
    )


_SEEN: dict[str, dict[str, Any]] = {}
"""What leaves of people without a secret, by method and format: made once."""


def usual(folder: Path, method: Mapping[str, Any], changed: str, form: str) -> dict[str, Any]:
    """What leaves if the last person is like others."""
    cache_key = json.dumps([method, changed, form])
    if cache_key not in _SEEN:
        _SEEN[cache_key] = leaving(released(folder / "like others", "like others", method, form), changed)
    return _SEEN[cache_key]


def released(folder: Path, secret: str, method: Mapping[str, Any], form: str = "csv") -> Path:
    """The release folder of one method on the people with a secret."""
    folder.mkdir(parents=True, exist_ok=True)
    people(SECRETS[secret]).write_csv(folder / "people.csv")
    policy = {
        "data": {"path": str(folder / "people.csv")},
        "roles": {"quasi_identifying": ["age"], "sensitive": ["ill", "pay"]},
        "protect": [method],
        "measure": {"queries": 0},
        "output": {"format": form},
    }
    return sf.run(Policy.model_validate(policy), folder / "out").out / "release"


BY_THE_RUN = ("created", "files", "input_commitment", "signature", "signer")
"""Times, keys, and checksums of what chance drew."""


def leaving(release: Path, changed: str) -> dict[str, Any]:
    """All that an adversary sees beside the column that chance changed and what is computed from it."""
    body = json.loads((release / "certificate.json").read_text())
    for name in BY_THE_RUN:
        del body[name]
    del body["data"]["sha256"]
    for name in ("unique_rows", "warnings"):  # counted in the released file, column `changed` included
        del body["verdict"][name]
    for law in body["public"].values():
        if law["kind"] == "correlated":  # estimated from the released columns and `times`, which stays
            del law["scale"], law["covariance"]
    data = next(path for path in release.iterdir() if path.stem not in ("certificate", "report"))
    frame = pl.read_csv(data, infer_schema=False) if data.suffix == ".csv" else _stored(data)
    texts = frame[changed].to_list() if data.suffix == ".csv" else []
    return {
        "files": sorted(path.name for path in release.iterdir()),
        "certificate": body,
        "types": {name: str(kind) for name, kind in frame.schema.items()},
        "columns": frame.columns,
        "others": frame.drop(changed).select(pl.all().exclude("age", "pay")).to_dicts(),
        "decimals": any(re.fullmatch(r"-?\d+\.\d*[1-9]", text or "") for text in texts),
    }


def _stored(data: Path) -> pl.DataFrame:
    return pl.read_parquet(data) if data.suffix == ".parquet" else pl.read_ipc(data)


NOISE: dict[str, dict[str, Any]] = {
    kind: {"method": "add_noise", "columns": ["pay"], "kind": kind, "privacy": 0.3, "ranges": PAY}
    for kind in ("uniform", "gaussian", "discretize")
}
NOISE["correlated"] = {
    "method": "add_noise", "columns": ["pay", "age"], "kind": "correlated", "privacy": 0.1,
    "ranges": {**PAY, "age": [0, 120]}, "times": 20.0,
}  # fmt: skip
ANSWERS: dict[str, dict[str, Any]] = {
    "k_ary": {"kind": "k_ary", "epsilon": 1.0},
    "k_ary, p": {"kind": "k_ary", "p": 0.6},
    "unary": {"kind": "unary", "epsilon": 1.0},
    "auto": {"epsilon": 0.2},
    "missing": {"epsilon": 1.0, "missing": "answer"},
}


@pytest.mark.parametrize("kind", list(NOISE))
@pytest.mark.parametrize(
    ("secret", "form"),
    [
        ("greatest", "csv"),
        ("decimal", "csv"),
        *(pytest.param("decimal", form, marks=pytest.mark.slow) for form in FORMATS if form != "csv"),
    ],
)
def test_noise_of_a_given_range_tells_nobody_apart(tmp_path: Path, kind: str, secret: str, form: str) -> None:
    output = leaving(released(tmp_path, secret, NOISE[kind], form), "pay")
    assert output == usual(tmp_path, NOISE[kind], "pay", form)


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "discretize", "correlated"])
def test_noise_of_an_unknown_range_is_refused_until_the_custodian_says_so(tmp_path: Path, kind: str) -> None:
    method = {name: value for name, value in NOISE[kind].items() if name not in ("ranges", "times")}
    for secret in ("like others", "greatest"):
        with pytest.raises(PolicyError, match=r'"pay".*ranges = "from_data"') as error_info:
            released(tmp_path / secret, secret, method)
        assert not re.search("98.?765", str(error_info.value))
        assert not (tmp_path / secret / "out/release").exists()
    release = released(tmp_path / "said", "greatest", method | {"ranges": "from_data"})
    body = json.loads((release / "certificate.json").read_text())
    assert body["public"]["pay"]["domain"] == "data"
    assert not {"range"} & body["public"]["pay"].keys()
    assert "range, which was taken from the data, is public" in body["claims"][0]["meaning"]
    distribution = reconstruct_distribution(sf.read_release(release.parent), column="pay", bins=10, intervals="none")
    assert distribution.probabilities.sum() == pytest.approx(1)


def test_only_columns_without_a_range_have_to_be_said(tmp_path: Path) -> None:
    method = {"method": "add_noise", "columns": ["pay", "age"], "privacy": 0.3}
    with pytest.raises(PolicyError, match='"age"'):
        released(tmp_path, "like others", method | {"ranges": PAY})
    release = released(tmp_path, "like others", method | {"ranges": {**PAY, "age": "from_data"}})
    laws = json.loads((release / "certificate.json").read_text())["public"]
    assert [laws[name]["domain"] for name in ("pay", "age")] == ["given", "data"]


def test_a_range_in_whole_numbers_does_not_let_a_decimal_through(tmp_path: Path) -> None:
    whole = NOISE["gaussian"] | {"ranges": {"pay": [0, 100_000]}}
    released(tmp_path / "like others", "like others", whole)
    with pytest.raises(PolicyError, match=r'"pay" holds decimals.*\[0.0, 120.0\]'):
        released(tmp_path / "decimal", "decimal", whole)


def test_how_much_correlated_noise_there_is_has_to_be_said(tmp_path: Path) -> None:
    """The least that is enough depends on the variance, which one person can change."""
    method = {name: value for name, value in NOISE["correlated"].items() if name != "times"}
    with pytest.raises(PolicyError, match='times = "from_data"'):
        released(tmp_path, "greatest", method)
    with pytest.raises(ImpossibleRelease, match="too little noise"):
        released(tmp_path, "greatest", method | {"times": 1e-6})
    released(tmp_path, "greatest", method | {"times": "from_data"})


@pytest.mark.parametrize(
    ("design", "form"), [*((design, "csv") for design in ANSWERS), ("k_ary", "parquet"), ("unary", "arrow")]
)
def test_answers_of_given_categories_tell_nobody_apart(tmp_path: Path, design: str, form: str) -> None:
    method = {"method": "randomize_response", "column": "ill", "categories": ILLS, **ANSWERS[design]}
    output = leaving(released(tmp_path, "unique", method, form), "ill")
    assert output == usual(tmp_path, method, "ill", form)


def test_two_answers_of_which_one_is_nobodys(tmp_path: Path) -> None:
    """Warner's design: everybody has a number, and the word that is possible too is one person's, or nobody's."""
    outputs = []
    for answer in ("7", "other"):
        folder = tmp_path / answer
        folder.mkdir()
        pl.DataFrame({"age": list(range(40)), "ill": ["7"] * 39 + [answer]}).write_csv(folder / "people.csv")
        method = {"method": "randomize_response", "column": "ill", "p": 0.7, "categories": ["7", "other"]}
        policy = {
            "data": {"path": str(folder / "people.csv")},
            "roles": {"quasi_identifying": ["age"], "sensitive": ["ill"]},
            "protect": [method],
            "output": {"format": "parquet"},
        }
        outputs.append(leaving(sf.run(Policy.model_validate(policy), folder / "out").out / "release", "ill"))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("design", list(ANSWERS))
def test_answers_of_unknown_categories_are_refused_until_the_custodian_says_so(tmp_path: Path, design: str) -> None:
    method = {"method": "randomize_response", "column": "ill", **ANSWERS[design]}
    for secret, count in (("like others", 3), ("unique", 4)):
        with pytest.raises(PolicyError, match=rf'"ill".*{count} .*categories = "from_data"') as error_info:
            released(tmp_path / secret, secret, method)
        assert "lupus" not in str(error_info.value)
        assert not (tmp_path / secret / "out/release").exists()
    release = released(tmp_path / "said", "unique", method | {"categories": "from_data"})
    body = json.loads((release / "certificate.json").read_text())
    assert body["public"]["ill"]["domain"] == "data"
    epsilon = next(claim for claim in body["claims"] if claim["property"] == "epsilon")
    assert "given that the list of categories, which was taken from the data, is public" in epsilon["meaning"]


@pytest.mark.parametrize(
    ("secret", "form"), [("greatest", "csv"), ("unique", "csv"), *(("decimal", form) for form in FORMATS)]
)
def test_synthetic_rows_tell_nobody_apart_beside_the_rows(tmp_path: Path, secret: str, form: str) -> None:
    method = {"method": "synthesize", "min_leaf": 5, "copies": "allow"}
    output = leaving(released(tmp_path, secret, method, form), "pay")
    assert output | {"others": []} == usual(tmp_path, method, "pay", form) | {"others": []}  # all are drawn by chance


def test_python_makes_a_release_without_being_asked_and_marks_it() -> None:
    table = sf.Table.of(
        people(SECRETS["unique"]).cast({"pay": pl.Int64}), dict.fromkeys(("age", "ill", "pay"), "sensitive")
    )
    answers = sf.RandomizeResponse(column="ill", p=0.7).protect(table)
    noise = sf.AddNoise(columns="pay").protect(table)
    assert answers.public["ill"]["domain"] == noise.public["pay"]["domain"] == "data"
    assert all(finding.holds for release in (answers, noise) for finding in sf.check(release, table))


@pytest.mark.parametrize(
    ("categories", "common", "rare"),
    [
        (["1", "2", "3.5"], "1", "3.5"),
        (["0.5", "1"], "1", "0.5"),
        (["1", "2", "x"], "2", "x"),
        (["1", "2"], "", "2"),
    ],
)
def test_the_type_of_answers_is_that_of_the_categories(
    tmp_path: Path, categories: list[str], common: str, rare: str
) -> None:
    kinds = []
    for last in (common, rare):
        folder = tmp_path / f"last {last}"
        folder.mkdir()
        cells = [*[common] * 40, categories[0], categories[1], last]
        rows = "".join(f"{20 + n % 5},{cell}\n" for n, cell in enumerate(cells))
        (folder / "people.csv").write_text(f"age,ill\n{rows}")
        method = {"method": "randomize_response", "column": "ill", "epsilon": 1.0, "categories": categories}
        policy = {
            "data": {"path": str(folder / "people.csv")},
            "roles": {"quasi_identifying": ["age"], "sensitive": ["ill"]},
            "protect": [method | ({"missing": "answer"} if not common else {})],
            "measure": {"queries": 0},
        }
        out = sf.run(Policy.model_validate(policy), folder / "out").out
        data = json.loads((out / "release" / "certificate.json").read_text())["data"]
        kinds.append({name: data[name] for name in ("numbers", "integers", "missing_mark")})
    assert kinds[0] == kinds[1]


def test_categories_in_another_spelling_are_refused_whatever_people_said(tmp_path: Path) -> None:
    method = sf.RandomizeResponse(column="ill", epsilon=1.0, categories=("1", "2", "1e3"))
    table = sf.Table.of({"age": [1, 2], "ill": [1, 2]}, {"age": "quasi_identifying", "ill": "sensitive"})
    with pytest.raises(PolicyError, match="another spelling"):
        method.protect(table)


@pytest.mark.parametrize("rows", ["drop", "star"])
def test_the_type_of_a_column_is_that_of_its_published_cells(tmp_path: Path, rows: str) -> None:
    kinds = []
    for number, last in enumerate(("30", "30.5", "1e5", "word")):
        folder = tmp_path / str(number)
        folder.mkdir()
        people = "3,10\n" * 8 + "4,20\n" * 8 + f"9,{last}\n"
        (folder / "people.csv").write_text(f"age,pay\n{people}")
        policy = {
            "data": {"path": str(folder / "people.csv")},
            "roles": {"quasi_identifying": ["age"], "sensitive": ["pay"]},
            "protect": [
                {
                    "method": "generalize",
                    "models": [{"model": "k_anonymity", "k": 3}],
                    "suppression_limit": 0.2,
                    "suppressed_rows": rows,
                }
            ],
            "measure": {"queries": 0},
        }
        out = sf.run(Policy.model_validate(policy), folder / "out").out
        data = json.loads((out / "release" / "certificate.json").read_text())["data"]
        kinds.append({name: data[name] for name in ("numbers", "integers")})
    assert all(kind == kinds[0] for kind in kinds)


@pytest.mark.parametrize("limit", [{"max_risk": {"likeliest_answer": 0.8}}, {"max_loss": 0.5}])
def test_a_gate_must_not_choose_among_answers(limit: dict[str, Any]) -> None:
    policy = {
        "data": {"path": "people.csv"},
        "roles": {"quasi_identifying": ["age"], "sensitive": ["ill"]},
        "protect": [{"method": "randomize_response", "column": "ill", "epsilon": 0.5, "categories": ["yes", "no"]}],
        "attack": [{"attack": "likeliest_answer"}],
        "gate": limit,
    }
    with pytest.raises(ValueError, match="would break their epsilon"):
        Policy.model_validate(policy)
    assert Policy.model_validate(policy | {"gate": {"max_linking_risk": 0.5}})
