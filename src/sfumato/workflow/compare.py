# SPDX-License-Identifier: MIT
"""Compare two releases: claims, losses and attacks.

Uses their certificates, or the custodian's records, which hold more, if both are there.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import quote_names
from sfumato.report.words.attack_names import number_names
from sfumato.runtime.lazy import find_tagged_class
from sfumato.workflow.certificate import Certificate, find_release_folder, refuse_hostile
from sfumato.workflow.verification import Verification, verify

ComparedValue = float | int | str | None
_ORDER = ("data", "claim", "loss", "level", "attack")


@dataclass(frozen=True)
class ReleaseDifference:
    """One figure of both releases."""

    topic: str
    """`claim`, `loss`, `level`, `attack` or `data`."""
    name: str
    first: ComparedValue
    second: ComparedValue

    @property
    def differs(self) -> bool:
        """Whether the two differ."""
        return self.first != self.second


@dataclass(frozen=True)
class Comparison:
    """Two releases side by side."""

    first: Path
    second: Path
    verifications: tuple[Verification, Verification]
    rows: tuple[ReleaseDifference, ...]
    internal: bool
    """Whether the custodian's records were compared, which hold facts about the originals."""

    def as_json(self) -> dict[str, Any]:
        """The comparison as JSON."""
        return {
            "first": str(self.first),
            "second": str(self.second),
            "audience": "custodian" if self.internal else "anyone",
            "holds": [verification.holds for verification in self.verifications],
            "rows": [
                {"about": r.topic, "name": r.name, "first": r.first, "second": r.second, "differs": r.differs}
                for r in self.rows
            ],
        }


def compare(first: str | Path, second: str | Path) -> Comparison:
    """Compare two release folders; each is verified, and what one of them lacks is None."""
    folders = (find_release_folder(Path(first)), find_release_folder(Path(second)))
    records = [_read_record(folder) for folder in folders]
    internal = all(record is not None for record in records)
    tables = []
    for record, folder in zip(records, folders, strict=True):
        with refuse_hostile(f"{folder}: the certificate lacks what a comparison needs"):
            tables.append(_collect_comparable_facts(record if internal else Certificate.read(folder).body))
    keys = sorted(dict.fromkeys([*tables[0], *tables[1]]), key=lambda key: _ORDER.index(key[0]))
    rows = tuple(
        ReleaseDifference(topic, name, *(table.get((topic, name)) for table in tables)) for topic, name in keys
    )
    return Comparison(folders[0], folders[1], (verify(folders[0]), verify(folders[1])), rows, internal)


def _read_record(folder: Path) -> Any:
    """The custodian's record of this release; None if there is none."""
    try:
        record = json.loads((folder.parent / "private" / "record.json").read_text(encoding="utf-8"))
        findings = {**record["found"], "attacks": _add_private_parameters(record)}
        return findings if findings["data"]["sha256"] == Certificate.read(folder).body["data"]["sha256"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _add_private_parameters(record: Any) -> list[Any]:
    """The attacks of a record, with all their parameters: those of the policy are the last ones, in its order."""
    attacks, policy_attacks = record["found"]["attacks"], record["policy"]["attack"]
    unlisted_count = len(attacks) - len(policy_attacks)
    return [
        *attacks[:unlisted_count],
        *(
            {**attack, "parameters": {**attack["parameters"], **parameters}}
            for attack, parameters in zip(attacks[unlisted_count:], policy_attacks, strict=True)
        ),
    ]


def _collect_comparable_facts(body: Any) -> dict[tuple[str, str], ComparedValue]:
    """Everything in a certificate that can be compared."""
    facts: dict[tuple[str, str], ComparedValue] = {
        ("data", "method"): ", ".join(method["method"] for method in body["methods"]),
        ("data", "shape"): body["data"]["shape"],
        ("data", "rows"): body["data"]["rows"],
        **{("data", name): body["data"][name] for name in ("columns", "items") if name in body["data"]},
        ("data", "suppressed rows"): body["suppression"]["rows"],
    }
    for name, claim in zip(_name_claims(body["claims"]), body["claims"], strict=True):
        facts["claim", f"{name}, promised"] = claim["threshold"]
        facts["claim", f"{name}, measured"] = claim["measured"]
    facts |= {("loss", name): value for name, value in {**body["losses"], **body["utility"]}.items()}
    facts |= {("level", column): level for column, level in body["levels"].items()}
    for name, attack in zip(_name_attacks(body), body["attacks"], strict=True):
        if "risk" in attack:
            facts["attack", f"{name}, risk"] = attack["risk"]
        facts["attack", f"{name}, at most"] = attack.get("high", attack.get("risk_at_most"))
    return facts


def _name_attacks(body: Any) -> list[str]:
    """Each attack by its tag, the columns that it guessed and the parameters that are not the default: equal attacks
    have one line. Private parameters are in records alone."""
    quasi_identifying = [name for name, role in body.get("roles", {}).items() if role == "quasi_identifying"]
    names = []
    for attack in body["attacks"]:
        kind: Any = find_tagged_class("attack", str(attack["attack"]))
        fields = {} if kind is None else kind.model_fields
        parameters = [
            f"{name} = {value}"
            for name, value in attack["parameters"].items()
            if name != "attack" and value != quasi_identifying and (name not in fields or value != fields[name].default)
        ]
        target = f" of {quote_names(attack['targets'])}" if attack.get("targets") else ""
        rest = f" ({', '.join(parameters)})" if parameters else ""
        names.append(f"{attack['attack']}{target}{rest}")
    return number_names(names)


def _name_claims(claims: Any) -> list[str]:
    """Each claim by its property and the column that it is about, or else by its arguments if several have a name."""
    arguments = [claim.get("arguments", {}) for claim in claims]
    names = [
        f'{claim["property"]} of "{values["column"]}"' if values.get("column") else str(claim["property"])
        for claim, values in zip(claims, arguments, strict=True)
    ]
    totals = Counter(names)
    return number_names(
        [
            f"{name} ({', '.join(f'{key} = {value}' for key, value in values.items())})" if totals[name] > 1 else name
            for name, values in zip(names, arguments, strict=True)
        ]
    )
