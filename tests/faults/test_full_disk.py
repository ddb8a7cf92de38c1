# SPDX-License-Identifier: MIT
"""A disk that is full, or a place that cannot be written: exit 2, a sentence, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.signing.signature import load_signing_key
from sfumato.workflow.verification import verify

CANARY = "ZZSECRETZZ"


def refused_cleanly(sandbox: Any, ran: Any) -> None:
    assert ran.code == 2, ran.output
    assert "Traceback" not in ran.output
    assert "panicked" not in ran.output
    assert "fault in sfumato" not in ran.output
    assert CANARY not in ran.output
    assert ran.err.startswith("sfumato: ")
    assert not (sandbox.out / "release").exists()
    assert not list(sandbox.root.rglob(".sfumato-*"))


def enlarge(sandbox: Any, rows: int = 4000) -> None:
    lines = "".join(f"{CANARY}{i},{20 + i * 7 % 40},{1300 + i * 3 % 20},disease {i % 4}\n" for i in range(rows))
    (sandbox.root / "people.csv").write_text("name,age,zip,disease\n" + lines)


SLOW = [pytest.param(kind, limit, marks=pytest.mark.slow) for kind in ("excel", "stata") for limit in (1, 5_000)]


@pytest.mark.parametrize(
    ("kind", "limit"),
    [*((kind, limit) for kind in ("csv", "tsv", "parquet", "arrow") for limit in (1, 5_000)), ("spss", 5_000), *SLOW],
)
def test_no_room_for_the_data(sandbox: Any, kind: str, limit: int) -> None:
    enlarge(sandbox)
    sandbox.write_policy(tail=f'format = "{kind}"')
    load_signing_key()  # the key has room: the data is the point here
    ran = sandbox.process("run", sandbox.policy, file_size=limit, plain_report=True)
    refused_cleanly(sandbox, ran)


def test_no_room_for_the_report(sandbox: Any) -> None:
    load_signing_key()
    refused_cleanly(sandbox, sandbox.process("run", sandbox.policy, file_size=20_000))


def test_no_room_for_the_key(sandbox: Any) -> None:
    ran = sandbox.process("run", sandbox.policy, file_size=1)
    refused_cleanly(sandbox, ran)
    assert not (sandbox.home / "signing_key.pem").exists(), "a half-written key must not be taken for one"
    assert not list(sandbox.home.glob(".signing_key*"))
    assert sandbox.process("signer").code == 0


def test_no_room_leaves_the_earlier_release(sandbox: Any, plain_report: None) -> None:
    assert run_policy(Policy.read(sandbox.policy)).published
    old_certificate = (sandbox.out / "release" / "certificate.json").read_text()
    enlarge(sandbox)
    ran = sandbox.process("run", sandbox.policy, file_size=5_000, plain_report=True)
    assert ran.code == 2, ran.output
    assert (sandbox.out / "release" / "certificate.json").read_text() == old_certificate
    assert verify(sandbox.out).holds


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A file system of so many bytes; skipped where mounting is not permitted."""
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        mount_result = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
        )
        if mount_result.returncode:
            pytest.skip("mounting a small file system is not permitted here")
        mounted.append(folder)
        return folder

    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=False)


@pytest.mark.parametrize("size", ["4k", "40k", "72k"])
def test_a_really_full_disk(sandbox: Any, tiny_disk: Callable[[str], Path], size: str) -> None:
    enlarge(sandbox)
    disk = tiny_disk(size)
    ran = sandbox.process("run", sandbox.policy, "--out", disk / "out")
    assert ran.code == 2, ran.output
    assert "Traceback" not in ran.output
    assert ran.err.startswith("sfumato: ")
    assert not list(disk.iterdir()), "nothing is left behind"


