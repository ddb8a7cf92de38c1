# SPDX-License-Identifier: MIT
"""What `sfumato mine` does with a release with randomized columns: distributions, or a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.cli.messages import MOST_ROWS, print_rows
from sfumato.cli.terminal import print_json, print_line, show_progress


def estimate_from_noise(
    folder: Path, columns: tuple[str, ...], target: str | None, reconstruct: Any, out: Path | None, as_json: bool
) -> None:
    """Estimate distributions or a tree from a release with randomized columns."""
    from sfumato.errors import PolicyError
    from sfumato.mine.noise.estimates import estimate_released_columns
    from sfumato.mine.noise.tree_on_noise import train_tree_on_noise
    from sfumato.workflow.certificate import refuse_hostile
    from sfumato.workflow.verification import read_release

    if columns and target is not None:
        raise PolicyError("--column asks for a distribution, --target for a tree; use only one of them")
    if folder.is_file():
        raise PolicyError(
            f"{folder}: --column and --target need a release folder, and this is a file; "
            "--learner c45 grows a tree on a file"
        )
    with show_progress(as_json):
        release = read_release(folder)
        _refuse_other_shapes(folder, release.data)
        with refuse_hostile(f"{folder}: the noise that the certificate describes does not fit the data"):
            tree = None if target is None else train_tree_on_noise(release, target, reconstruct)
            estimates = None if tree is not None else estimate_released_columns(release, columns)
    if tree is not None:
        text = tree.spell_rules()
        if out is not None:
            out.write_text(text, encoding="utf-8")
        facts = {"target": target, "leaves": tree.n_leaves, "depth": tree.depth, "rules": text}
        print_json(facts) if as_json else _print_lines(text)
    elif estimates is not None:
        if out is not None:
            estimates.write_csv(out)
        print_json({"count": estimates.height, "rows": estimates.to_dicts()}) if as_json else print_rows(
            estimates, MOST_ROWS, out
        )


def _refuse_other_shapes(folder: Path, data: Any) -> None:
    """Refuse shapes without columns, and say what to do instead."""
    from sfumato.baskets import Baskets
    from sfumato.errors import PolicyError
    from sfumato.patterns import Patterns
    from sfumato.workflow.certificate import find_release_folder
    from sfumato.workflow.shapes.file_shapes import find_shape

    root = find_release_folder(folder)
    if isinstance(data, Patterns):
        raise PolicyError(
            f"{folder}: this release holds patterns, which are already mined: open {root / 'data.txt'}, or use "
            f"{type(data).__name__}.read; --column and --target are for tables"
        )
    if isinstance(data, Baskets):
        name = next(path.name for path in sorted(root.glob("data.*")))
        raise PolicyError(
            f"{folder}: this release holds baskets, not a table; mine its file: sfumato mine {root / name} "
            "--min-support 0.01, with --rules for rules"
        )
    assert find_shape(data).name == "table"


def _print_lines(text: str) -> None:
    for line in text.split("\n"):
        print_line(line)
