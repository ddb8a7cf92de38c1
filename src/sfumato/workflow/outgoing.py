# SPDX-License-Identifier: MIT
"""What may leave: the certificate as a typed model, with a rule for every field of it.

A release folder is read by adversaries, who run this code on every candidate input and compare. A field leaves if it
was decided without looking at the data (`POLICY`), if anybody can compute it from the released files (`RELEASED`), if
it says no more than that a promise held (`HELD`), or if it is told in coarse steps (`COARSE`, see `coarse`). All else
stays in the custodian's record. The report that leaves is made from this certificate and the released file alone, so
it can say nothing more. docs/what_leaves.md tells why each rule is safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import ceil
from typing import Annotated, Any, Literal, get_args

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from sfumato.change import ChangeKind
from sfumato.data.hierarchy import spelt
from sfumato.data.roles import Role
from sfumato.table import Missing, Table

FORMAT = "sfumato certificate 2"
STEP = 0.05
"""What is measured against the originals leaves in steps of this size."""
FEWEST = 200
"""Of fewer people nothing leaves that was measured against the originals: a step must be worth ten of them."""
CROWDS = frozenset({"generalize", "partition", "k_optimize", "microaggregate"})
"""Methods that hide people in crowds and publish their sensitive cells as they are.

What is measured against the originals of such a release is about quasi-identifying values, which the adversary is
taken to know. Where chance, blanking, swapping, coding or hiding protects, it is about the secret itself.
"""
COMPUTABLE = frozenset({"average_class_size", "c_avg", "discernibility"})
"""Figures of the written file that anybody can compute from it."""
IN_STEPS = frozenset({"loss", "non_uniform_entropy", "precision", "total_variation", "zero_r_accuracy"})
"""Figures that compare with the originals, and leave in steps where people hide in crowds; accuracies likewise."""
STAYING = frozenset({
    "added", "added_baskets", "added_codes", "bits_set", "changed_baskets", "changed_cells", "changed_supports",
    "changes", "derived_entries", "derived_share", "dissimilarity", "dropped_rows", "exposed", "exposed_rules",
    "feigned_items", "ghost_itemsets", "ghost_rules", "height", "information_loss", "itemsets",
    "joint_total_variation", "largest_correlation_shift", "largest_loss", "largest_mean_shift",
    "largest_spread_change", "loss_geometric", "lost_itemsets", "lost_rules", "marginal_shift", "objective",
    "pair_total_variation", "private_entries", "query_error", "rare_words", "redrawn_rows", "removed",
    "replaced_words", "rules", "rules_published", "sensitive", "sse", "sst", "suppressed_rows", "unknown",
})  # fmt: skip
"""Losses and utility figures that were looked at and stay with the custodian."""


class Rule(StrEnum):
    """Why a field may leave."""

    POLICY = "decided by the custodian or this program, without looking at the data"
    RELEASED = "computed from the released files alone"
    HELD = "measured against the originals; only whether it held is told"
    COARSE = "measured against the originals; told in coarse steps, or not at all"
    SEALED = "keyed with a secret that stays in private/"


class _Part(BaseModel):
    """Nothing that has no rule is taken."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class DataFile(_Part):
    """The data file, and what it takes to read it back exactly."""

    file: Annotated[str, Rule.RELEASED]
    shape: Annotated[Literal["table", "baskets", "patterns"], Rule.POLICY]
    format: Annotated[str, Rule.POLICY]
    missing_mark: Annotated[str, Rule.RELEASED] = ""
    rows: Annotated[StrictInt, Rule.RELEASED]
    columns: Annotated[StrictInt | None, Rule.RELEASED] = None
    items: Annotated[int | None, Rule.RELEASED] = None
    numbers: Annotated[tuple[str, ...], Rule.RELEASED] = ()
    integers: Annotated[tuple[str, ...], Rule.RELEASED] = ()
    escaped_formulas: Annotated[bool, Rule.POLICY] = Field(default=False, strict=True)
    sha256: Annotated[str, Rule.RELEASED]


class FormulaCells(_Part):
    """Cells that a spreadsheet would calculate."""

    cells: Annotated[int, Rule.RELEASED]
    columns: Annotated[tuple[str, ...], Rule.RELEASED] = ()


