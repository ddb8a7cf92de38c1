# SPDX-License-Identifier: MIT
"""Rows are aligned by keys that all sites have, and no frame tells who else a site has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PartyError
from sfumato.parties.protocols.row_matching import align_by_key, align_by_number
from sfumato.parties.transport.message import decode_frame
from sfumato.parties.transport.network import Network, Tap, run_sites


def align(sites: list[list[bytes]], tap: Tap | None = None) -> list[list[bytes]]:
    """The aligned keys at every site."""

    async def run(network: Network, keys: list[bytes]) -> list[bytes]:
        return [keys[row] for row in await align_by_key(network, keys)]

    return run_sites(run, sites, tap=tap)


KEYS = st.lists(st.sampled_from([b"ann", b"bob", b"cid", b"dan", b"eve", b"", b"\x00"]), unique=True)


@settings(max_examples=25, deadline=None)
@given(st.lists(KEYS, min_size=2, max_size=4))
def test_every_site_has_the_common_keys_in_one_order(sites: list[list[bytes]]) -> None:
    aligned = align(sites)
    assert all(keys == aligned[0] for keys in aligned)
    assert sorted(aligned[0]) == sorted(set.intersection(*map(set, sites)))


def test_frames_hold_no_key_and_all_lists_are_equally_long() -> None:
    frames: list[bytes] = []
    align([[b"patient-1", b"patient-2", b"patient-3"], [b"patient-2", b"patient-7"]], frames.append)
    assert not any(b"patient" in frame for frame in frames)
    messages = [decode_frame(frame)[1] for frame in frames]
    lists = [message.get_array("points", np.uint8, None, 32) for message in messages if message.kind == "rows/round"]
    assert [len(points) for points in lists] == [4, 4]
    point_bytes = [bytes(point) for points in lists for point in points]
    assert len(set(point_bytes)) == 8  # the common person looks different in both


def test_the_order_differs_from_run_to_run() -> None:
    keys = [bytes([number]) for number in range(40)]
    assert align([keys, keys])[0] != align([keys, keys])[0]


def test_a_repeated_key_is_refused_without_naming_it() -> None:
    with pytest.raises(PartyError, match="1 row repeats a key") as error_info:
        align([[b"ann", b"ann"], [b"bob"]])
    assert "ann" not in str(error_info.value)


def test_rows_by_number_must_be_equally_many() -> None:
    async def run(network: Network, rows: int) -> list[int]:
        return [int(row) for row in await align_by_number(network, rows)]

    assert run_sites(run, [3, 3]) == [[0, 1, 2]] * 2
    with pytest.raises(PartyError, match="name a key column"):
        run_sites(run, [3, 4])
