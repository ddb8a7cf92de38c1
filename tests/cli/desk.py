# SPDX-License-Identifier: MIT
"""Commands typed in one process, through the real entry point."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from sfumato.cli.commands import run_commands


class Desk:
    """A folder in which commands are typed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.captured = monkeypatch, captured

    def type(self, *words: str) -> tuple[int, str]:
        """Run a command; its exit code, and what it said."""
        self.monkeypatch.setattr(sys, "argv", ["sfumato", *words])
        with pytest.raises(SystemExit) as ended:
            run_commands()
        output = self.captured.readouterr()
        return int(ended.value.code or 0), output.out + output.err

    def read(self, *words: str) -> Any:
        """The JSON of a command that succeeds."""
        code, output = self.type(*words, "--json")
        assert code == 0, output
        return json.loads(output)
