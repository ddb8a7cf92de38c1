# SPDX-License-Identifier: MIT
"""Sums, contingency tables and k-anonymity as tasks of a site's file, on real sockets, with files as the result."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from sfumato.errors import DataError, PartyError, PolicyError
from sfumato.parties.result import SiteAnswer
from sfumato.parties.site import _run, write_result
from sfumato.parties.site_config import SiteConfig
from tests.parties.site_folders import SiteFolder, make_folders, write_config

TASKS = {
    "sums": 'task = "sums"\ncolumns = ["cost"]\ndecimals = 1\n',
    "counts": 'task = "contingency"\ncategories = { sex = ["f", "m"] }\nfloor = 8\n',
    "k_anonymity": 'task = "k_anonymity"\nk = 10\ncolumns = ["sex"]\n',
}
EXPECTED = {
    "sums": [{"column": "cost", "total": 45.0, "count": 30, "mean": 1.5}],
    "counts": [{"sex": "f", "count": 12}, {"sex": "m", "count": 18}],
    "k_anonymity": [{"k": 10, "holds": True}],
}


def write_site(site: SiteFolder, folders: list[SiteFolder], mining: str, shape: str = "table") -> SiteConfig:
    rows = [f"{'f' if row < 4 else 'm'},1.5" for row in range(10)]
    (site.folder / "table.csv").write_text("\n".join(["sex,cost", *rows]) + "\n", encoding="utf-8")
    write_config(site, folders)
    text = site.config.read_text(encoding="utf-8")
    text = text.replace('path = "baskets.csv"\nformat = "comma"\n', f'path = "table.csv"\nshape = "{shape}"\n')
    text = text.replace("min_support = 0.3\nmin_confidence = 0.75\n", mining)
    site.config.write_text(text, encoding="utf-8")
    return SiteConfig.read(site.config)


@pytest.mark.parametrize("task", list(TASKS))
def test_every_task_is_run_by_sites_and_written(tmp_path: Path, task: str) -> None:
    folders = make_folders(tmp_path)
    configs = [write_site(site, folders, TASKS[task]) for site in folders]

    async def run() -> list[SiteAnswer]:
        return await asyncio.gather(*map(_run, configs))

    for site, answer in zip(folders, asyncio.run(run()), strict=True):
        write_result(answer, site.output)
        assert answer.as_json()[task] == EXPECTED[task]
        assert json.loads((site.output / f"{task}.json").read_text(encoding="utf-8")) == EXPECTED[task]
        files = {path.name for path in site.output.iterdir()}
        assert files == {f"{task}.json", "statement.json", "statement.txt", "transcript.json"}


@pytest.mark.parametrize("task", list(TASKS))
def test_tasks_on_tables_refuse_baskets(tmp_path: Path, task: str) -> None:
    folders = make_folders(tmp_path)
    config = write_site(folders[0], folders, TASKS[task], shape="baskets")
    with pytest.raises(PolicyError, match="needs a table"):
        config.mining.prepare(config.data)


@pytest.mark.parametrize(
    ("mining", "error", "words"),
    [
        ('task = "k_anonymity"\nk = 1\ncolumns = ["sex"]\n', PolicyError, "k must be"),
        ('task = "k_anonymity"\nk = 3\ncolumns = ["age"]\n', DataError, 'no column "age"'),
        ('task = "sums"\ncolumns = []\n', PolicyError, "one or more"),
    ],
)
def test_wrong_questions_are_refused_before_any_site_is_called(
    tmp_path: Path, mining: str, error: type[Exception], words: str
) -> None:
    folders = make_folders(tmp_path)
    config = write_site(folders[0], folders, mining)
    with pytest.raises(error, match=words):
        config.mining.prepare(config.data)


def test_a_run_has_a_limit(tmp_path: Path) -> None:
    folders = make_folders(tmp_path)
    for site in folders:
        write_site(site, folders, TASKS["sums"])
        text = site.config.read_text(encoding="utf-8")
        site.config.write_text(text + "run_timeout = 0.001\n", encoding="utf-8")

    async def run() -> list[object]:
        return await asyncio.gather(*[_run(SiteConfig.read(site.config)) for site in folders], return_exceptions=True)

    errors = asyncio.run(run())
    assert all(isinstance(error, PartyError) for error in errors), errors
    assert any("raise run_timeout" in str(error) for error in errors), errors
