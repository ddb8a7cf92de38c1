# SPDX-License-Identifier: MIT
"""Ten thousand changed releases are expect_refusal, and no certificate, however odd, makes verify hang or crash."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sfumato as sf
from sfumato.measure.checks import CHECKS
from sfumato.workflow.certificate import MOST_CLAIMS, MOST_FILES
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.signing.signature import format_public_key, load_signing_key, sign_certificate
from sfumato.workflow.verification import MOST_PROBLEMS, verify
from tests.faults.test_tampering import body_of, expect_refusal, resign, set_in

Release = dict[str, bytes]
Change = Callable[[random.Random, Release, Release], Release | None]
_MADE: dict[str, Any] = {}


@pytest.fixture
def finished(sandbox: Any, plain_report: None) -> dict[str, Any]:
    """Two releases by one signer, as bytes, and one of them as a folder."""
    if not _MADE:
        parts = []
        for k in (5, 3):
            run_policy(Policy.read(sandbox.write_policy(k=k)))
            parts.append({path.name: path.read_bytes() for path in (sandbox.out / "release").iterdir()})
        signer = format_public_key(load_signing_key())
        _MADE.update(first=parts[0], second=parts[1], signer=signer)
    return _MADE


@pytest.fixture
def out(sandbox: Any, finished: dict[str, Any]) -> Path:
    """A fresh copy of the first release on disk."""
    shutil.rmtree(sandbox.out, ignore_errors=True)
    write_files(sandbox.out / "release", finished["first"])
    return Path(sandbox.out)


def write_files(folder: Path, files: Release) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def flip_bit(chance: random.Random, files: Release, other: Release) -> Release:
    name = chance.choice(sorted(files))
    content = bytearray(files[name])
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return {**files, name: bytes(content)}


def edit_bytes(chance: random.Random, files: Release, other: Release) -> Release:
    name = chance.choice(sorted(files))
    content = bytearray(files[name])
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(content))
        content[start : start + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
    return {**files, name: bytes(content)}


def cut_off(chance: random.Random, files: Release, other: Release) -> Release:
    name = chance.choice(sorted(files))
    return {**files, name: files[name][: chance.randrange(len(files[name]))]}


def swap_between_releases(chance: random.Random, files: Release, other: Release) -> Release:
    names = chance.sample(sorted(files), chance.randint(1, len(files) - 1))
    return {**files, **{name: other[name] for name in names}}


def swap_inside(chance: random.Random, files: Release, other: Release) -> Release:
    first_name, two = chance.sample(sorted(files), 2)
    return {**files, first_name: files[two], two: files[first_name]}


def add_file(chance: random.Random, files: Release, other: Release) -> Release:
    name = chance.choice(["data.CSV", "Data.csv", "more.csv", ".hidden", "certificate.json~", "data.csv ", "a\x1bb"])
    return {**files, name: chance.choice([b"", files["data.csv"], b"more"])}


def remove_file(chance: random.Random, files: Release, other: Release) -> Release:
    name = chance.choice(sorted(files))
    return {key: content for key, content in files.items() if key != name}


def rename_file(chance: random.Random, files: Release, other: Release) -> Release:
    name = chance.choice(sorted(files))
    changed = {key: content for key, content in files.items() if key != name}
    return {**changed, chance.choice([name.upper(), name + "x", "x" + name, name.replace(".", "_")]): files[name]}


def repeat_field(chance: random.Random, files: Release, other: Release) -> Release:
    """Say a field twice, once with another value: the parsed content may be the same as before."""
    lines = files["certificate.json"].decode().split("\n")
    line_index = chance.choice([i for i, line in enumerate(lines) if '": ' in line and not line.endswith(("{", "["))])
    name = lines[line_index].split('": ')[0]
    value = chance.choice(["0", "null", '""', "[]", lines[line_index].split('": ', 1)[1].rstrip(",")])
    repeated = f'{name}": {value}'
    if chance.random() < 0.5:
        lines.insert(line_index, repeated + ",")
    else:
        lines[line_index] = (
            lines[line_index].rstrip(",") + ",\n" + repeated + ("," if lines[line_index].endswith(",") else "")
        )
    return {**files, "certificate.json": "\n".join(lines).encode()}


def respell(chance: random.Random, files: Release, other: Release) -> Release:
    """The same content, otherwise spelled."""
    content = json.loads(files["certificate.json"])
    text = chance.choice(
        [
            json.dumps(content),
            json.dumps(content, indent=2, ensure_ascii=False),
            json.dumps(content, indent=1, ensure_ascii=False) + chance.choice(["\n", " ", "\r\n", "\0"]),
            "\ufeff" + json.dumps(content, indent=1, ensure_ascii=False),
            json.dumps(dict(chance.sample(sorted(content.items()), len(content))), indent=1, ensure_ascii=False),
        ]
    )
    return {**files, "certificate.json": text.encode()}


def sign_anew(chance: random.Random, files: Release, other: Release) -> Release:
    """Consistent in itself, but by another key than the one that the auditor trusts."""
    body = json.loads(files["certificate.json"])
    body["title"] = f"Forged {chance.random()}"
    return {**files, "certificate.json": sign_certificate(body, _FORGER)}


def exchange_field(chance: random.Random, files: Release, other: Release) -> Release:
    """Take a field of the other certificate, the signature among them."""
    body, more = json.loads(files["certificate.json"]), json.loads(other["certificate.json"])
    name = chance.choice([key for key in body if body[key] != more.get(key)])
    body[name] = more[name]
    return {**files, "certificate.json": json.dumps(body, indent=1, ensure_ascii=False).encode()}


_FORGER = Ed25519PrivateKey.generate()
CHANGES: tuple[Change, ...] = (
    flip_bit, edit_bytes, cut_off, swap_between_releases, swap_inside, add_file, remove_file, rename_file, repeat_field,
    respell, sign_anew, exchange_field,
)  # fmt: skip


def refuse_changed_releases(finished: dict[str, Any], folder: Path, count: int, seed: int) -> int:
    chance = random.Random(seed)
    first, second = finished["first"], finished["second"]
    change_count = 0
    while change_count < count:
        base_files, two = (first, second) if chance.random() < 0.5 else (second, first)
        changed = CHANGES[change_count % len(CHANGES)](chance, base_files, two)
        if changed is None or changed in (first, second):
            continue
        shutil.rmtree(folder, ignore_errors=True)
        write_files(folder, changed)
        checked = verify(folder, finished["signer"])
        assert not checked.holds, (CHANGES[change_count % len(CHANGES)].__name__, change_count)
        assert all(checked.problems)
        change_count += 1
    return change_count


def test_changed_releases_are_refused(finished: dict[str, Any], tmp_path: Path) -> None:
    write_files(tmp_path / "whole", finished["first"])
    assert verify(tmp_path / "whole", finished["signer"]).holds, "untouched it holds, or the rest proves nothing"
    assert refuse_changed_releases(finished, tmp_path / "changed", 360, seed=1) == 360


@pytest.mark.slow
def test_ten_thousand_changed_releases_are_refused(finished: dict[str, Any], tmp_path: Path) -> None:
    assert refuse_changed_releases(finished, tmp_path / "changed", 10_000, seed=2) == 10_000


def test_every_field_twice(finished: dict[str, Any], tmp_path: Path) -> None:
    """The finding that made us sign bytes: 64 of 64 such certificates passed with the true signer."""
    chance = random.Random(0)
    for number in range(64):
        folder = tmp_path / str(number)
        write_files(folder, repeat_field(chance, finished["first"], finished["second"]))
        assert not verify(folder, finished["signer"]).holds


ODD_ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"column": "age"},
    {"column": "nowhere"},
    {"column": "disease", "l": 10**30, "k": 10**30, "c": 1e308, "t": -1e308, "bits": 10**30},
    {"column": "disease", "l": -1, "k": -1, "bits": -1, "beta": 0, "delta": 0, "epsilon": 1e308},
    {"names": ["age"] * 20_000},
    {"kind": "unary", "p": 0, "q": 1},
    {"kind": ["k_ary"] * 5000, "p": ["x"] * 5000, "q": [""] * 5000},
    {"min_support": 1, "min_confidence": 0, "max_length": 10**30, "complete_from": 1, "k": 10**9},
    {"except_columns": ["nowhere"] * 100, "columns": "age", "starred_rows": "\x1b"},
    {"categories": ["x"] * 20_000, "column": "age", "kind": "k_ary"},
    {"hierarchy": "/dev/zero", "path": "/etc/passwd", "file": "/dev/zero"},
]


@pytest.mark.parametrize("needs_original", [False, True])
@pytest.mark.parametrize("measure", sorted(CHECKS))
def test_every_measure_with_odd_arguments(
    out: Path, finished: dict[str, Any], measure: str, needs_original: bool
) -> None:
    """A verification comes back, never a fault; and what cannot be measured does not hold."""
    for arguments in ODD_ARGUMENTS:
        write_files(out / "release", finished["first"])

        def change(body: dict[str, Any], arguments: dict[str, Any] = arguments) -> None:
            claim = body["claims"][0]
            body["claims"] = [{**claim, "measure": measure, "arguments": arguments, "needs_original": needs_original}]

        resign(out, change)
        checked = verify(out)
        assert isinstance(checked.as_json()["holds"], bool)
        if checked.holds and not needs_original:
            assert checked.findings[0].measured is not None


HUGE: dict[str, Callable[[dict[str, Any]], None]] = {
    "many claims": lambda body: body.update(claims=body["claims"][:1] * (MOST_CLAIMS + 1)),
    "many files": lambda body: body["files"].update({f"f{i}": "0" * 64 for i in range(MOST_FILES + 1)}),
    "deep arguments": set_in("claims", 0, "arguments", value={"x": [[["x"]]]}),
    "a long number": set_in("claims", 0, "threshold", value=10**39),
    "a number too long": set_in("claims", 0, "threshold", value=10**50),
    "negative rows": set_in("data", "rows", value=-1),
    "many rows": set_in("data", "rows", value=10**30),
    "rows as text": set_in("data", "rows", value="120"),
    "rows as truth": set_in("data", "rows", value=True),
    "numbers of nowhere": set_in("data", "numbers", value=["nowhere"]),
    "integers of nowhere": set_in("data", "integers", value=["nowhere"]),
    "the report as data": set_in("data", "file", value="report.html"),
    "the certificate as data": set_in("data", "file", value="certificate.json"),
    "another shape": set_in("data", "shape", value="baskets"),
    "another format": set_in("data", "format", value="parquet"),
    "no publication mark": lambda body: body.pop("for_publication"),
    "publication as text": set_in("for_publication", value="yes"),
    "publication as number": set_in("for_publication", value=1),
    "a checksum in capitals": set_in("files", "report.html", value="A" * 64),
    "itself among the files": set_in("files", "certificate.json", value="0" * 64),
    "format 1": set_in("format", value="sfumato certificate 1"),
    "format 2": set_in("format", value="sfumato certificate 2"),
    "format 4": set_in("format", value="sfumato certificate 4"),
    "losses of text": set_in("losses", value={"loss": "none"}),
    "public of text": set_in("public", value="everything"),
}


@pytest.mark.parametrize("name", HUGE)
def test_fields_out_of_bounds(out: Path, invoke: Callable[..., Any], name: str) -> None:
    resign(out, HUGE[name], files=name not in ("many files", "a checksum in capitals", "itself among the files"))
    expect_refusal(invoke, out)


@pytest.mark.parametrize("older", ["format 1", "format 2"])
def test_an_older_form_is_named(out: Path, older: str) -> None:
    resign(out, HUGE[older])
    assert "older form" in verify(out).problems[0]


def test_many_claims_are_measured_once(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of claims that ask the same cost one measure."""
    from sfumato.measure.checks import measure_claim
    from sfumato.workflow import verification

    claims: list[Any] = []

    def count(claim: Any, evidence: Any) -> Any:
        claims.append(claim)
        return measure_claim(claim, evidence)

    monkeypatch.setattr(verification, "measure_claim", count)
    resign(out, lambda body: body.update(claims=body["claims"][:1] * 2000 + body["claims"][1:]))
    checked = verify(out)
    assert checked.holds, checked.problems
    assert len(checked.findings) > 2000
    assert (
        len(claims) == len({(measured_claim.measure, str(measured_claim.arguments)) for measured_claim in claims}) < 10
    )


