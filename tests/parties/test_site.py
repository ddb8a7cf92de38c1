# SPDX-License-Identifier: MIT
"""Sites as processes of their own: the command line, its files, and killed, stopped and disagreeing processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.commands import app
from sfumato.errors import PolicyError
from sfumato.parties.site_config import SiteConfig
from tests.parties.site_folders import BASKETS, SiteFolder, make_folders, read_output, write_config

StartSite = Callable[[SiteFolder], subprocess.Popen[str]]


@pytest.fixture
def start_site() -> Iterator[StartSite]:
    """Start a site; one that a failed test leaves behind would make the next test fail, too."""
    with ExitStack() as sites:

        def start(site: SiteFolder) -> subprocess.Popen[str]:
            command = [sys.executable, "-m", "sfumato", "party", "--config", str(site.config), "--json"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            sites.enter_context(process)
            sites.callback(process.kill)
            return process

        yield start


def test_three_processes_find_the_rules_of_the_pooled_baskets(tmp_path: Path, start_site: StartSite) -> None:
    folders = make_folders(tmp_path)
    for site in folders:
        write_config(site, folders)
    processes = [start_site(site) for site in folders]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    pooled = sf.Baskets.of([row for rows in BASKETS.values() for row in rows])
    rules = sf.mine.association_rules(pooled, 0.3, 0.75).select("antecedent", "consequent").sort("antecedent")
    for site, (stdout, _) in zip(folders, outputs, strict=True):
        assert json.loads(stdout)["rules"] == rules.to_dicts()
        files = read_output(site)
        assert files["rules.json"] == rules.to_dicts()
        assert files.keys() == {"itemsets.json", "rules.json", "statement.json", "transcript.json"}
        assert site.output.stat().st_mode & 0o777 == 0o700
        assert "BEGIN" not in json.dumps(files)
        assert f'Site "{site.name}" of 3' in (site.output / "statement.txt").read_text(encoding="utf-8")
    with pytest.raises(PolicyError, match="this folder exists"):
        from sfumato.parties.site import run_site

        run_site(SiteConfig.read(folders[0].config))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
@pytest.mark.parametrize("delay", [0.0, 0.2])
def test_a_killed_or_stopped_process_ends_the_others(
    tmp_path: Path, start_site: StartSite, number: signal.Signals, delay: float
) -> None:
    folders = make_folders(tmp_path)
    for site in folders:
        many = [",".join(f"i{(row * step) % 60}" for step in range(1, 9)) for row in range(400)]
        (site.folder / "baskets.csv").write_text("\n".join(many) + "\n", encoding="utf-8")
        write_config(site, folders, timeout=8, min_support=0.02)  # several seconds of work
    processes = [start_site(site) for site in folders]
    victim = processes[2]
    wait_for_connections(victim)
    time.sleep(delay)
    victim.send_signal(number)
    for process in processes[:2]:
        stdout, stderr = process.communicate(timeout=60)
        assert process.returncode == 1, (stdout, stderr)
        assert json.loads(stdout)["error"] == "PartyError"
        assert 'site "' in json.loads(stdout)["message"]
    victim.kill()
    victim.communicate()
    assert not [site for site in folders if site.output.exists()]
    assert not [path for site in folders for path in site.folder.glob(".joint*")]


@pytest.mark.slow
def test_a_restart_after_a_failure_starts_anew(tmp_path: Path, start_site: StartSite) -> None:
    folders = make_folders(tmp_path)
    for site in folders:
        write_config(site, folders, timeout=20)
    processes = [start_site(site) for site in folders]
    wait_for_connections(processes[2])
    processes[2].kill()
    assert [process.wait(60) for process in processes] == [1, 1, -signal.SIGKILL]
    for process in processes:
        process.communicate()
    processes = [start_site(site) for site in folders]
    for process in processes:
        process.communicate(timeout=120)
    assert [process.returncode for process in processes] == [0, 0, 0]
    hashes = {json.loads((site.output / "transcript.json").read_text())["session_sha256"] for site in folders}
    assert len(hashes) == 1


def wait_for_connections(process: subprocess.Popen[str]) -> None:
    """Until the process has two open connections."""
    while process.poll() is None:
        links = []
        for path in Path(f"/proc/{process.pid}/fd").glob("*"):
            with suppress(FileNotFoundError):  # closed since it was listed
                links.append(str(path.readlink()))
        sockets = {link for link in links if link.startswith("socket:")}
        if len(sockets) >= 4:  # two connections, and the two ends of the event loop's own pair
            return
        time.sleep(0.02)


def test_init_writes_a_private_key_a_certificate_and_a_file_to_fill_in(tmp_path: Path) -> None:
    arguments = ["party", "init", "north", "--folder", str(tmp_path), "--address", "127.0.0.1:7009"]
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    paths = json.loads(result.stdout)
    assert Path(paths["key"]).stat().st_mode & 0o777 == 0o600
    assert len(paths["fingerprint"]) == 95
    config = SiteConfig.read(paths["config"])
    assert (config.site.name, config.site.address) == ("north", "127.0.0.1:7009")
    second_result = CliRunner().invoke(app, arguments)
    assert isinstance(second_result.exception, PolicyError)
    assert isinstance(CliRunner().invoke(app, ["party", "init", "../x"]).exception, PolicyError)
    assert isinstance(CliRunner().invoke(app, ["party"]).exception, PolicyError)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[site", "not TOML"),
        ("", "site"),
        ('[site]\nname = "a"\nadress = "x"\n', "address"),
    ],
)
def test_bad_files_are_explained(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "site.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError, match=words) as error_info:
        SiteConfig.read(path)
    assert str(error_info.value).startswith(f"{path}: ")
    assert "SiteConfig" not in str(error_info.value)
    with pytest.raises(PolicyError, match="cannot be read"):
        SiteConfig.read(tmp_path / "missing.toml")


def test_addresses_are_checked(tmp_path: Path) -> None:
    folders = make_folders(tmp_path)
    write_config(folders[0], folders)
    text = folders[0].config.read_text(encoding="utf-8")
    folders[0].config.write_text(text.replace(f"127.0.0.1:{folders[1].port}", "somewhere"), encoding="utf-8")
    with pytest.raises(PolicyError, match="host and a port"):
        SiteConfig.read(folders[0].config).build_connection()
