# SPDX-License-Identifier: MIT
"""One site as a process of its own: join the others, mine, write the result, the statement and the transcript.

The result is written when all sites have confirmed that they found the same, in one step, or not at all. After a
failure nothing is left to continue with: a restart starts anew, with new keys and random numbers.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
from pathlib import Path

from sfumato.errors import PartyError, PolicyError
from sfumato.parties.result import SiteAnswer
from sfumato.parties.site_config import SiteConfig, split_address
from sfumato.parties.transport.tls_network import open_network

TEMPLATE = """\
[site]
name = {name}
address = {address}  # where this site listens
certificate = {certificate}  # give this file to every other site
key = {key}  # keep this file to yourself

[[peer]]  # one for each other site
name = "…"
address = "…:7001"
certificate = "….crt"  # that site's file

[data]
path = "baskets.dat"

[mining]  # the same at every site
task = "horizontal"  # or "vertical", "sums", "contingency", "k_anonymity"
min_support = 0.01
min_confidence = 0.5
floor = 10  # stop before telling the name of an item in fewer of this site's baskets

[network]
timeout = 60  # seconds without a sign of life until a site is given up
start_timeout = 120  # seconds to wait for the other sites to start

[output]
path = "joint"
"""


def run_site(config: SiteConfig) -> SiteAnswer:
    """Run one site to the end, and write what it found."""
    folder = config.output.path
    if folder.exists():
        raise PolicyError(f"{folder}: this folder exists; move it away, or name another one under [output]")
    result = asyncio.run(_run(config))
    write_result(result, folder)
    return result


async def _run(config: SiteConfig) -> SiteAnswer:
    take_part, limit = config.mining.prepare(config.data), config.network.run_timeout
    async with open_network(config.build_connection()) as network:
        try:
            async with asyncio.timeout(limit):
                return await take_part(network)
        except TimeoutError:
            error = PartyError(f"the run took more than {limit:g} s; raise run_timeout at every site")
            network.activity.failure = error  # a computation that still runs ends, too
            raise error from None


def write_result(result: SiteAnswer, folder: Path) -> None:
    """Write a result as one folder that others cannot read, completely or not at all."""
    partial = folder.with_name(f".{folder.name}.{secrets.token_hex(8)}")
    contents = {
        **{f"{name}.json": content for name, content in result.list_contents().items()},
        "statement.json": result.statement.as_json(),
        "transcript.json": result.transcript.as_json(),
    }
    try:
        partial.mkdir(mode=0o700, parents=True)
        for name, content in contents.items():
            text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
            (partial / name).write_text(text, encoding="utf-8")
        (partial / "statement.txt").write_text(f"{result.statement}\n", encoding="utf-8")
        os.rename(partial, folder)  # noqa: PTH104  # refuses a folder with files
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise PartyError(f"{folder}: the result cannot be written ({error.strerror})") from None


def write_site_file(path: Path, name: str, address: str) -> None:
    """Write a site's file to fill in; never over an existing one."""
    split_address(address)
    words = {"name": name, "address": address, "certificate": f"{name}.crt", "key": f"{name}.key"}
    text = TEMPLATE.format(**{key: json.dumps(word, ensure_ascii=False) for key, word in words.items()})
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise PolicyError(f"{path}: this file exists; move it away") from None
