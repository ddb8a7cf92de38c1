# SPDX-License-Identifier: MIT
"""The file that describes one site: who it is, who the others are, its data, and what they ask together."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, field_validator

from sfumato.baskets import BasketFormat, Baskets
from sfumato.data.reading.near_files import explain_unreadable
from sfumato.description import Description
from sfumato.errors import DataError, PolicyError
from sfumato.parties.horizontal import JointQuestion, mine_site
from sfumato.parties.joint_anonymity import check_joint_k, check_site
from sfumato.parties.joint_sums import SumQuestion, add_site_columns, check_columns
from sfumato.parties.joint_table import TableQuestion, count_site_combinations
from sfumato.parties.protocols.scalar_product import FLOOR
from sfumato.parties.protocols.threshold import Protocol
from sfumato.parties.result import SiteAnswer
from sfumato.parties.transport.message import MOST_BYTES
from sfumato.parties.transport.network import TIMEOUT, Network
from sfumato.parties.transport.tls_network import START_TIMEOUT, ConnectionPlan, SiteAddress
from sfumato.parties.vertical import MAX_QUESTIONS, VerticalProtocol, VerticalQuestion, mine_vertical_site
from sfumato.table import Table

RUN_TIMEOUT = 21_600.0
"""How many seconds a whole run may take unless a site says otherwise."""


class SiteSection(Description):
    """This site."""

    name: str = Field(min_length=1, max_length=64)
    """The name that all sites know it by."""
    address: str
    """Where it listens: `host:port`."""
    certificate: Path
    """Its certificate, which every other site has."""
    key: Path
    """Its key, which nobody else has."""


class PeerSection(Description):
    """Another site."""

    name: str = Field(min_length=1, max_length=64)
    """Its name."""
    address: str
    """Where it listens: `host:port`."""
    certificate: Path
    """Its certificate, which that site made and handed over."""


class BasketSection(Description):
    """This site's baskets, or its table of attributes."""

    path: Path
    """A file of baskets, or of a table."""
    shape: Literal["baskets", "table"] = "baskets"
    """Whether it holds `baskets` or a `table`, whose cells become items `column=value`; for vertical mining."""
    format: BasketFormat | None = None
    """`fimi`, `spmf`, `long` or `comma`; detected if omitted."""
    id: str = "id"
    """The basket column of a long-form file, or the key column of a table."""
    item: str = "item"
    """The item column of a long-form file."""


class HorizontalSection(Description):
    """Association rules over baskets that are split by rows. Every site gives the same values."""

    task: Literal["horizontal"] = "horizontal"
    min_support: int | float
    """A count of baskets over all sites, or a share of all of them."""
    min_confidence: float | None = None
    """The confidence from which a rule counts; itemsets only if omitted."""
    protocol: Protocol = "shamir"
    """`shamir`, `textbook` or `counts`."""
    max_length: int | None = None
    """The most items of an itemset."""
    name_bytes: int = 64
    """The most bytes of an item's name."""
    floor: int = 1
    """This site does not take part if it would tell the name of an item in fewer of its baskets; may differ."""

    def prepare(self, data: BasketSection) -> Callable[[Network], Awaitable[SiteAnswer]]:
        """Check the question and read the data, before any other site is called; then this site's part."""
        if data.shape == "table":
            raise PolicyError("horizontal mining needs baskets, not a table; write a column of items in long form")
        question = JointQuestion(
            self.min_support, self.min_confidence, self.protocol, self.max_length, self.name_bytes, self.floor
        )
        baskets = Baskets.read(data.path, data.format, id=data.id, item=data.item)
        return lambda network: mine_site(network, baskets, question)


def read_attributes(data: BasketSection) -> Baskets | Table:
    """This site's baskets or table."""
    if data.shape == "baskets":
        return Baskets.read(data.path, data.format, id=data.id, item=data.item)
    return Table.read(data.path)


