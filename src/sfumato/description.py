# SPDX-License-Identifier: MIT
"""How methods, models, attacks and hierarchies are described: one frozen model for Python, policy, form and JSON."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Description(BaseModel):
    """Nothing unknown is taken, nothing changes later, every field has a docstring, no value is echoed in an error."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
        validate_default=True,
        allow_inf_nan=False,
    )