def test_the_release_folder_is_a_mount_point(sandbox: Any, tiny_disk: Callable[[str], Path]) -> None:
    """As a container's volume is: staging lies on another file system, and the folder cannot be renamed."""
    disk = tiny_disk("4m")
    for _ in range(2):
        ran = sandbox.process("run", sandbox.policy, "--out", disk, plain_report=True)
        assert ran.code == 0, ran.output
        assert verify(disk).holds
        assert not list(sandbox.root.rglob(".sfumato-*"))


def test_the_release_folder_is_a_bind_mount(sandbox: Any, tmp_path: Path) -> None:
    """The same disk, and still no renaming across; folders and files of others stay where they are."""
    real, out = tmp_path / "real", tmp_path / "mounted"
    (real / "folder").mkdir(parents=True)
    out.mkdir()
    mount_result = subprocess.run(["mount", "--bind", str(real), str(out)], capture_output=True, check=False)
    if mount_result.returncode:
        pytest.skip("mounting is not permitted here")
    try:
        for _ in range(2):
            ran = sandbox.process("run", sandbox.policy, "--out", out, plain_report=True)
            assert ran.code == 0, ran.output
            assert verify(real).holds
        assert sorted(path.name for path in real.iterdir()) == ["folder", "private", "release"]
    finally:
        subprocess.run(["umount", "-l", str(out)], check=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.parametrize("part", ["release", "private", "refused"])
def test_a_part_that_is_a_disk_of_its_own_is_refused(sandbox: Any, part: str) -> None:
    """It cannot be moved, and what is on it would be lost with the old folder."""
    folder = sandbox.out / part
    folder.mkdir(parents=True)
    mount_result = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(folder)], capture_output=True, check=False)
    if mount_result.returncode:
        pytest.skip("mounting is not permitted here")
    try:
        (folder / "x").write_text("mine")
        ran = sandbox.process("run", sandbox.policy, plain_report=True)
        assert ran.code == 2, ran.output
        assert "mount point" in ran.err
        assert (folder / "x").read_text() == "mine"
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
    assert not list(sandbox.root.rglob(".sfumato-*"))


@pytest.mark.parametrize(
    "out_name", ["file", "file/below", "dangling/below", "loop/x"], ids=["a file", "below a file", "dangling", "loop"]
)
def test_a_place_that_cannot_be_a_folder(sandbox: Any, invoke: Callable[..., Any], out_name: str) -> None:
    (sandbox.root / "file").write_text("mine")
    (sandbox.root / "loop").symlink_to(sandbox.root / "loop")
    (sandbox.root / "dangling").symlink_to(sandbox.root / "file" / "nowhere")
    ran = invoke("run", sandbox.policy, "--out", sandbox.root / out_name, "--json")
    assert ran.code == 2, ran.output
    answer = json.loads(ran.out)
    assert answer["error"] == "DataError"
    assert str(sandbox.root) in answer["message"]
    assert (sandbox.root / "file").read_text() == "mine"
    assert not list(sandbox.root.rglob(".sfumato-*"))


@pytest.mark.parametrize("filled", [False, True], ids=["empty", "with a release"])
def test_a_link_to_a_folder(sandbox: Any, plain_report: None, invoke: Callable[..., Any], filled: bool) -> None:
    """`out` may be a link to a folder elsewhere: the release goes there, and the link stays a link."""
    real = sandbox.root / "elsewhere" / "real"
    real.mkdir(parents=True)
    link = sandbox.root / "link"
    link.symlink_to(real)
    for _ in range(2 if filled else 1):
        ran = invoke("run", sandbox.policy, "--out", link)
        assert ran.code == 0, ran.output
    assert link.is_symlink()
    assert verify(real).holds
    assert not list(sandbox.root.rglob(".sfumato-*"))


def test_stdout_full(sandbox: Any) -> None:
    """The answer cannot be written: that is said, not called a fault of the program."""
    command = Path(sys.executable).with_name("sfumato")
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [str(command), "signer"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "SFUMATO_HOME": str(sandbox.home)},
        )
    assert ran.returncode == 2, ran.stderr
    assert "Traceback" not in ran.stderr
    assert "fault in sfumato" not in ran.stderr
