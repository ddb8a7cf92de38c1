# SPDX-License-Identifier: MIT
"""The role of a column in a release, in the words of ARX and sdcMicro."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

from sfumato.errors import DataError, ask_meant, count_noun, quote_some_names, suggest_name


class Role(StrEnum):
    """What a column discloses about a person, and so how it must be treated."""

    IDENTIFYING = "identifying"
    """Identifies the person directly (name, social security number); never published."""
    QUASI_IDENTIFYING = "quasi_identifying"
    """Known to others and able to single a person out together with similar columns (age, ZIP)."""
    SENSITIVE = "sensitive"
    """What an adversary wants to learn (disease, salary)."""
    INSENSITIVE = "insensitive"
    """Neither known to others nor worth knowing; published unchanged."""

    @classmethod
    def is_role(cls, word: object) -> bool:
        """Whether a word names a role."""
        return isinstance(word, str) and _simplify_role(word) in _ALIASES

    @classmethod
    def parse(cls, word: str) -> Role:
        """Read a role under its own name or its name in ARX or sdcMicro."""
        plain = _simplify_role(word)
        try:
            return _ALIASES[plain]
        except KeyError:
            suggestion = suggest_name(plain, [role.value for role in cls])
            cure = (
                f'did you mean "{suggestion}"?'
                if suggestion
                else f"the roles are {', '.join(role.value for role in cls)}"
            )
            raise DataError(f'"{word}" is not a role; {cure}') from None


def _simplify_role(word: str) -> str:
    return word.strip().lower().replace("-", "_").replace(" ", "_").removesuffix("_attribute")


_ALIASES = {
    **{role.value: role for role in Role},
    "identifier": Role.IDENTIFYING,
    "direct_identifier": Role.IDENTIFYING,
    "quasi_identifier": Role.QUASI_IDENTIFYING,
    "quasiidentifier": Role.QUASI_IDENTIFYING,
    "qi": Role.QUASI_IDENTIFYING,
    "keyvars": Role.QUASI_IDENTIFYING,
    "keyvar": Role.QUASI_IDENTIFYING,
    "sensiblevar": Role.SENSITIVE,
    "sensitivevar": Role.SENSITIVE,
    "confidential": Role.SENSITIVE,
    "non_sensitive": Role.INSENSITIVE,
    "nonsensitive": Role.INSENSITIVE,
    "excludevars": Role.IDENTIFYING,
}


def _names_several(text: str, known_names: Collection[str]) -> bool:
    parts = [part.strip() for part in re.split("[,;]", text)]
    return len(parts) > 1 and all(part in known_names for part in parts)


def assign_roles(
    columns: Iterable[str], roles: Mapping[str, str | Role], source: str = "the table"
) -> Mapping[str, Role]:
    """One role for every column, in column order; a column or a role without the other is an error."""
    if not isinstance(roles, Mapping):
        raise DataError(f'{source}: roles are given by column, as in {{"age": "quasi_identifying", ...}}')
    if odd_count := sum(not isinstance(name, str) for name in roles):
        raise DataError(
            f"{source}: {count_noun(odd_count, 'role is', 'roles are')} given to what is no text; columns have names, "
            'so write "0" for 0, or name the columns: df.columns = ["age", "zip"]'
        )
    names = list(columns)
    known_names = set(names)
    unknown = [name for name in roles if name not in known_names]
    if unknown:
        cure = ask_meant(unknown, names).removeprefix("; ")
        if joined_names := [name for name in unknown if _names_several(name, known_names)]:
            cure = f"{quote_some_names(joined_names)} is several: name each by itself, in a policy in quotes of its own"
        elif not are_plausible_names(names):
            cure = "if the file has no header, set header = false and name its columns"
        elif len(names) == 1 and len(roles) > 1:
            cure = f"the file was read as a single column: set separator = {name_separator(names[0])}"
        elif not cure:
            cure = f"its columns are {quote_some_names(names)}"
        raise DataError(f"roles name {quote_some_names(unknown)}, which {source} does not have; {cure}")
    missing_names = [name for name in names if name not in roles]
    if missing_names:
        raise DataError(
            f"{source}: no role is given for {quote_some_names(missing_names)}; name every column once, as "
            f"{', '.join(role.value for role in Role)}"
        )
    return MappingProxyType({name: Role.parse(roles[name]) for name in names})


def are_plausible_names(names: Iterable[str]) -> bool:
    """Whether these look like column names; otherwise they may be the first person's cells, and must not be printed."""
    return all(name.isprintable() and len(name) <= 64 and not _NUMBER.match(name) for name in names)


def name_separator(heading: str) -> str:
    """The sign that seems to separate the columns in a line that was read as one name: `"#"`."""
    signs = [letter for letter in heading if not letter.isalnum() and letter not in "_-.\"' "]
    sign = max(signs, key=signs.count) if signs else None
    return "the sign between the cells" if sign is None else f'"{_SIGN_SPELLINGS.get(sign, sign)}"'


_SIGN_SPELLINGS = {"\t": "\\t"}
_NUMBER = re.compile(r"^[-+]?[0-9]+(?:[.,][0-9]+)*$")
