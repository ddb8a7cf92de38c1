# SPDX-License-Identifier: MIT
"""What may be published: the certificate as a typed model, with a rule for every field of it.

A release folder is read by adversaries, who run this code on every candidate input and compare. A field is published if
it was decided without looking at the data (`POLICY`), if anyone can compute it from the released files (`RELEASED`), if
it shows only that a claim held (`HELD`), or if it is rounded to coarse steps (`COARSE`, see `round_to_step`). Of the
fields of methods, models and attacks, only those in `public_fields` are published. All else stays in the custodian's
record. The public report is made from this certificate and the released file alone, so it reveals nothing more.
docs/what_leaves.md explains why each rule is safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import ceil
from typing import Annotated, Any, Literal, get_args

import polars as pl
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt

from sfumato.arrays import Ints
from sfumato.attack.anonymity.linking import LIST_OF_PEOPLE
from sfumato.change import ChangeKind
from sfumato.data.cells.coded_cells import count_cells
from sfumato.data.cells.published_words import keep_published_words
from sfumato.data.roles.role import Role
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError
from sfumato.measure.utility.label_losses import label_cells
from sfumato.published_law import PublishedLaw, read_law, read_laws
from sfumato.runtime.lazy import find_tagged_class
from sfumato.table import Missing, Table

FORMAT = "sfumato certificate 3"
STEP = 0.05
"""Figures measured against the originals are published in steps of this size."""
FEWEST = 200
"""With fewer people, nothing measured against the originals leaves: a step must be at least ten people."""
COMPUTABLE = frozenset({"average_class_size", "c_avg", "discernibility"})
"""Figures that anyone can compute from the written file."""
PUBLISHED_LOSSES = frozenset({"epsilon"})
"""Losses that follow from the policy."""
PUBLISHED_LOSS = "published_loss"
"""The loss of the published rows, if others were left out."""
IN_STEPS = frozenset({"loss", "precision"})
"""Figures measured a second time without the values of suppressed people, and published only so, in steps."""


class OutgoingRule(StrEnum):
    """Why a field may be published."""

    POLICY = "decided by the custodian or this program, without looking at the data"
    RELEASED = "computed from the released files alone"
    HELD = "measured against the originals; only whether it held is published"
    COARSE = "measured against the originals; published in coarse steps, or not at all"
    SEALED = "keyed with a secret that stays in private/"


class _OutgoingPart(BaseModel):
    """A part of the certificate; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class DataFile(_OutgoingPart):
    """The data file, and what is needed to read it back exactly."""

    file: Annotated[str, OutgoingRule.RELEASED]
    shape: Annotated[Literal["table", "baskets", "sequences", "patterns"], OutgoingRule.POLICY]
    format: Annotated[str, OutgoingRule.POLICY]
    missing_mark: Annotated[str, OutgoingRule.RELEASED] = ""
    rows: Annotated[StrictInt, OutgoingRule.RELEASED]
    columns: Annotated[StrictInt | None, OutgoingRule.RELEASED] = None
    items: Annotated[int | None, OutgoingRule.RELEASED] = None
    numbers: Annotated[tuple[str, ...], OutgoingRule.RELEASED] = ()
    integers: Annotated[tuple[str, ...], OutgoingRule.RELEASED] = ()
    escaped_formulas: Annotated[bool, OutgoingRule.POLICY] = Field(default=False, strict=True)
    sha256: Annotated[str, OutgoingRule.RELEASED]


class FormulaCells(_OutgoingPart):
    """Cells that a spreadsheet would evaluate."""

    cells: Annotated[int, OutgoingRule.RELEASED]
    columns: Annotated[tuple[str, ...], OutgoingRule.RELEASED] = ()


class CertifiedClaim(_OutgoingPart):
    """A claim, and whether it held. Values measured against the originals are not published."""

    property: Annotated[str, OutgoingRule.POLICY]
    threshold: Annotated[int | float, OutgoingRule.POLICY]
    bound: Annotated[Literal["at_least", "at_most", "below", "exactly"], OutgoingRule.POLICY]
    measure: Annotated[str, OutgoingRule.POLICY]
    arguments: Annotated[Mapping[str, str | int | float | tuple[str, ...]], OutgoingRule.RELEASED] = Field(
        default_factory=dict
    )
    """What is needed to measure the claim on the released file; empty if only the custodian can."""
    needs_original: Annotated[StrictBool, OutgoingRule.POLICY]
    meaning: Annotated[str, OutgoingRule.POLICY]
    measured: Annotated[int | float | None, OutgoingRule.RELEASED]
    holds: Annotated[StrictBool | None, OutgoingRule.HELD]


