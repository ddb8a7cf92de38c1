# SPDX-License-Identifier: MIT
"""Every method can stand in a policy with another: the pair gives a release, or is refused for a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.randomness import Randomness
from sfumato.workflow.chain import apply_methods
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.runs import policy_of

PARTNERS: dict[str, tuple[Any, ...]] = {
    "table": (
        sf.Generalize(models=(sf.KAnonymity(k=2),), suppression_limit=0.2),
        sf.RandomizeResponse(column="salary_level", p=0.9),
    ),
    "baskets": (sf.HideItems(items=("eggs",), min_support=0.1, min_confidence=0.6),),
}
PAIRS = [(example, partner) for example in METHOD_EXAMPLES for partner in PARTNERS[example.subject.shape]]


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize(("example", "partner"), PAIRS, ids=lambda one: getattr(one, "name", type(one).__name__))
def test_a_method_beside_another_gives_a_release_or_a_reason(
    example: Example, partner: Any, first: bool, tmp_path: Path
) -> None:
    data = example.data()
    order = (example.subject, partner) if first else (partner, example.subject)
    policy = policy_of(example, data, tmp_path).model_copy(update={"protect": order})
    try:
        release = apply_methods(policy, data, Randomness.seeded(1)).release
        findings = sf.check(release, data)
    except sf.SfumatoError:
        return
    except Exception as crash:
        pytest.fail(
            f"{' then '.join(type(method).__name__ for method in order)} crashes ({crash!r}): take columns as another "
            "method leaves them, name `rows` in the details, and refuse the rest with a PolicyError or DataError"
        )
    assert {finding.property for finding in findings} >= {claim.property for claim in release.claims}
    assert all(finding.holds is not None for finding in findings), "with the originals at hand every claim is measured"
