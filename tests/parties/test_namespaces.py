# SPDX-License-Identifier: MIT
"""Sites on machines of their own, as network namespaces joined by a bridge: they mine, and a cable is cut.

A cut cable closes no connection: nothing arrives any more, and only silence tells.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import sfumato as sf
from tests.parties.site_folders import BASKETS, SiteFolder, make_folders, read_output, write_config

pytestmark = pytest.mark.slow
TOOLS = ("unshare", "nsenter", "ip")


@dataclass(frozen=True)
class Machine:
    """A process that keeps a network namespace open."""

    pid: int

    def command(self, *words: str) -> list[str]:
        return ["nsenter", "--target", str(self.pid), "--user", "--net", "--preserve-credentials", *words]

    def run(self, *words: str) -> None:
        result = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=20, check=False)
        if result.returncode:
            pytest.skip(f"network namespaces cannot be joined here: {result.stderr.strip()}")


@contextmanager
def hold_namespace(command: list[str], outer: str = "self") -> Iterator[Machine]:
    """A namespace as long as the block lasts, other than ours and that of the process `outer`."""
    process = subprocess.Popen([*command, "sleep", "600"], stderr=subprocess.DEVNULL)
    try:
        known_namespaces = {Path(f"/proc/{name}/ns/net").readlink() for name in ("self", outer)}
        deadline = time.monotonic() + 10
        while process.poll() is None and time.monotonic() < deadline:
            if Path(f"/proc/{process.pid}/ns/net").readlink() not in known_namespaces:
                break
            time.sleep(0.02)
        else:
            pytest.skip("network namespaces cannot be made here, which needs user namespaces or root")
        yield Machine(process.pid)
    finally:
        process.kill()
        process.wait()


@contextmanager
def join_machines(count: int) -> Iterator[tuple[Machine, list[Machine]]]:
    """A switch, and machines that are joined to it by cables c0, c1 …, with addresses 10.77.0.1, 10.77.0.2 …"""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"network namespaces need {', '.join(missing)}")
    with ExitStack() as stack:
        switch = stack.enter_context(hold_namespace(["unshare", "--user", "--map-root-user", "--net"]))
        switch.run("ip", "link", "add", "bridge", "type", "bridge")
        switch.run("ip", "link", "set", "bridge", "up")
        machines = []
        for number in range(count):
            machine = stack.enter_context(hold_namespace(switch.command("unshare", "--net"), str(switch.pid)))
            cable = f"c{number}"
            end = ("peer", "name", "eth0", "netns", str(machine.pid))
            switch.run("ip", "link", "add", cable, "type", "veth", *end)
            switch.run("ip", "link", "set", cable, "master", "bridge", "up")
            machine.run("ip", "address", "add", f"10.77.0.{number + 1}/24", "dev", "eth0")
            machine.run("ip", "link", "set", "eth0", "up")
            machines.append(machine)
        yield switch, machines


def start_sites(folders: list[SiteFolder], machines: list[Machine]) -> list[subprocess.Popen[str]]:
    words = (sys.executable, "-m", "sfumato", "party", "--json", "--config")
    return [
        subprocess.Popen(
            machine.command(*words, str(site.config)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for site, machine in zip(folders, machines, strict=True)
    ]


def make_sites(base: Path, timeout: float) -> list[SiteFolder]:
    folders = [replace(site, host=f"10.77.0.{number + 1}") for number, site in enumerate(make_folders(base))]
    for site in folders:
        write_config(site, folders, timeout=timeout)
    return folders


def test_sites_on_machines_of_their_own_find_the_pooled_rules(tmp_path: Path) -> None:
    with join_machines(3) as (_, machines):
        folders = make_sites(tmp_path, timeout=60)
        processes = start_sites(folders, machines)
        outputs = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    pooled = sf.Baskets.of([row for rows in BASKETS.values() for row in rows])
    rules = sf.mine.association_rules(pooled, 0.3, 0.75).select("antecedent", "consequent").sort("antecedent")
    assert all(read_output(site)["rules.json"] == rules.to_dicts() for site in folders)


def wait_for_traffic(switch: Machine, cable: str, process: subprocess.Popen[str]) -> None:
    """Until more has come over a cable than greetings: the run is under way."""
    while process.poll() is None:
        result = subprocess.run(
            switch.command("ip", "-s", "-j", "link", "show", cable), capture_output=True, check=True
        )
        if json.loads(result.stdout)[0]["stats64"]["rx"]["bytes"] > 60_000:
            return
        time.sleep(0.02)


def test_a_cut_cable_ends_all_sites_without_a_result(tmp_path: Path) -> None:
    with join_machines(3) as (switch, machines):
        folders = make_sites(tmp_path, timeout=8)
        for site in folders:
            many = [",".join(f"i{(row * step) % 60}" for step in range(1, 9)) for row in range(400)]
            (site.folder / "baskets.csv").write_text("\n".join(many) + "\n", encoding="utf-8")
            text = site.config.read_text(encoding="utf-8")
            text = text.replace("min_support = 0.3", "min_support = 0.02")
            site.config.write_text(text.replace("start_timeout = 8", "start_timeout = 60"), encoding="utf-8")
        processes = start_sites(folders, machines)
        wait_for_traffic(switch, "c2", processes[2])
        switch.run("ip", "link", "set", "c2", "down")
        outputs = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [1, 1, 1], outputs
    for stdout, _ in outputs:
        assert json.loads(stdout)["error"] == "PartyError"
        assert "for 8 s" in json.loads(stdout)["message"] or "it stopped" in json.loads(stdout)["message"]
    assert not [site for site in folders if site.output.exists()]
