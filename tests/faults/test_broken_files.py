# SPDX-License-Identifier: MIT
"""Broken and odd files through the whole way: a right answer or exit 2 and a sentence, never a cell in it."""

from __future__ import annotations

import datetime
import decimal
import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.table_reader import read_frame
from sfumato.errors import DataError, SfumatoError
from sfumato.workflow.pipeline import Run, run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import verify

CANARY = "ZZSECRETZZ"
HEAD = "name,age,zip,disease\n"
ROW = f"{CANARY},{CANARY},{CANARY},{CANARY}\n"

BROKEN: dict[str, str | bytes] = {
    "empty": b"",
    "header only": HEAD,
    "header without newline": HEAD.strip(),
    "latin-1": (HEAD + ROW.replace("ZZ", "ü")).encode("latin-1") + ROW.encode(),
    "utf-16 without a mark": (HEAD + ROW).encode("utf-16-le"),
    "random bytes": ROW.encode() + bytes(range(256)) * 20,
    "nul bytes": b"\0" * 1000 + ROW.encode(),
    "gzip cut off": gzip.compress((HEAD + ROW * 2000).encode())[:-20],
    "gzip damaged": gzip.compress((HEAD + ROW * 5).encode())[:30] + b"x" * 20,
    "repeated names": "name,age,age,disease\n" + ROW * 3,
    "short rows": HEAD + ROW + f"{CANARY},{CANARY}\n" * 3,
    "long rows": HEAD + ROW + f"{CANARY},{CANARY},x,y,z\n" * 3,
    "open quote": HEAD + ROW + f'"{CANARY},x,y,z\n' + ROW,
    "text for numbers": HEAD + ROW * 3,
    "other columns": "a,b\n" + f"{CANARY},x\n" * 3,
    "json": '{"a": "' + CANARY + '"}',
    "html": f"<html><body>{CANARY}</body></html>",
    "parquet damaged": b"PAR1" + ROW.encode() * 20,
    "arrow damaged": b"ARROW1\0\0" + ROW.encode() * 20,
    "zip": b"PK\3\4" + ROW.encode() * 20,
    "one quote": '"',
    "semicolons, one column": HEAD.replace(",", ";") + ROW,
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("form", ["words", "json"])
def test_broken_files(sandbox: Any, invoke: Callable[..., Any], name: str, form: str) -> None:
    content = BROKEN[name]
    path = sandbox.root / "people.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    extra = ["--json"] if form == "json" else []
    ran = invoke("run", sandbox.policy, *extra)
    assert ran.code == 2, ran
    assert CANARY not in ran.output
    assert "Traceback" not in ran.output
    assert "panicked" not in ran.output
    if form == "json":
        answer = json.loads(ran.out)
        assert set(answer) == {"error", "message"}
        assert answer["error"] in ("DataError", "PolicyError")
        assert ran.err == ""
    else:
        assert ran.err.startswith("sfumato: ")
        assert len(ran.err.strip().splitlines()) == 1
    assert not sandbox.out.exists()
    audited = invoke("audit", path, *extra)
    assert audited.code in (0, 2), audited
    assert "fault in sfumato" not in audited.output
    if audited.code:
        assert CANARY not in audited.output


def carried_out(
    sandbox: Any, frame: pl.DataFrame | str, roles: dict[str, list[str]], more: str = "", k: int = 2
) -> Run:
    """Run a policy over any table, and check the release from its files alone."""
    path = sandbox.root / ("table.csv" if isinstance(frame, str) else "table.parquet")
    if isinstance(frame, str):
        path.write_text(frame, encoding="utf-8")
    else:
        frame.write_parquet(path)
    listed = "\n".join(f"{role} = {json.dumps(names, ensure_ascii=False)}" for role, names in roles.items())
    accepted = "\n".join(f'{json.dumps(n, ensure_ascii=False)} = "invented"' for n in roles.get("insensitive", ()))
    policy = f"""
        [data]
        path = "{path.name}"
        [roles]
        {listed}
        [accept]
        {accepted}
        [[protect]]
        method = "generalize"
        models = [{{ model = "k_anonymity", k = {k} }}]
        suppression_limit = 0.05
        [output]
        path = "work/out"
        {more}
    """
    result = run_policy(Policy.parse(policy, sandbox.policy))
    assert result.published
    assert all(finding.holds for finding in result.findings)
    checked = verify(sandbox.out)
    assert checked.holds, checked.problems
    json.dumps(result.as_json(), allow_nan=False)
    return result


NAMES = ["a b", "<script>alert(1)</script>", "a\nb", "len", "size", "value", "crowd", "rows", "count", "published",
         "original", "before", "after", "literal", "index", "[red]x[/red]", "\"\"", "😀", "שלום", "x" * 3000,
         "a,b", 'a"b', "column_0", "{{ 7 * 7 }}", "$x", "x.y", "x[0]", "x:N", "a\\b", "'", "%s", "\u202e"]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id=name[:12], marks=[pytest.mark.slow] if index % 4 else [])
        for index, name in enumerate(NAMES)
    ],
)
def test_odd_column_names(sandbox: Any, name: str) -> None:
    """As a quasi-identifying and as a sensitive column, the report included."""
    values = ["u", "v"] * 10
    quasi = pl.DataFrame({name: values, "other": ["x"] * 20, "third": list(range(20))})
    result = carried_out(sandbox, quasi, {"quasi_identifying": [name, "other"], "insensitive": ["third"]})
    assert result.as_json()["levels"] == {name: 0, "other": 0}
    assert read_frame(sandbox.out / "release" / "data.csv").columns == [name, "other", "third"]
    if name.startswith("<script>"):
        for report in ((sandbox.out / "release" / "report.html"), (sandbox.out / "private" / "report.html")):
            assert name not in report.read_text(), "a column's name is text, not markup"
    sensitive = pl.DataFrame({"other": ["x"] * 20, name: values})
    carried_out(sandbox, sensitive, {"quasi_identifying": ["other"], "sensitive": [name]})


