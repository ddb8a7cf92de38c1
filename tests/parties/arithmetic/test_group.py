# SPDX-License-Identifier: MIT
"""Both groups do what protocols need: commutative encryption, hashing, and refusing what is no point."""

from __future__ import annotations

import sys

import pytest

from sfumato.errors import PartyError
from sfumato.parties.arithmetic import group as groups
from sfumato.parties.arithmetic.group import (
    Edwards,
    Group,
    Ristretto,
    get_group,
    multiply_all,
    pack_points,
    unpack_points,
)

BOTH = pytest.mark.parametrize("group", [Ristretto(), Edwards()], ids=lambda group: str(group.name))


@BOTH
def test_encryption_commutes_and_is_undone(group: Group) -> None:
    point, a, b = group.hash_entry("test", b"diabetes"), group.draw_scalar(), group.draw_scalar()
    double_point = group.multiply(a, group.multiply(b, point))
    assert (
        double_point
        == group.multiply(b, group.multiply(a, point))
        == group.multiply(group.multiply_scalars(a, b), point)
    )
    assert group.multiply(group.invert(b), double_point) == group.multiply(a, point) != point
    assert group.add(double_point, group.multiply(group.negate(a), group.multiply(b, point))) != double_point
    opposite = group.multiply(group.negate(a), point)
    assert group.add(group.add(point, opposite), group.multiply(a, point)) == point
    assert group.subtract(point, group.multiply(a, point)) == group.add(point, opposite)


@BOTH
def test_domains_and_entries_have_their_own_points(group: Group) -> None:
    points = {group.hash_entry(domain, entry) for domain in ("a", "b") for entry in (b"", b"x", b"bx")}
    assert len(points) == 6
    assert all(map(group.is_point, points))
    assert group.hash_entry("a", b"x") == group.hash_entry("a", b"x")


@BOTH
def test_only_points_are_taken_from_a_message(group: Group) -> None:
    points = [group.hash_entry("test", bytes([number])) for number in range(3)]
    assert unpack_points(group, pack_points(points)) == points
    for wrong in (bytes(32), b"\xff" * 32, b"\x01" + bytes(31)):
        with pytest.raises(PartyError, match="not points"):
            unpack_points(group, pack_points([*points, wrong]))


@BOTH
def test_long_lists_keep_their_order(group: Group) -> None:
    points = [group.multiply_base(group.draw_scalar()) for _ in range(600)]
    scalar = group.draw_scalar()
    assert multiply_all(group, scalar, points) == [group.multiply(scalar, point) for point in points]


def test_ristretto_hashes_to_the_published_point() -> None:
    """RFC 9496, appendix A.3: the point of the SHA-512 of this label."""
    import hashlib

    digest = hashlib.sha512(b"Ristretto is traditionally a short shot of espresso coffee").digest()
    expected = "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46"
    assert Ristretto().hash_to_point(digest).hex() == expected


def test_the_other_group_is_taken_where_rbcl_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    get_group.cache_clear()
    monkeypatch.setitem(sys.modules, "rbcl", None)
    try:
        assert get_group().name == "edwards25519"
        get_group.cache_clear()
        monkeypatch.setattr(groups.Edwards, "__init__", lambda self: (_ for _ in ()).throw(ImportError()))
        with pytest.raises(PartyError, match=r"\.\[parties\]"):
            get_group()
    finally:
        get_group.cache_clear()
