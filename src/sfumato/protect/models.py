# SPDX-License-Identifier: MIT
"""What a class of indistinguishable people must be like: one small description a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from sfumato.description import Description
from sfumato.protect.classes import Classes
from sfumato.release import Claim


class KAnonymity(Description):
    """Each person is hidden among at least k − 1 others (Samarati 1998, Sweeney 2002).

    Holds against an adversary who knows somebody's quasi-identifying values and that the person is in the
    table: linking leads to at least k rows, so to the right one with probability 1/k at most. It does not
    hold back what the k rows have in common: if they share a disease, the adversary learns it.
    """

    model: Literal["k_anonymity"] = "k_anonymity"
    k: int = Field(ge=1, strict=True)
    """The least number of rows that share their quasi-identifying values."""

    def refuses(self, classes: Classes) -> npt.NDArray[np.bool_]:
        """Which classes may not be published."""
        return classes.crowds < self.k

    def claim(self, arguments: Mapping[str, Any]) -> Claim:
        """What a release promises under this model."""
        return Claim(
            property="k_anonymity",
            threshold=self.k,
            measure="k_anonymity",
            arguments=arguments,
            meaning=f"Every published person shares their quasi-identifying values with at least {self.k - 1} others.",
        )
