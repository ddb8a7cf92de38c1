# SPDX-License-Identifier: MIT
"""Sites in processes of their own, joined by TCP with mutual TLS 1.3 and pinned certificates.

Every two sites share one connection: a site connects to those before it in the order of names, and listens for those
after it. A stranger without a pinned certificate is turned away and does not disturb the run. Over each connection both
sites send a random number; the session id is a hash of all of them, so that nobody can replay an old session.

One task for each connection reads frames as they come. When a connection ends before its site said goodbye, or carries
what is no frame or too large, the whole run ends at once with an error that names the site. Between frames, sites give
signs of life (`liveness`). An eavesdropper sees who talks to whom, when and how much.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import DataError, PartyError
from sfumato.parties.transport.certificates import PinnedCertificate, make_context, read_site_certificate
from sfumato.parties.transport.liveness import choose_pause, follow_activity
from sfumato.parties.transport.message import (
    HEAD,
    MOST_BYTES,
    VERSION,
    Envelope,
    FrameHead,
    Message,
    decode_frame,
    decode_head,
    encode_frame,
)
from sfumato.parties.transport.network import ABORT, TIMEOUT, Network, check_sites
from sfumato.runtime.progress import report_progress

START_TIMEOUT = 120.0
"""How many seconds a site waits for the others to start."""
HELLO = "hello"
MOST_WAITING = 256
"""How many frames of a site may wait to be used; then it is not read from, and its sending waits."""
_RETRY_SECONDS = 0.3
_HANDSHAKE_SECONDS = 10.0
_GOODBYE = HEAD.pack(b"sfpt", VERSION, 0, 0)
_WORK_SIGN, _WAIT_SIGN = (HEAD.pack(b"sfpt", VERSION, 0, 1) + sign for sign in (b"c", b"w"))
_PART_BYTES = 1 << 18
"""How much of a frame is a sign of life."""


@dataclass(frozen=True, slots=True)
class SiteAddress:
    """Where a site listens and how to know it."""

    name: str
    host: str
    port: int
    certificate: Path


@dataclass(frozen=True, slots=True)
class ConnectionPlan:
    """What a site needs to join the others."""

    own_site: SiteAddress
    key: Path
    peers: Sequence[SiteAddress]
    timeout: float = TIMEOUT
    start_timeout: float = START_TIMEOUT
    most_bytes: int = MOST_BYTES

    @property
    def sites(self) -> tuple[str, ...]:
        """All sites, in the order of names, which is the same everywhere."""
        return tuple(sorted([self.own_site.name, *(peer.name for peer in self.peers)]))


@dataclass(slots=True)
class Connection:
    """One open connection to a site."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    nonce: str = ""
    """The random number that the other site sent."""


