# SPDX-License-Identifier: MIT
"""The private union equals the union, and neither order nor sizes of messages tell who has what."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PartyError
from sfumato.parties.arithmetic.group import get_group
from sfumato.parties.protocols import union
from sfumato.parties.protocols.passed_union import unite_by_passing
from sfumato.parties.protocols.union import unite_privately
from sfumato.parties.transport.message import decode_frame
from sfumato.parties.transport.network import Network, Tap, run_sites


def unite(
    lists: Sequence[Sequence[bytes]], length: int = 4, tap: Tap | None = None, by_passing: bool = False
) -> list[list[bytes]]:
    async def run(network: Network, entries: Sequence[bytes]) -> list[bytes]:
        unite_lists = unite_by_passing if by_passing else unite_privately
        return await unite_lists(network, entries, length, width=12)

    return run_sites(run, lists, tap=tap)


ENTRIES = st.lists(st.one_of(st.binary(max_size=12), st.sampled_from([b"a", b"b", b"c"])), max_size=4, unique=True)


@settings(max_examples=8, deadline=None)
@given(st.lists(ENTRIES, min_size=2, max_size=4), st.booleans())
def test_the_union_is_the_union_at_every_site(lists: list[list[bytes]], by_passing: bool) -> None:
    expected = sorted(set().union(*lists))
    assert unite(lists, by_passing=by_passing) == [expected] * len(lists)


def list_sizes(lists: list[list[bytes]]) -> list[tuple[str, str, int]]:
    frames: list[bytes] = []
    unite(lists, tap=frames.append)
    parsed = [(decode_frame(frame), len(frame)) for frame in frames]
    return sorted((route.sender, message.kind, size) for (route, message), size in parsed)


def test_sizes_of_messages_do_not_tell_who_has_what() -> None:
    assert list_sizes([[b"a", b"b", b"c"], [], [b"a"]]) == list_sizes([[], [b"a"], [b"a", b"b", b"c"]])


def test_sizes_of_messages_do_not_tell_at_how_many_sites_an_entry_is() -> None:
    """If filling were counted, an entry of all sites would be known as such: lists of one, and none is filled up."""
    assert list_sizes([[b"a"], [b"a"], [b"a"]]) == list_sizes([[b"a"], [], []])


@pytest.mark.parametrize("by_passing", [False, True])
def test_no_message_holds_an_entry(by_passing: bool) -> None:
    frames: list[bytes] = []
    lists = [[b"diabetes", b"asthma"], [b"diabetes"], [b"influenza"]]
    unite(lists, tap=frames.append, by_passing=by_passing)
    wire = b"".join(frames)
    assert not [entry for entry in set().union(*lists) if entry in wire]


def test_lists_and_messages_are_in_no_order_of_the_entries() -> None:
    """The order on the wire is that of random bytes, so that the place of an entry says nothing."""
    group = get_group()
    cipher = union.encrypt_points(group, group.multiply_base(group.draw_scalar()), [group.hash_entry("t", b"x")] * 20)
    mixed = union.mix_points(
        group, union.SiteSecrets(group.draw_scalar(), group.draw_scalar()), group.hash_entry("t", b"key"), cipher
    )
    assert mixed.bases == sorted(mixed.bases)
    assert not set(mixed.bases) & set(cipher.bases)
    assert len(set(mixed.masked_points)) == 20  # equal points are encrypted differently


def test_what_is_learnt_is_recorded() -> None:
    async def run(network: Network, entries: list[bytes]) -> list[str]:
        await unite_privately(network, entries, 4, width=12)
        return network.learnt_sentences

    first, second, last = run_sites(run, [[b"a", b"b"], [b"a"], [b"a"]])
    assert len(first) == 1
    assert first == second
    assert "2 entries" in first[0]
    assert "not whose they are or at how many sites" in first[0]
    assert "(1 at 1, 1 at 3), not which or whose" in last[0]


@pytest.mark.parametrize(("lists", "words"), [([[b"a"], [b"a"], [b"a"]], "(1 at 3), so at"), ([[], [], []], "(none)")])
def test_the_last_site_is_told_what_its_counts_give_away(lists: list[list[bytes]], words: str) -> None:
    async def run(network: Network, entries: list[bytes]) -> list[str]:
        await unite_privately(network, entries, 4, width=12)
        return network.learnt_sentences

    assert words in run_sites(run, lists)[-1][0]


def test_passing_tells_the_first_site_what_sites_have_in_common() -> None:
    """The textbook's leak, which mixing closes: overlaps of two sites each."""

    async def run(network: Network, entries: list[bytes]) -> list[str]:
        await unite_by_passing(network, entries, 4, width=12)
        return network.learnt_sentences

    first, second, _ = run_sites(run, [[b"a", b"b"], [b"a", b"b", b"c"], [b"c"]])
    assert "in common (0, 1, 2)" in first[0]
    assert len(second) == 1


@pytest.mark.parametrize("entries", [[b"a"] * 2, [b"1", b"2", b"3", b"4", b"5"], [b"x" * 13]])
def test_lists_that_do_not_fit_are_refused(entries: list[bytes]) -> None:
    with pytest.raises(PartyError, match="do not fit"):
        unite([entries, [], []])


def test_entries_of_any_bytes_survive_blocks() -> None:
    entries = [b"", b"\0", b"\0\0", b"\xff" * 12, b"abc", None]
    assert union._read_blocks(union._write_blocks(entries, 12), 12) == sorted(e for e in entries if e is not None)
