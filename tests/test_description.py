# SPDX-License-Identifier: MIT
"""Descriptions: fields by name, or in their order."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.public.noise_law import Noise as _Noise

# A type checker knows fields by their names alone.
RandomizeResponse: Any = sf.RandomizeResponse
SwapConfidential: Any = sf.SwapConfidential
KAnonymity: Any = sf.KAnonymity
SpectralFilter: Any = sf.attack.SpectralFilter
Noise: Any = _Noise


def test_fields_may_be_given_in_their_order() -> None:
    assert RandomizeResponse("ill", 0.7) == sf.RandomizeResponse(column="ill", p=0.7)
    assert SwapConfidential("ill", 0.5, search="paper").share == 0.5
    assert KAnonymity(3).k == 3
    assert Noise("gaussian", 2.0).scale == 2.0


def test_a_tag_is_never_given() -> None:
    assert SpectralFilter("age").columns == ("age",)


@pytest.mark.parametrize(("arguments", "keywords"), [((5, 6), {}), ((5,), {"k": 5})])
def test_too_many_and_twice_are_refused(arguments: tuple[int, ...], keywords: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="KAnonymity takes k"):
        KAnonymity(*arguments, **keywords)


def test_values_in_order_are_not_echoed_either() -> None:
    with pytest.raises(ValidationError) as error_info:
        KAnonymity("zzvaluezz")
    assert "zzvaluezz" not in str(error_info.value)
