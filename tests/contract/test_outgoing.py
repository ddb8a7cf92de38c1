# SPDX-License-Identifier: MIT
"""What leaves: every field has a rule, and nothing that leaves depends on what the release hides."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import get_args

import pytest

import sfumato as sf
from sfumato.attack import ATTACKS
from sfumato.cli.messages import print_verification
from sfumato.data.cells.private_entries import PrivateEntries
from sfumato.description import Description
from sfumato.fields.field_docs import find_field_doc
from sfumato.protect import METHODS, MODELS
from sfumato.published_law import read_laws
from sfumato.report import render_report
from sfumato.workflow import outgoing
from sfumato.workflow.certificate import Certificate
from sfumato.workflow.outgoing import OutgoingRule, list_field_rules
from sfumato.workflow.pipeline import Run
from sfumato.workflow.summary.gathered_account import gather_outgoing_account
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.runs import World, attacks_on, other_truths, run_example

parametrize_examples = pytest.mark.parametrize("example", METHOD_EXAMPLES, ids=lambda example: example.name)
each_method = pytest.mark.parametrize(
    "example",
    [
        pytest.param(candidate, id=candidate.name, marks=[pytest.mark.slow] if ", " in candidate.name else [])
        for candidate in METHOD_EXAMPLES
    ],
)
"""Every method; its further modes only among the slow tests."""
SIGNED = {"files", "signer", "signature"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Every method, carried out once with attacks."""
    return {}


def fetch_run(example: Example, runs: dict[str, Run], factory: pytest.TempPathFactory) -> Run:
    """A run of an example, made once."""
    if example.name not in runs:
        runs[example.name] = run_example(example, factory.mktemp("run"), attacks_on(example))
    return runs[example.name]


def test_every_field_that_leaves_has_a_rule() -> None:
    rules = list_field_rules()
    assert rules["input_commitment"] is OutgoingRule.SEALED
    assert rules["claims.measured"] is OutgoingRule.RELEASED
    assert {rules[name] for name in ("utility", "attacks.risk_at_most")} == {OutgoingRule.COARSE}
    assert rules["losses"] is OutgoingRule.POLICY


def test_a_field_without_a_rule_is_noticed() -> None:
    class Careless(outgoing.OutgoingCertificate):
        salaries: float

    with pytest.raises(KeyError, match="salaries"):
        list_field_rules(Careless)


@pytest.mark.parametrize("kind", (*METHODS, *MODELS, *ATTACKS), ids=lambda kind: kind.__name__)
def test_every_parameter_is_public_or_private(kind: type[Description]) -> None:
    fields = sorted(set(kind.model_fields) - {"method", "model", "attack"})
    assert sorted((*kind.public_fields, *kind.private_fields)) == fields, (
        f"in {kind.__module__}, name every field of {kind.__name__} once: in public_fields if a certificate may tell "
        "it, in private_fields if it says what is hidden, whom it is compared with or where the custodian keeps it"
    )


@pytest.mark.parametrize("kind", (*METHODS, *MODELS, *ATTACKS, PrivateEntries), ids=lambda kind: kind.__name__)
def test_a_field_that_names_a_file_says_so(kind: type[Description]) -> None:
    """Such a field is read from the policy's folder, and its folder does not leave."""
    documented_fields = {
        name for name in kind.model_fields if re.search(r"\b(file|folder)\b", find_field_doc(kind, name).split(". ")[0])
    }
    text_fields = {name for name in documented_fields if str in get_args(kind.model_fields[name].annotation)}
    assert text_fields | set(kind.file_fields) == set(kind.file_fields), (
        f"{kind.__name__}: name {sorted(text_fields - set(kind.file_fields))} in its file_fields, so that a policy "
        "finds the file beside itself and no certificate tells its folder"
    )
    assert set(kind.file_fields) <= documented_fields, f"{kind.__name__}: file_fields names a field that is no file"


def test_what_nobody_called_public_stays() -> None:
    described = {"method": "microaggregate", "k": 3, "salaries": 1}
    assert outgoing.select_outgoing_parameters(described) == {"method": "microaggregate", "k": 3}
    assert outgoing.select_outgoing_parameters({"method": "of nobody", "k": 3}) == {"method": "of nobody"}


