# SPDX-License-Identifier: MIT
"""The list of all studies. Seeds are imported when the list is asked for; their studies import the rest when run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sfumato.errors import PolicyError
from sfumato.reproduce.study import Study, data_folder

if TYPE_CHECKING:
    STUDIES: Mapping[str, Study]
    """All studies by name, in the order of the seeds."""

SEEDS = ("seed_000", "seed_001", "seed_002", "seed_003", "seed_004")
"""Modules of this room that hold a tuple `STUDIES`."""


@dataclass(frozen=True)
class Listed:
    """A study as a list shows it."""

    name: str
    place: str
    title: str
    missing: tuple[str, ...]
    """Files of real data that it needs and that are not there."""

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {**asdict(self), "missing": list(self.missing)}


def _studies() -> Mapping[str, Study]:
    found: dict[str, Study] = {}
    for module in SEEDS:
        for study in import_module(f"sfumato.reproduce.{module}").STUDIES:
            if study.name in found:
                raise PolicyError(f"two studies are called «{study.name}»")
            found[study.name] = study
    return MappingProxyType(found)


def __getattr__(name: str) -> Any:
    if name != "STUDIES":
        raise AttributeError(f"sfumato.reproduce.registry has no «{name}»")
    globals()["STUDIES"] = found = _studies()
    return found


def every() -> Mapping[str, Study]:
    """`STUDIES`, for modules that cannot wait for the name."""
    found: Mapping[str, Study] = import_module(__name__).STUDIES
    return found


def chosen(names: str | Iterable[str] = "all") -> tuple[Study, ...]:
    """The studies that names mean: «all», a seed («000»), or a study («000-figure-7»), in the order of the list."""
    asked = {names} if isinstance(names, str) else set(names)
    studies = every()
    known = {"all", *studies, *(study.seed for study in studies.values())}
    unknown = sorted(asked - known)
    if unknown or not asked:
        said = ", ".join(f"«{name}»" for name in unknown[:12]) if unknown else "nothing"
        raise PolicyError(
            f"there is no study for {said}; choose from: {', '.join(['all', *sorted(known - {'all'}, key=_in_order)])}"
        )
    return tuple(s for s in studies.values() if {"all", s.seed, s.name} & asked)


def _in_order(name: str) -> list[str]:
    """A sorting key by which figure 10 comes after figure 9."""
    return [part.zfill(8) for part in name.split("-")]


def listed(data: str | Path | None = None) -> tuple[Listed, ...]:
    """What there is to reproduce, and what each study would lack."""
    folder = data_folder(data)
    return tuple(Listed(s.name, s.place, s.title, s.missing(folder)) for s in every().values())
