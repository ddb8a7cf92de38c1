# SPDX-License-Identifier: MIT
"""A PostgreSQL server of its own for tests: Debian's package, a fresh cluster in a temporary folder, a free port."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

USER, PASSWORD = "keeper", "Zq7-secret-Zq7"


def find_programs() -> Path | None:
    """The folder of initdb and pg_ctl, if PostgreSQL is installed."""
    program = shutil.which("initdb")
    folders = [Path(program).resolve().parent] if program else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((folder for folder in reversed(folders) if (folder / "pg_ctl").exists()), None)


@contextlib.contextmanager
def run_server(programs: Path) -> Iterator[str]:
    """Start a server and give its address without a password; root cannot run one, so another user does."""
    as_user: dict[str, Any] = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if as_user:
            shutil.chown(folder, "postgres")
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        call: dict[str, Any] = {"stdout": subprocess.DEVNULL, "cwd": folder, **as_user}
        make = ["-A", "scram-sha-256", "-U", USER, "--pwfile", str(folder / "password"), "-E", "UTF8", "--no-sync"]
        subprocess.run([programs / "initdb", "-D", folder / "data", *make], check=True, **call)
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        control: list[str | Path] = [programs / "pg_ctl", "-D", folder / "data", "-l", folder / "log", "-w"]
        subprocess.run([*control, "-o", options, "start"], check=True, **call)
        try:
            yield f"postgresql://{USER}@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, **call)
