# SPDX-License-Identifier: MIT
"""Whoever changes a finished release is found out: exit 1 and a sentence, in words and in JSON."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.signing.signature import format_public_key, load_signing_key, sign_certificate
from sfumato.workflow.verification import verify

CANARY = "ZZSECRETZZ"
Edit = Callable[[Path], None]
_MADE: dict[str, Path] = {}


@pytest.fixture
def out(sandbox: Any, plain_report: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh copy of a finished release, signed by the key in the sandbox's home."""
    if not _MADE:
        assert run_policy(Policy.read(sandbox.policy)).published
        folder = tmp_path_factory.mktemp("finished")
        shutil.copytree(sandbox.out, folder / "out")
        shutil.copytree(sandbox.home, folder / "home")
        _MADE.update(out=folder / "out", home=folder / "home")
    if not sandbox.home.exists():
        shutil.copytree(_MADE["home"], sandbox.home)
    if not sandbox.out.exists():
        shutil.copytree(_MADE["out"], sandbox.out)
    return Path(sandbox.out)


def body_of(out: Path) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((out / "release" / "certificate.json").read_text())
    return body


def write_certificate(out: Path, body: Any) -> None:
    """Write a certificate as sfumato spells it, so that only its content is wrong."""
    (out / "release" / "certificate.json").write_text(json.dumps(body, indent=1, ensure_ascii=False))


def resign(out: Path, change: Callable[[dict[str, Any]], None], *, files: bool = True) -> str:
    """Change the certificate as a forger would, and sign it with the forger's own key."""
    body = {name: value for name, value in body_of(out).items() if name not in ("signature", "signer")}
    change(body)
    if files and isinstance(body.get("files"), dict):
        for name in body["files"]:
            path = out / "release" / name
            if len(name) < 200 and path.is_file():
                body["files"][name] = sha256(path.read_bytes()).hexdigest()
        if isinstance(body.get("data"), dict):
            body["data"]["sha256"] = body["files"].get(body["data"].get("file"))
    forger = Ed25519PrivateKey.generate()
    (out / "release" / "certificate.json").write_bytes(sign_certificate(body, forger))
    return format_public_key(forger)


def expect_refusal(invoke: Callable[..., Any], out: Path, *extra: str) -> str:
    """Verify in words and in JSON: both say no, with a sentence, and without a cell."""
    words = invoke("verify", out, *extra)
    assert words.code == 1, words.output
    assert "Traceback" not in words.output
    assert "fault in sfumato" not in words.output
    result = invoke("verify", out, "--json", *extra)
    assert result.code == 1, result.output
    content = json.loads(result.out)
    assert content["holds"] is False
    assert content["problems"]
    assert all(isinstance(problem, str) and len(problem) > 10 for problem in content["problems"])
    assert CANARY not in words.output + result.output
    return " ".join(content["problems"])


def test_untouched(out: Path, invoke: Callable[..., Any]) -> None:
    assert invoke("verify", out).code == 0
    assert invoke("verify", out / "release").code == 0
    answer = json.loads(invoke("verify", out, "--json", "--signer", format_public_key(load_signing_key())).out)
    assert answer["holds"] is True
    assert answer["signer_known"] is True
    assert answer["unchecked"] == ["untrue_cells"]
    assert {"property", "threshold", "measured", "holds"} <= set(answer["claims"][0])


def change_cell(out: Path) -> None:
    path = out / "release" / "data.csv"
    path.write_text(path.read_text().replace("d1", "d2", 1))


def change_one_byte(out: Path) -> None:
    path = out / "release" / "data.csv"
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)


def delete_row(out: Path) -> None:
    path = out / "release" / "data.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")


def swap_files(out: Path) -> None:
    data, report = out / "release" / "data.csv", out / "release" / "report.html"
    content = data.read_bytes()
    data.write_bytes(report.read_bytes())
    report.write_bytes(content)


def data_with_its_checksum(out: Path) -> None:
    change_cell(out)
    body = body_of(out)
    digest = sha256((out / "release" / "data.csv").read_bytes()).hexdigest()
    body["files"]["data.csv"] = body["data"]["sha256"] = digest
    write_certificate(out, body)


def edited(*path: str | int, value: Any) -> Edit:
    def edit(out: Path) -> None:
        body = body_of(out)
        inner: Any = body
        for part in path[:-1]:
            inner = inner[part]
        assert inner[path[-1]] != value
        inner[path[-1]] = value
        write_certificate(out, body)

    return edit


def remove_field(name: str) -> Edit:
    def edit(out: Path) -> None:
        body = body_of(out)
        del body[name]
        write_certificate(out, body)

    return edit


