# SPDX-License-Identifier: MIT
"""The HTML report: one page that stays in the house, and one that may leave with the release."""

from sfumato.report.account import Account

__all__ = ["Account", "render"]


def render(account: Account, *, internal: bool) -> str:
    """The report as one self-contained HTML page; `internal` adds what must stay in the house."""
    from sfumato.report.page import page

    return page(account, internal=internal)
