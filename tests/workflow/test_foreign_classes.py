# SPDX-License-Identifier: MIT
"""A run refuses classes that are not in the package: nobody could verify a release that names them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

import sfumato as sf


class TwiceRoundedNumbers(sf.RoundNumbers):
    method: Literal["twice_rounded_numbers"] = "twice_rounded_numbers"  # type: ignore[assignment]


class OtherRoundNumbers(sf.RoundNumbers):
    """Another class under the name of one that everybody has."""


class NearLinking(sf.attack.Linking):
    attack: Literal["near_linking"] = "near_linking"  # type: ignore[assignment]


@pytest.mark.parametrize(
    "method", [TwiceRoundedNumbers(columns="age", step=5), OtherRoundNumbers(columns="age", step=5)]
)
def test_a_method_of_another_package_is_refused_before_the_run(method: sf.Method, tmp_path: Path) -> None:
    people = sf.invent_people(50)
    with pytest.raises(sf.PolicyError, match=f"{type(method).__name__} .* is not part of this version"):
        sf.run(people, method, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    findings = sf.check(method.protect(people), people)  # which the message recommends
    assert all(finding.holds for finding in findings)


def test_an_attack_of_another_package_is_refused_before_the_run(tmp_path: Path) -> None:
    people = sf.invent_people(50)
    with pytest.raises(sf.PolicyError, match=r'NearLinking \(attack = "near_linking"\)'):
        sf.run(people, sf.RoundNumbers(columns="age", step=5), attacks=[NearLinking()], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