def removed(name: str) -> Edit:
    return lambda out: (out / "release" / name).unlink()


def added(name: str) -> Edit:
    def edit(out: Path) -> None:
        path = out / "release" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("more")

    return edit


def truncated(out: Path) -> None:
    path = out / "release" / "certificate.json"
    path.write_bytes(path.read_bytes()[:-40])


def certificate_of(text: str) -> Edit:
    def edit(out: Path) -> None:
        (out / "release" / "certificate.json").write_text(text)

    return edit


EDITS: dict[str, Edit] = {
    "a changed cell": change_cell,
    "one changed bit": change_one_byte,
    "a deleted row": delete_row,
    "two files swapped": swap_files,
    "data and checksum together": data_with_its_checksum,
    "k promised higher": edited("claims", 0, "threshold", value=50),
    "k shown higher": edited("claims", 0, "threshold", value=50),
    "k measured higher": edited("claims", 0, "measured", value=5000),
    "the title": edited("title", value="Harmless"),
    "the risk": edited("attacks", 0, "risk_at_most", value=0.01),
    "the loss": edited("utility", "discernibility", value=0),
    "the date": edited("created", value="1999-01-01T00:00:00+00:00"),
    "the signer": edited("signer", value="AAAA"),
    "another signer": edited("signer", value=format_public_key(Ed25519PrivateKey.generate())),
    "the signature": edited("signature", value="AAAA"),
    "a signature of wrong type": edited("signature", value=["x"]),
    "a signer of wrong type": edited("signer", value=7),
    "no signature": remove_field("signature"),
    "no signer": remove_field("signer"),
    "no claims": remove_field("claims"),
    "no files": remove_field("files"),
    "no data": remove_field("data"),
    "no roles": remove_field("roles"),
    "no format": remove_field("format"),
    "report removed": removed("report.html"),
    "data removed": removed("data.csv"),
    "certificate removed": removed("certificate.json"),
    "a file added": added("more.csv"),
    "a file in a folder added": added("more/more.csv"),
    "a hidden file added": added(".more"),
    "certificate cut off": truncated,
    "certificate empty": certificate_of(""),
    "certificate null": certificate_of("null"),
    "certificate list": certificate_of("[]"),
    "certificate number": certificate_of("1e999"),
    "certificate text": certificate_of('"sfumato"'),
    "certificate only format": certificate_of('{"format": "sfumato certificate 3"}'),
    "certificate nested deep": certificate_of("[" * 100_000 + "]" * 100_000),
    "certificate of NaN": certificate_of('{"format": "sfumato certificate 3", "x": NaN}'),
    "certificate of huge digits": certificate_of('{"format": "sfumato certificate 3", "x": ' + "9" * 5000 + "}"),
    "certificate of lone surrogate": certificate_of('{"format": "sfumato certificate 3", "x": "\\ud800"}'),
}


@pytest.mark.parametrize("name", EDITS)
def test_tampering_is_found(out: Path, invoke: Callable[..., Any], name: str) -> None:
    EDITS[name](out)
    expect_refusal(invoke, out)


@pytest.mark.parametrize("depth", [100, 300, 500, 700, 900, 950, 980, 990, 1000, 5000])
def test_a_certificate_nested_inside(out: Path, depth: int) -> None:
    """Whatever depth the reader takes, the checker must take too."""
    body = json.dumps(body_of(out))[:-1] + ', "more": ' + "[" * depth + "]" * depth + "}"
    (out / "release" / "certificate.json").write_text(body)
    assert not verify(out).holds


def test_certificate_bytes(out: Path, invoke: Callable[..., Any]) -> None:
    (out / "release" / "certificate.json").write_bytes(b"\xff\xfe\0{")
    expect_refusal(invoke, out)


def test_certificate_is_a_folder(out: Path, invoke: Callable[..., Any]) -> None:
    (out / "release" / "certificate.json").unlink()
    (out / "release" / "certificate.json").mkdir()
    expect_refusal(invoke, out)


def test_data_is_a_folder(out: Path, invoke: Callable[..., Any]) -> None:
    (out / "release" / "data.csv").unlink()
    (out / "release" / "data.csv").mkdir()
    expect_refusal(invoke, out)


def test_every_byte_of_the_certificate_counts(out: Path) -> None:
    """Change one character anywhere in the certificate: it is refused, even where JSON would read the same."""
    path = out / "release" / "certificate.json"
    original = path.read_text()
    for index in range(0, len(original), 97):
        changed = original[:index] + chr((ord(original[index]) + 1) % 128) + original[index + 1 :]
        path.write_text(changed)
        assert not verify(out).holds, index