class CertifiedClaim(_Part):
    """A promise, and whether it was kept. What was measured against the originals is not told, only that it held."""

    property: Annotated[str, Rule.POLICY]
    threshold: Annotated[int | float, Rule.POLICY]
    bound: Annotated[Literal["at_least", "at_most", "below", "exactly"], Rule.POLICY]
    measure: Annotated[str, Rule.POLICY]
    arguments: Annotated[Mapping[str, str | int | float | tuple[str, ...]], Rule.RELEASED] = Field(default_factory=dict)
    """What it takes to measure the claim on the released file; empty where only the custodian can."""
    needs_original: Annotated[StrictBool, Rule.POLICY]
    meaning: Annotated[str, Rule.POLICY]
    measured: Annotated[int | float | None, Rule.RELEASED]
    holds: Annotated[StrictBool | None, Rule.HELD]


class CertifiedChange(_Part):
    """What a method did to a column; how many cells it changed is not told."""

    column: Annotated[str, Rule.POLICY]
    kind: Annotated[ChangeKind, Rule.RELEASED]
    method: Annotated[str, Rule.POLICY]
    level: Annotated[int | None, Rule.RELEASED] = None
    height: Annotated[int | None, Rule.POLICY] = None
    starred: Annotated[StrictBool, Rule.RELEASED] = False


class CertifiedAttack(_Part):
    """An attack that was run, and in coarse steps how far it got."""

    attack: Annotated[str, Rule.POLICY]
    parameters: Annotated[Mapping[str, Any], Rule.POLICY]
    risk_at_most: Annotated[float | None, Rule.COARSE]
    """The upper end of the 95 % interval, rounded up; None where it stays with the custodian."""


class CertifiedLimit(_Part):
    """A limit that the custodian set before the run."""

    gate: Annotated[str, Rule.POLICY]
    limit: Annotated[float, Rule.POLICY]
    open: Annotated[StrictBool, Rule.HELD]


class CertifiedSuppression(_Part):
    """The suppressed rows that can be seen in the release."""

    rows: Annotated[int | None, Rule.RELEASED]
    """None where suppressed rows were left out, which nobody can count."""
    safe: Annotated[bool, Rule.RELEASED]
    why: Annotated[str, Rule.RELEASED]


class OutgoingCertificate(_Part):
    """All that a release says besides its data."""

    format: Annotated[Literal["sfumato certificate 2"], Rule.POLICY]
    title: Annotated[str, Rule.POLICY]
    created: Annotated[str, Rule.POLICY]
    versions: Annotated[Mapping[str, str], Rule.POLICY]
    maturity: Annotated[Literal["stable", "for study"], Rule.POLICY]
    for_publication: Annotated[StrictBool, Rule.POLICY]
    input_commitment: Annotated[str | None, Rule.SEALED]
    data: DataFile
    formulas: FormulaCells
    roles: Annotated[Mapping[str, Role], Rule.POLICY] = Field(default_factory=dict)
    missing: Annotated[Missing, Rule.POLICY] = Missing.OWN_VALUE
    removed_columns: Annotated[tuple[str, ...], Rule.POLICY] = ()
    methods: Annotated[tuple[Mapping[str, Any], ...], Rule.POLICY]
    claims: tuple[CertifiedClaim, ...] = Field(min_length=1)
    public: Annotated[Mapping[str, Mapping[str, Any]], Rule.COARSE] = Field(default_factory=dict)
    """Column → the law of chance that changed it: set by the policy, or by the data where the policy says so."""
    changes: tuple[CertifiedChange, ...] = ()
    levels: Annotated[Mapping[str, int], Rule.RELEASED] = Field(default_factory=dict)
    heights: Annotated[Mapping[str, int], Rule.POLICY] = Field(default_factory=dict)
    losses: Annotated[Mapping[str, int | float], Rule.COARSE] = Field(default_factory=dict)
    utility: Annotated[Mapping[str, int | float], Rule.COARSE] = Field(default_factory=dict)
    suppression: CertifiedSuppression
    attacks: tuple[CertifiedAttack, ...] = ()
    gate: tuple[CertifiedLimit, ...] = ()