@pytest.mark.parametrize("name", ["*", "^.*$", "^a$"])
def test_names_that_mean_all_columns(sandbox: Any, name: str) -> None:
    """Right, or refused with a cure."""
    frame = pl.DataFrame({name: ["u", "v"] * 10, "other": ["x"] * 20})
    for roles in ({"quasi_identifying": [name, "other"]}, {"quasi_identifying": ["other"], "sensitive": [name]}):
        try:
            carried_out(sandbox, frame, roles)
        except SfumatoError as error:
            assert "rename" in str(error)


def test_names_are_escaped_where_values_are_too(sandbox: Any) -> None:
    evil = "<img src=x onerror=alert(1)>"
    carried_out(
        sandbox, pl.DataFrame({"a": [evil] * 20, "b": [evil] * 20}), {"quasi_identifying": ["a"], "sensitive": ["b"]}
    )
    for report in sandbox.out.rglob("report.html"):
        assert evil not in report.read_text()


ODD_VALUES: dict[str, list[Any]] = {
    "one value": ["x"] * 20,
    "all missing": [None] * 20,
    "half missing": ["x", None] * 10,
    "stars": ["*", "y"] * 10,
    "only stars": ["*"] * 20,
    "empty text": ["", "x"] * 10,
    "missing marks": ["?", "NA"] * 10,
    "marks, empty and null": ["", None] * 10,
    "blanks at the ends": [" x", "x "] * 10,
    "a newline at the end": ["x\n", "x"] * 10,
    "no-break space": ["\u00a0x", "x"] * 10,
    "carriage return": ["x\ry", "x\r\ny"] * 10,
    "quotes": ['"', 'x"y'] * 10,
    "separators": ["a,b", "a;b\tc|d"] * 10,
    "leading zeros": ["007", "07"] * 10,
    "text like numbers": ["1.50", "1.5"] * 10,
    "huge text numbers": ["123456789012345678901234", "1"] * 10,
    "emoji": ["😀", "👩‍👩‍👧"] * 10,
    "right to left": ["שלום", "\u202eabc"] * 10,
    "controls": ["\0", "\x1b[31m"] * 10,
    "composed": ["é", "e\u0301"] * 10,
    "integers": [1, 2] * 10,
    "large integers": [2**62, -(2**62)] * 10,
    "floats": [0.1, 1 / 3] * 10,
    "large floats": [1e300, 1.2345678901234567e17] * 10,
    "tiny floats": [5e-324, -0.0] * 10,
    "infinite": [float("inf"), float("-inf")] * 10,
    "nan": [float("nan"), 1.0] * 10,
    "truth": [True, None] * 10,
    "dates": [datetime.date(2020, 1, 2), datetime.date(1, 1, 1)] * 10,
    "moments": [datetime.datetime(2020, 1, 2, 3, 4, 5, 678), datetime.datetime(1999, 1, 1)] * 10,
    "moments with a zone": [datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC)] * 20,
    "times": [datetime.time(1, 2, 3), datetime.time(4)] * 10,
    "decimals": [decimal.Decimal("1.50"), decimal.Decimal("-0.01")] * 10,
    "a million characters": ["x" * 1_000_000, "y"] * 10,
}


@pytest.mark.parametrize("name", ODD_VALUES)
@pytest.mark.parametrize("kind", [pytest.param("csv", marks=pytest.mark.slow), "parquet"])
def test_odd_values(sandbox: Any, plain_report: None, name: str, kind: str) -> None:
    """As quasi-identifying and as insensitive values: what leaves is what came in."""
    column = pl.Series("odd", ODD_VALUES[name])
    frame = pl.DataFrame([column, column.alias("kept"), pl.Series("x", ["x"] * 20)])
    roles = {"quasi_identifying": ["odd", "x"], "insensitive": ["kept"]}
    try:
        result = carried_out(sandbox, frame, roles, f'format = "{kind}"')
    except DataError as error:
        assert "stars" in name, error
        assert '"odd"' in str(error)
        return
    assert result.as_json()["levels"]["odd"] == 0
    if kind == "parquet":
        published_frame = pl.read_parquet(sandbox.out / "release" / "data.parquet")
        expected = column.fill_nan(None) if column.dtype.is_float() else column
        assert spell_cells(published_frame["kept"]).to_list() == spell_cells(expected).to_list()


