# SPDX-License-Identifier: MIT
"""A certificate whose columns, laws or sentences contradict its methods is refused, whatever shape its data has."""

from __future__ import annotations

import random
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sfumato as sf
from sfumato.workflow.certificate import Certificate
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.policy_parts.points_section import POINT_CAVEATS
from sfumato.workflow.signing.signature import sign_certificate
from tests.faults.test_tampering import body_of, resign, set_in

Change = Callable[[dict[str, Any]], None]
TABLE_METHODS: dict[str, list[dict[str, Any]]] = {
    "coarse": [
        {"method": "group_rare_values", "columns": ["job"], "min_count": 5},
        {"method": "round_numbers", "columns": ["pay"], "step": 100},
        {"method": "top_code", "columns": ["age"], "k": 3},
    ],
    "answers": [
        {"method": "randomize_response", "column": ["ill", "sex"], "p": 0.7, "categories": "from_data"},
    ],
    "given answers": [
        {"method": "randomize_response", "column": "sex", "epsilon": 1.0, "categories": ["m", "f"]},
    ],
}  # fmt: skip
TABLE_METHODS["classes"] = [
    {"method": "generalize", "models": [{"model": "k_anonymity", "k": 3}], "suppression_limit": 0.1},
]
TABLE_METHODS["whole"] = [{"method": "generalize", "models": [{"model": "k_anonymity", "k": 3}]}]
TABLE_METHODS["noise"] = [{"method": "add_noise", "columns": ["pay"], "ranges": {"pay": [0, 5000]}}]
TABLE_METHODS["drawn"] = [{"method": "synthesize", "kind": "partial", "columns": ["pay"], "min_leaf": 5}]
TABLE_METHODS["drawn whole"] = [{"method": "synthesize", "min_leaf": 5}]
TABLE_METHODS["drawn few"] = [{"method": "synthesize", "min_leaf": 5, "rows": 100}]
TABLE_METHODS["means"] = [{"method": "microaggregate", "k": 3, "columns": ["age", "sex", "job", "pay"]}]
TABLE_METHODS["local"] = [
    {"method": "generalize", "models": [{"model": "k_anonymity", "k": 3}], "recoding": "local"},
]
TABLE_METHODS["tree codes"] = [{"method": "encode_for_trees", "target": "ill"}]
TABLE_METHODS["swapped"] = [{"method": "swap_confidential", "column": "ill", "share": 0.5, "search": "random"}]
BASKET_METHODS: dict[str, list[dict[str, Any]]] = {
    "hidden": [{"method": "hide_rules", "rules": ["bread ==> milk"], "min_support": 10, "min_confidence": 0.5}],
    "noisy": [{"method": "randomize_baskets", "keep": 0.8, "add": 0.1, "items": "from_data"}],
    "patterns": [{"method": "publish_patterns", "k": 3, "min_support": 10}],
    "unrepaired": [{"method": "publish_patterns", "k": 3, "min_support": 10, "repair": "none"}],
    "padded": [{"method": "encode_items", "k": 2}],
    "bits": [{"method": "encode_bloom"}],
    "rules": [{"method": "publish_rules", "k": 3, "min_support": 10, "min_confidence": 0.4}],
}
SEQUENCE_METHODS: dict[str, list[dict[str, Any]]] = {
    "tours": [{"method": "anonymize_sequences", "k": 3}],
    "walks": [{"method": "hide_sequences", "patterns": [["bread", "milk"]], "threshold": 5}],
}


