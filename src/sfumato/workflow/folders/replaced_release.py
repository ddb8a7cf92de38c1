# SPDX-License-Identifier: MIT
"""Say that a run replaced an earlier release, and of which time: two releases of the same people can be combined."""

from __future__ import annotations

import re
from pathlib import Path

from sfumato.workflow.folders.publication import read_staged_certificate

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?")


def describe_replaced(out: Path) -> tuple[str, ...]:
    """A sentence about the release that is in a folder now; nothing if there is none."""
    if not (out / "release").is_dir():
        return ()
    creation_text = str(read_staged_certificate(out / "release").get("created", ""))
    moment = f" of {creation_text}" if _TIME.fullmatch(creation_text) else ""
    sentence = f"the earlier release{moment} in this folder was replaced; if anybody has it, the two can be combined"
    return (f"{sentence} (the attack composition measures that)",)