@parametrize_examples
def test_the_certificate_is_what_the_model_says(
    example: Example, runs: dict[str, Run], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No field leaves that the typed certificate does not know, and no figure that was not looked at."""
    run = fetch_run(example, runs, tmp_path_factory)
    body = json.loads((run.out / "release" / "certificate.json").read_text())
    outgoing.OutgoingCertificate.model_validate({name: body[name] for name in body if name not in SIGNED})
    assert body["losses"].keys() <= {"epsilon"}
    assert body["utility"].keys() <= outgoing.COMPUTABLE | outgoing.IN_STEPS
    assert body["public"] == run.record["public"]
    assert {column: law.describe() for column, law in read_laws(body["public"]).items()} == body["public"]


@parametrize_examples
def test_claims_about_the_originals_tell_only_that_they_held(
    example: Example, runs: dict[str, Run], tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = fetch_run(example, runs, tmp_path_factory)
    for claim in run.certificate.body["claims"]:
        if claim["needs_original"]:
            assert (claim["measured"], claim["arguments"], claim["holds"]) == (None, {}, True)
        else:
            assert claim["measured"] is not None
    problems = sf.verify(run.out).problems
    assert not problems, (
        f"{type(example.subject).__name__}: an auditor would refuse its release, because {'; '.join(problems)}: let "
        "its claims and `changes` say what the file shows; if a law is lacking, publish it in `details.public`"
    )


def _files(run: Run) -> dict[str, bytes]:
    """What an adversary has, but for the signature."""
    body = {name: value for name, value in run.certificate.body.items() if name not in ("signature", "signer")}
    release = run.out / "release"
    files = {path.name: path.read_bytes() for path in release.iterdir() if path.name != "certificate.json"}
    return {**files, "certificate.json": json.dumps(body).encode()}


@each_method
def test_nothing_that_leaves_tells_one_truth_from_another(example: Example, tmp_path: Path) -> None:
    """The same release certified against other originals: every byte that leaves is the same, the record is not."""
    world = World(example, tmp_path)
    in_crowds = example.subject.hides_in_crowds  # there, a few people hide in a step
    true = world.certified(world.data)
    other = world.certified(other_truths(world.data, 3 if in_crowds else 20))
    assert _files(true) == _files(other)
    if not in_crowds and not isinstance(example.subject, (sf.EncodeBloom, sf.EncodeItems)):
        assert true.record != other.record, (
            f"{type(example.subject).__name__}: of 20 rows with other cells, no figure of private/record.json differs "
            "(losses, utility, attacks): most likely its release has so few rows that none of these is among them, or "
            "its loss is a constant: look at what `protect` publishes, and compute the loss from it"
        )


@parametrize_examples
def test_what_others_are_told_holds_no_more_than_the_certificate(
    example: Example,
    runs: dict[str, Run],
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`verify`, as JSON and on the terminal, from a folder without its private part."""
    run = fetch_run(example, runs, tmp_path_factory)
    checked = sf.verify(run.out / "release")
    fields = {"property", "threshold", "bound", "measured", "holds", "needs_original", "meaning"}
    for checked_claim, certified_claim in zip(checked.as_json()["claims"], run.certificate.body["claims"], strict=True):
        assert checked_claim.pop("column") == certified_claim["arguments"].get("column")  # from the certificate alone
        assert checked_claim.keys() == fields
        assert {**{name: certified_claim[name] for name in fields}, "holds": checked_claim["holds"]} == checked_claim
    print_verification(checked)
    output = capsys.readouterr().out
    for secret in example.secrets:
        assert secret not in output


CUSTODIAN = {
    "audience", "release_dir", "private_dir", "report", "claims", "losses", "utility", "attacks", "levels",
    "suppressed_rows", "gate", "signer", "formulas", "kept", "verdict", "refusals", "advice",
}  # fmt: skip
"""Fields of `run --json`: for the custodian, and marked so."""


@parametrize_examples
def test_the_report_is_made_from_the_certificate_and_the_data_file_alone(
    example: Example, runs: dict[str, Run], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Every byte of it, down to coordinates of pictures, follows from the two other files of the release."""
    release = fetch_run(example, runs, tmp_path_factory).out / "release"
    certificate = Certificate.read(release)
    body = {name: part for name, part in certificate.body.items() if name not in SIGNED}
    drawn_again = render_report(gather_outgoing_account(body, certificate.read_published(release)))
    page = (release / "report.html").read_text(encoding="utf-8")
    assert drawn_again == page
    is_untold = body["suppression"]["rows"] is None and escape(body["suppression"]["why"]) not in page
    assert not is_untold, "the certificate says which rows may be left out, and the public report does not"


@parametrize_examples
def test_the_custodians_json_says_for_whom_it_is(
    example: Example, runs: dict[str, Run], tmp_path_factory: pytest.TempPathFactory
) -> None:
    run_json = fetch_run(example, runs, tmp_path_factory).as_json()
    assert run_json.keys() == CUSTODIAN
    assert run_json["audience"] == "custodian"


@pytest.mark.parametrize("people", [10, 199, 200, 20_000])
def test_steps_are_worth_ten_people_or_nothing_is_told(people: int) -> None:
    rounded_risks = {outgoing.round_to_step(hits / people, people) for hits in range(people + 1)}
    assert rounded_risks == {None} if people < outgoing.FEWEST else len(rounded_risks) == 21
    if people >= outgoing.FEWEST:
        most = [outgoing.round_up_to_step(hits / people, people) for hits in range(people + 1)]
        assert all(step is not None and step >= hits / people - 1e-9 for hits, step in enumerate(most))
        assert min(most.count(step) for step in set(most) - {0.0}) >= 10
