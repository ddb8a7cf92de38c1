# SPDX-License-Identifier: MIT
"""A new kind of change is known wherever kinds are told apart, or left out there by name."""

from __future__ import annotations

import pytest

from sfumato.attack.anonymity.recoding import RECODED
from sfumato.change import WORDS, ChangeKind
from sfumato.measure import change_losses, changes
from sfumato.workflow import verdict

K = ChangeKind
PLACES = {
    "its words, to WORDS in change.py": (set(WORDS), {K.OTHER}),
    "the differences that it allows, to _ALLOWED in measure/changes.py": (
        set(changes._ALLOWED),
        {K.ANSWERED, K.CODED, K.DRAWN, K.DROPPED, K.OTHER, K.SWAPPED},
    ),
    "how its loss is measured, for gates, to _MEASURES in measure/change_losses.py": (
        set(change_losses._MEASURES),
        {K.ANSWERED, K.BLANKED, K.CODED, K.DRAWN, K.DROPPED, K.GENERALIZED, K.KEPT, K.OTHER, K.RANGES},
    ),
    "its rule, for linking, to RECODED and its functions in attack/anonymity/recoding.py": (
        set(RECODED),
        {K.ANSWERED, K.BLANKED, K.CODED, K.DRAWN, K.DROPPED, K.GENERALIZED, K.KEPT, K.MEANS, K.NOISE, K.OTHER, K.RANGES}
        | {K.SWAPPED},
    ),
    "whether its cells may still name people, to _TELLING in workflow/verdict.py": (
        set(verdict._TELLING),
        {K.ANSWERED, K.CAPPED, K.CODED, K.DROPPED, K.GENERALIZED, K.INTERVALS, K.MEANS, K.NOISE, K.RANGES, K.ROUNDED},
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_every_kind_of_change_is_known_or_left_out_by_name(place: str) -> None:
    known, left_out = PLACES[place]
    missing = sorted(kind.name for kind in set(ChangeKind) - known - left_out)
    assert not missing, f"{missing}: add {place}, or name it here among those that are left out there"
    assert not known & left_out, "these are known and left out at once"
