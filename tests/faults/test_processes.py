# SPDX-License-Identifier: MIT
"""Runs that are stopped at random moments, and many at once: nothing half, mixed, lost or stray.

Real processes throughout. After every stop the folder is looked at as it is, before anything could mend it; then
`verify` is asked. A release and its record belong together if the manifest in `private/` has the checksum of the
certificate in `release/`, and both speak of the same title.
"""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sfumato.workflow.folders.leftovers import sweep_workspaces
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import verify

pytestmark = pytest.mark.usefixtures("plain_report")
PLAIN = "import sfumato.report.page as page; page.page = lambda account: '<!doctype html>'"
COMMAND = [sys.executable, "-c", f"{PLAIN}; from sfumato.cli.commands import run_commands; run_commands()"]
NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MEMORY = "a user's memory key"


def strays(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".sfumato-*"))


def pair(out: Path) -> tuple[str | None, str | None]:
    """The checksum of the certificate in `release/`, and the one that `private/` was made for."""
    certificate, manifest = out / "release" / "certificate.json", out / "private" / "manifest.json"
    made_for = json.loads(manifest.read_text())["certificate_sha256"] if manifest.exists() else None
    return (hash_file(certificate) if certificate.exists() else None), made_for


def titles(out: Path) -> set[str]:
    certificate = json.loads((out / "release" / "certificate.json").read_text())
    record = json.loads((out / "private" / "record.json").read_text())
    return {certificate["title"], record["policy"]["title"]}


def check_whole(out: Path) -> None:
    """One run's release with its own record, and the files of others."""
    for parent in (out.parent, out):
        sweep_workspaces(parent)  # as the next run does
    checked = verify(out)
    assert checked.holds, checked.problems
    certificate, made_for = pair(out)
    assert certificate == made_for
    assert len(titles(out)) == 1
    names = {path.name for path in (out / "release").iterdir()}
    assert names == {"certificate.json", "data.csv", "report.html"}


def entitle(sandbox: Any, title: str, k: int) -> None:
    text = sandbox.write_policy(k=k).read_text()
    sandbox.policy.write_text(text.replace("Fault tests", title))


def place_foreign_files(out: Path, kind: int) -> dict[Path, str]:
    """A memory key in `private/`; for some kinds a file or a folder beside our folders."""
    files = {out / "private" / "answers.key.json": MEMORY}
    if kind % 3 >= 1:
        files[out / "notes.txt"] = "mine"
    if kind % 3 == 2:
        files[out / "folder" / "deep" / "x"] = "deep"
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return files


def stop_somewhere(sandbox: Any, chance: random.Random) -> tuple[Any, int]:
    """A run that gets a signal: by the clock, or at some line of its publication."""
    number = chance.choice(SIGNALS)
    kill_options: dict[str, Any] = {"kill_at_line": chance.randrange(1, 500)}
    if chance.random() < 0.5:
        kill_options = {"kill_after_seconds": chance.uniform(0.0, 1.2)}
    more = ("--json",) if chance.random() < 0.5 else ()
    return sandbox.process("run", sandbox.policy, *more, plain_report=True, signal=int(number), **kill_options), number


def check_words(ended: Any, number: int, changed: bool) -> None:
    """A run that could still speak says in one sentence whether it published."""
    if number == signal.SIGKILL or ended.code == 0:
        assert ended.code in (0, -signal.SIGKILL), ended.output
        return
    assert ended.code in (128 + number, -number), ended.output  # the second: before it began to listen
    assert "Traceback" not in ended.output
    if ended.code > 0:
        assert ("already published" in ended.output) == changed, ended.output
        assert ("nothing was published" in ended.output) != changed, ended.output
        message = ended.err if ended.err else json.loads(ended.out)["message"]
        assert len(message.strip().splitlines()) == 1