def test_a_release_by_another_key(out: Path, invoke: Callable[..., Any]) -> None:
    """Consistent, but signed by someone else: without a named signer nobody can know, and that is said."""
    true_signer = format_public_key(load_signing_key())
    forger = resign(out, lambda body: body.update(title="Forged"))
    words = invoke("verify", out)
    assert words.code == 0, words.output
    assert "--signer" in words.out
    answer = json.loads(invoke("verify", out, "--json").out)
    assert answer["signer"] == forger
    assert answer["signer_known"] is False
    assert "another key" in expect_refusal(invoke, out, "--signer", true_signer)


def test_forged_data_by_another_key(out: Path, invoke: Callable[..., Any]) -> None:
    """The forger's data must still keep the claims."""
    path = out / "release" / "data.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "unique,alone,x", *lines[1:]]) + "\n")
    resign(out, lambda body: None)
    assert "k_anonymity" in expect_refusal(invoke, out)


SECRET = "age,zip,disease\n" + "".join("1,2,x\n" for _ in range(20))


def points_outside(name: str, *, data_too: bool) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        digest = body["files"]["data.csv"]
        body["files"] = {**body["files"], name: digest}
        if data_too:
            body["files"] = {"report.html": body["files"]["report.html"], name: digest}
            body["data"]["file"] = name

    return change


@pytest.mark.parametrize("data_too", [False, True], ids=["listed", "as the data"])
@pytest.mark.parametrize("path_kind", ["relative", "absolute", "inside and out", "dots"])
def test_paths_that_lead_outside(out: Path, invoke: Callable[..., Any], path_kind: str, data_too: bool) -> None:
    """A forged certificate must not make the auditor's machine open files outside the release folder."""
    outside_file = out.parent / "outside.csv"
    shutil.copy(out / "release" / "data.csv", outside_file)
    name = {
        "relative": "../../outside.csv",
        "absolute": str(outside_file),
        "inside and out": "x/../../../outside.csv",
        "dots": "./../../outside.csv",
    }[path_kind]
    if data_too:
        (out / "release" / "data.csv").unlink()
    resign(out, points_outside(name, data_too=data_too))
    expect_refusal(invoke, out)