def test_claims_that_take_too_long_are_a_problem(out: Path) -> None:
    (problem,) = verify(out, seconds=0.0).problems
    assert "longer than 0 seconds: 0 of" in problem
    assert "--seconds" in problem


def test_many_strangers_are_counted(out: Path) -> None:
    for number in range(200):
        (out / "release" / f"stranger{number}").write_bytes(b"")
    problems = verify(out).problems
    assert len(problems) == MOST_PROBLEMS + 1
    assert "180" in problems[-1]


@pytest.mark.parametrize("name", ["certificate.json", "data.csv", "report.html"])
@pytest.mark.parametrize("kind", ["pipe", "link", "dangling link", "loop", "folder", "device", "holes"])
def test_what_is_no_plain_file(out: Path, invoke: Callable[..., Any], name: str, kind: str) -> None:
    path = out / "release" / name
    content = path.read_bytes()
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        (out / "outside").write_bytes(content)
        path.symlink_to(out / "outside")
    elif kind == "dangling link":
        path.symlink_to(out / "nowhere")
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.write(content)
            file.truncate(1 << 40)
    expect_refusal(invoke, out)


def test_the_folder_may_be_named_by_a_link(out: Path) -> None:
    """The folder is the auditor's own choice; what lies in it is not."""
    (out.parent / "link").symlink_to(out)
    assert verify(out.parent / "link").holds