class CertifiedChange(_OutgoingPart):
    """What a method did to a column, without the number of changed cells."""

    column: Annotated[str, OutgoingRule.POLICY]
    kind: Annotated[ChangeKind, OutgoingRule.RELEASED]
    method: Annotated[str, OutgoingRule.POLICY]
    level: Annotated[int | None, OutgoingRule.RELEASED] = None
    height: Annotated[int | None, OutgoingRule.POLICY] = None
    starred: Annotated[StrictBool, OutgoingRule.RELEASED] = False


class CertifiedAttack(_OutgoingPart):
    """An attack that ran, and its risk in coarse steps."""

    attack: Annotated[str, OutgoingRule.POLICY]
    parameters: Annotated[Mapping[str, Any], OutgoingRule.POLICY]
    targets: Annotated[tuple[str, ...], OutgoingRule.POLICY] = ()
    """The columns whose cells were guessed; none if rows were, or if the columns of private entries must not leave."""
    known_columns: Annotated[tuple[tuple[str, ...], ...], OutgoingRule.POLICY] = ()
    """The columns that the attacker knew, for each party."""
    risk_at_most: Annotated[float | None, OutgoingRule.COARSE]
    """The upper end of the 95 % interval, rounded up; None if it stays with the custodian."""
    guessing: Annotated[float | None, OutgoingRule.COARSE] = Field(ge=0, le=1)
    """The success of blind guessing, rounded to a step; None if it stays with the custodian."""
    one_basket_short: Annotated[int | None, OutgoingRule.RELEASED] = Field(default=None, ge=0, le=1 << 53)
    """Of re-mining: how many rules one more basket would show, by the released baskets and the public thresholds."""


class CertifiedLimit(_OutgoingPart):
    """A limit that the custodian set before the run."""

    gate: Annotated[str, OutgoingRule.POLICY]
    limit: Annotated[float, OutgoingRule.POLICY]
    open: Annotated[StrictBool, OutgoingRule.HELD]


class CertifiedSuppression(_OutgoingPart):
    """The suppressed rows that are visible in the release."""

    rows: Annotated[int | None, OutgoingRule.RELEASED]
    """None if suppressed rows were left out, which nobody can count."""
    safe: Annotated[bool, OutgoingRule.RELEASED]
    why: Annotated[str, OutgoingRule.RELEASED]


class CertifiedUniqueRows(_OutgoingPart):
    """Published columns, and the share of rows that are unique by them."""

    columns: Annotated[tuple[str, ...], OutgoingRule.RELEASED]
    share: Annotated[float, OutgoingRule.RELEASED] = Field(ge=0, le=1)


class CertifiedVerdict(_OutgoingPart):
    """The verdict on the whole release, without what was measured against the originals."""

    status: Annotated[Literal["passed", "passed with warnings"], OutgoingRule.RELEASED]
    unique_rows: tuple[CertifiedUniqueRows, ...] = ()
    """For one, two and three published columns, those by which the most rows are unique."""
    not_counted: Annotated[tuple[str, ...], OutgoingRule.RELEASED] = ()
    """Columns of noise, drawn values or codes, which others do not know of a person."""
    accepted: Annotated[Mapping[str, str], OutgoingRule.POLICY] = Field(default_factory=dict)
    """Column → why it may be published although it contradicts its role, from the policy."""
    warnings: Annotated[tuple[str, ...], OutgoingRule.COARSE] = ()
    unchecked: Annotated[tuple[str, ...], OutgoingRule.POLICY] = ()


def _parse_law(facts: Any) -> PublishedLaw:
    try:
        return read_law(facts)
    except DataError as error:
        raise ValueError(str(error)) from None


_CertifiedLaw = Annotated[Any, BeforeValidator(_parse_law)]
"""A law by its kind; only the class that is named is asked. It states its `public_fields` alone."""