class TlsNetwork(Network):
    """One site's connections to the others."""

    def __init__(self, plan: ConnectionPlan, session: str, connections: Mapping[str, Connection]) -> None:
        """Start to read from every connection."""
        super().__init__(plan.own_site.name, plan.sites, session, plan.timeout, plan.most_bytes)
        self._connections = connections
        self._frames: dict[str, asyncio.Queue[bytes]] = {site: asyncio.Queue(MOST_WAITING) for site in self.other_sites}
        self._waiting_bytes = dict.fromkeys(self.other_sites, 0)
        self._taken_events = {site: asyncio.Event() for site in self.other_sites}
        self._failure: asyncio.Future[PartyError] = asyncio.get_running_loop().create_future()
        self._tasks = [asyncio.create_task(self._read(site)) for site in self.other_sites]
        self._tasks.append(asyncio.create_task(self._give_signs()))

    async def _deliver(self, receiver: str, frame: bytes) -> None:
        writer = self._connections[receiver].writer
        self.activity.waiting_tasks += 1
        try:
            writer.write(frame)
            await drain_writer(writer, self.timeout)
        except TimeoutError:
            raise PartyError(f'site "{receiver}" took nothing for {self.timeout:g} s') from None
        except OSError:
            raise self._get_failure(receiver) from None
        finally:
            self.activity.waiting_tasks -= 1

    async def _give_signs(self) -> None:
        """Tell the others, again and again, whether this site works or waits."""
        while True:
            await asyncio.sleep(choose_pause(self.timeout))
            sign = _WORK_SIGN if self.activity.computing_tasks else _WAIT_SIGN if self.activity.waiting_tasks else None
            for connection in self._connections.values():
                if sign is not None and not connection.writer.is_closing():
                    connection.writer.write(sign)

    async def _fetch(self, sender: str) -> bytes:
        frame = await self._fetch_from_queue(sender)
        self._waiting_bytes[sender] -= len(frame)
        self._taken_events[sender].set()
        return frame

    async def _fetch_from_queue(self, sender: str) -> bytes:
        queue = self._frames[sender]
        if not queue.empty():
            return queue.get_nowait()
        queue_task = asyncio.ensure_future(queue.get())
        try:
            futures: list[asyncio.Future[Any]] = [queue_task, self._failure]
            await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
            if queue_task.done():
                return queue_task.result()
            raise self._failure.result()
        finally:
            queue_task.cancel()

    async def _read(self, site: str) -> None:
        """Read frames of a site until it says goodbye; anything else is a failure of the run."""
        try:
            while (frame := await self._read_frame(site)) != _GOODBYE:
                if frame not in (_WORK_SIGN, _WAIT_SIGN):
                    _raise_abort(frame, self.most_bytes)
                    await self._keep(site, frame)
        except PartyError as error:
            self._fail(PartyError(f'site "{site}": {error}'))
        except (OSError, EOFError):
            self._fail(PartyError(f'site "{site}": the connection ended before the run did'))

    async def _keep(self, site: str, frame: bytes) -> None:
        """Put a frame where it waits to be used, as soon as those that wait leave room below the limit."""
        while self._waiting_bytes[site] and self._waiting_bytes[site] + len(frame) > self.most_bytes:
            self._taken_events[site].clear()
            await self._taken_events[site].wait()
        self._waiting_bytes[site] += len(frame)
        await self._frames[site].put(frame)

    async def _read_frame(self, site: str) -> bytes:
        frame = await read_network_frame(
            self._connections[site].reader, self.most_bytes, lambda: self.signs.note(site, is_work=True)
        )
        self.signs.note(site, is_work=frame != _WAIT_SIGN)
        return frame

    def _fail(self, error: PartyError) -> None:
        if not self._failure.done():
            self.activity.failure = error
            self._failure.set_result(error)

    def _get_failure(self, site: str) -> PartyError:
        if self._failure.done():
            return self._failure.result()
        return PartyError(f'site "{site}": the connection ended before the run did')

    async def close(self, is_finished: bool) -> None:
        """Close all connections, with a goodbye if the run finished."""
        for task in self._tasks:
            task.cancel()
        for connection in self._connections.values():
            with suppress(OSError):
                if is_finished:
                    connection.writer.write(_GOODBYE)
                    await asyncio.wait_for(connection.writer.drain(), 2.0)
                connection.writer.close()
        for connection in self._connections.values():
            with suppress(OSError, TimeoutError):
                await asyncio.wait_for(connection.writer.wait_closed(), 2.0)


async def drain_writer(writer: asyncio.StreamWriter, timeout: float) -> None:
    """Wait until what was written is on its way; a TimeoutError if no part of it was within the timeout."""
    while True:
        buffer_size = writer.transport.get_write_buffer_size()
        try:
            async with asyncio.timeout(timeout):
                return await writer.drain()
        except TimeoutError:
            if writer.transport.get_write_buffer_size() >= buffer_size:
                raise


async def read_network_frame(
    reader: asyncio.StreamReader, most_bytes: int, note_part: Callable[[], None] | None = None
) -> bytes:
    """The bytes of the next frame; its size is checked before it is read. `note_part` is called for parts of it."""
    head = await reader.readexactly(HEAD.size)
    lengths: FrameHead = decode_head(head, most_bytes)
    parts, remaining_bytes = [head], lengths.header_bytes + lengths.body_bytes
    while remaining_bytes > _PART_BYTES:
        parts.append(await reader.readexactly(_PART_BYTES))
        remaining_bytes -= _PART_BYTES
        if note_part is not None:
            note_part()
    return b"".join([*parts, await reader.readexactly(remaining_bytes)])


