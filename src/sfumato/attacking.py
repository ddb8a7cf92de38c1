# SPDX-License-Identifier: MIT
"""Attack a release that lies in a folder once more: with what stays in the house beside it, as its custodian can."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sfumato.attack import Attack, Outcome
from sfumato.certificate import Certificate, release_folder
from sfumato.data.read import TextFormat, read_frame
from sfumato.errors import DataError, PolicyError
from sfumato.policy import Policy
from sfumato.progress import tell
from sfumato.release import Release

_TOLD = ("sensitive", "private", "derived")
"""What attacks look at of a method's decisions, beside its frames."""


def attack_again(folder: str | Path, policy: str | Path | Policy) -> tuple[tuple[Attack, Outcome], ...]:
    """Run the attacks of a policy on a release folder, against the data that the policy names."""
    rules = policy if isinstance(policy, Policy) else Policy.read(policy)
    if not rules.attacks():
        raise PolicyError("the policy names no attack; add [[attack]] to it")
    root = release_folder(Path(folder))
    certificate = Certificate.read(root)
    tell("reading")
    published, original = certificate.published(root), rules.original()
    told = {**_kept_private(root.parent / "private"), "public": certificate.body.get("public", {})}
    release = Release(published, rules.methods()[-1], certificate.claims(), {}, told)
    found = []
    for number, attack in enumerate(rules.attacks()):
        tell("attacking", number, len(rules.attacks()))
        found.append((attack, attack.run(release, original)))
    return tuple(found)


def _kept_private(folder: Path) -> dict[str, Any]:
    """What the method decided, as the run kept it."""
    if not (folder / "record.json").is_file():
        raise DataError(f"{folder}: the custodian's record is not there; attack a release in the folder of its run")
    frames = {path.stem: read_frame(path, TextFormat()) for path in sorted(folder.glob("*.parquet"))}
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    told: dict[str, Any] = {name: _tuples(record[name]) for name in _TOLD if record.get(name) is not None}
    if (rows := frames.pop("rows", None)) is not None:
        told["rows"] = rows["original_row"].to_numpy()
    return {**told, **frames}


def _tuples(told: Any) -> Any:
    """Pairs as the method gave them: JSON knows lists only."""
    return tuple(_tuples(one) for one in told) if isinstance(told, list) else told