class OutgoingCertificate(_OutgoingPart):
    """Everything that a release states besides its data."""

    format: Annotated[Literal["sfumato certificate 3"], OutgoingRule.POLICY]
    title: Annotated[str, OutgoingRule.POLICY]
    created: Annotated[str, OutgoingRule.POLICY]
    versions: Annotated[Mapping[str, str], OutgoingRule.POLICY]
    maturity: Annotated[Literal["stable", "for study"], OutgoingRule.POLICY]
    for_publication: Annotated[StrictBool, OutgoingRule.POLICY]
    input_commitment: Annotated[str | None, OutgoingRule.SEALED]
    data: DataFile
    formulas: FormulaCells
    roles: Annotated[Mapping[str, Role], OutgoingRule.POLICY] = Field(default_factory=dict)
    missing: Annotated[Missing, OutgoingRule.POLICY] = Missing.OWN_VALUE
    removed_columns: Annotated[tuple[str, ...], OutgoingRule.POLICY] = ()
    methods: Annotated[tuple[Mapping[str, Any], ...], OutgoingRule.POLICY]
    claims: tuple[CertifiedClaim, ...] = Field(min_length=1)
    public: Annotated[Mapping[str, _CertifiedLaw], OutgoingRule.COARSE] = Field(default_factory=dict)
    """Column → how it was randomized: set by the policy, or by the data if the policy says so."""
    changes: tuple[CertifiedChange, ...] = ()
    levels: Annotated[Mapping[str, int], OutgoingRule.RELEASED] = Field(default_factory=dict)
    heights: Annotated[Mapping[str, int], OutgoingRule.POLICY] = Field(default_factory=dict)
    losses: Annotated[Mapping[str, int | float], OutgoingRule.POLICY] = Field(default_factory=dict)
    """The privacy budget."""
    utility: Annotated[Mapping[str, int | float], OutgoingRule.COARSE] = Field(default_factory=dict)
    suppression: CertifiedSuppression
    attacks: tuple[CertifiedAttack, ...] = ()
    gate: tuple[CertifiedLimit, ...] = ()
    verdict: CertifiedVerdict
    purpose: Annotated[str | None, OutgoingRule.POLICY] = None
    recipient: Annotated[str | None, OutgoingRule.POLICY] = None


def round_to_step(share: float, people: int) -> float | None:
    """A share rounded to the nearest step; None for few people."""
    return None if people < FEWEST else round(round(share / STEP) * STEP, 2)


def round_up_to_step(risk: float, people: int) -> float | None:
    """A risk rounded up to a step; None for few people."""
    return None if people < FEWEST else min(1.0, round(ceil(round(risk / STEP, 9)) * STEP, 2))


def build_outgoing_certificate(record: Mapping[str, Any], published_data: Any) -> OutgoingCertificate:
    """The certificate that leaves, from the custodian's record of a run and the released data."""
    people = count_hidden_people(record)
    return OutgoingCertificate(
        **{name: record[name] for name in _AS_THEY_ARE if name in record},
        format=FORMAT,
        data=DataFile(**record["data"]),
        formulas=FormulaCells(**record["formulas"]),
        methods=tuple(select_outgoing_parameters(method) for method in record["methods"]),
        claims=tuple(_build_outgoing_claim(claim, published_data) for claim in record["claims"]),
        public=read_laws(record["public"]),
        changes=tuple(_certify_change(change) for change in record["changes"]),
        losses={name: loss for name, loss in record["losses"].items() if name in PUBLISHED_LOSSES},
        utility=_select_outgoing_utility(record, people),
        suppression=_build_outgoing_suppression(record),
        attacks=tuple(build_outgoing_attack(attack, people) for attack in record["attacks"]),
        gate=tuple(CertifiedLimit(gate=g["gate"], limit=g["limit"], open=g["open"]) for g in record["gate"]),
        verdict=_build_outgoing_verdict(record["verdict"]),
    )


def count_hidden_people(record: Mapping[str, Any]) -> int:
    """How many people the steps of coarse figures are counted in; 0, so that none leaves, if no crowd hides them."""
    kinds = [find_tagged_class("method", str(method["method"])) for method in record["methods"]]
    return int(record["data"]["rows"]) if all(kind is not None and kind.hides_in_crowds for kind in kinds) else 0


_AS_THEY_ARE = (
    "title", "created", "versions", "maturity", "for_publication", "input_commitment", "roles", "missing",
    "removed_columns", "levels", "heights", "purpose", "recipient",
)  # fmt: skip


def _keep_named(facts: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name in names}


def select_outgoing_parameters(description: Mapping[str, Any]) -> dict[str, Any]:
    """A method, model or attack with only its public fields."""
    tag = next(name for name in ("method", "attack", "model") if name in description)
    kind = find_tagged_class(tag, str(description[tag]))
    public = () if kind is None else kind.public_fields
    public_parameters = _keep_named(description, frozenset({tag, "iso_20889", *public}))
    if "models" in public_parameters:
        public_parameters["models"] = [select_outgoing_parameters(model) for model in public_parameters["models"]]
    return public_parameters


def _build_outgoing_claim(claim: Mapping[str, Any], published_data: Any) -> CertifiedClaim:
    """A claim; if it needs the originals, only whether it held."""
    needs_original = bool(claim["needs_original"])
    frame = _select_words(published_data, claim["arguments"].get("column"))
    return CertifiedClaim(
        **{name: claim[name] for name in ("property", "threshold", "bound", "measure", "meaning", "holds")},
        needs_original=needs_original,
        arguments={} if needs_original else keep_published_words(claim["arguments"], frame),
        measured=None if needs_original else claim["measured"],
    )


