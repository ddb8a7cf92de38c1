# SPDX-License-Identifier: MIT
"""How the data of an untrusted release is opened: by which engine, and baskets without reading them into memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato import protect
from sfumato.data.writing.excel_writer import has_only_own_parts, holds_only_cells
from sfumato.engine.choice import EngineChoice, choose_by_cells, choose_by_letters
from sfumato.engine.engine_names import ChosenEngine, EngineName
from sfumato.engine.scratch import open_scratch_folder
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.errors import CertificateRefused, PolicyError
from sfumato.measure.stored_checks import StoredShape, find_stored_measure
from sfumato.table import Missing
from sfumato.workflow.certificate import Certificate, refuse_hostile
from sfumato.workflow.outgoing import COMPUTABLE


def choose_verifying_engine(certificate: Certificate, engine: EngineName, root: Path) -> EngineChoice:
    """The engine for a release: as asked, or by the size of its file, or that its certificate states."""
    data = certificate.body["data"]
    if data["shape"] == "baskets" and _can_be_counted(certificate, "baskets"):
        return choose_by_letters(_measure_file(root, str(data["file"])), engine)
    if _is_stored_table(certificate):
        return choose_by_cells(data["rows"] * data["columns"], engine)
    if engine in ("duckdb", "spark"):
        raise PolicyError(
            f"the engine {engine} verifies tables in Parquet, if it can measure their claims and missing cells are "
            "values of their classes or left out, and baskets in which something was hidden; use --engine memory"
        )
    return EngineChoice("memory", "which reads this kind of data")


def _is_stored_table(certificate: Certificate) -> bool:
    """Whether a release is a table whose claims, and classes if it states any, can be counted in its file."""
    body = certificate.body
    is_parquet = body["data"]["shape"] == "table" and body["data"]["format"] == "parquet"
    # Elsewhere rows of one class need not have equal cells.
    has_plain_classes = body["missing"] in (Missing.OWN_VALUE, Missing.DROP)
    return is_parquet and _can_be_counted(certificate, "table") and (has_plain_classes or not _states_classes(body))


def _states_classes(body: Mapping[str, Any]) -> bool:
    """Whether a certificate has claims of privacy models, or figures about classes."""
    model_properties = {name for model in protect.MODELS for name in model.claim_properties}
    return bool(COMPUTABLE & body["utility"].keys()) or any(
        claim["property"] in model_properties for claim in body["claims"]
    )


def _can_be_counted(certificate: Certificate, shape: StoredShape) -> bool:
    """Whether every claim that needs no originals can be measured in the file."""
    measures = (claim["measure"] for claim in certificate.body["claims"] if not claim["needs_original"])
    return all(find_stored_measure(name, shape) is not None for name in measures)


def _measure_file(root: Path, name: str) -> int:
    """The size of a file of the folder; it is not opened, and later refused if it is none."""
    try:
        return (root / Path(name).name).lstat().st_size
    except (OSError, ValueError):
        return 0


@contextmanager
def open_verified_baskets(path: Path, data: Mapping[str, Any], engine: ChosenEngine) -> Iterator[StoredBaskets]:
    """The baskets of an untrusted release, as codes in a private folder."""
    from sfumato.workflow.stored.stored_basket_files import open_published_baskets

    refuse_packed(path)
    with open_scratch_folder() as scratch:
        with refuse_hostile("the data file cannot be read as the certificate describes it"):
            is_escaped = bool(data.get("escaped_formulas", False))
            baskets = open_published_baskets(path, data["format"], scratch, engine, is_escaped=is_escaped)
        yield baskets


def refuse_packed(path: Path) -> None:
    """Stop at a file that may unpack to anything."""
    with path.open("rb") as file:
        if file.read(2) == b"\x1f\x8b":
            raise CertificateRefused("the data file is compressed with gzip, which sfumato does not do")


def refuse_foreign_parts(path: Path, form: str) -> None:
    """Stop at a workbook with a part that no reader shows and sfumato does not write."""
    if form == "excel" and not has_only_own_parts(path):
        raise CertificateRefused("the workbook has other parts than the sheet that sfumato writes, which may hold data")


def refuse_foreign_sheet(path: Path, form: str, published_data: Any) -> None:
    """Stop at a sheet with anything that was not read from it."""
    if form == "excel" and not holds_only_cells(path, published_data.frame):
        raise CertificateRefused("the sheet of the workbook holds more than cells, or spells them in another way")
