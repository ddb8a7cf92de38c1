# SPDX-License-Identifier: MIT
"""Where a command writes its results: never over a file that it reads, and not half of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def refuse_unsafe_outputs(outs: Sequence[Path | None], inputs: Sequence[Path | str | None]) -> None:
    """Stop before anything is written if a result would replace an input or another result, or has no folder."""
    from sfumato.errors import PolicyError

    out_paths = [out for out in outs if out is not None]
    read = {Path(path).resolve() for path in inputs if path is not None}
    for number, out in enumerate(out_paths):
        if out.is_dir():
            raise PolicyError(f"{out}: this is a folder; name a file in it, as in --out {out / 'found.txt'}")
        if out.resolve() in read:
            raise PolicyError(f"{out}: this file is read by the same command and would be replaced; write elsewhere")
        if out.resolve() in {other.resolve() for other in out_paths[:number]}:
            raise PolicyError(f"{out}: two results would be written to this file; give each its own")
        if not out.resolve().parent.is_dir():
            raise PolicyError(f"{out}: the folder does not exist, so nothing was written; create it")
