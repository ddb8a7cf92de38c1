# SPDX-License-Identifier: MIT
"""What `sfumato measure --original` says about a release and its originals.

What columns still tell about a class, and how far the joint distribution of a confidential column moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.table import Table


def compare_with_originals(
    published_table: Table,
    original: Table,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    target: str | None,
    bins: int,
) -> dict[str, Any]:
    """The class entropy of the target given the quasi-identifying columns, and the divergence of sensitive columns."""
    from sfumato.measure import class_entropy, joint_divergence

    measures: dict[str, Any] = {}
    if target is not None:
        entropy = class_entropy(original, published_table, target, columns=[*quasi, target], bins=bins)
        parts = {"class": entropy.target, **entropy.columns, "all of them": entropy.joint}
        measures["class_entropy"] = {
            "target": target,
            "bits": {name: {"original": bits.original, "release": bits.release} for name, bits in parts.items()},
            "mean_change": entropy.mean_change,
        }
    if sensitive:
        measures["joint_divergence"] = {
            name: vars(joint_divergence(original, published_table, name, list(quasi))) for name in sensitive
        }
    return measures


def print_compared(measures: dict[str, Any]) -> None:
    """Print the measures as tables."""
    from sfumato.cli.messages import print_grid
    from sfumato.cli.terminal import print_line

    if "class_entropy" in measures:
        entropy = measures["class_entropy"]
        rows = [
            ("on its own" if name == "class" else name, f"{bits['original']:.4f}", f"{bits['release']:.4f}")
            for name, bits in entropy["bits"].items()
        ]
        title = f'What is uncertain about "{entropy["target"]}", in bits'
        print_grid(title, ("given", "originals", "release"), rows)
        mean_change = entropy["mean_change"]
        print_line(
            f"On average a column says {abs(mean_change):.4f} bits {'less' if mean_change >= 0 else 'more'} about it."
        )
    if "joint_divergence" in measures:
        rows = [
            (name, f"{divergence['patterns']:.4f}", f"{divergence['simple_bayes']:.4f}")
            for name, divergence in measures["joint_divergence"].items()
        ]
        title = "How far the joint distribution with --quasi moved, in bits (I-divergence)"
        print_grid(title, ("column", "full patterns", "simple Bayes"), rows)
