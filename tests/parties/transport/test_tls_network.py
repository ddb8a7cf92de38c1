# SPDX-License-Identifier: MIT
"""Sites joined by real sockets: who is let in, and that every fault of one site ends the others with an error."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError, PartyError
from sfumato.parties.horizontal import JointQuestion, mine_site
from sfumato.parties.transport.certificates import make_identity, read_site_certificate
from sfumato.parties.transport.message import HEAD, VERSION, Envelope, Message, encode_frame
from sfumato.parties.transport.network import Network
from sfumato.parties.transport.tls_network import TlsNetwork, open_network
from tests.parties.site_folders import BASKETS, SiteFolder, make_connecting, make_folders

Part = Callable[[TlsNetwork], Awaitable[object]]


async def mine(network: Network) -> object:
    return (await mine_site(network, sf.Baskets.of(BASKETS[network.site]), JointQuestion(0.3, 0.75))).rules.to_dicts()


async def run_part(
    site: SiteFolder, folders: list[SiteFolder], part: Part, timeout: float, start_timeout: float
) -> object:
    async with open_network(make_connecting(site, folders, timeout, start_timeout)) as network:
        return await part(network)


def run_all(
    folders: list[SiteFolder], parts: dict[str, Part], timeout: float = 20, start_timeout: float = 20
) -> dict[str, object]:
    """What every site ended with, a result or an error."""

    async def run() -> list[object]:
        tasks = [run_part(site, folders, parts.get(site.name, mine), timeout, start_timeout) for site in folders]
        return await asyncio.gather(*tasks, return_exceptions=True)

    return dict(zip([site.name for site in folders], asyncio.run(run()), strict=True))


@pytest.fixture
def folders(tmp_path: Path) -> list[SiteFolder]:
    return make_folders(tmp_path)


def test_sites_mine_over_tls(folders: list[SiteFolder]) -> None:
    results = run_all(folders, {})
    expected = sf.mine.association_rules(sf.Baskets.of([r for s in BASKETS.values() for r in s]), 0.3, 0.75)
    for rules in results.values():
        assert rules == expected.select("antecedent", "consequent").sort("antecedent").to_dicts() != []


def assert_ended(results: dict[str, object], words: str, sites: tuple[str, ...] = ("east", "north")) -> None:
    for site in sites:
        assert isinstance(results[site], PartyError), results
    assert any(words in str(results[site]) for site in sites), results


@pytest.mark.parametrize("frames", [0, 3, 9, 20, 60])
def test_a_site_that_dies_in_any_round_ends_the_others(folders: list[SiteFolder], frames: int) -> None:
    async def die(network: TlsNetwork) -> object:
        deliver, sent_count = network._deliver, 0

        async def count(receiver: str, frame: bytes) -> None:
            nonlocal sent_count
            sent_count += 1
            if sent_count > frames:
                for connection in network._connections.values():
                    connection.writer.transport.abort()
                raise OSError("killed")
            await deliver(receiver, frame)

        network._deliver = count  # type: ignore[method-assign]
        return await mine(network)

    assert_ended(run_all(folders, {"south": die}), 'site "south": the connection ended')


def send_raw(frame: bytes) -> Part:
    async def part(network: TlsNetwork) -> object:
        for connection in network._connections.values():
            connection.writer.write(frame)
            await connection.writer.drain()
        return await network.gather("never")

    return part


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "not a message of sfumato"),
        (HEAD.pack(b"sfpt", VERSION, 1 << 15, 1 << 50), "above the limit"),
        (HEAD.pack(b"sfpt", 9, 0, 0), "version 9"),
        (HEAD.pack(b"sfpt", VERSION, 4, 0) + b"nope", "cannot be read"),
        (encode_frame(Envelope("old", "south", "east", 0), Message("start/parameters")), "another session"),
    ],
)
def test_garbage_versions_sizes_and_old_sessions_end_the_others(
    folders: list[SiteFolder], frame: bytes, words: str
) -> None:
    assert_ended(run_all(folders, {"south": send_raw(frame)}), words)


def test_a_replayed_frame_ends_the_others(folders: list[SiteFolder]) -> None:
    async def replay(network: TlsNetwork) -> object:
        deliver = network._deliver

        async def deliver_twice(receiver: str, frame: bytes) -> None:
            await deliver(receiver, frame)
            await deliver(receiver, frame)

        network._deliver = deliver_twice  # type: ignore[method-assign]
        return await mine(network)

    assert_ended(run_all(folders, {"south": replay}), "replayed")


def test_a_flood_of_messages_waits_at_its_sender(folders: list[SiteFolder]) -> None:
    """256 messages may wait; without a limit on their bytes, a site could fill another's memory."""
    most = 1 << 20

    async def flood(network: TlsNetwork) -> object:
        for number in range(40):
            await network.send("east", f"flood {number}", {"noise": np.zeros(most // 4, dtype=np.uint8)})
        return await network.exchange("end")

    async def take_late(network: TlsNetwork) -> object:
        network.most_bytes = most
        largest = 0
        for number in range(40 if network.site == "east" else 0):
            await asyncio.sleep(0.02)  # the reading task takes what it is allowed to
            largest = max(largest, network._waiting_bytes["south"])
            await network.receive("south", f"flood {number}")
        await network.exchange("end")
        return largest

    results = run_all(folders, {"east": take_late, "north": take_late, "south": flood})
    assert isinstance(results["east"], int), results
    assert most // 2 < results["east"] <= most


def test_wrong_shapes_and_numbers_end_the_others(folders: list[SiteFolder]) -> None:
    async def garble(network: TlsNetwork) -> object:
        send = network.send

        async def change(receiver: str, kind: str, arrays: object = None, facts: object = None) -> None:
            if kind.endswith("/share") and isinstance(arrays, dict):
                arrays = {"share": np.full_like(arrays["share"], 2**63)}
            await send(receiver, kind, arrays, facts)  # type: ignore[arg-type]

        network.send = change  # type: ignore[method-assign]
        return await mine(network)

    assert_ended(run_all(folders, {"south": garble}), "outside the agreed range")


def test_a_silent_site_ends_the_others_after_the_timeout(folders: list[SiteFolder]) -> None:
    async def sleep(network: TlsNetwork) -> object:
        await asyncio.sleep(60)
        return None

    async def run() -> list[object]:
        tasks = [
            asyncio.create_task(run_part(site, folders, sleep if site.name == "south" else mine, 1.0, 20))
            for site in folders
        ]
        outcomes = await asyncio.gather(*tasks[:2], return_exceptions=True)
        tasks[2].cancel()
        await asyncio.gather(tasks[2], return_exceptions=True)
        return list(outcomes)

    east, north = asyncio.run(run())
    assert_ended({"east": east, "north": north}, 'site "south" sent nothing for 1 s')


def test_a_site_that_fails_tells_the_others_without_its_own_words(folders: list[SiteFolder]) -> None:
    async def fail(network: TlsNetwork) -> object:
        await network.gather("start/parameters")
        raise DataError("secret.csv: 17 rows")

    results = run_all(folders, {"south": fail})
    assert_ended(results, 'site "south": it stopped: it could not go on')
    assert "secret" not in str(results["east"]) + str(results["north"])


def test_a_site_that_never_starts_is_named(folders: list[SiteFolder]) -> None:
    async def run() -> list[object]:
        parts = [run_part(site, folders, mine, 5, 1.0) for site in folders[1:]]
        return await asyncio.gather(*parts, return_exceptions=True)

    north, _south = asyncio.run(run())
    assert_ended({"north": north}, 'site "east" could not be reached', ("north",))


def test_strangers_and_garbage_at_the_door_do_not_disturb(folders: list[SiteFolder], tmp_path: Path) -> None:
    """A connection without a certificate, one with a stranger's, and plain bytes; then the sites mine."""
    east = folders[0]
    stranger = make_identity("south", tmp_path)  # the same name, another key

    async def knock() -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        certified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        certified.check_hostname, certified.verify_mode = False, ssl.CERT_NONE
        certified.load_cert_chain(stranger.certificate, stranger.key)
        for tls in (context, certified, None):
            while True:
                try:
                    reader, writer = await asyncio.open_connection("127.0.0.1", east.port, ssl=tls)
                    break
                except ConnectionRefusedError:
                    await asyncio.sleep(0.01)
            writer.write(b"x" * 100)
            with suppress(OSError):  # refused with an alert
                assert await reader.read(100) == b""
            writer.close()

    async def run() -> list[object]:
        first = asyncio.create_task(run_part(east, folders, mine, 20, 20))
        await knock()
        other_parts = [run_part(site, folders, mine, 20, 20) for site in folders[1:]]
        return await asyncio.gather(first, *other_parts)

    assert len(asyncio.run(run())) == 3


def test_a_site_with_another_certificate_is_refused(folders: list[SiteFolder]) -> None:
    south = folders[2].folder
    for name in ("south.key", "south.crt"):
        (south / name).unlink()
    make_identity("south", south)
    results = run_all(folders, {}, start_timeout=2.0)
    assert_ended(results, 'site "south" did not connect')
    assert isinstance(results["south"], PartyError)
    assert "see whether it has the certificate" in str(results["south"])


def test_a_server_with_another_certificate_is_refused(folders: list[SiteFolder]) -> None:
    east = folders[0].folder
    for name in ("east.key", "east.crt"):
        (east / name).unlink()
    make_identity("east", east)
    results = run_all(folders, {}, start_timeout=2.0)
    assert_ended(results, "does not have the certificate", ("north", "south"))


def test_expired_certificates_are_named_before_anything_is_sent(folders: list[SiteFolder]) -> None:
    for name in ("south.key", "south.crt"):
        (folders[2].folder / name).unlink()
    start = datetime.now(UTC) - timedelta(days=40)
    expired = make_identity("south", folders[2].folder, 30, start)
    for site in folders[:2]:
        (site.folder / "south.crt").write_bytes(expired.certificate.read_bytes())
    results = run_all(folders, {})
    assert_ended(results, 'the certificate of site "south" is valid from', ("east", "north", "south"))


def test_sites_that_list_other_sites_are_refused(folders: list[SiteFolder], tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    west = make_folders(tmp_path / "more", ["west"])[0]
    (folders[2].folder / "west.crt").write_bytes((west.folder / "west.crt").read_bytes())

    async def run() -> list[object]:
        tasks = [run_part(site, folders, mine, 5, 2.0) for site in folders[:2]]
        tasks.append(run_part(folders[2], [*folders, west], mine, 5, 2.0))
        return await asyncio.gather(*tasks, return_exceptions=True)

    results = dict(zip(("east", "north", "south"), asyncio.run(run()), strict=True))
    assert_ended(results, "lists other sites", ("east", "north", "south"))


def test_a_port_in_use_is_named(folders: list[SiteFolder]) -> None:
    with socket.socket() as port_socket:
        port_socket.bind(("127.0.0.1", folders[0].port))
        port_socket.listen()
        with pytest.raises(PartyError, match="cannot listen"):
            asyncio.run(run_part(folders[0], folders, mine, 1, 1))


def test_keys_are_private_and_never_overwritten(folders: list[SiteFolder]) -> None:
    site = folders[0]
    key = site.folder / "east.key"
    assert key.stat().st_mode & 0o777 == 0o600
    with pytest.raises(DataError, match="exists"):
        make_identity("east", site.folder)
    key.chmod(0o644)
    with pytest.raises(DataError, match="open to other users"):
        asyncio.run(run_part(site, folders, mine, 1, 1))
    (site.folder / "north.crt").write_text("no certificate", encoding="utf-8")
    with pytest.raises(DataError, match="not a certificate"):
        read_site_certificate("north", site.folder / "north.crt")
    with pytest.raises(DataError, match="cannot be read"):
        read_site_certificate("north", site.folder / "missing.crt")