def survive_kills(sandbox: Any, count: int, seed: int) -> None:
    chance = random.Random(seed)
    assert run_policy(Policy.read(sandbox.policy)).published
    for kind in range(count):
        foreign = place_foreign_files(sandbox.out, kind * 3 // count)
        old_pair, stray = pair(sandbox.out), strays(sandbox.root)
        entitle(sandbox, f"Run {kind}", k=chance.choice((3, 4, 5, 6)))
        ended, number = stop_somewhere(sandbox, chance)
        release_pair = pair(sandbox.out)  # as it is, before verify could mend it
        assert None in release_pair or release_pair[0] == release_pair[1], "one run's release beside another's record"
        check_whole(sandbox.out)
        assert all(path.read_text() == text for path, text in foreign.items()), "a file of others was lost"
        check_words(ended, number, changed=pair(sandbox.out) != old_pair)
        if number != signal.SIGKILL:
            assert set(strays(sandbox.root)) <= set(stray), "what it did not find there it did not leave"
    assert run_policy(Policy.read(sandbox.policy)).published
    check_whole(sandbox.out)
    assert not strays(sandbox.root)


def test_stopped_at_random_moments(sandbox: Any) -> None:
    survive_kills(sandbox, 5, seed=1)


@pytest.mark.slow
def test_stopped_at_two_hundred_random_moments(sandbox: Any) -> None:
    survive_kills(sandbox, 200, seed=2)


@functools.cache
def namespaces_are_permitted() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode == 0


def start(sandbox: Any, number: int, prefix: list[str]) -> subprocess.Popen[str]:
    entitle(sandbox, f"Run {number}", k=3 + number % 4)
    policy = sandbox.root / f"policy_{number}.toml"
    sandbox.policy.rename(policy)
    environment = {**os.environ, "SFUMATO_HOME": str(sandbox.home)}
    return subprocess.Popen(
        [*prefix, *COMMAND, "run", str(policy), "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_at_once(sandbox: Any, count: int, prefix: list[str]) -> None:
    """Many runs into one folder: each publishes, or says that another one is at work."""
    foreign: dict[Path, str] = {}
    if count > 1:
        assert run_policy(Policy.read(sandbox.policy)).published
        foreign = place_foreign_files(sandbox.out, 1)
    processes = [start(sandbox, number, prefix) for number in range(count)]
    published = 0
    for process in processes:
        out, err = process.communicate()
        assert process.returncode in (0, 2), err + out
        answer = json.loads(out)
        assert process.returncode == 0 or "another run is writing to this folder" in answer["message"], answer
        published += process.returncode == 0
    assert published >= 1
    check_whole(sandbox.out)
    assert titles(sandbox.out) <= {f"Run {number}" for number in range(count)}
    assert all(path.read_text() == text for path, text in foreign.items())
    assert not strays(sandbox.root)


def test_four_runs_at_once(sandbox: Any) -> None:
    run_at_once(sandbox, 4, [])


@pytest.mark.slow
def test_fifty_runs_at_once(sandbox: Any) -> None:
    run_at_once(sandbox, 50, [])


def test_runs_in_separate_process_namespaces(sandbox: Any) -> None:
    """As in two containers: each run has the same process number, and sees none of the others."""
    if not namespaces_are_permitted():
        pytest.skip("process namespaces are not permitted here (unshare --pid)")
    run_at_once(sandbox, 3, NAMESPACE)


@pytest.mark.slow
def test_fifty_runs_in_separate_process_namespaces(sandbox: Any) -> None:
    if not namespaces_are_permitted():
        pytest.skip("process namespaces are not permitted here (unshare --pid)")
    run_at_once(sandbox, 50, NAMESPACE)


@pytest.mark.parametrize(("number", "word"), [(signal.SIGTERM, "terminated"), (signal.SIGHUP, "hung up")])
@pytest.mark.parametrize("step", ["reading", "linking", "publishing"])
def test_terminated_with_a_sentence(sandbox: Any, step: str, number: int, word: str) -> None:
    stopped = sandbox.process("run", sandbox.policy, interrupt_at=step, signal=int(number), plain_report=True)
    assert stopped.code == 128 + number, stopped.output
    assert stopped.err == f"sfumato: {word}; nothing was published\n"
    assert not stopped.out
    assert not strays(sandbox.root)
    assert not sandbox.out.parent.exists(), "not even the folder around it"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopped_while_it_loads(tmp_path: Path, number: int) -> None:
    """A signal in the middle of the imports: a sentence, no traceback."""
    late = f"import os; os.kill(os.getpid(), {int(number)})\n"
    (tmp_path / "typer.py").write_text(late)  # loaded in place of the real one
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from sfumato.cli.entry import main; main()"
    # A shell that started the tests in the background made them ignore SIGINT; children would inherit that.
    signal_options = {"preexec_fn": lambda: signal.signal(number, signal.SIG_DFL)}
    command = [sys.executable, "-c", code, "signer"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, **signal_options)  # type: ignore[call-overload]
    assert ended.returncode == 128 + number, ended.stderr
    assert ended.stderr == "sfumato: interrupted while starting; nothing was published\n"


def test_terminated_under_json(sandbox: Any) -> None:
    stopped = sandbox.process("run", sandbox.policy, "--json", interrupt_at="linking", signal=int(signal.SIGTERM))
    assert stopped.code == 143, stopped.output
    answer = json.loads(stopped.out)
    assert answer == {"error": "Terminated", "message": "terminated; nothing was published"}
    assert not stopped.err


@pytest.mark.parametrize("line", [20, 100, 200])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_publishing_does_not_deny_it(sandbox: Any, number: int, line: int) -> None:
    """What has begun is finished, and the last word is that there is a release."""
    stopped = sandbox.process("run", sandbox.policy, kill_at_line=line, signal=int(number), plain_report=True)
    assert stopped.code == 128 + number, stopped.output
    word = "terminated" if number == signal.SIGTERM else "interrupted"
    assert stopped.err == f"sfumato: {word}, but the release was already published in {sandbox.out}\n"
    check_whole(sandbox.out)
    assert not strays(sandbox.root)


@pytest.mark.parametrize("mask", [0o022, 0o027])
def test_modes_of_a_whole_run(sandbox: Any, mask: int) -> None:
    """Every file of a real run, as a shell with that mask would have it."""
    old_mask = os.umask(mask)
    try:
        assert run_policy(Policy.read(sandbox.policy)).published
    finally:
        os.umask(old_mask)
    for path in sandbox.out.rglob("*"):
        private = "private" in path.parts
        mode = (0o700 if private else 0o777 & ~mask) if path.is_dir() else (0o600 if private else 0o666 & ~mask)
        assert path.stat().st_mode & 0o7777 == mode, path
    assert sandbox.out.stat().st_mode & 0o7777 == 0o777 & ~mask


def test_an_earlier_key_is_kept_and_the_run_says_so(sandbox: Any) -> None:
    text = sandbox.write_policy().read_text()
    encoding = (
        text[: text.index("[[protect]]")]
        + '[[protect]]\nmethod = "encode_for_trees"\ntarget = "disease"\n[output]\npath = "work/out"\n'
    )
    sandbox.policy.write_text(encoding)
    first = sandbox.process("run", sandbox.policy, plain_report=True)
    assert first.code == 0, first.output
    key = sandbox.out / "private" / "encode_for_trees.key.json"
    content = key.read_text()
    second_run = sandbox.process("run", sandbox.policy, plain_report=True)
    assert "encode_for_trees.1.key.json" in second_run.out.replace("\n", ""), second_run.output
    assert key.with_name("encode_for_trees.1.key.json").read_text() == content
    assert key.read_text() != content


def test_a_memory_key_kept_in_private_outlives_the_runs(sandbox: Any) -> None:
    """It was lost with the second run, and the third asked everybody anew: the majority of answers is the truth."""
    text = sandbox.write_policy().read_text()
    answers = """
    [[protect]]
    method = "randomize_response"
    column = "disease"
    epsilon = 1.0
    categories = ["d0", "d1", "d2", "d3"]
    person = ["name"]
    memory = "work/out/private/answers.key"
    [output]
    path = "work/out"
    order = "as_read"
    """
    sandbox.policy.write_text(text[: text.index("[[protect]]")] + answers)
    (sandbox.out / "private").mkdir(parents=True)
    memory, contents = sandbox.out / "private" / "answers.key", set()
    for _ in range(3):
        ended = sandbox.process("run", sandbox.policy, plain_report=True)
        assert ended.code == 0, ended.output
        contents.add((memory.read_text(), (sandbox.out / "release" / "data.csv").read_text()))
    assert len(contents) == 1, "the same key, and the same answers"