def publish(folder: Path, name: str) -> Path:
    """A release of 240 people, or of 240 baskets or sequences."""
    folder.mkdir(parents=True)
    policy: dict[str, Any] = {"measure": {"queries": 0}}
    if name in TABLE_METHODS:
        people = pl.DataFrame(
            {
                "name": [f"p{n}" for n in range(240)],
                "age": [20 + n % 40 for n in range(238)] + [95, 96],
                "sex": [["m", "f"][n % 2] for n in range(240)],
                "job": [["smith", "cook", "clerk"][n % 3] for n in range(238)] + ["judge", "pilot"],
                "ill": [["flu", "cold", "gout"][n // 5 % 3] for n in range(240)],
                "pay": [1000 + n * 37 % 3000 for n in range(240)],
            }
        )
        people.write_csv(folder / "people.csv")
        roles = {"identifying": ["name"], "quasi_identifying": ["age", "sex", "job"], "sensitive": ["ill", "pay"]}
        policy |= {"data": {"path": str(folder / "people.csv")}, "roles": roles, "protect": TABLE_METHODS[name]}
        attacks = [{"attack": "linking"}, {"attack": "homogeneity", "column": "ill"}]
        policy["attack"] = [] if name == "tree codes" else attacks
    else:
        lists = [["bread", "milk"], ["bread", "milk", "nuts"], ["bread", "beer"], ["milk", "nuts"], ["beer", "nuts"]]
        text = "".join(f"{' '.join(lists[n % 5])}\n" for n in range(240))
        is_basket = name in BASKET_METHODS
        (folder / "data.dat").write_text(text if is_basket else text.replace(" ", " -1 ").replace("\n", " -1 -2\n"))
        policy["data"] = {"path": str(folder / "data.dat"), "format": "fimi" if is_basket else "spmf"}
        policy["attack"] = [{"attack": "remining"}] if name == "hidden" else []
        policy["protect"] = (BASKET_METHODS | SEQUENCE_METHODS)[name]
    run_policy(Policy.model_validate(policy), folder / "out")
    return folder / "out"


def test_a_loss_among_the_values_that_occur_may_exceed_the_limit(tmp_path: Path) -> None:
    """The gate counts all 80 values of a hierarchy, and what is published counts the three that people have."""
    groups = ["rare", "rare", "common", *("none" for _ in range(77))]
    (tmp_path / "jobs.csv").write_text("".join(f"job {n},{group},any\n" for n, group in enumerate(groups)))
    jobs = ["job 2"] * 200 + ["job 0"] * 20 + ["job 1"]
    pl.DataFrame({"job": jobs, "ill": ["flu"] * len(jobs)}).write_csv(tmp_path / "people.csv")
    policy = {
        "data": {"path": str(tmp_path / "people.csv")},
        "roles": {"quasi_identifying": ["job"], "sensitive": ["ill"]},
        "hierarchies": {"job": str(tmp_path / "jobs.csv")},
        "protect": TABLE_METHODS["whole"],
        "gate": {"max_loss": 0.02},
        "measure": {"queries": 0},
    }
    run_policy(Policy.model_validate(policy), tmp_path / "out")
    body = body_of(tmp_path / "out")
    assert body["utility"]["loss"] > 0.02 == body["gate"][0]["limit"]
    assert sf.verify(tmp_path / "out").problems == ()


class Forgery(NamedTuple):
    """A release, and what a forger states about it."""

    release: str
    change: Change


def every_change(**facts: Any) -> Change:
    return lambda body: body.update(changes=[change | facts for change in body["changes"]])


def drop_method(number: int) -> Change:
    return lambda body: body["methods"].pop(number)


def change_claim(name: str, *, drop: tuple[str, ...] = (), arguments: Any = None, **facts: Any) -> Change:
    """Give the first claim of a property other facts, or other arguments."""

    def change(body: dict[str, Any]) -> None:
        claim = next(claim for claim in body["claims"] if claim["property"] == name)
        claim |= facts
        claim["arguments"] |= arguments or {}
        for argument in drop:
            del claim["arguments"][argument]

    return change


def change_column(name: str, **facts: Any) -> Change:
    """State another change of a column."""
    return lambda body: next(change for change in body["changes"] if change["column"] == name).update(facts)


def remove_claim(name: str) -> Change:
    """Leave out the claims of a property that anyone can check."""

    def change(body: dict[str, Any]) -> None:
        assert any(claim["property"] == name and not claim["needs_original"] for claim in body["claims"])
        body["claims"] = [claim for claim in body["claims"] if claim["property"] != name]

    return change


LAW = {
    "kind": "gaussian", "scale": 100.0, "step": 0, "origin": 0.0, "grid": 1, "privacy": 1.0, "confidence": 0.95,
    "achieved": 1.0, "domain": "given",
}  # fmt: skip


def state_limit(name: str, limit: Any) -> Change:
    return set_in("gate", value=[{"gate": name, "limit": limit, "open": True}])


def change_attack(**facts: Any) -> Change:
    return lambda body: body["attacks"][0].update(facts)


def leave_unchecked(*sentences: str) -> Change:
    return lambda body: body["verdict"].update(unchecked=[*body["verdict"]["unchecked"], *sentences])


CERTAIN_CLAIMS = (
    ("patterns", "inferable_patterns"), ("patterns", "least_support"), ("rules", "weak_rules"),
    ("rules", "inferable_patterns"), ("unrepaired", "least_support"), ("padded", "shared_support"),
    ("bits", "baskets"), ("bits", "strange_bits"), ("noisy", "strange_items"), ("noisy", "amplification"),
    ("noisy", "epsilon_in_all"), ("noisy", "baskets"), ("hidden", "baskets"), ("walks", "sequences"),
    ("tours", "sequence_anonymity"), ("tree codes", "rows_kept"), ("means", "suppressed_share"),
    ("answers", "epsilon_in_all"),
)  # fmt: skip
FORGERIES: dict[str, Forgery] = {
    "no threshold of support": Forgery("unrepaired", change_claim("least_support", threshold=0)),
    "no threshold of rounding": Forgery("coarse", change_claim("largest_rounding", threshold=0)),
    "no threshold of a law": Forgery("noise", change_claim("noise_law", threshold=0)),
    "no threshold of privacy": Forgery("noise", change_claim("noise_privacy", threshold=0)),
    "no threshold of answers": Forgery("answers", change_claim("answers_off_channel", threshold=0)),
    "no budget at all, without chance": Forgery("coarse", set_in("losses", value={"epsilon": 0.0})),
    "no budget at all, of hidden rules": Forgery("hidden", set_in("losses", value={"epsilon": 0.0})),
    "no budget at all, of patterns": Forgery("patterns", set_in("losses", value={"epsilon": 0.0})),
    "no budget at all, of noise": Forgery("noise", set_in("losses", value={"epsilon": 0.0})),
    "no budget at all, of drawn cells": Forgery("drawn", set_in("losses", value={"epsilon": 0.0})),
    "a law of rounded numbers": Forgery("coarse", set_in("public", value={"pay": LAW})),
    "a law of hidden rules": Forgery("hidden", set_in("public", value={"milk": LAW})),
    "a law of another column": Forgery("noise", set_in("public", "age", value=LAW)),
    "more words of rounding": Forgery(
        "coarse", change_claim("largest_rounding", meaning="At most 50 from the true one: nobody can be found.")
    ),
    "more words of limits": Forgery("coarse", change_claim("miscoded_cells", meaning="Nobody can be found.")),
    "more words of groups": Forgery("coarse", change_claim("cells_grouped_wrongly", meaning="Nobody can be found.")),
    "words of kept columns": Forgery("coarse", change_claim("kept_cells_changed", meaning="Nobody can be found.")),
    "words beside drawn columns": Forgery("drawn", change_claim("kept_cells_changed", meaning="Nobody can be found.")),
    "more that is unchecked": Forgery("coarse", leave_unchecked("All attacks known to science were tried.")),
    "unchecked points of a table": Forgery("coarse", leave_unchecked(*POINT_CAVEATS)),
    "an empty sentence of sequences": Forgery("tours", leave_unchecked("")),
    "a limit below 0": Forgery("coarse", state_limit("max_loss", -1.0)),
    "a limit of records below 0": Forgery("coarse", state_limit("max_record_risk", -5.0)),
    "a limit above 1": Forgery("coarse", state_limit("max_linking_risk", 1.5)),
    "a loss above its limit": Forgery("whole", state_limit("max_loss", 0.0)),
    "a limit of linking without linking": Forgery("tours", state_limit("max_linking_risk", 0.1)),
    "a limit of all attacks": Forgery("coarse", state_limit("max_risk", 0.9)),
    "a limit of another name": Forgery("coarse", state_limit("every max_risk.linking", 0.9)),
    "a target in baskets": Forgery("hidden", change_attack(targets=["x"])),
    "a known column of baskets": Forgery("hidden", change_attack(known_columns=[["pay"]])),
    "a truth for a share": Forgery("swapped", set_in("methods", 0, "share", value=True)),
    "a text for a share": Forgery("swapped", set_in("methods", 0, "share", value="0.5")),
    "a truth for seconds": Forgery("patterns", set_in("methods", 0, "seconds", value=True)),
    "a truth for a reach": Forgery("hidden", set_in("attacks", 0, "parameters", "reach", value=True)),
    "a truth for privacy": Forgery("noise", set_in("methods", 0, "privacy", value=True)),
    "a truth for k": Forgery("classes", set_in("methods", 0, "models", 0, "k", value=True)),
    "a truth for a share of an attack": Forgery("coarse", set_in("attacks", 1, "parameters", "share", value=True)),
    "a truth for a limit": Forgery("classes", set_in("methods", 0, "suppression_limit", value=True)),
    "a truth for a limit of the gate": Forgery("coarse", state_limit("max_linking_risk", True)),
    **{f"{release} without {name}": Forgery(release, remove_claim(name)) for release, name in CERTAIN_CLAIMS},
    "another epsilon, as a whole number": Forgery("given answers", set_in("methods", 0, "epsilon", value=2)),
    "another width of noise": Forgery("noise", set_in("methods", 0, "privacy", value=2.0)),
    "another confidence of a law": Forgery("noise", set_in("public", "pay", "confidence", value=0.5)),
    "a confidence of a law above 1": Forgery("noise", set_in("public", "pay", "confidence", value=1.95)),
    "no law of noise": Forgery("noise", set_in("public", value={})),
    "no law of baskets": Forgery("noisy", set_in("public", value={})),
    "another law of baskets": Forgery("noisy", set_in("public", "items", "keep", value=0.4)),
    "a method twice": Forgery("hidden", lambda body: body["methods"].append(dict(body["methods"][0]))),
    "one hidden column of two": Forgery("classes", change_claim("shown_in_suppressed", arguments={"columns": ["ill"]})),
    "a blanked column said kept": Forgery("classes", change_column("pay", kind="kept")),
    "other columns of means": Forgery("means", set_in("methods", 0, "columns", value=["age", "sex", "job", "ill"])),
    "means said kept": Forgery("means", change_column("pay", kind="kept")),
    "other columns drawn": Forgery("drawn", set_in("methods", 0, "columns", value=["ill"])),
    "a kept column said drawn": Forgery("drawn", change_column("ill", kind="drawn")),
    "a partial release said full": Forgery(
        "drawn", lambda body: body["methods"][0].update(kind="full", columns=None)
    ),
    "a level of a kept column": Forgery("local", change_column("ill", level=7)),
    "a level below the first": Forgery("local", change_column("age", level=-99)),
    "k above the support of patterns": Forgery("unrepaired", set_in("methods", 0, "k", value=11)),
    "multiples of no column": Forgery("coarse", change_claim("numbers_between_steps", arguments={"columns": []})),
    "multiples of 1": Forgery("coarse", change_claim("numbers_between_steps", arguments={"step": 1})),
    "a sentence about 50": Forgery(
        "coarse", change_claim("numbers_between_steps", meaning='Every published number of "pay" is a multiple of 50.')
    ),
    "one number between steps": Forgery("coarse", change_claim("numbers_between_steps", threshold=1, measured=1)),
    "no claim of steps": Forgery("coarse", remove_claim("numbers_between_steps")),
    "no cap": Forgery("coarse", change_claim("beyond_limits", drop=("cap",))),
    "no cap of rows": Forgery("coarse", change_claim("rows_at_limits", drop=("cap",))),
    "a higher cap": Forgery("coarse", change_claim("beyond_limits", arguments={"cap": 500})),
    "both ends": Forgery("coarse", set_in("methods", 2, "ends", value="both")),
    "values of another column": Forgery("coarse", change_claim("rows_with_each_value", arguments={"columns": ["sex"]})),
    "no step": Forgery("coarse", change_claim("numbers_between_steps", drop=("step",))),
    "half the step of a method": Forgery("coarse", set_in("methods", 1, "step", value=50.0)),
    "no step of a method": Forgery("coarse", set_in("methods", 1, "step", value=None)),
    "no field of a method": Forgery("coarse", lambda body: body["methods"][1].pop("step")),
    "one more field of a method": Forgery("coarse", set_in("methods", 1, "safe", value=True)),
    "another technique": Forgery("coarse", set_in("methods", 1, "iso_20889", value="differential privacy")),
    "less mature": Forgery("coarse", set_in("maturity", value="for study")),
    "categories of answers": Forgery("given answers", change_claim("strange_answers", arguments={"categories": ["m"]})),
    "a column of answers": Forgery("answers", change_claim("strange_answers", arguments={"column": "job"})),
    "another column in a sentence": Forgery(
        "given answers", change_claim("strange_answers", meaning='Every answer in "ill" is one of the categories.')
    ),
    "a smaller budget of a method": Forgery("given answers", set_in("methods", 0, "epsilon", value=0.01)),
    "a budget in words": Forgery(
        "given answers", change_claim("epsilon", meaning="Each answer is at most e^0.01 times as likely.")
    ),
    "k of patterns": Forgery("patterns", change_claim("inferable_patterns", arguments={"k": 2})),
    "k of sequences": Forgery("tours", set_in("methods", 0, "k", value=30)),
    "sequences in words": Forgery(
        "tours", change_claim("sequence_anonymity", meaning="Every sequence is contained in at least 30.")
    ),
    "baskets in words": Forgery("hidden", change_claim("baskets", meaning="9000 baskets are published.")),
    "hidden rules that are left": Forgery("hidden", change_claim("hidden_rules", threshold=1)),
    "a strategy that there is not": Forgery("hidden", set_in("methods", 0, "strategy", value="magic")),
    "an untrue cell": Forgery("classes", change_claim("untrue_cells", threshold=1)),
    "a larger limit of suppression": Forgery("classes", set_in("methods", 0, "suppression_limit", value=1.0)),
    "a limit of suppression beside none": Forgery("whole", set_in("methods", 0, "suppression_limit", value=1.0)),
    "no limit of suppression": Forgery("classes", set_in("methods", 0, "suppression_limit", value=None)),
    "no claim of suppression": Forgery("classes", remove_claim("suppressed_share")),
    "no levels": Forgery("classes", set_in("levels", value={})),
    "a level dropped": Forgery("classes", lambda body: body["levels"].pop("age")),
    "a height dropped": Forgery("classes", lambda body: body["heights"].pop("age")),
    "a generalized column, capped": Forgery("classes", set_in("changes", 0, "kind", value="capped")),
    "p and epsilon": Forgery("answers", set_in("methods", 0, "epsilon", value=3)),
    "a technique of hiding": Forgery("hidden", set_in("methods", 0, "iso_20889", value="encryption")),
    "a half in words": Forgery("coarse", change_claim("largest_rounding", threshold=51)),
    "no parameters of an attack": Forgery("coarse", set_in("attacks", 0, "parameters", value={})),
    "knowledge of a number": Forgery("coarse", set_in("attacks", 0, "parameters", "knowledge", value=5)),
    "a strange loss": Forgery("coarse", set_in("losses", value={"x": 1})),
    "a strange loss of answers": Forgery("answers", lambda body: body["losses"].update(x=1)),
    "a claim without arguments": Forgery("coarse", lambda body: body["claims"][0].pop("arguments")),
    "names as a number": Forgery("coarse", change_claim("identifying_columns", arguments={"names": 5})),
    "names as truth": Forgery("coarse", change_claim("identifying_columns", arguments={"names": True})),
    "names as text": Forgery("coarse", change_claim("identifying_columns", arguments={"names": "name"})),
    "no number of columns": Forgery("coarse", set_in("data", "columns", value=None)),
    "columns not counted": Forgery("coarse", lambda body: body["data"].pop("columns")),
    "a field left to its default": Forgery("coarse", lambda body: body["claims"][0].pop("holds")),
    "a truth for a number": Forgery("coarse", set_in("formulas", "cells", value=False)),
    "another checksum": Forgery("coarse", set_in("data", "sha256", value="0" * 64)),
    "a checksum of baskets": Forgery("hidden", set_in("data", "sha256", value="0" * 64)),
    "a method without a meaning": Forgery("coarse", set_in("methods", 2, "method", value="top_codex")),
    "the column of a method": Forgery("coarse", set_in("methods", 1, "columns", value=["nonexistent"])),
    "another column of a method": Forgery("coarse", set_in("methods", 1, "columns", value=["age"])),
    "all kept": Forgery("coarse", every_change(kind="kept")),
    "no changes": Forgery("coarse", set_in("changes", value=[])),
    "a change of nothing": Forgery("coarse", set_in("changes", 0, "column", value="nonexistent")),
    "a change by nobody": Forgery("coarse", every_change(method="partition")),
    "a level of a number": Forgery("coarse", set_in("changes", 0, "level", value=1)),
    "answers kept": Forgery("answers", every_change(kind="kept")),
    "a column that nobody knows": Forgery("coarse", set_in("attacks", 0, "known_columns", value=[["nonexistent"]])),
    "knowledge of nothing": Forgery("coarse", set_in("attacks", 0, "parameters", "knowledge", value=["nonexistent"])),
    "a target that there is not": Forgery("coarse", set_in("attacks", 1, "targets", value=["nonexistent"])),
    "a target that the attacker knew": Forgery("whole", set_in("attacks", 1, "known_columns", value=[["age", "ill"]])),
    "a target that the attack does not name": Forgery("coarse", set_in("attacks", 1, "targets", value=["pay"])),
    "a target twice": Forgery("coarse", set_in("attacks", 1, "targets", value=["ill", "ill"])),
    "a target that was removed": Forgery("coarse", set_in("attacks", 0, "targets", value=["name"])),
    "another number of drawn rows": Forgery("drawn few", set_in("methods", 0, "rows", value=99)),
    "a larger budget": Forgery("answers", set_in("losses", "epsilon", value=20.0)),
    "a larger budget of baskets": Forgery("noisy", set_in("losses", "epsilon", value=200.0)),
    "a budget without claims": Forgery("coarse", set_in("losses", "epsilon", value=0.1)),
    "suppressed baskets": Forgery("hidden", set_in("suppression", value={"rows": 77, "safe": True, "why": "77 rows."})),
    "why baskets are suppressed": Forgery("hidden", set_in("suppression", "why", value="77 were suppressed.")),
    "suppressed sequences": Forgery("tours", set_in("suppression", "rows", value=7)),
    "suppressed patterns": Forgery("patterns", set_in("suppression", "rows", value=7)),
    "suppression that is not safe": Forgery("coarse", set_in("suppression", "safe", value=False)),
    "a measured secret": Forgery("coarse", set_in("claims", 1, "measured", value=1)),
    "columns of baskets": Forgery("hidden", set_in("data", "columns", value=3)),
    "numbers of baskets": Forgery("hidden", set_in("data", "numbers", value=["age"])),
}  # fmt: skip
_MADE: dict[str, Path] = {}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("releases")


def publish_once(finished: Path, name: str) -> Path:
    if not (finished / name).exists():
        _MADE[name] = publish(finished / name, name)
    return _MADE[name]


@pytest.mark.parametrize("name", (*TABLE_METHODS, *BASKET_METHODS, *SEQUENCE_METHODS))
def test_a_release_says_what_its_methods_say(finished: Path, name: str) -> None:
    assert sf.verify(publish_once(finished, name)).problems == ()


@pytest.mark.parametrize("name", FORGERIES)
def test_a_contradiction_is_found_though_it_is_signed(finished: Path, tmp_path: Path, name: str) -> None:
    forgery = FORGERIES[name]
    shutil.copytree(publish_once(finished, forgery.release), tmp_path / "out")
    resign(tmp_path / "out", forgery.change, files=False)
    verification = sf.verify(tmp_path / "out")
    assert verification.outcome == "not as certified"
    assert not any(word in verification.problems[0] for word in ("cannot be compared", "contradicts itself"))
    with pytest.raises(sf.SfumatoError) if _is_no_certificate(tmp_path / "out") else nullcontext():
        sf.compare(tmp_path / "out", tmp_path / "out")


def _is_no_certificate(out: Path) -> bool:
    try:
        Certificate.read(out / "release")
    except sf.SfumatoError:
        (out / "private" / "record.json").unlink(missing_ok=True)
        return True
    return False


UNCHECKABLE = (
    "title", "created", "versions", "for_publication", "input_commitment", "purpose", "recipient", "data.integers",
    "data.numbers", "data.escaped_formulas", "methods.*.metric", "methods.*.search", "methods.*.seconds",
    "methods.*.strategy", "methods.*.min_support", "methods.*.min_confidence", "methods.*.share", "methods.*.label",
    "methods.*.weights", "methods.*.recoding", "methods.*.suppressed_rows", "methods.*.categories", "methods.*.missing",
    "methods.*.caps", "methods.*.floors", "claims.*.meaning", "claims.*.arguments.kind", "claims.*.threshold",
    "attacks", "gate", "utility", "verdict.accepted", "verdict.unchecked", "public",
)  # fmt: skip
"""Fields that nobody can compare, wholly or in part: docs/certificate.md names them."""


def list_leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every part of a certificate, by its path."""
    if path:
        yield path, value
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from list_leaves(part, (*path, key))


def list_mutations(value: Any) -> list[Any]:
    """Other values of a field, as a forger would choose them, and of other types."""
    if isinstance(value, bool) or value is None:
        return [not value, 3]
    if isinstance(value, int | float):
        return [value + 1, value / 2, None, str(value), 10**400]
    if isinstance(value, str):
        return [f"{value}x", None, 5]
    return [type(value)(), 5, None, ["x", *value] if isinstance(value, list) else {"x": 1}]


@pytest.mark.parametrize("name", ["coarse", "classes", "given answers", "hidden"])
def test_a_changed_field_is_accepted_only_if_nobody_can_check_it(
    finished: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(publish_once(finished, name) / "release", tmp_path / "release")
    body = body_of(tmp_path)
    del body["signer"], body["signature"]
    key = Ed25519PrivateKey.generate()
    chance = random.Random(name)
    mutations = [(path, other) for path, value in list_leaves(body) for other in list_mutations(value)]
    for path, other in chance.sample(mutations, 60):
        changed_body = deepcopy(body)
        set_in(*path, value=other)(changed_body)
        if changed_body == body:
            continue
        (tmp_path / "release" / "certificate.json").write_bytes(sign_certificate(changed_body, key))
        spelled_path = ".".join("*" if isinstance(part, int) else part for part in path)
        if not f"{spelled_path}.".startswith(tuple(f"{field}." for field in UNCHECKABLE)):
            assert sf.verify(tmp_path).problems, (path, other)
        else:
            sf.verify(tmp_path)  # neither crashes nor hangs


def add_part(archive: zipfile.ZipFile) -> None:
    archive.writestr("xl/names.xml", "<names>Ann Bee</names>")


def add_comment(archive: zipfile.ZipFile) -> None:
    archive.comment = b"Ann Bee"


OTHER_PARTS = "the workbook has other parts than the sheet that sfumato writes, which may hold data"
SHEET = "xl/worksheets/sheet1.xml"


def publish_workbook(out: Path) -> Path:
    table = sf.Table.of({"age": [20, 30] * 20}, {"age": "quasi_identifying"})
    policy = {"protect": [{"method": "round_numbers", "columns": ["age"], "step": 5}], "output": {"format": "excel"}}
    sf.run(table, policy, out=out)
    assert sf.verify(out).problems == ()
    return out / "release" / "data.xlsx"


@pytest.mark.parametrize("add", [add_part, add_comment])
def test_a_workbook_with_a_part_that_nobody_sees_is_refused(
    tmp_path: Path, add: Callable[[zipfile.ZipFile], None]
) -> None:
    with zipfile.ZipFile(publish_workbook(tmp_path / "out"), "a") as archive:
        add(archive)
    resign(tmp_path / "out", lambda body: None)
    assert sf.verify(tmp_path / "out").problems == (OTHER_PARTS,)


def test_a_workbook_followed_by_bytes_is_refused(tmp_path: Path) -> None:
    with publish_workbook(tmp_path / "out").open("ab") as file:
        file.write(b"Ann Bee")
    resign(tmp_path / "out", lambda body: None)
    assert sf.verify(tmp_path / "out").problems == (OTHER_PARTS,)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (b"<sheetData>", b"<!-- Ann Bee --><sheetData>"),
        (b"<sheetData>", b'<sheetData name="Ann Bee">'),
        (b"</worksheet>", b'<extLst><ext uri="Ann Bee"/></extLst></worksheet>'),
        (b'<c r="A2"', b'<c r="A2"><v>5</v></c><c r="A2"'),
    ],
    ids=["comment", "field", "extension", "cell twice"],
)
def test_a_sheet_with_more_than_its_cells_is_refused(tmp_path: Path, place: bytes, words: bytes) -> None:
    path = publish_workbook(tmp_path / "out")
    with zipfile.ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.infolist()}
    with zipfile.ZipFile(path, "w") as archive:
        for part, content in parts.items():
            with archive.open(part, "w", force_zip64=part.filename == SHEET) as file:
                file.write(content.replace(place, words, 1) if part.filename == SHEET else content)
    resign(tmp_path / "out", lambda body: None)
    problems = sf.verify(tmp_path / "out").problems
    assert problems == ("the sheet of the workbook holds more than cells, or spells them in another way",)


@pytest.mark.parametrize("name", ["1", "8", "-1", "is", "most 2"])
def test_a_column_may_be_named_like_a_part_of_a_sentence(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({name: [number / 10 for number in range(-180, 180, 3)]})
    table = sf.Table.of(frame, {name: "insensitive"})
    policy = {
        "protect": [{"method": "top_code", "columns": [name], "k": 2, "ends": "both"}],
        "accept": {name: "a test"},
    }
    finished_run = sf.run(table, policy, out=tmp_path / "out")
    assert finished_run.published
    assert sf.verify(tmp_path / "out").problems == ()
