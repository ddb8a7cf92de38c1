# SPDX-License-Identifier: MIT
"""All errors, as one tree.

::

    SfumatoError
    ├── PolicyError           the policy or an argument asks for something that does not make sense
    ├── DataError             a file or a table cannot be used as it is
    ├── ImpossibleRelease     no release satisfies what was asked
    ├── ClaimBroken           a claim did not hold when it was measured again
    └── CertificateRefused    a certificate cannot be issued, or cannot be trusted

A message names the file, the column, how many rows, and the cure. It never holds a value of the data.
"""

from __future__ import annotations

from collections.abc import Iterable


class SfumatoError(Exception):
    """Any expected failure; the command line prints it as one sentence."""


class PolicyError(SfumatoError):
    """The policy or an argument asks for something that does not make sense."""


class DataError(SfumatoError):
    """A file or a table cannot be used as it is."""


class ImpossibleRelease(SfumatoError):
    """No release satisfies what was asked; the message says what would."""


class ClaimBroken(SfumatoError):
    """A claim did not hold when it was measured again, so nothing was released."""


class CertificateRefused(SfumatoError):
    """A certificate cannot be issued, or cannot be trusted."""


def quote_names(names: Iterable[str]) -> str:
    """Quote column names for a message: `"age", "zip"`."""
    return ", ".join(f'"{name}"' for name in names)
