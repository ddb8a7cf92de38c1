# SPDX-License-Identifier: MIT
"""A field that takes any privacy model, selected by its tag: every model defined in a module of `protect`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.fields.tagged_field import declare_tagged

if TYPE_CHECKING:
    from sfumato.protect import PrivacyModel

    AnyModel = PrivacyModel
else:
    AnyModel = declare_tagged("model")