@pytest.mark.parametrize("field", ["methods", "suppression", "utility", "levels", "attacks", "losses"])
@pytest.mark.parametrize("value", [None, 5, "x", [1], {"x": {"y": [1]}}], ids=str)
def test_comparing_and_mining_with_odd_fields(out: Path, invoke: Callable[..., Any], field: str, value: Any) -> None:
    resign(out, set_in(field, value=value))
    for command in (("compare", out, out), ("mine", out), ("mine", out, "--target", "disease")):
        ran = invoke(*command)
        assert ran.code in (0, 1, 2), ran.output
        assert "fault in sfumato" not in ran.output
        assert "Traceback" not in ran.output


@pytest.mark.parametrize(
    "public",
    [{"age": {}}, {"age": {"kind": 5}}, {"age": {"kind": "gaussian"}}, {"age": {"kind": "uniform", "scale": "x"}}],
)
def test_mining_what_is_said_of_chance(out: Path, invoke: Callable[..., Any], public: Any) -> None:
    resign(out, set_in("public", value=public))
    for options in ((), ("--column", "age"), ("--target", "disease"), ("--column", "age", "--column", "zip")):
        ran = invoke("mine", out, *options)
        assert ran.code in (0, 1, 2), ran.output
        assert "fault in sfumato" not in ran.output


def test_from_python(out: Path) -> None:
    """`read_release` refuses what `verify` would."""
    assert "signature" in body_of(out)
    resign(out, set_in("data", "integers", value=["nowhere"]))
    with pytest.raises(sf.CertificateRefused):
        sf.read_release(out)