def test_a_path_outside_is_not_even_opened(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    plain = Path.open

    def spy(self: Path, *arguments: Any, **more: Any) -> Any:
        opened.append(str(self.resolve()))
        return plain(self, *arguments, **more)

    resign(out, points_outside("../../../../../../../../etc/hostname", data_too=False))
    monkeypatch.setattr(Path, "open", spy)
    assert not verify(out).holds
    assert not [name for name in opened if not name.startswith(str(out.resolve()))]


@pytest.mark.parametrize("name", ["", ".", "..", "a\0b", "x" * 5000, "data*.csv", "/dev/zero", "private/../data.csv"])
def test_odd_file_names(out: Path, invoke: Callable[..., Any], name: str) -> None:
    resign(out, points_outside(name, data_too=True))
    expect_refusal(invoke, out)


def test_data_by_a_link(out: Path, invoke: Callable[..., Any]) -> None:
    """A link in a release folder says something else tomorrow: it is not a file of the release."""
    outside_file = out.parent / "outside.csv"
    shutil.move(out / "release" / "data.csv", outside_file)
    (out / "release" / "data.csv").symlink_to(outside_file)
    expect_refusal(invoke, out)


@pytest.mark.parametrize("target", ["/etc", "/etc/hostname", "/nowhere", "data.csv"])
def test_an_added_link(out: Path, invoke: Callable[..., Any], target: str) -> None:
    (out / "release" / "more").symlink_to(target)
    expect_refusal(invoke, out)


def test_an_added_pipe_does_not_hang(out: Path, invoke: Callable[..., Any]) -> None:
    os.mkfifo(out / "release" / "pipe")
    expect_refusal(invoke, out)


def test_data_as_a_pipe_does_not_hang(out: Path, invoke: Callable[..., Any]) -> None:
    (out / "release" / "data.csv").unlink()
    os.mkfifo(out / "release" / "data.csv")
    expect_refusal(invoke, out)


def test_an_added_empty_folder(out: Path, invoke: Callable[..., Any]) -> None:
    (out / "release" / "more").mkdir()
    expect_refusal(invoke, out)


def set_in(*path: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        inner: Any = body
        for part in path[:-1]:
            inner = inner[part]
        inner[path[-1]] = value

    return change


WRONG_TYPES: dict[str, Callable[[dict[str, Any]], None]] = {
    "claims null": set_in("claims", value=None),
    "claims number": set_in("claims", value=5),
    "claims text": set_in("claims", value="k"),
    "claims of numbers": set_in("claims", value=[1, 2]),
    "claim null": set_in("claims", 0, value=None),
    "threshold text": set_in("claims", 0, "threshold", value="many"),
    "threshold null": set_in("claims", 0, "threshold", value=None),
    "threshold list": set_in("claims", 0, "threshold", value=[1]),
    "bound unknown": set_in("claims", 0, "bound", value="about"),
    "measure unknown": set_in("claims", 0, "measure", value="__import__"),
    "measure null": set_in("claims", 0, "measure", value=None),
    "arguments list": set_in("claims", 0, "arguments", value=[1]),
    "names null": set_in("claims", 2, "arguments", value={"names": None}),
    "names missing": set_in("claims", 2, "arguments", value={}),
    "names nested": set_in("claims", 2, "arguments", value={"names": [["a"], {"b": 1}]}),
    "extra field": set_in("claims", 0, "more", value=1),
    "files null": set_in("files", value=None),
    "files list": set_in("files", value=["data.csv"]),
    "file digest number": set_in("files", "report.html", value=5),
    "data null": set_in("data", value=None),
    "data file number": set_in("data", "file", value=5),
    "data file null": set_in("data", "file", value=None),
    "data format list": set_in("data", "format", value=["csv"]),
    "data format unknown": set_in("data", "format", value="xlsx"),
    "missing mark number": set_in("data", "missing_mark", value=5),
    "missing mark null": set_in("data", "missing_mark", value=None),
    "missing mark list": set_in("data", "missing_mark", value=[""]),
    "data rows wrong": set_in("data", "rows", value=1_000_000),
    "data columns wrong": set_in("data", "columns", value=1),
    "roles null": set_in("roles", value=None),
    "roles list": set_in("roles", value=["age"]),
    "roles unknown": set_in("roles", "age", value="king"),
    "roles number": set_in("roles", "age", value=7),
    "role of nothing": set_in("roles", "nothing", value="sensitive"),
    "missing unknown": set_in("missing", value="sometimes"),
    "missing number": set_in("missing", value=3),
    "missing list": set_in("missing", value=["own_value"]),
}


@pytest.mark.parametrize("name", WRONG_TYPES)
def test_certificates_of_wrong_types(out: Path, invoke: Callable[..., Any], name: str) -> None:
    """Signed, by someone, but not what sfumato writes."""
    resign(out, WRONG_TYPES[name], files=not name.startswith(("files", "file digest")))
    expect_refusal(invoke, out)


def test_certificate_without_claims_is_no_certificate(out: Path, invoke: Callable[..., Any]) -> None:
    """A certificate that promises nothing cannot hold."""
    resign(out, set_in("claims", value=[]))
    expect_refusal(invoke, out)


def test_roles_that_hide_the_quasi_identifiers(out: Path, invoke: Callable[..., Any]) -> None:
    def change(body: dict[str, Any]) -> None:
        body["roles"] = dict.fromkeys(body["roles"], "insensitive")

    resign(out, change)
    expect_refusal(invoke, out)


def test_shown_claim_differs_from_checked_claim(out: Path, invoke: Callable[..., Any]) -> None:
    """A threshold that the file does not reach."""
    resign(out, set_in("claims", 0, "threshold", value=1000))
    expect_refusal(invoke, out)


def test_measured_differs_from_the_file(out: Path, invoke: Callable[..., Any]) -> None:
    resign(out, set_in("claims", 0, "measured", value=1000))
    expect_refusal(invoke, out)


def test_nothing_there(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    assert invoke("verify", tmp_path / "nowhere").code == 2
    result = invoke("verify", tmp_path, "--json")
    assert result.code == 1
    assert "missing" in json.loads(result.out)["problems"][0]


@pytest.mark.parametrize(
    "signer", ["nonsense", "", " ", "AAAA", "/etc/hostname", "x" * 5000, "-----BEGIN PUBLIC KEY-----"]
)
def test_a_signer_that_is_no_key(out: Path, invoke: Callable[..., Any], signer: str) -> None:
    """A bad argument is bad input, and must never count as "no signer named"."""
    ran = invoke("verify", out, "--signer", signer)
    assert ran.code == 2, ran.output
    assert "Traceback" not in ran.output
    assert json.loads(invoke("verify", out, "--signer", signer, "--json").out)["error"]


def test_signer_from_a_file(out: Path, invoke: Callable[..., Any], tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization

    key = load_signing_key()
    text, pem = tmp_path / "signer.txt", tmp_path / "signer.pem"
    text.write_text(format_public_key(key) + "\n")
    pem.write_bytes(
        key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    for file in (text, pem):
        assert invoke("verify", out, "--signer", file).code == 0
