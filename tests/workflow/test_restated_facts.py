# SPDX-License-Identifier: MIT
"""A certificate that says something else than its file or its own fields is refused, whoever signed it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato import protect
from sfumato.protect.anonymity.models.model import PrivacyModel
from sfumato.protect.anonymity.models.model_promises import list_model_promises
from sfumato.protect.claims import claim_suppression_within
from sfumato.workflow import restated_facts
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from tests.faults.test_tampering import resign, set_in

K3 = {"model": "k_anonymity", "k": 3}
L2 = {"model": "l_diversity", "l": 2, "column": "ill"}
T = {"model": "t_closeness", "t": 0.7, "column": "ill", "distance": "ordered"}
ALPHA = {"model": "alpha_k_anonymity", "k": 3, "alpha": 0.9, "column": "ill"}
METHODS: dict[str, list[dict[str, Any]]] = {
    "stars": [{"method": "generalize", "models": [K3, L2], "suppression_limit": 0.05}],
    "blanks": [{"method": "generalize", "models": [K3, T], "suppression_limit": 0.05, "suppressed_rows": "blank"}],
    "drop": [{"method": "generalize", "models": [K3], "suppression_limit": 0.05, "suppressed_rows": "drop"}],
    "local": [{"method": "generalize", "models": [K3], "suppression_limit": 0.05, "recoding": "local"}],
    "partition": [{"method": "partition", "models": [ALPHA]}],
    "k_optimize": [{"method": "k_optimize", "k": 3, "seconds": 2}],
    "microaggregate": [{"method": "microaggregate", "k": 3}],
    "two": [
        {"method": "generalize", "models": [K3], "suppression_limit": 0.05, "suppressed_rows": "drop"},
        {"method": "round_numbers", "columns": ["pay"], "step": 100},
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def publish(folder: Path, name: str, form: str = "csv", engine: str = "memory") -> Path:
    """A release of 240 people, of whom two are unlike the others."""
    people = pl.DataFrame(
        {
            "name": [f"p{n}" for n in range(242)],
            "age": [20 + n % 40 for n in range(240)] + [95, 96],
            "sex": [["m", "f"][n % 2] for n in range(242)],
            "ill": [["flu", "cold", "gout"][n % 3] for n in range(242)],
            "pay": [1000 + n * 37 % 3000 for n in range(242)],
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    people.write_csv(folder / "people.csv") if engine == "memory" else people.write_parquet(folder / "people.parquet")
    policy = {
        "data": {"path": str(folder / ("people.csv" if engine == "memory" else "people.parquet"))},
        "roles": {"identifying": ["name"], "quasi_identifying": ["age", "sex"], "sensitive": ["ill", "pay"]},
        "hierarchies": {"age": {"kind": "intervals", "widths": [10, 20]}},
        "protect": METHODS[name],
        "attack": [{"attack": "linking"}],
        "measure": {"queries": 0},
        "output": {"format": form},
    }
    run_policy(Policy.model_validate(policy), folder / "out", engine=engine)  # type: ignore[arg-type]
    return folder / "out"


@pytest.mark.parametrize("name", METHODS)
def test_a_release_says_what_its_file_says(tmp_path: Path, name: str) -> None:
    assert sf.verify(publish(tmp_path / name, name)).problems == ()


def test_a_release_that_was_made_in_files_says_so_in_memory_and_in_files(tmp_path: Path) -> None:
    out = publish(tmp_path / "stored", "stars", "parquet", "duckdb")
    assert sf.verify(out, engine="memory").problems == sf.verify(out, engine="duckdb").problems == ()
    resign(out, set_in("utility", "discernibility", value=1))
    assert not sf.verify(out, engine="duckdb").holds


class MinSizeCrowds(sf.Microaggregate):
    """A method whose k is no crowd, and whose limit has another name."""

    @classmethod
    def list_promises(cls, parameters: Mapping[str, Any]) -> tuple[sf.Claim, ...]:
        return list_model_promises([{"model": "k_anonymity", "k": parameters["min_size"]}])

    @classmethod
    def find_suppression_limit(cls, parameters: Mapping[str, Any]) -> float | None:
        return float(parameters["most_left_out"])


@pytest.mark.parametrize(("promised_k", "share", "problems"), [(3, 0.1, 0), (9, 0.1, 2), (3, 0.2, 1)])
def test_what_a_method_promises_is_its_own_statement(
    monkeypatch: pytest.MonkeyPatch, promised_k: int, share: float, problems: int
) -> None:
    monkeypatch.setattr(restated_facts, "find_tagged_class", lambda tag, name: MinSizeCrowds)
    claims = [sf.KAnonymity(k=promised_k).claim({}), claim_suppression_within(share, "class")]
    body = {
        "methods": [{"method": "min_size_crowds", "min_size": 3, "k": 9, "most_left_out": 0.1}],
        "claims": [claim.model_dump(mode="json") for claim in claims],
        "missing": "category",
    }
    assert len(restated_facts._list_promise_problems(body)) == problems


MODELS = [
    sf.KAnonymity(k=2),
    sf.AlphaKAnonymity(k=2, alpha=0.5, column="ill"),
    sf.LDiversity(l=2, column="ill"),
    sf.LDiversity(l=2, column="ill", kind="entropy"),
    sf.LDiversity(l=2, column="ill", kind="recursive", c=2),
    sf.TCloseness(t=0.5, column="ill", distance="equal"),
    sf.BetaLikeness(beta=2, column="ill"),
    sf.BetaLikeness(beta=2, column="ill", enhanced=True),
    sf.DeltaDisclosure(delta=2, column="ill"),
    sf.KMap.model_construct(k=2, population=""),
    sf.DeltaPresence.model_construct(low=0.1, high=0.5, population=""),
]


@pytest.mark.parametrize("kind", sf.protect.MODELS)
def test_a_model_names_every_property_that_it_claims(kind: type[PrivacyModel]) -> None:
    claims = [claim for model in MODELS if isinstance(model, kind) for claim in model.state_claims({})]
    assert {claim.property for claim in claims} == set(kind.claim_properties), "list it, and give an example in MODELS"


def claim_more(body: dict[str, Any]) -> None:
    """The sentence and the model of a thousand, the claim of three."""
    body["claims"][0]["meaning"] = body["claims"][0]["meaning"].replace("2 others", "999 others")
    body["methods"][0]["models"][0]["k"] = 1000


FALSE: dict[str, Callable[[dict[str, Any]], None]] = {
    "all at once": claim_more,
    "a sentence": set_in("claims", 0, "meaning", value="Everybody is hidden among 1,000 people."),
    "a sentence of another column": set_in(
        "claims", 1, "meaning", value="Every class has at least 2 well-represented values of pay (distinct)."
    ),
    "the sentence of the share": set_in("claims", 2, "meaning", value="No row is suppressed."),
    "the sentence of the names": set_in("claims", 3, "meaning", value="Nobody can be named."),
    "the sentence of truth": set_in("claims", 4, "meaning", value="Every published cell is the original value."),
    "a sentence behind the sentence": lambda body: body["claims"][4].update(
        meaning=body["claims"][4]["meaning"] + " Another method of the policy may have changed nothing at all."
    ),
    "k of a model": set_in("methods", 0, "models", 0, "k", value=1000),
    "l of a model": set_in("methods", 0, "models", 1, "l", value=3.0),
    "the column of a model": set_in("methods", 0, "models", 1, "column", value="pay"),
    "a model more": lambda body: body["methods"][0]["models"].append({"model": "k_anonymity", "k": 4}),
    "a model less": lambda body: body["methods"][0]["models"].pop(),
    "no methods": set_in("methods", value=[]),
    "a lower claim": set_in("claims", 0, "threshold", value=2),
    "a claim less": lambda body: body["claims"].pop(1),
    "the limit": set_in("methods", 0, "suppression_limit", value=0.01),
    "levels": set_in("levels", "age", value=2),
    "heights": set_in("heights", "age", value=9),
    "the level of a change": set_in("changes", 0, "level", value=1),
    "stars": lambda body: body.update(changes=[{**change, "starred": False} for change in body["changes"]]),
    "stars in one column": set_in("changes", 1, "starred", value=False),
    "stars in a sensitive column": set_in("changes", 2, "starred", value=True),
    "an attack that there is not": set_in("attacks", 0, "attack", value="everything"),
    "a limit below the risk": set_in("gate", value=[{"gate": "max_linking_risk", "limit": 0.0, "open": True}]),
    "a limit of an attack below its risk": set_in(
        "gate", value=[{"gate": "max_risk.linking", "limit": 0.01, "open": True}]
    ),
    "a limit of an attack that did not run": set_in(
        "gate", value=[{"gate": "max_risk.homogeneity", "limit": 0.5, "open": True}]
    ),
    "a limit that there is not": set_in("gate", value=[{"gate": "max_harm", "limit": 0.5, "open": True}]),
    "discernibility": set_in("utility", "discernibility", value=1),
    "average class": set_in("utility", "average_class_size", value=1000.0),
    "average class over k": set_in("utility", "c_avg", value=1.0),
    "a figure that stays": set_in("utility", "tree_accuracy", value=0.99),
    "a loss between steps": set_in("utility", "loss", value=0.012),
    "a risk between steps": set_in("attacks", 0, "risk_at_most", value=0.001),
    "guessing between steps": set_in("attacks", 0, "guessing", value=0.999),
    "suppressed rows": set_in("suppression", "rows", value=0),
    "suppressed rows unseen": set_in("suppression", "rows", value=None),
    "why": set_in("suppression", "why", value="No row was suppressed."),
    "removed columns": set_in("removed_columns", value=[]),
    "a budget": set_in("losses", value={"epsilon": 0.01}),
    "a law": set_in("public", value={"ill": {"kind": "k_ary", "epsilon": 0.1}}),
    "nothing unchecked": set_in("verdict", "unchecked", value=[]),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SFUMATO_HOME", str(folder / "home"))
        return publish(folder / "stars", "stars")


@pytest.mark.parametrize("name", FALSE)
def test_a_false_statement_is_found_though_it_is_signed(finished: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(finished, tmp_path / "out")
    resign(tmp_path / "out", lambda body: None)
    assert sf.verify(tmp_path / "out").holds
    resign(tmp_path / "out", FALSE[name])
    verification = sf.verify(tmp_path / "out")
    assert verification.outcome == "not as certified"
    assert "cannot be compared" not in verification.problems[0]


FALSE_CHANCES: dict[str, Callable[[dict[str, Any]], None]] = {
    "no budget": set_in("losses", value={}),
    "a smaller budget": set_in("losses", "epsilon", value=0.1),
    "no law": set_in("public", value={}),
    "another chance": set_in("public", "ill", "p", value=0.5),
    "another epsilon of a law": set_in("public", "ill", "epsilon", value=0.1),
    "a law of an unknown kind": set_in("public", "ill", "kind", value="laplace"),
    "a part that the law does not have": set_in("public", "ill", "scale", value=2.0),
}


@pytest.mark.parametrize("name", FALSE_CHANCES)
def test_a_false_budget_or_law_is_found_though_it_is_signed(tmp_path: Path, name: str) -> None:
    """A budget of 0 was signed beside claims of 7.5, and another chance than the one that the claims are about."""
    ills = {"age": [20 + n % 4 for n in range(240)], "ill": [["flu", "cold", "gout"][n % 3] for n in range(240)]}
    table = sf.Table.of(ills, {"age": "insensitive", "ill": "sensitive"})
    method = sf.RandomizeResponse(column="ill", p=0.7, categories=("flu", "cold", "gout"))
    out = sf.run(table, method, out=tmp_path / "out", accept={"age": "a test"}).out
    resign(out, lambda body: None)
    assert sf.verify(out).problems == ()
    resign(out, FALSE_CHANCES[name])
    assert not sf.verify(out).holds


def test_only_what_a_method_codes_may_be_called_coded(tmp_path: Path) -> None:
    """With a method of codes, any column could be called noise, and nobody counted who is unique by it."""
    people = pl.DataFrame({"age": [20, 21, 30, 31] * 5, "zip": list(range(20)), "ill": ["a", "b"] * 10})
    roles = {"age": "quasi_identifying", "zip": "quasi_identifying", "ill": "sensitive"}
    method = sf.EncodeForTrees(target="ill", columns=("age",))
    out = tmp_path / "out"
    sf.run(people, method, roles=roles, accept={"zip": "invented"}, out=out)
    assert sf.verify(out).problems == ()

    def call_noise(body: dict[str, Any]) -> None:
        change = next(change for change in body["changes"] if change["column"] == "zip")
        change["kind"] = "noise"
        body["verdict"] |= {"not_counted": ["age", "ill", "zip"], "unique_rows": []}

    resign(out, call_noise)
    assert any("without a distribution" in problem for problem in sf.verify(out).problems)


@pytest.mark.parametrize("is_blanked", [False, True], ids=["a sensitive column", "a quasi-identifying column"])
def test_rows_that_were_dropped_before_cells_are_blanked_are_said_so(tmp_path: Path, is_blanked: bool) -> None:
    """A second method says how empty cells are read, and `verify` then refused what the first one says of rows."""
    people = pl.DataFrame(
        {
            "age": [20 + n % 4 for n in range(60)],
            "sex": ["m" if n % 2 else "f" for n in range(60)],
            "ill": [["flu", "cold"][n % 7 % 2] for n in range(60)],
            "visit": [n % 3 for n in range(60)],
        }
    )
    roles = {"age": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive", "visit": "insensitive"}
    private = {"columns": ["sex" if is_blanked else "ill"], "share": 0.1}
    methods = (
        sf.Partition(models=(sf.KAnonymity(k=2),)),
        sf.SuppressEntries(private=[private], confidence=0.9, min_support=2, max_length=1, search="grades_once"),
    )
    out = tmp_path / "out"
    table = sf.Table.of(people, roles, missing="drop")
    sf.run(table, methods, accept={"visit": "invented"}, out=out)
    assert "lack a quasi-identifying value in the originals" in (out / "release" / "certificate.json").read_text()
    assert sf.verify(out).problems == ()


class WordyDiversity(sf.LDiversity):
    """A model that words its claim by whether suppressed rows count."""

    @classmethod
    def list_meanings(cls, promise: sf.Claim, arguments: Mapping[str, Any]) -> frozenset[str]:
        return frozenset({f"{promise.meaning} Stars: {arguments.get('starred_rows')}."})


def test_a_model_states_the_sentences_of_its_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only k-anonymity could word its claim by suppressed rows; any other model failed `verify`."""
    monkeypatch.setattr(protect, "MODELS", (sf.KAnonymity, WordyDiversity))
    model = {"model": "l_diversity", "l": 2, "column": "ill"}
    claim = sf.LDiversity(l=2, column="ill").claim({"starred_rows": "class"})
    claim = claim.model_copy(update={"meaning": f"{claim.meaning} Stars: class."})
    body: dict[str, Any] = {
        "methods": [{"method": "partition", "models": [model]}],
        "claims": [claim.model_dump(mode="json")],
        "missing": "category",
    }
    assert restated_facts._list_promise_problems(body) == []
    body["claims"][0]["meaning"] = f"{claim.meaning} Stars: suppressed."
    assert restated_facts._list_promise_problems(body)


