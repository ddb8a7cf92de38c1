# SPDX-License-Identifier: MIT
"""The names that others rely on, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import sfumato as sf

NAMES = [
    "AddNoise", "AlphaKAnonymity", "Attack", "Audit", "Baskets", "BetaLikeness", "Certificate", "CertificateRefused",
    "Claim", "ClaimBroken", "DataError", "DeltaDisclosure", "DeltaPresence", "EncodeBloom", "EncodeForTrees",
    "EncodeItems", "Finding", "Generalize", "HideItems", "HideRules", "Hierarchy", "ImpossibleRelease", "KAnonymity",
    "KMap", "KOptimize", "Key", "LDiversity", "Method", "Microaggregate", "Missing", "Outcome", "Partition",
    "PartyError", "Patterns", "Policy", "PolicyError", "PublishPatterns", "RandomizeResponse", "Randomness",
    "Release", "Role", "Run", "Sequences", "SfumatoError", "SuppressEntries", "SwapConfidential", "Synthesize",
    "TCloseness", "Table", "Verification", "attack", "audit", "check", "compare", "decode_itemsets", "decode_tree",
    "measure", "mine", "protect", "read_release", "run", "verify",
]  # fmt: skip


def test_public_names_are_pinned() -> None:
    assert sorted(sf.__all__) == sorted(NAMES)
    assert dir(sf) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(sf, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_here"):
        sf.nothing_here  # noqa: B018


def test_the_version_is_the_package_version() -> None:
    assert sf.__version__ == version("sfumato")


def test_importing_sfumato_imports_nothing_heavy() -> None:
    """Half a second for `import sfumato` and `--help` is kept by not loading what neither needs."""
    heavy = "polars", "numba", "pyarrow", "sklearn", "pydantic"
    code = f"import sys, sfumato, sfumato.cli.commands; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
