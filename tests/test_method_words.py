# SPDX-License-Identifier: MIT
"""Which tests `--method TAG` runs."""

from __future__ import annotations

import pytest

from sfumato.protect import METHODS
from tests.method_words import get_tag, list_words


def test_a_method_is_known_by_its_names_its_checks_its_examples_and_its_kind_of_change() -> None:
    words = {"round_numbers", "RoundNumbers", "rounded_numbers", "round numbers", "rounded", "subclass"}
    assert words <= set(list_words("round_numbers"))


def test_what_other_methods_have_too_is_no_word() -> None:
    assert not {"value_counts", "capped"} & set(list_words("round_numbers"))


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_every_method_is_found_by_its_tag(kind: type) -> None:
    assert kind.__name__ in list_words(get_tag(kind))


def test_an_unknown_tag_is_explained() -> None:
    with pytest.raises(pytest.UsageError, match=r'no method has the tag "round_nmbers".*round_numbers'):
        list_words("round_nmbers")