def test_a_budget_smaller_than_the_sum_of_all_answers_is_found(tmp_path: Path) -> None:
    """Two methods of one column each: the larger of two budgets is not that of both answers."""
    people = {"sex": ["f", "m"] * 120, "ill": [["flu", "cold", "gout"][n % 3] for n in range(240)]}
    table = sf.Table.of(people, {"sex": "sensitive", "ill": "sensitive"})
    methods = [sf.RandomizeResponse(column=name, epsilon=1.5, categories="from_data") for name in people]
    out = sf.run(table, methods, out=tmp_path / "out").out
    resign(out, lambda body: None)
    assert sf.verify(out).problems == ()
    resign(out, set_in("losses", "epsilon", value=2.0))
    assert not sf.verify(out).holds


def test_a_threshold_is_the_parameter_that_it_comes_from(tmp_path: Path) -> None:
    """A certificate of groups of 40 could claim groups of 2, in a sentence of 2."""
    people = pl.DataFrame({"job": ["a"] * 40 + ["b"] * 40 + ["c", "d"], "ill": ["flu", "cold"] * 41})
    method = sf.GroupRareValues(columns=("job",), min_count=2)
    sf.run(people, method, roles={"job": "quasi_identifying", "ill": "sensitive"}, out=tmp_path / "out")
    assert sf.verify(tmp_path / "out").problems == ()
    resign(tmp_path / "out", set_in("methods", 0, "min_count", value=40))
    problems = sf.verify(tmp_path / "out").problems
    assert any("is not the parameter of its method" in problem for problem in problems)


def test_entries_are_blanked_after_rows_with_missing_cells_were_dropped(tmp_path: Path) -> None:
    """The report tries other blanking factors, on the rows that are published."""
    people = pl.DataFrame(
        {
            "age": [None if n % 15 == 0 else 20 + n % 4 for n in range(60)],
            "ill": [["flu", "cold"][n % 7 % 2] for n in range(60)],
        }
    )
    methods = (
        sf.Generalize(models=(sf.KAnonymity(k=2),)),
        sf.SuppressEntries(private=[{"columns": ["ill"], "share": 0.2}], confidence=0.9, min_support=2, max_length=1),
    )
    table = sf.Table.of(people, {"age": "quasi_identifying", "ill": "sensitive"}, missing="drop")
    result = sf.run(table, methods, out=tmp_path / "out")
    assert len(result.release.data) == 56
    assert sf.verify(tmp_path / "out").problems == ()