class VerticalSection(Description):
    """Association rules over people whose attributes are split between sites. Every site gives the same values."""

    task: Literal["vertical"] = "vertical"
    min_support: int | float
    """A count of the rows that all sites have, or a share of them."""
    min_confidence: float | None = None
    """The confidence from which a rule counts; itemsets only if omitted."""
    align: Literal["key", "number"] = "key"
    """By `key`, privately, or by row `number` if row 1 is the same person at every site."""
    protocol: VerticalProtocol | None = None
    """`packed` (two sites), `shamir` (more), `textbook` (for study); chosen by the number of sites if omitted."""
    max_length: int | None = None
    """The most items of an itemset."""
    floor: int = FLOOR
    """The smallest support that may be asked about."""
    max_questions: int = MAX_QUESTIONS
    """The most itemsets with items at several sites that may be tested."""

    def prepare(self, data: BasketSection) -> Callable[[Network], Awaitable[SiteAnswer]]:
        """Check the question and read the data, before any other site is called; then this site's part."""
        question = VerticalQuestion(
            self.min_support,
            self.min_confidence,
            self.protocol,
            data.id if self.align == "key" else None,
            self.max_length,
            self.floor,
            self.max_questions,
        )
        site_data = read_attributes(data)
        return lambda network: mine_vertical_site(network, site_data, question)


def read_table(data: BasketSection, task: str) -> Table:
    """This site's table; an error if its data are baskets."""
    if data.shape != "table":
        raise PolicyError(f'the task "{task}" needs a table; write shape = "table" under [data]')
    return Table.read(data.path)


class SumsSection(Description):
    """Totals and means of columns over the tables of all sites. Every site gives the same values."""

    task: Literal["sums"] = "sums"
    columns: tuple[str, ...]
    """Columns of numbers."""
    decimals: int = 0
    """How many decimal places the cells have at most."""
    floor: int = FLOOR
    """How many cells must remain with any one site removed, before a total is disclosed."""

    def prepare(self, data: BasketSection) -> Callable[[Network], Awaitable[SiteAnswer]]:
        """Check the question and read the data, before any other site is called; then this site's part."""
        question = SumQuestion(self.columns, self.decimals, self.floor)
        table = read_table(data, self.task)
        return lambda network: add_site_columns(network, table, question)


class ContingencySection(Description):
    """How many people of all sites have each combination of values. Every site gives the same values."""

    task: Literal["contingency"] = "contingency"
    categories: dict[str, tuple[str, ...]]
    """For each column, its possible values as text."""
    floor: int = FLOOR
    """How many people must remain in a combination with any one site removed, before its count is disclosed."""

    def prepare(self, data: BasketSection) -> Callable[[Network], Awaitable[SiteAnswer]]:
        """Check the question and read the data, before any other site is called; then this site's part."""
        question = TableQuestion(self.categories, self.floor)
        table = read_table(data, self.task)
        return lambda network: count_site_combinations(network, table, question)


class AnonymitySection(Description):
    """Whether the tables of all sites are k-anonymous together. Every site gives the same values."""

    task: Literal["k_anonymity"] = "k_anonymity"
    k: int
    """How many rows each class needs."""
    columns: tuple[str, ...]
    """The quasi-identifying columns."""

    def prepare(self, data: BasketSection) -> Callable[[Network], Awaitable[SiteAnswer]]:
        """Check the question and read the data, before any other site is called; then this site's part."""
        check_joint_k(self.k)
        check_columns(self.columns)
        table = read_table(data, self.task)
        missing = [column for column in self.columns if column not in table.frame.columns]
        if missing:
            raise DataError(f'{table.source}: there is no column "{missing[0]}"')
        roles = {
            column: "quasi_identifying" if column in self.columns else "insensitive" for column in table.frame.columns
        }
        site_table = Table.of(table.frame, roles=roles, source=table.source)
        return lambda network: check_site(network, site_table, self.k)


class NetworkSection(Description):
    """How long to wait, and for how much."""

    timeout: float = Field(default=TIMEOUT, gt=0, le=86_400)
    """Seconds without a sign of life until a site is given up; work of any length is waited for."""
    run_timeout: float = Field(default=RUN_TIMEOUT, gt=0, le=604_800)
    """Seconds that the whole run may take, once all sites have started."""
    start_timeout: float = Field(default=START_TIMEOUT, gt=0, le=86_400)
    """Seconds to wait for the other sites to start."""
    max_message_bytes: int = Field(default=MOST_BYTES, ge=1 << 16, le=1 << 31)
    """The largest message that is accepted."""


