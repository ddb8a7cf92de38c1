# SPDX-License-Identifier: MIT
"""All errors, as one tree.

::

    SfumatoError
    ├── PolicyError           the policy or an argument asks for something that does not make sense
    ├── DataError             a file or a table cannot be used as it is
    ├── ImpossibleRelease     no release satisfies what was asked
    ├── ClaimBroken           a claim did not hold when it was measured again
    ├── CertificateRefused    a certificate cannot be issued, or cannot be trusted
    └── PartyError            sites that mine together could not finish; no site has a result

A message names the file, the column, how many rows, and the cure. It never holds a value of the data, nor a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import PurePath

_BEFORE_HOST = re.compile(r"(?<=:/)(/?[^:/@\s]*):(?!…@).*@", re.DOTALL)
"""`://user:password@host`; a password may hold any sign. What was taken out already is left as it is."""
_WITHOUT_HOST = re.compile(r"(\w\w:/{1,2}[^:/@\s\[]+):(?!\d+(?:[/?#\s:;,]|$)|…)[^/?#\s]+")
"""`://user:password/database`, where the host was forgotten; a number is a port, and a `Path` keeps one slash."""
_OPTION = re.compile(
    r"(?i)(?<=[?&])((?:ssl)?password)=(?!…)[^&]*|(?<![^\W_])((?:ssl)?password|pwd)=(?:'[^']*'|[^&;\s]*)"
)
"""`?password=…`, where only `&` ends it, and `password=…` among other options."""


def hide_password(text: str) -> str:
    """The text without the password of an address in it, mistyped ones included: they look like names of files."""
    text = _BEFORE_HOST.sub(r"\1:…@", text)
    text = _WITHOUT_HOST.sub(r"\1:…", text)
    return _OPTION.sub(lambda option: f"{option[1] or option[2]}=…", text)


class SfumatoError(Exception):
    """Any expected failure; the command line prints it as one sentence. A password in an address is taken out."""

    def __init__(self, *message: object) -> None:
        """Keep the message without passwords, so that no log or notebook stores one."""
        super().__init__(*(hide_password(part) if isinstance(part, str) else part for part in message))


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


class PartyError(SfumatoError):
    """Sites that mine together could not finish; no site has a result."""


@contextmanager
def name_source(source: str) -> Iterator[None]:
    """Put the name of the data in front of what is wrong with them, where an error does not name them already."""
    try:
        yield
    except (DataError, ImpossibleRelease, PolicyError) as error:
        if isinstance(error, PolicyError) and type(error) is not PolicyError:
            raise  # about parameters, which it names
        if hide_password(source) in str(error) or PurePath(str(error).partition(": ")[0]).suffix:
            raise  # it names the data, or another file
        raise type(error)(f"{source}: {error}") from error


def count_noun(count: int, singular: str, plural: str | None = None) -> str:
    """A count with its noun."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def quote_names(names: Iterable[str]) -> str:
    """Quote column names for a message: `"age", "zip"`."""
    return ", ".join(f'"{name}"' for name in names)


def quote_some_names(names: Sequence[str], most: int = 12) -> str:
    """Quote the first of many names, and say how many more there are: `"age", "zip" and 3 more`."""
    rest_count = len(names) - most
    return quote_names(names[:most]) + (f" and {rest_count:,} more" if rest_count > 0 else "")


def join_names(names: Iterable[str]) -> str:
    """Names in a sentence, as they are; quoted only where a comma would make two of one: `age, "pay, net"`."""
    return ", ".join(f'"{name}"' if "," in name else name for name in names)


def spell_install(extra: str) -> str:
    """How to install what an extra needs: from a clone, as long as no registry has sfumato."""
    return f'pip install ".[{extra}]" in the folder of the clone'


def suggest_name(word: str, known_names: Iterable[str]) -> str | None:
    """The known name that was probably meant: equal but for case and signs, a beginning of it, or a similar one."""
    names = {_simplify_name(name): name for name in known_names}
    plain = _simplify_name(word)
    if plain in names:
        return names[plain]
    longer = [
        name for name in names if min(len(plain), len(name)) > 2 and (name.startswith(plain) or plain.startswith(name))
    ]
    close_names = longer if len(longer) == 1 else get_close_matches(plain, names, n=1, cutoff=0.66)
    return names[close_names[0]] if close_names else None


def ask_meant(words: Iterable[str], known_names: Iterable[str]) -> str:
    """`; did you mean "age"?`, or nothing if no known name is similar."""
    names = list(known_names)
    suggestions = dict.fromkeys(name for word in words if (name := suggest_name(word, names)) is not None)
    return f"; did you mean {quote_names(suggestions)}?" if suggestions else ""


def _simplify_name(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()) or name
