# SPDX-License-Identifier: MIT
"""The HTML report."""

from sfumato.report.account import Account


def render(account: Account, *, internal: bool) -> str:
    """The report as one HTML page."""
    return "<html></html>"
