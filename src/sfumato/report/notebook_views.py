# SPDX-License-Identifier: MIT
"""What a notebook shows of a run, an audit and a certificate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.bound_words import format_bound
from sfumato.errors import count_noun
from sfumato.losses import is_share
from sfumato.notebook import SENTENCE, STAYS, format_few_digits, render_card, render_grid, render_sentences
from sfumato.report.words.wording import describe_measured_bound, format_percent, spell_name

if TYPE_CHECKING:
    from sfumato.workflow.audit import Audit
    from sfumato.workflow.certificate import Certificate
    from sfumato.workflow.finished_run import Run

_SIGNS = {"at_least": "≥", "at_most": "≤", "below": "<", "exactly": "="}
_PAIRS = 3
_CLAIM_HEAD = ("claim", "promised", "measured", "")


def render_run(run: Run) -> str:
    """The verdict, the claims as measured, the attacks, the losses, and where the files are."""
    from sfumato.report.words.attack_gains import describe_attack
    from sfumato.report.words.attack_names import name_attacks
    from sfumato.report.words.loss_words import find_loss_entry

    verdict = run.verdict
    status, _, rest_of_headline = verdict.headline.partition(". ")
    claims = [
        (
            spell_name(f.property),
            *_describe_bounds(f.bound, f.threshold, f.measured),
            _mark(f.holds),
        )
        for f in run.findings
    ]
    attacks = []
    descriptions = [attack.describe() for attack, _ in run.attacks]
    names = name_attacks([(spell_name(fields["attack"]), {"parameters": fields}) for fields in descriptions])
    for name, (attack, outcome) in zip(names, run.attacks, strict=True):
        attack_facts: dict[str, Any] = {**attack.describe(), **outcome.as_json()}
        description = describe_attack(attack_facts)
        span = f"{format_percent(outcome.low)} to {format_percent(outcome.high)}"
        attacks.append(
            (
                name,
                format_percent(outcome.risk),
                span,
                "; right for ".join(filter(None, (description.words, description.strangers))),
            )
        )
    utility = [
        (find_loss_entry(name).title, format_percent(value) if is_share(name) else format_few_digits(value))
        for name, value in run.record["utility"].items()
    ]
    location = f"Saved in {run.folder}." if run.folder else "In memory; write its folders with run.save(folder)."
    return render_card(
        status.removesuffix("."),
        render_sentences(
            [*filter(None, [rest_of_headline]), *map(str, run.refusals), *verdict.warnings, *verdict.alarms]
        ),
        render_grid(_CLAIM_HEAD, claims),
        render_grid(("attack", "risk", "95 % interval", "in words"), attacks, SENTENCE) if attacks else "",
        render_grid(("measured on the file", ""), utility) if utility else "",
        render_sentences([location, STAYS]),
    )


def render_audit(audit: Audit) -> str:
    """What is at risk, the proposed roles and the riskiest pairs of columns."""
    proposals = [(p.column, p.role.value.replace("_", "-"), f"{p.distinct:,}", p.reason) for p in audit.proposals]
    pairs = [(" + ".join(pair.columns), format_percent(pair.unique_share)) for pair in audit.pairs[:_PAIRS]]
    return render_card(
        f"{audit.source}: {count_noun(audit.rows, 'row')}, {count_noun(audit.columns, 'column')}",
        render_sentences(audit.list_sentences()),
        render_grid(("column", "proposed role", "values", "why"), proposals, SENTENCE),
        render_grid(("two columns", "people singled out"), pairs) if pairs else "",
        render_sentences(["Roles are yours to decide: audit.roles holds the proposed ones.", STAYS]),
    )


def render_certificate(certificate: Certificate) -> str:
    """What a recipient reads first: the verdict, the claims, the attacks, the file and the signer."""
    body = certificate.body
    claims = [
        (
            spell_name(claim["property"]),
            *_describe_bounds(claim["bound"], claim["threshold"], claim["measured"]),
            _mark(claim["holds"]),
        )
        for claim in body["claims"]
    ]
    attacks = [(spell_name(attack["attack"]), _describe_risk(attack)) for attack in body["attacks"]]
    signature_text = f"Signed by {body['signer']}." if certificate.raw else "Not signed: nothing was published."
    for_publication = [] if body["for_publication"] else ["Not for publication: random numbers came from a seed."]
    return render_card(
        f"Certificate: {body['title']}, {body['verdict']['status']}",
        render_sentences([*for_publication, *body["verdict"]["warnings"]]),
        render_grid(_CLAIM_HEAD, claims),
        render_grid(("attack", "risk at most"), attacks) if attacks else "",
        render_sentences([f"{body['data']['file']}, SHA-256 {body['data']['sha256']}", signature_text]),
    )


def _describe_risk(attack: Mapping[str, Any]) -> str:
    most = attack.get("risk_at_most")
    return "kept by the custodian" if most is None else format_percent(most)


def _describe_bounds(bound: str, threshold: float, measured_value: float | None) -> tuple[str, str]:
    """What was promised, and what was measured."""
    promise = f"{_SIGNS[bound]} {format_bound(bound, threshold)}"
    if measured_value is None:
        return promise, "not measured"
    return promise, describe_measured_bound(bound, measured_value, threshold, share=False)


def _mark(holds: bool | None) -> str:
    return {True: "✓", False: "✗", None: "needs the originals"}[holds]
