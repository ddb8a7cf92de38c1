# SPDX-License-Identifier: MIT
"""Frames are parsed strictly, and sites in one process exchange them."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import PartyError
from sfumato.parties.transport.message import HEAD, VERSION, Array, Envelope, Message, decode_frame, encode_frame
from sfumato.parties.transport.network import LocalNetwork, Network, Wires, run_sites

ENVELOPE = Envelope("session", "a", "b", 0)


def make_frame() -> bytes:
    arrays: dict[str, Array] = {
        "points": np.arange(64, dtype=np.uint8).reshape(2, 32),
        "shares": np.arange(3, dtype=np.uint64),
    }
    return encode_frame(ENVELOPE, Message("union/mix", arrays, {"count": 2, "last": True, "name": "x"}))


def test_a_frame_survives_the_wire() -> None:
    envelope, message = decode_frame(make_frame())
    assert envelope == ENVELOPE
    assert message.kind == "union/mix"
    assert message.facts == {"count": 2, "last": True, "name": "x"}
    assert message.get_array("points", np.uint8, None, 32).shape == (2, 32)
    assert message.get_array("shares", np.uint64, 3).tolist() == [0, 1, 2]
    with pytest.raises(PartyError, match="agreed form"):
        message.get_array("shares", np.uint64, 4)
    with pytest.raises(PartyError, match="agreed form"):
        message.get_array("shares", np.int64, 3)
    with pytest.raises(PartyError, match="fact"):
        message.get_fact("last", int)


@given(st.integers(0, 400), st.binary(min_size=1, max_size=4))
def test_garbled_frames_are_errors_of_ours_or_other_content(position: int, noise: bytes) -> None:
    garbled = bytearray(make_frame())
    position %= len(garbled)
    garbled[position : position + len(noise)] = noise[: len(garbled) - position]
    with suppress(PartyError):
        decode_frame(bytes(garbled))


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(noise: bytes) -> None:
    with pytest.raises(PartyError):
        decode_frame(noise)


def change_header(**changes: object) -> bytes:
    frame = make_frame()
    _mark, _version, header_bytes, body_bytes = HEAD.unpack(frame[: HEAD.size])
    header = json.loads(frame[HEAD.size : HEAD.size + header_bytes]) | changes
    text = json.dumps(header).encode()
    return HEAD.pack(b"sfpt", VERSION, len(text), body_bytes) + text + frame[HEAD.size + header_bytes :]


@pytest.mark.parametrize(
    "changes",
    [
        {"arrays": [["points", "u1", [2, 33]]]},
        {"arrays": [["points", "u1", [2, 31]]]},
        {"arrays": [["points", "O", [2, 32]]]},
        {"arrays": [["points", "u1", [2**40, 2**40]]]},
        {"arrays": [["points", "u1", [-1, -88]]]},
        {"arrays": [["x", "u1", [44]], ["x", "u1", [44]]]},
        {"arrays": "points"},
        {"arrays": [1]},
        {"number": -1},
        {"number": True},
        {"facts": {"deep": {}}},
        {"kind": 3},
        {"more": 1},
    ],
)
def test_headers_that_do_not_fit_are_refused(changes: dict[str, object]) -> None:
    assert decode_frame(change_header())
    with pytest.raises(PartyError):
        decode_frame(change_header(**changes))


def test_large_frames_and_other_versions_are_refused_by_their_head() -> None:
    with pytest.raises(PartyError, match="above the limit"):
        decode_frame(make_frame(), most_bytes=100)
    with pytest.raises(PartyError, match="version 9"):
        decode_frame(HEAD.pack(b"sfpt", 9, 0, 0))
    with pytest.raises(PartyError, match="not a message"):
        decode_frame(HEAD.pack(b"HTTP", VERSION, 0, 0))


async def exchange_numbers(network: Network, number: int) -> list[int]:
    received = await network.exchange("sum/number", {"number": np.array([number], dtype=np.int64)})
    network.learn(f"{len(received)} numbers")
    return [int(message.get_array("number", np.int64, 1)[0]) for message in received.values()]


def test_sites_in_one_process_exchange_messages() -> None:
    frames: list[bytes] = []
    assert run_sites(exchange_numbers, [5, 7, 9], tap=frames.append) == [[5, 7, 9]] * 3
    assert len(frames) == 6


def test_sites_run_inside_a_running_loop_as_in_a_notebook() -> None:
    async def cell() -> list[list[int]]:
        return run_sites(exchange_numbers, [1, 2])

    assert asyncio.run(cell()) == [[1, 2], [1, 2]]


def test_an_error_of_one_site_ends_all() -> None:
    async def fail(network: Network, number: int) -> None:
        if number == 2:
            raise PartyError("this site cannot go on")
        await network.gather("never")

    with pytest.raises(PartyError, match="cannot go on"):
        run_sites(fail, [1, 2, 3])


def test_sites_that_are_late_to_notice_an_error_are_ended_too() -> None:
    async def fail(network: Network, number: int) -> None:
        if number == 2:
            await network.broadcast("once")
            raise PartyError("this site cannot go on")
        while True:
            try:
                await network.gather("once")
                await network.gather("never")
            except asyncio.CancelledError:  # as if the message had come in the same moment
                number -= 1
                if number < 0:
                    raise

    with pytest.raises(PartyError, match="cannot go on"):
        run_sites(fail, [1, 2, 1])


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", ""], ["a", "b\n"]])
def test_sites_need_distinct_names(names: list[str]) -> None:
    with pytest.raises(PartyError):
        run_sites(exchange_numbers, [1] * len(names), names=names)


def test_replayed_misdirected_and_unexpected_frames_are_refused() -> None:
    async def receive(frame: bytes, first: bytes | None = None, timeout: float = 60) -> None:
        wires = Wires(["a", "b"])
        network = LocalNetwork("b", ["a", "b"], "session", wires)
        network.timeout = timeout
        for queued_frame in [*([first] if first else []), frame]:
            await wires.queues["a", "b"].put(queued_frame)
        await network.receive("a", "k")
        if first:
            await network.receive("a", "k")

    def frame(kind: str = "k", **envelope: object) -> bytes:
        parts = {"session": "session", "sender": "a", "receiver": "b", "number": 0} | envelope
        return encode_frame(Envelope(**parts), Message(kind))  # type: ignore[arg-type]

    asyncio.run(receive(frame()))
    asyncio.run(receive(frame(number=1), frame()))
    for wrong, words, first in [
        (frame(), "replayed", frame()),
        (frame(number=1), "replayed or lost", None),
        (frame(session="old"), "another session", None),
        (frame(receiver="c"), "between other sites", None),
        (frame(kind="other"), "something else", None),
        (frame(kind="abort"), "it stopped", None),
        (b"garbage", "cut off", None),
    ]:
        with pytest.raises(PartyError, match=words):
            asyncio.run(receive(wrong, first))


def test_a_silent_site_is_named_after_the_timeout() -> None:
    async def wait(network: Network, number: int) -> None:
        network.timeout = 0.05
        await network.gather("sum/number") if number else await asyncio.sleep(5)

    with pytest.raises(PartyError, match=r'site "site 1" sent nothing for 0.05 s in "sum/number"'):
        run_sites(wait, [0, 1])


def test_transcripts_of_two_ends_agree_and_count_traffic() -> None:
    async def keep(network: Network, number: int) -> Network:
        await exchange_numbers(network, number)
        return network

    first, second = run_sites(keep, [1, 2])
    sent_hashes = [frame.sha256 for frame in first.transcript.frames if frame.way == "sent"]
    assert sent_hashes == [frame.sha256 for frame in second.transcript.frames if frame.way == "received"]
    assert first.transcript.session_sha256 == second.transcript.session_sha256
    assert first.session not in json.dumps(first.transcript.as_json())
    statement = first.state("textbook", "Nobody.", ["the sum"])
    assert statement.messages_sent == 1
    assert statement.bytes_sent == first.transcript.frames[0].size
    assert "2 numbers" in str(statement)
    assert statement.as_json()["knowledge"] == ("2 numbers",)
