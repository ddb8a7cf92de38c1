# SPDX-License-Identifier: MIT
"""What attacks on single private entries have in common: what they guess, and how their story is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sfumato.attack.attack import Attack

_READ_STORY = "No entry of {any} that is looked for is blank: a stranger reads them off the table, and infers nothing."


class EntryAttack(Attack):
    """An attack on the private entries that a release hides, or on all entries of the private `columns`."""

    tries: ClassVar[str] = "entries"
    hides_targets: ClassVar[bool] = True
    # The columns that hold private entries.
    private_fields: ClassVar[tuple[str, ...]] = ("columns",)
    column_fields: ClassVar[tuple[str, ...]] = ("columns",)

    @classmethod
    def choose_story(cls, attack: Mapping[str, Any]) -> str:
        """The story, by how many of the entries its outcome says were visible: those are read."""
        columns = attack.get("columns")
        facts = list(columns.values()) if isinstance(columns, Mapping) else []
        cells, visible = (sum(column.get(name, 0) for column in facts) for name in ("cells", "visible"))
        if not visible:
            return cls.story
        if visible == cells:
            return _READ_STORY
        return f"{cls.story} Of the {cells:,} entries, {visible:,} are not blank: these are read, not inferred."
