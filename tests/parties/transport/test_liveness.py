# SPDX-License-Identifier: MIT
"""Long work does not end a run, and a run that goes nowhere ends: signs of life between sites on real sockets."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from sfumato.errors import PartyError
from sfumato.parties.arithmetic.group import map_over_points
from sfumato.parties.transport.liveness import Activity, SignsOfLife, follow_activity, stop_if_failed
from sfumato.parties.transport.message import HEAD, VERSION
from sfumato.parties.transport.network import compute
from sfumato.parties.transport.tls_network import TlsNetwork, drain_writer, read_network_frame
from tests.parties.site_folders import SiteFolder, make_folders
from tests.parties.transport.test_tls_network import run_all

TIMEOUT = 1.0


@pytest.fixture
def folders(tmp_path: Path) -> list[SiteFolder]:
    return make_folders(tmp_path)


def test_a_site_that_computes_for_longer_than_the_timeout_is_waited_for(folders: list[SiteFolder]) -> None:
    """Also by a site that waits for one that waits for it: east computes, north waits for it, south for north."""

    async def take_part(network: TlsNetwork) -> object:
        if network.site == "east":
            await compute(time.sleep, 2.5 * TIMEOUT)
            await network.send("north", "first")
        elif network.site == "north":
            await network.receive("east", "first")
            await network.send("south", "second")
        else:
            await network.receive("north", "second")
        await network.exchange("end")
        return "done"

    results = run_all(folders, dict.fromkeys(("east", "north", "south"), take_part), timeout=TIMEOUT)
    assert set(results.values()) == {"done"}, results


def test_sites_that_all_wait_for_each_other_end(folders: list[SiteFolder]) -> None:
    async def wait(network: TlsNetwork) -> object:
        return await network.gather("never")

    results = run_all(folders, dict.fromkeys(("east", "north", "south"), wait), timeout=TIMEOUT)
    assert all(isinstance(error, PartyError) for error in results.values()), results
    assert any("no site is at work" in str(error) for error in results.values()), results


def test_a_computation_ends_when_another_site_has_failed(folders: list[SiteFolder]) -> None:
    steps: list[int] = []

    def work(point: bytes) -> bytes:
        steps.append(1)
        time.sleep(0.0005)
        return point

    async def take_part(network: TlsNetwork) -> object:
        if network.site == "south":
            raise PartyError("this site cannot go on")
        return await compute(map_over_points, work, [b""] * 20_000)

    results = run_all(folders, dict.fromkeys(("east", "north", "south"), take_part))
    assert any('site "south": it stopped' in str(results[site]) for site in ("east", "north")), results
    assert all(isinstance(error, PartyError) for error in results.values())
    assert len(steps) < 40_000  # of east and north together


def test_computations_outside_a_run_are_not_stopped() -> None:
    stop_if_failed()
    with follow_activity(Activity(failure=PartyError("over"))), pytest.raises(PartyError, match="over"):
        stop_if_failed()
    stop_if_failed()


def test_waiting_alone_is_no_work() -> None:
    signs = SignsOfLife(["a", "b"])
    signs.last, signs.last_work = dict.fromkeys(signs.last, 0.0), 0.0
    assert signs.count_seconds_left("a", 0.0, 5.0) < 0
    signs.note("a", is_work=False)
    assert signs.count_seconds_left("a", 0.0, 5.0) < 0  # alive, and nobody works
    signs.note("b", is_work=True)
    assert 0 < signs.count_seconds_left("a", 0.0, 5.0) <= 5
    signs.last["a"] = 0.0
    assert signs.count_seconds_left("a", 0.0, 5.0) < 0  # others work, and this one is silent


class SlowWriter:
    """A connection that takes a part of a frame, if at all, and then lets the sender wait."""

    def __init__(self, parts: list[int]) -> None:
        self.parts, self.transport = parts, self

    def get_write_buffer_size(self) -> int:
        return self.parts[0]

    async def drain(self) -> None:
        if len(self.parts) > 1:
            self.parts.pop(0)
            await asyncio.sleep(60)


@pytest.mark.parametrize(("parts", "is_taken"), [([3, 2, 1, 0], True), ([3, 3, 0], False)])
def test_a_frame_may_take_long_if_parts_of_it_are_taken(parts: list[int], is_taken: bool) -> None:
    sending = drain_writer(SlowWriter(parts), 0.05)  # type: ignore[arg-type]
    if is_taken:
        asyncio.run(sending)
    else:
        with pytest.raises(TimeoutError):
            asyncio.run(sending)


def test_parts_of_a_large_frame_are_signs_of_life() -> None:
    async def read() -> tuple[bytes, int]:
        reader, parts = asyncio.StreamReader(), []
        frame = HEAD.pack(b"sfpt", VERSION, 0, 1 << 20) + bytes(1 << 20)
        reader.feed_data(frame)
        return await read_network_frame(reader, 1 << 21, lambda: parts.append(1)), len(parts)

    frame, parts = asyncio.run(read())
    assert len(frame) == HEAD.size + (1 << 20)
    assert parts == 3
