# SPDX-License-Identifier: MIT
"""A method that says its choice is proven says among what: no proof is about everything that could be done."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.protect import METHODS
from sfumato.report.words.wording import describe_proof
from tests.contract.releases import make_all


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_a_proof_says_among_what(kind: type[sf.Method]) -> None:
    """ "Proven: nothing costs less" was printed of the fewest removals, where one addition cost less."""
    optima = [result.release.details.find_optimality() for result in make_all(kind)]
    if any(optimum is not None and optimum.is_proven for optimum in optima):
        assert kind.optimum_of.startswith("among "), (
            f"{kind.__name__} says that its choice is proven: set `optimum_of` to among what nothing costs less, such "
            'as "among all combinations of levels"'
        )
        assert describe_proof(kind.model_fields["method"].default).endswith(kind.optimum_of)
