# SPDX-License-Identifier: MIT
"""What `sfumato mine` and `sfumato decode` do with decision trees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.cli.terminal import escape_text, print_json, print_line, show_progress

LEARNERS = ("c45",)


@dataclass(frozen=True)
class TreeOptions:
    """How a tree is grown."""

    learner: str
    min_rows: int
    pruning: float
    separator: str | None


def grow_printed_tree(data: str, target: str | None, options: TreeOptions, out: Path | None, as_json: bool) -> None:
    """Grow a tree on a table, or on the table of a release folder, print it, and write it as JSON."""
    from sfumato.errors import PolicyError
    from sfumato.mine import train_c45, write_tree

    if options.learner not in LEARNERS:
        raise PolicyError(f"there is no such --learner; give {' or '.join(LEARNERS)}")
    if target is None:
        raise PolicyError("--learner needs --target, the column that the tree predicts")
    with show_progress(as_json):
        table = _read_table(data, options.separator)
        confidence = None if options.pruning == 1 else options.pruning
        tree = train_c45(table, target, min_rows=options.min_rows, confidence=confidence)
        if out is not None:
            write_tree(tree, out)
    if as_json:
        facts = {"target": target, "leaves": tree.n_leaves, "depth": tree.depth, "rules": tree.spell_rules()}
        print_json(facts | {"written": str(out) if out else None})
    else:
        print_tree(tree, [], out)


def _read_table(data: str, separator: str | None) -> Any:
    from sfumato.errors import PolicyError
    from sfumato.table import Table
    from sfumato.workflow.verification import read_release

    if not Path(data).is_dir():
        return Table.read(data, separator=separator)
    table = read_release(Path(data)).data
    if not isinstance(table, Table):
        raise PolicyError(f"{data}: a tree needs a table; this release is not one")
    return table


def print_tree(model: Any, names: list[str], out: Path | None) -> None:
    """Print the rules of a tree; of several trees, only how large they are."""
    from sfumato.mine import tree_rules
    from sfumato.mine.codes.c45 import C45Tree

    single = hasattr(model, "tree_") or isinstance(model, C45Tree)
    text = (
        tree_rules(model, [escape_text(name) for name in names])
        if single
        else f"{_name_several(model)} of {count_nodes(model)} nodes."
    )
    for line in text.split("\n"):
        print_line(line)
    if out is not None:
        print_line(f"Written to {out}.")


def _name_several(model: Any) -> str:
    return "A forest" if hasattr(model, "estimators_") else f"Boosted trees ({model.maker})"


def count_nodes(model: Any) -> int:
    """The nodes of a tree, or of all trees of a model."""
    if hasattr(model, "nodes"):
        return len(model.nodes)
    if hasattr(model, "node_count"):
        return int(model.node_count)
    trees = [model] if hasattr(model, "tree_") else model.estimators_
    return sum(int(tree.tree_.node_count) for tree in trees)
