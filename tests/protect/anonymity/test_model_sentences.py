# SPDX-License-Identifier: MIT
"""The sentences of models say what is measured: every parameter in them, with all its digits."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.protect.anonymity.models.model import PrivacyModel

ILL = "ill"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (sf.LDiversity(l=1, kind="recursive", c=2.0, column=ILL), "rarer than 2 times all values together."),
        (sf.LDiversity(l=2, kind="recursive", c=2.5, column=ILL), "rarer than 2.5 times all other values together."),
        (sf.LDiversity(l=3, kind="recursive", c=40, column=ILL), "40 times all values but the 2 most common together."),
        (sf.LDiversity(l=2.3456789, kind="entropy", column=ILL), "at least 2.3456789 well-represented values"),
        (sf.LDiversity(l=1, column=ILL), "at least 1 well-represented value of"),
        (sf.AlphaKAnonymity(alpha=0.3333334, k=2, column=ILL), "more than 0.3333334 of a class"),
        (sf.TCloseness(t=0.12345678, column=ILL), "up to 0.12345678, by"),
        (sf.BetaLikeness(beta=1.23456789, column=ILL), "more than 1.23456789 times its share in any class."),
        (
            sf.BetaLikeness(beta=1.5, column=ILL, enhanced=True),
            "more than 1.5 times its share in any class, or more than the negative natural logarithm of its share",
        ),
        (sf.DeltaDisclosure(delta=0.12345678, column=ILL), "e^0.12345678 or more"),
    ],
)
def test_a_sentence_has_every_parameter(model: PrivacyModel, words: str) -> None:
    claim = model.state_claims({"columns": ("age",), "missing": "own_value"})[-1]
    assert words in claim.meaning


@pytest.mark.parametrize(("least", "ratio"), [(1, 7 / 12), (2, 7 / 5), (3, 7 / 2)])
def test_the_rest_is_what_recursive_diversity_measures(least: int, ratio: float) -> None:
    """Of values that 7, 3 and 2 rows have, the rest is all of them, the last two, or the last one."""
    rows = ["p"] * 7 + ["q"] * 3 + ["r"] * 2
    table = sf.Table.of({"age": [1] * 12, ILL: rows}, {"age": "quasi_identifying", ILL: "sensitive"})
    model = sf.LDiversity(l=least, kind="recursive", c=9.0, column=ILL)
    release = sf.Generalize(models=[model]).protect(table)
    measured = next(finding.measured for finding in sf.check(release, table) if "recursive" in finding.property)
    assert measured == pytest.approx(ratio)
