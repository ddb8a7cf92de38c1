# SPDX-License-Identifier: MIT
"""The list of all studies. A paper's package names its studies; their work is imported when it is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import import_module

from papers.study import Study
from sfumato.errors import PolicyError

PAPERS = (
    "aggarwal_2006",
    "giannotti_2009",
    "pensa_2008",
    "abul_2007",
    "wang_2004",
    "li_2004",
    "bu_2007",
    "vaidya_2002",
)
"""Packages that hold a tuple `STUDIES`."""


def list_studies() -> Mapping[str, Study]:
    """All studies by full name, paper by paper."""
    return {study.full_name: study for paper in PAPERS for study in import_module(f"papers.{paper}").STUDIES}


def find_studies(names: str | Iterable[str] = "all") -> tuple[Study, ...]:
    """The studies with these names: all, a paper (bu_2007) or a study (bu_2007.figure_9), in the order of the list."""
    requests = {names} if isinstance(names, str) else set(names)
    studies = list_studies()
    valid_names = {"all", *studies, *(study.paper.name for study in studies.values())}
    unknown = sorted(requests - valid_names)
    if unknown or not requests:
        names_text = ", ".join(f'"{name}"' for name in unknown[:12]) if unknown else "nothing"
        choices = ", ".join(["all", *sorted(valid_names - {"all"}, key=_sort_key)])
        raise PolicyError(f"there is no study for {names_text}; choose from: {choices}")
    return tuple(study for name, study in studies.items() if {"all", study.paper.name, name} & requests)


def _sort_key(name: str) -> list[str]:
    """Figure 10 comes after figure 9."""
    return [part.zfill(8) if part.isdigit() else part for part in re.split(r"[._]", name)]
