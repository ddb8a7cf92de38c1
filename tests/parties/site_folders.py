# SPDX-License-Identifier: MIT
"""Sites on this machine, each with its folder, certificates and baskets."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.parties.transport.certificates import make_identity
from sfumato.parties.transport.tls_network import ConnectionPlan, SiteAddress

NAMES = ("east", "north", "south")
BASKETS = {
    "east": [["asthma", "flu"], ["asthma", "flu", "gout"], ["flu"]],
    "north": [["asthma", "flu"], ["diabetes"], ["asthma", "flu", "diabetes"]],
    "south": [["gout", "flu"], ["asthma", "flu"], ["hepatitis"]],
}


@dataclass(frozen=True)
class SiteFolder:
    name: str
    port: int
    folder: Path
    host: str = "127.0.0.1"

    @property
    def config(self) -> Path:
        return self.folder / "site.toml"

    @property
    def output(self) -> Path:
        return self.folder / "joint"


def find_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for listener in sockets:
        listener.bind(("127.0.0.1", 0))
    ports = [server.getsockname()[1] for server in sockets]
    for listener in sockets:
        listener.close()
    return ports


def make_folders(base: Path, names: Sequence[str] = NAMES, days: int = 30) -> list[SiteFolder]:
    """Folders with keys, every site's certificate, and baskets of comma lines."""
    folders = [SiteFolder(name, port, base / name) for name, port in zip(names, find_ports(len(names)), strict=True)]
    for site in folders:
        site.folder.mkdir()
        make_identity(site.name, site.folder, days)
    for site in folders:
        for other in folders:
            if other != site:
                shutil.copy(other.folder / f"{other.name}.crt", site.folder)
        rows = [",".join(row) for row in BASKETS.get(site.name, [])]
        (site.folder / "baskets.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folders


def write_config(
    site: SiteFolder, folders: Sequence[SiteFolder], mining: str = "", timeout: float = 30, min_support: float = 0.3
) -> None:
    peers = "".join(
        f'[[peer]]\nname = "{other.name}"\naddress = "{other.host}:{other.port}"\ncertificate = "{other.name}.crt"\n'
        for other in folders
        if other != site
    )
    site.config.write_text(
        f'[site]\nname = "{site.name}"\naddress = "{site.host}:{site.port}"\n'
        f'certificate = "{site.name}.crt"\nkey = "{site.name}.key"\n'
        f'{peers}[data]\npath = "baskets.csv"\nformat = "comma"\n'
        f"[mining]\nmin_support = {min_support}\nmin_confidence = 0.75\n{mining}"
        f"[network]\ntimeout = {timeout}\nstart_timeout = {timeout}\n",
        encoding="utf-8",
    )


def make_connecting(
    site: SiteFolder, folders: Sequence[SiteFolder], timeout: float = 20, start_timeout: float = 20
) -> ConnectionPlan:
    def locate(other: SiteFolder) -> SiteAddress:
        return SiteAddress(other.name, "127.0.0.1", other.port, site.folder / f"{other.name}.crt")

    peers = [locate(other) for other in folders if other != site]
    return ConnectionPlan(locate(site), site.folder / f"{site.name}.key", peers, timeout, start_timeout)


def read_output(site: SiteFolder) -> dict[str, object]:
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in site.output.glob("*.json")}