PARAMETERS = frozenset({
    "agreement", "alpha", "attack", "attempts", "bad", "beta", "bins", "bits", "blanking_factor", "breakpoints",
    "by", "c", "categories", "centre", "clean", "column", "columns", "columns_per_guess", "confidence",
    "copies", "curves", "delta", "density", "direction", "discretize", "distance", "enhanced", "epsilon",
    "error", "evidence", "exact_range", "excluded", "fake_codes", "fit", "group_share", "guess", "hashes", "high",
    "holdout", "intervals", "iso_20889", "k", "keyed", "kind", "known", "knowledge", "knows", "knows_range", "l",
    "learner_risk", "learners", "low", "max_length", "method", "metric", "min_confidence", "min_leaf",
    "min_support", "min_width", "mining_memory", "mining_seconds", "missing", "mode", "model", "models",
    "most_nearer", "n", "neighbours", "noise", "order", "p", "pattern", "permute", "person", "pieces", "prior",
    "privacy", "publish", "radius", "ranges", "rare", "reach", "recoding", "refine", "relaxed", "repair",
    "rows", "samples", "search", "seconds", "share", "shared_codes", "smooth", "statistic", "strategy",
    "suppress", "suppressed_rows", "suppression_limit", "t", "target", "times", "tolerance", "training_rows",
    "trials", "weights", "width", "within",
})  # fmt: skip
"""Fields of methods, models and attacks that leave: how something was done, never what it hides."""

SECRETS = frozenset({
    "external", "file", "groups", "items", "itemsets", "memory", "other", "population", "private", "rules",
    "values",
})  # fmt: skip
"""Fields that stay: what is hidden, whom it is compared with, and where the custodian keeps it."""

SECRETS_OF: Mapping[str, frozenset[str]] = {
    "learned_inference": frozenset({"columns"}),  # the columns that hold private entries
    # As a share beside the count in the claim it would tell how many baskets there are, and so what was added.
    "publish_patterns": frozenset({"min_support"}),
    "rule_inference": frozenset({"columns"}),
}
"""Fields that stay of one method or attack alone."""

LAWS = frozenset({
    "achieved", "categories", "confidence", "covariance", "domain", "epsilon", "grid", "kind", "memoized", "missing",
    "origin", "p", "privacy", "q", "range", "repeats", "scale", "step", "times",
})  # fmt: skip
"""What is published of the chance that changed a column: all of it is needed to estimate anything."""


def coarse(share: float, people: int) -> float | None:
    """A share to the nearest step; None of few people."""
    return None if people < FEWEST else round(round(share / STEP) * STEP, 2)


def coarse_up(risk: float, people: int) -> float | None:
    """The step at or above a risk; None of few people."""
    return None if people < FEWEST else min(1.0, round(ceil(round(risk / STEP, 9)) * STEP, 2))


def outgoing(record: Mapping[str, Any], published: Any) -> OutgoingCertificate:
    """The certificate that leaves, from the custodian's record of a run and the released data."""
    tags = {str(method["method"]) for method in record["methods"]}
    crowds, people = tags <= CROWDS, int(record["data"]["rows"])
    return OutgoingCertificate(
        **{name: record[name] for name in _AS_THEY_ARE if name in record},
        format=FORMAT,
        data=DataFile(**record["data"]),
        formulas=FormulaCells(**record["formulas"]),
        methods=tuple(outgoing_parameters(method) for method in record["methods"]),
        claims=tuple(_outgoing_claim(claim, published) for claim in record["claims"]),
        public={column: _kept(law, LAWS) for column, law in record["public"].items()},
        changes=tuple(_outgoing_change(change) for change in record["changes"]),
        losses=_outgoing_losses(record["losses"], people if crowds else 0),
        utility=_outgoing_utility(record["utility"], people if crowds else 0),
        suppression=_outgoing_suppression(record),
        attacks=tuple(_outgoing_attack(attack, people if crowds else 0) for attack in record["attacks"]),
        gate=tuple(CertifiedLimit(gate=g["gate"], limit=g["limit"], open=g["open"]) for g in record["gate"]),
    )


_AS_THEY_ARE = (
    "title", "created", "versions", "maturity", "for_publication", "input_commitment", "roles", "missing",
    "removed_columns", "levels", "heights",
)  # fmt: skip


def _kept(told: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name in names}


def outgoing_parameters(described: Mapping[str, Any]) -> dict[str, Any]:
    """A method, model or attack with the parameters that may be known; what nobody classified stays."""
    tag = str(next((described[key] for key in ("method", "attack", "model") if key in described), ""))
    kept = _kept(described, PARAMETERS - SECRETS_OF.get(tag, frozenset()))
    if "models" in kept:
        kept["models"] = [outgoing_parameters(model) for model in kept["models"]]
    return kept


