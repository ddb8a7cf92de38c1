# SPDX-License-Identifier: MIT
"""Vertical mining by sites that are processes of their own, one with a table and one with baskets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.errors import PolicyError
from sfumato.parties.site_config import SiteConfig, VerticalSection
from tests.parties.site_folders import SiteFolder, make_folders, read_output, write_config

MINING = 'task = "vertical"\nfloor = 2\n'


def write_site(site: SiteFolder, folders: list[SiteFolder], data: str, mining: str = MINING) -> None:
    write_config(site, folders, mining)
    text = site.config.read_text(encoding="utf-8")
    site.config.write_text(text.replace('path = "baskets.csv"\nformat = "comma"\n', data), encoding="utf-8")


def test_two_processes_find_rules_between_a_table_and_baskets(tmp_path: Path) -> None:
    clinic, insurer = folders = make_folders(tmp_path, ("clinic", "insurer"))
    ill = [row % 3 > 0 for row in range(30)]
    rows = [f"{row + 100},{'yes' if is_ill else 'no'}" for row, is_ill in enumerate(ill)]
    (clinic.folder / "table.csv").write_text("\n".join(["patient,ill", *rows]) + "\n", encoding="utf-8")
    claims = [f"{row + 100},claim" for row in reversed(range(30)) if ill[row]] + ["999,claim"]
    (insurer.folder / "long.csv").write_text("\n".join(["id,item", *claims]) + "\n", encoding="utf-8")
    write_site(clinic, folders, 'path = "table.csv"\nshape = "table"\nid = "patient"\n')
    write_site(insurer, folders, 'path = "long.csv"\nformat = "long"\n')
    command = [sys.executable, "-m", "sfumato", "party", "--json", "--config"]
    processes = [
        subprocess.Popen([*command, str(site.config)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for site in folders
    ]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    for site, (stdout, _) in zip(folders, outputs, strict=True):
        rules = json.loads(stdout)["rules"]
        assert {"antecedent": ["ill=yes"], "consequent": ["claim"]} in rules
        assert read_output(site)["rules.json"] == rules
        assert "999" not in (site.output / "statement.txt").read_text(encoding="utf-8")


def test_the_task_is_chosen_in_the_file(tmp_path: Path) -> None:
    (site, _) = folders = make_folders(tmp_path, ("clinic", "insurer"))
    write_site(site, folders, 'path = "table.csv"\nshape = "table"\n')
    config = SiteConfig.read(site.config)
    assert isinstance(config.mining, VerticalSection)
    write_config(site, folders)
    assert SiteConfig.read(site.config).mining.task == "horizontal"
    write_config(site, folders, 'task = "diagonal"\n')
    with pytest.raises(PolicyError, match="horizontal"):
        SiteConfig.read(site.config)
    write_site(site, folders, 'path = "table.csv"\nshape = "table"\n', "")
    config = SiteConfig.read(site.config)
    with pytest.raises(PolicyError, match="horizontal mining needs baskets"):
        config.mining.prepare(config.data)
