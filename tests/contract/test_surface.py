# SPDX-License-Identifier: MIT
"""The names that others rely on, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import sfumato as sf
from sfumato.protect import METHODS, MODELS

NAMES = [
    "Attack", "Audit", "Baskets", "Cells", "Certificate", "CertificateRefused", "Claim", "ClaimBroken", "DataError",
    "DenseRegions", "Finding", "Grid", "Hierarchy", "ImpossibleRelease", "Key", "Method", "Missing", "Outcome",
    "PartyError", "Patterns", "Policy", "Polygons",
    "PolicyDraft", "PolicyError", "Randomness", "Release", "Role", "Rules", "Run", "SequenceAudit", "Sequences",
    "SfumatoError", "Table",
    "Verification", "attack", "audit", "check", "compare", "decode_itemsets", "decode_tree", "draft_policy",
    "invent_people", "measure", "mine", "parties", "propose_hierarchy", "protect", "read_release", "run", "verify",
    *(kind.__name__ for kind in (*METHODS, *MODELS)),
]  # fmt: skip
"""Every method and model, and these."""


def test_public_names_are_pinned() -> None:
    assert dir(sf) == sorted(NAMES)
    namespace: dict[str, object] = {}
    exec("from sfumato import *", namespace)
    assert namespace.keys() >= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(sf, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_here"):
        sf.nothing_here  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match='did you mean "Partition"'):
        sf.Partiton  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match='did you mean "Linking"'):
        sf.attack.Linkin  # type: ignore[attr-defined]  # noqa: B018


def test_the_version_is_the_package_version() -> None:
    assert sf.__version__ == version("sfumato")


def test_importing_sfumato_imports_nothing_heavy() -> None:
    """Half a second for `import sfumato` and `--help` is kept by not loading what neither needs."""
    heavy = "polars", "numba", "pyarrow", "sklearn", "pydantic"
    code = f"import sys, sfumato, sfumato.cli.commands; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