def _select_words(published_data: Any, column: Any) -> pl.DataFrame | None:
    """The published values of the column that a claim is about."""
    if isinstance(published_data, StoredTable):
        return published_data.count_values(column).frame if column in published_data.rows.schema else None
    return published_data.frame if isinstance(published_data, Table) else None


def _certify_change(change: Mapping[str, Any]) -> CertifiedChange:
    return CertifiedChange(**{name: change[name] for name in CertifiedChange.model_fields})


def _select_outgoing_utility(record: Mapping[str, Any], people: int) -> dict[str, int | float]:
    """Class sizes, which anyone can count; for methods that form classes, other figures in steps.

    Accuracies are not published: folds are stratified by class, so one person's class moves them by more than a step.
    Loss and precision divide by the number of values that occur, so they would tell of a suppressed person whose value
    nobody else has. They are published as measured on what is shown.
    """
    utility = record["utility"]
    public_figures: dict[str, int | float] = {name: utility[name] for name in sorted(COMPUTABLE) if name in utility}
    for name, value in record.get("shown_detail", {}).items():
        rounded_value = round_to_step(float(value), people)
        public_figures |= {} if rounded_value is None else {name: rounded_value}
    return public_figures


def _build_outgoing_suppression(record: Mapping[str, Any]) -> CertifiedSuppression:
    suppression_facts, is_seen = record["suppression"], record["suppression"]["seen"]
    return CertifiedSuppression(
        rows=suppression_facts["rows"] if is_seen else None,
        safe=suppression_facts["safe"],
        why=suppression_facts["why"],
    )


def build_outgoing_attack(attack: Mapping[str, Any], people: int) -> CertifiedAttack:
    """An attack with the upper bound of its risk."""
    parameters = select_outgoing_parameters(attack["parameters"])
    parameters |= {
        name: attack[name] for name in _KNOWLEDGE_FIELDS if name in parameters and attack.get(name)
    }  # the columns that "all" means
    parameters |= {name: attack[name] for name in (LIST_OF_PEOPLE,) if name in attack["parameters"]}
    tries = int(attack["attempts"])
    risk = round_up_to_step(float(attack["high"]), min(people, tries))
    blind_share = round_to_step(attack["baseline"] / max(tries, 1), min(people, tries))
    return CertifiedAttack(
        attack=parameters.pop("attack"),
        parameters=parameters,
        targets=list_public_targets(attack),
        known_columns=tuple(map(tuple, attack.get("known_columns", ()))),
        risk_at_most=risk,
        guessing=blind_share,
        one_basket_short=attack.get("one_basket_short"),
    )


def list_public_targets(attack: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that an attack guessed, unless they show where private entries are."""
    kind = find_tagged_class("attack", str(attack["attack"]))
    return () if kind is None or kind.hides_targets else tuple(attack.get("targets", ()))


def _build_outgoing_verdict(verdict: Mapping[str, Any]) -> CertifiedVerdict:
    """The verdict, as far as anyone can compute it from the release, and whether there were warnings."""
    public_fields = {name: verdict[name] for name in ("status", "not_counted", "accepted", "warnings", "unchecked")}
    rows = tuple(CertifiedUniqueRows(**unique_rows) for unique_rows in verdict["unique_rows"])
    if public_fields["status"] == "refused":  # such a certificate is not written
        public_fields["status"] = "passed with warnings"
    return CertifiedVerdict(**public_fields, unique_rows=rows)


_KNOWLEDGE_FIELDS = ("known", "knowledge")
"""What the attacker is assumed to know: columns, or a keyword."""


def list_field_rules(model: type[BaseModel] = OutgoingCertificate, path: str = "") -> dict[str, OutgoingRule]:
    """Every field that leaves, by its path, with its rule; `KeyError` names one that has none."""
    rules: dict[str, OutgoingRule] = {}
    for name, field in model.model_fields.items():
        field_path = f"{path}{name}"
        parts = [kind for kind in (field.annotation, *get_args(field.annotation)) if _is_part(kind)]
        if parts:
            rules |= list_field_rules(parts[0], f"{field_path}.")
            continue
        rule = next((annotation for annotation in field.metadata if isinstance(annotation, OutgoingRule)), None)
        if rule is None:
            raise KeyError(f"{field_path} is published without a rule")
        rules[field_path] = rule
    return rules


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, _OutgoingPart)


def count_published_labels(column: pl.Series) -> pl.DataFrame:
    """How often each label is published: `value`, `original` (always 0), `published`."""
    return count_labels(*count_cells(column))


def count_labels(values: pl.Series, counts: Ints) -> pl.DataFrame:
    """How often each label is published, from distinct values and their counts."""
    label_counts = pl.DataFrame({"value": label_cells(values), "published": counts}).group_by("value").sum()
    return label_counts.with_columns(pl.lit(0, dtype=pl.Int64).alias("original")).sort("value")
