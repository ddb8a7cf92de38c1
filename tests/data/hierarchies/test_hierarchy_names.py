# SPDX-License-Identifier: MIT
"""A wrong description of a hierarchy is refused with the name of its column."""

import pytest

import sfumato as sf


def test_a_wrong_hierarchy_names_its_column() -> None:
    with pytest.raises(sf.PolicyError, match=r'^hierarchy of "age": widths: missing; add it'):
        sf.Table.of({"age": [1, 2]}, roles={"age": "sensitive"}, hierarchies={"age": {"kind": "intervals"}})