@pytest.mark.parametrize("name", ["one value", "all missing", "half missing", "controls", "infinite", "dates", "truth"])
def test_odd_values_in_the_report(sandbox: Any, name: str) -> None:
    column = pl.Series("odd", ODD_VALUES[name])
    frame = pl.DataFrame([column, column.alias("kept"), column.alias("other")])
    carried_out(sandbox, frame, {"quasi_identifying": ["odd"], "sensitive": ["kept"], "insensitive": ["other"]})
    assert (sandbox.out / "release" / "report.html").stat().st_size > 1000


def test_stars_and_suppression_together(sandbox: Any, plain_report: None) -> None:
    """Stars that were there before are not suppressed rows: the right answer, or a word about them."""
    text = "a,b\n" + "*,x\n" * 20 + "y,x\n" * 20 + "z,x\n"
    try:
        result = carried_out(sandbox, text, {"quasi_identifying": ["a"], "sensitive": ["b"]})
    except SfumatoError as error:
        assert "*" in str(error)
        assert '"a"' in str(error)
    else:
        assert result.as_json()["suppressed_rows"] == 1


def test_one_row(sandbox: Any, plain_report: None) -> None:
    result = carried_out(sandbox, "a,b\n1,2\n", {"quasi_identifying": ["a"], "sensitive": ["b"]}, k=1)
    assert result.as_json()["levels"] == {"a": 0}


def test_many_columns(sandbox: Any) -> None:
    """300 columns, of which a few are quasi-identifying, with the report."""
    names = [f"c{i}" for i in range(300)]
    text = ",".join(names) + "\n" + "".join(",".join(str((i * j) % 3) for j in range(300)) + "\n" for i in range(12))
    carried_out(sandbox, text, {"quasi_identifying": names[:3], "insensitive": names[3:]})


@pytest.mark.parametrize("count", [22, 40, 2000])
def test_many_quasi_identifying_columns(sandbox: Any, plain_report: None, count: int) -> None:
    """An answer in a few seconds, or a word that these are too many."""
    names = [f"c{i}" for i in range(count)]
    text = ",".join(names) + "\n" + (",".join("1" for _ in names) + "\n") * 5
    try:
        carried_out(sandbox, text, {"quasi_identifying": names})
    except SfumatoError as error:
        assert "quasi-identifying" in str(error) or "combinations" in str(error)


def test_a_file_without_header(sandbox: Any, invoke: Callable[..., Any]) -> None:
    """Its first row is taken for names: it is a person's, and must not be printed."""
    rows = "".join(f"n{i},{20 + i % 5},1300,d\n" for i in range(20))
    (sandbox.root / "people.csv").write_text(f"{CANARY},47,1300,flu\n" + rows)
    ran = invoke("run", sandbox.policy)
    assert ran.code == 2
    assert CANARY not in ran.output


def test_types_that_csv_cannot_hold(sandbox: Any, plain_report: None) -> None:
    frame = pl.DataFrame({"a": ["x"] * 20, "b": [datetime.timedelta(days=1)] * 20})
    try:
        carried_out(sandbox, frame, {"quasi_identifying": ["a"], "insensitive": ["b"]})
    except SfumatoError as error:
        assert '"b"' in str(error)


def test_nothing_is_written_elsewhere(sandbox: Any, plain_report: None) -> None:
    old_files = {path for path in sandbox.root.rglob("*") if path.is_file()}
    run_policy(Policy.read(sandbox.policy))
    new = {path for path in sandbox.root.rglob("*") if path.is_file()} - old_files
    out_files = {path for path in new if sandbox.out in path.parents}
    assert {path.name for path in new - out_files} == {"signing_key.pem"}
    assert Path(sandbox.root / "people.csv").read_text().startswith("name")


def test_a_ragged_file_never_aborts_the_process(tmp_path: Path) -> None:
    """Threads of a read that failed could outlive the interpreter and abort it, some times in a hundred."""
    path = tmp_path / "ragged.csv"
    path.write_text("a,b\n" + "1,2\n" * 3_000 + "1\n" + "1,2\n" * 3_000, encoding="utf-8")
    script = (
        "import sys\nfrom sfumato.data.reading.table_reader import read_frame\nfrom sfumato.errors import DataError\n"
        "try:\n    read_frame(sys.argv[1])\nexcept DataError as error:\n    print(error)\n    sys.exit(3)\n"
    )
    for _ in range(8):
        result = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
        assert result.returncode == 3, result.stderr
        assert "line 3002" in result.stdout or "ragged.csv" in result.stdout