def _raise_abort(frame: bytes, most_bytes: int) -> None:
    _, message = decode_frame(frame, most_bytes)
    if message.kind == ABORT:
        raise PartyError(f"it stopped: {message.facts.get('reason', 'no reason given')}")


@asynccontextmanager
async def open_network(plan: ConnectionPlan) -> AsyncIterator[TlsNetwork]:
    """Join the other sites; on an error, tell them that this one stops."""
    check_sites(plan.own_site.name, plan.sites)
    handshake = _Handshake(plan)
    connections = await handshake.join()
    nonces = {plan.own_site.name: handshake.nonce} | {
        site: connection.nonce for site, connection in connections.items()
    }
    text = "|".join(f"{site}={nonces[site]}" for site in plan.sites)
    session = hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
    network, is_finished = TlsNetwork(plan, session, connections), False
    try:
        with follow_activity(network.activity):
            yield network
        is_finished = True
    except Exception:
        await network.abort("it could not go on; its own message says why")
        raise
    finally:
        await network.close(is_finished)


class _Handshake:
    """Opens a connection to every other site: connects to those before, listens for those after."""

    def __init__(self, plan: ConnectionPlan) -> None:
        self.connection, self.nonce = plan, secrets.token_hex(16)
        site = plan.own_site
        if not site.certificate.exists():
            raise DataError(
                f"{site.certificate}: this site's own certificate does not exist; `sfumato party init {site.name}` "
                "makes it, with the key"
            )
        read_site_certificate(site.name, site.certificate)
        self.pinned_certificates = {
            peer.name: read_site_certificate(peer.name, peer.certificate) for peer in plan.peers
        }
        if len({certificate.der for certificate in self.pinned_certificates.values()}) < len(self.pinned_certificates):
            raise PartyError("two sites have the same certificate; each needs its own")
        self.arrivals: dict[str, asyncio.Future[Connection]] = {}
        self.closing_sites: set[str] = set()

    def make_context(self, pinned_certificates: list[PinnedCertificate], is_server: bool) -> ssl.SSLContext:
        return make_context(self.connection.own_site.certificate, self.connection.key, pinned_certificates, is_server)

    async def join(self) -> dict[str, Connection]:
        site, loop = self.connection.own_site, asyncio.get_running_loop()
        peers = {peer.name: peer for peer in self.connection.peers}
        later_names = [name for name in peers if name > site.name]
        self.arrivals = {name: loop.create_future() for name in later_names}
        server = await self._listen() if later_names else None
        dial_tasks = [asyncio.create_task(self._dial(peers[name])) for name in peers if name < site.name]
        accept_tasks = [asyncio.create_task(self._expect(name)) for name in later_names]
        try:
            return dict(sorted(await asyncio.gather(*dial_tasks, *accept_tasks)))
        except BaseException:
            for task in (*dial_tasks, *accept_tasks):
                task.cancel()
            outcomes = await asyncio.gather(*dial_tasks, *accept_tasks, return_exceptions=True)
            for outcome in outcomes:
                if not isinstance(outcome, BaseException):
                    outcome[1].writer.close()
            raise
        finally:
            if server is not None:
                server.close()

    async def _listen(self) -> asyncio.Server:
        site = self.connection.own_site
        context = self.make_context([self.pinned_certificates[name] for name in self.arrivals], is_server=True)
        try:
            return await asyncio.start_server(
                self._welcome, site.host, site.port, ssl=context, ssl_handshake_timeout=_HANDSHAKE_SECONDS
            )
        except OSError as error:
            raise PartyError(
                f"this site cannot listen on {site.host}:{site.port} ({error.strerror}); choose another address, here "
                "and in the files of the other sites"
            ) from None

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a connection if its certificate is that of a site that is still missing; else close it."""
        connection = Connection(reader, writer)
        name = next((name for name in self.arrivals if self._is_certified(writer, name)), None)
        if name is None or self.arrivals[name].done():
            writer.close()
            return
        try:
            await self._greet(connection, name)
        except (PartyError, OSError, EOFError, TimeoutError) as error:
            writer.close()
            if isinstance(error, PartyError) and not self.arrivals[name].done():
                self.arrivals[name].set_exception(PartyError(f'site "{name}": {error}'))
            return
        if self.arrivals[name].done():
            writer.close()
        else:
            self.arrivals[name].set_result(connection)

    async def _expect(self, name: str) -> tuple[str, Connection]:
        report_progress(f'waiting for site "{name}"')
        limit = self.connection.start_timeout
        try:
            return name, await asyncio.wait_for(self.arrivals[name], limit)
        except TimeoutError:
            raise PartyError(
                f'site "{name}" did not connect within {limit:g} s; see whether it runs, and whether it has the '
                "certificate that this site knows it by"
            ) from None

    async def _dial(self, peer: SiteAddress) -> tuple[str, Connection]:
        """Connect to a site, again and again until it listens."""
        report_progress(f'connecting to site "{peer.name}"')
        context = self.make_context([self.pinned_certificates[peer.name]], is_server=False)
        limit = self.connection.start_timeout
        try:
            async with asyncio.timeout(limit):
                return peer.name, await self._dial_repeatedly(peer, context)
        except TimeoutError:
            cure = (
                f"it closed the connection: see whether it has the certificate {self.connection.own_site.certificate}"
                if peer.name in self.closing_sites
                else "see whether it runs there"
            )
            raise PartyError(
                f'site "{peer.name}" could not be reached at {peer.host}:{peer.port} within {limit:g} s; {cure}'
            ) from None

    async def _dial_repeatedly(self, peer: SiteAddress, context: ssl.SSLContext) -> Connection:
        while True:
            try:
                streams = await asyncio.open_connection(
                    peer.host, peer.port, ssl=context, ssl_handshake_timeout=_HANDSHAKE_SECONDS
                )
            except ssl.SSLError as error:
                raise PartyError(
                    f'site "{peer.name}" at {peer.host}:{peer.port} does not have the certificate that this site knows '
                    f"it by ({error.reason or 'it cannot be verified'}); ask it for its new one"
                ) from None
            except OSError:
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            connection = Connection(*streams)
            try:
                if not self._is_certified(connection.writer, peer.name):
                    raise PartyError("its certificate is another site's")
                await self._greet(connection, peer.name)
                return connection
            except PartyError as error:
                connection.writer.close()
                raise PartyError(f'site "{peer.name}": {error}') from None
            except (OSError, EOFError):  # it is ending or not ready, or does not know this site's certificate
                self.closing_sites.add(peer.name)
                connection.writer.close()
                await asyncio.sleep(_RETRY_SECONDS)

    def _is_certified(self, writer: asyncio.StreamWriter, name: str) -> bool:
        tls = writer.get_extra_info("ssl_object")
        return tls is not None and tls.getpeercert(binary_form=True) == self.pinned_certificates[name].der

    async def _greet(self, connection: Connection, name: str) -> None:
        """Exchange random numbers."""
        own_name = self.connection.own_site.name
        hello = Message(HELLO, facts={"nonce": self.nonce, "sites": ", ".join(self.connection.sites)})
        connection.writer.write(encode_frame(Envelope(HELLO, own_name, name, 0), hello))
        async with asyncio.timeout(_HANDSHAKE_SECONDS):
            await connection.writer.drain()
            frame = await read_network_frame(connection.reader, 1 << 14)
        envelope, message = decode_frame(frame)
        if envelope != Envelope(HELLO, name, own_name, 0) or message.kind != HELLO:
            raise PartyError("it did not greet this site by its name")
        if message.get_fact("sites", str) != ", ".join(self.connection.sites):
            raise PartyError("it lists other sites than this site; list the same sites everywhere")
        connection.nonce = message.get_fact("nonce", str)
        if len(connection.nonce) != len(self.nonce):
            raise PartyError("its random number has another length")
