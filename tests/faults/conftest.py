# SPDX-License-Identifier: MIT
"""What the fault tests share: a sandbox with data and policy, the command line in and out of process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import CANARY, Ran


@dataclass
class Sandbox:
    """A folder with people.csv, policy.toml and a key of its own."""

    root: Path
    home: Path
    server: Callable[[dict[str, Any]], dict[str, Any]] = field(repr=False)

    @property
    def out(self) -> Path:
        return self.root / "work" / "out"

    @property
    def policy(self) -> Path:
        return self.root / "policy.toml"

    def write_policy(
        self, data: str = "people.csv", protect: str = "", tail: str = "", out: str = "work/out", k: int = 5
    ) -> Path:
        self.policy.write_text(
            f"""
            title = "Fault tests"
            [data]
            path = {json.dumps(data)}
            [roles]
            identifying = ["name"]
            quasi_identifying = ["age", "zip"]
            sensitive = ["disease"]
            [hierarchies]
            age = {{ kind = "intervals", widths = [5, 10] }}
            zip = {{ kind = "prefix", keep = [3, 2] }}
            [[protect]]
            method = "generalize"
            models = [{{ model = "k_anonymity", k = {k} }}]
            suppression_limit = 0.1
            {protect}
            [output]
            path = {json.dumps(out)}
            {tail}
            """,
            encoding="utf-8",
        )
        return self.policy

    def process(self, *argv: str | Path, **faults: Any) -> Ran:
        """Run a command in a process of its own; see fork_server.py for the faults."""
        job = {
            "argv": [str(a) for a in argv],
            "cwd": str(self.root),
            "env": {"SFUMATO_HOME": str(self.home)},
            **faults,
        }
        answer = self.server(job)
        return Ran(answer["status"], answer["out"], answer["err"])


@pytest.fixture(scope="session")
def fork_server() -> Iterator[Callable[[dict[str, Any]], dict[str, Any]]]:
    """A process that forks commands; one for each pytest worker."""
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("fork_server.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin and server.stdout
        server_input, server_output = server.stdin, server.stdout

        def ask(job: dict[str, Any]) -> dict[str, Any]:
            server_input.write(json.dumps(job) + "\n")
            server_input.flush()
            answer: dict[str, Any] = json.loads(server_output.readline())
            return answer

        yield ask
        server_input.close()


@pytest.fixture
def sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fork_server: Callable[[dict[str, Any]], dict[str, Any]]
) -> Sandbox:
    home = tmp_path / "home"
    monkeypatch.setenv("SFUMATO_HOME", str(home))
    rows = "".join(f"{CANARY}{i},{20 + i * 7 % 40},{1300 + i * 3 % 20},d{i % 4}\n" for i in range(120))
    (tmp_path / "people.csv").write_text("name,age,zip,disease\n" + rows, encoding="utf-8")
    fresh_sandbox = Sandbox(tmp_path, home, fork_server)
    fresh_sandbox.write_policy()
    return fresh_sandbox


@pytest.fixture
def plain_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the pictures out where the report is not the point."""
    monkeypatch.setattr("sfumato.report.page.render_page", lambda account: "<!doctype html><p>a report</p>")
