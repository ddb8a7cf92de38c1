# SPDX-License-Identifier: MIT
"""What a method is: a frozen description of how to protect, the same in Python, a policy file and a form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

from sfumato.description import Description
from sfumato.key import Key
from sfumato.randomness import Randomness
from sfumato.release import Release


class Method(Description, ABC):
    """A way to protect data.

    A subclass has a tag (`method: Literal["…"]`), fields with docstrings, and a class docstring that says
    what is guaranteed, against whom, with which limits, and in which paper.
    """

    shape: ClassVar[str] = "table"
    """The shape of data it takes: `table`, `baskets` or `sequences`."""
    gives: ClassVar[str] = "table"
    """The shape of its release: mostly that of the data, but patterns may be all that leaves of baskets."""
    maturity: ClassVar[str] = "stable"
    """`stable`, or `for study` where the literature knows a break."""
    by_chance: ClassVar[bool] = False
    """Whether published values are drawn by chance, and not the originals or something coarser."""
    utility: ClassVar[Literal["classes", "means", "blanks", "chance", "codes", "baskets"]] = "classes"
    """What an analyst loses by it, and so which measures of utility make sense."""
    section: ClassVar[Literal["", "entries", "hiding", "noise", "synthesis", "codes", "patterns"]] = ""
    """Its own part of the custodian's report, if it has one."""
    iso_20889: ClassVar[str] = ""
    """The class of de-identification technique in ISO/IEC 20889."""

    @abstractmethod
    def protect(self, data: Any, randomness: Randomness | None = None) -> Release:
        """Make a release. The data is not changed; `ImpossibleRelease` if there is none."""

    def refuse_undeclared(self, data: Any) -> None:
        """Stop where the release would tell something of the data that the custodian has not said may be known.

        A policy asks before it publishes. In Python a release is made all the same, and marked.
        """

    def described(self) -> dict[str, Any]:
        """The method and its parameters, for a certificate that leaves: a method leaves out what must stay."""
        return self.model_dump(mode="json")


class KeyedMethod(Method):
    """A way to protect that has a secret: a key that is drawn first, stays home, and decodes what is found."""

    @abstractmethod
    def new_key(self, data: Any, randomness: Randomness | None = None) -> Key:
        """Draw a secret for some data."""

    @abstractmethod
    def protect(  # type: ignore[override]  # the secret stands where chance stands elsewhere: it was drawn with it
        self, data: Any, key: Key | None = None, randomness: Randomness | None = None
    ) -> Release:
        """Make a release under a key; the release does not hold it."""
