# SPDX-License-Identifier: MIT
"""A field that takes any privacy model, selected by its tag: every model defined in a module of `protect`."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from sfumato.protect import MODELS

if TYPE_CHECKING:
    from sfumato.protect import PrivacyModel

    AnyModel = PrivacyModel
else:
    AnyModel = Annotated[reduce(or_, MODELS), Field(discriminator="model")]