class ResultSection(Description):
    """Where the result goes."""

    path: Path = Path("joint")
    """A folder that does not exist yet."""


class SiteConfig(Description):
    """One site of a joint mining job."""

    site: SiteSection
    """This site."""
    peer: tuple[PeerSection, ...] = Field(min_length=1)
    """The other sites."""
    data: BasketSection
    """This site's data."""
    mining: Annotated[
        HorizontalSection | VerticalSection | SumsSection | ContingencySection | AnonymitySection,
        Field(discriminator="task"),
    ]
    """What the sites ask together: the task is `horizontal` if omitted; see the other sections."""
    network: Annotated[NetworkSection, Field(default_factory=NetworkSection)]
    """Timeouts and limits."""
    output: Annotated[ResultSection, Field(default_factory=ResultSection)]
    """Where the result goes."""

    @field_validator("mining", mode="before")
    @classmethod
    def _assume_horizontal(cls, mining: Any) -> Any:
        return {"task": "horizontal", **mining} if isinstance(mining, dict) else mining

    @classmethod
    def read(cls, path: str | Path) -> SiteConfig:
        """Read a site's file; paths in it are relative to its folder."""
        file = Path(path)
        try:
            text = file.read_text(encoding="utf-8-sig")
            content = tomllib.loads(text)
        except OSError as error:
            raise PolicyError(
                f"{file}: the file of the site, such as `sfumato party init` writes, cannot be read "
                f"{explain_unreadable(error, file)}"
            ) from None
        except ValueError as error:
            reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is not UTF-8"
            has_single = isinstance(error, tomllib.TOMLDecodeError) and re.search(r"^\s*\[peer\]", text, re.MULTILINE)
            cure = "; each other site has its own [[peer]], with double brackets" if has_single else ""
            raise PolicyError(f"{file}: this is not TOML ({reason}){cure}") from None
        if "protect" in content and "site" not in content:
            raise PolicyError(f"{file}: this is a policy, not the file of a site; type: sfumato run {file}")
        try:
            if isinstance(mining := content.get("mining"), dict):  # else errors could not name its fields
                content["mining"] = {"task": "horizontal", **mining}
            config = cls(**content)
            config._check_names()
            return config._locate_files(file.parent)
        except (PolicyError, TypeError) as error:
            raise PolicyError(f"{file}: {str(error).removeprefix(f'{cls.__name__}: ')}") from None

    def build_connection(self) -> ConnectionPlan:
        """How to join the other sites."""
        peers = [SiteAddress(peer.name, *split_address(peer.address), peer.certificate) for peer in self.peer]
        site = SiteAddress(self.site.name, *split_address(self.site.address), self.site.certificate)
        limits = self.network
        return ConnectionPlan(
            site, self.site.key, peers, limits.timeout, limits.start_timeout, limits.max_message_bytes
        )

    def _check_names(self) -> None:
        names = [self.site.name, *(peer.name for peer in self.peer)]
        if len(set(names)) < len(names):
            raise PolicyError("two sites have the same name; give each its own")

    def _locate_files(self, base: Path) -> SiteConfig:
        peers = tuple(peer.model_copy(update={"certificate": base / peer.certificate}) for peer in self.peer)
        site_paths = {"certificate": base / self.site.certificate, "key": base / self.site.key}
        return self.model_copy(
            update={
                "site": self.site.model_copy(update=site_paths),
                "peer": peers,
                "data": self.data.model_copy(update={"path": base / self.data.path}),
                "output": self.output.model_copy(update={"path": base / self.output.path}),
            }
        )


class HostPort(NamedTuple):
    """Where a site listens."""

    host: str
    port: int


def split_address(address: str) -> HostPort:
    """The host and the port of `host:port`."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise PolicyError('an address is a host and a port, such as "10.0.0.7:7001"')
    return HostPort(host.strip("[]"), int(port))