def _outgoing_claim(claim: Mapping[str, Any], published: Any) -> CertifiedClaim:
    """A claim; of one that needs the originals only whether it held."""
    needs_original = bool(claim["needs_original"])
    return CertifiedClaim(
        **{name: claim[name] for name in ("property", "threshold", "bound", "measure", "meaning", "holds")},
        needs_original=needs_original,
        arguments={} if needs_original else _published_words(claim["arguments"], published),
        measured=None if needs_original else claim["measured"],
    )


def _published_words(arguments: Mapping[str, Any], published: Any) -> dict[str, Any]:
    """Arguments of which lists of values hold only such as are published: the others were suppressed."""
    column = arguments.get("column")
    if not isinstance(published, Table) or not isinstance(column, str) or column not in published.frame.columns:
        return dict(arguments)
    seen = set(spelt(published.frame[column]).drop_nulls().unique())
    kept = dict(arguments)
    if "order" in kept:
        kept["order"] = tuple(label for label in kept["order"] if label in seen)
    if "parents" in kept:
        from sfumato.measure.anonymity.diversity import LEVEL_MARK

        kept["parents"] = tuple(row for row in kept["parents"] if row.split(LEVEL_MARK)[0] in seen)
    return kept


def _outgoing_change(change: Mapping[str, Any]) -> CertifiedChange:
    return CertifiedChange(**{name: change[name] for name in CertifiedChange.model_fields})


def _outgoing_losses(losses: Mapping[str, Any], people: int) -> dict[str, int | float]:
    """The privacy budget, which the policy sets; of releases with crowds, how much detail was lost."""
    kept = {"epsilon": losses["epsilon"]} if "epsilon" in losses else {}
    loss = coarse(float(losses["loss"]), people) if "loss" in losses else None
    return kept if loss is None else {"loss": loss, **kept}


def _outgoing_utility(utility: Mapping[str, Any], people: int) -> dict[str, int | float]:
    """Class sizes, which anybody can count; of releases with crowds, how far statistics moved, in steps."""
    kept: dict[str, int | float] = {name: utility[name] for name in sorted(COMPUTABLE) if name in utility}
    for name, value in utility.items():
        if told_in_steps(name):
            told = coarse(float(value), people)
            kept |= {} if told is None else {name: told}
    return kept


def told_in_steps(name: str) -> bool:
    """Whether a figure leaves in steps."""
    return name in IN_STEPS or name.endswith(("_accuracy", "_accuracy_original"))


def _outgoing_suppression(record: Mapping[str, Any]) -> CertifiedSuppression:
    told, seen = record["suppression"], record["suppression"]["seen"]
    return CertifiedSuppression(rows=told["rows"] if seen else None, safe=told["safe"], why=told["why"])


def _outgoing_attack(attack: Mapping[str, Any], people: int) -> CertifiedAttack:
    """That it was run, and how far it got at the most."""
    kept = outgoing_parameters(attack["parameters"])
    kept |= {name: attack[name] for name in _KNOWN if name in kept and attack.get(name)}  # what "all" came to
    told = coarse_up(float(attack["high"]), min(people, int(attack["attempts"])))
    return CertifiedAttack(attack=kept.pop("attack"), parameters=kept, risk_at_most=told)


_KNOWN = ("known", "knowledge")
"""Names of columns, or a word for it: what the attacker was taken to know."""


def rules_of(model: type[BaseModel] = OutgoingCertificate, path: str = "") -> dict[str, Rule]:
    """Every field that leaves, by its path, with its rule; `KeyError` names one that has none."""
    found: dict[str, Rule] = {}
    for name, field in model.model_fields.items():
        here = f"{path}{name}"
        parts = [kind for kind in (field.annotation, *get_args(field.annotation)) if _is_part(kind)]
        if parts:
            found |= rules_of(parts[0], f"{here}.")
            continue
        rule = next((one for one in field.metadata if isinstance(one, Rule)), None)
        if rule is None:
            raise KeyError(f"{here} leaves, and nobody said by which rule")
        found[here] = rule
    return found


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, _Part)


def published_counts(column: pl.Series) -> pl.DataFrame:
    """How often each label is published: `value`, `original` (not told), `published`."""
    counted = spelt(column).alias("value").fill_null("(missing)").value_counts(name="published")
    return counted.with_columns(pl.lit(0, dtype=pl.Int64).alias("original"), pl.col("published").cast(pl.Int64)).sort(
        "value"
    )
