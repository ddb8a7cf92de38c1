# SPDX-License-Identifier: MIT
"""The HTML report: one page that stays with the custodian, and one that may leave with the release."""

from sfumato.report.account import Account

__all__ = ["Account", "render"]


def render(account: Account) -> str:
    """The report as one self-contained HTML page: an account without originals gives the page that leaves."""
    from sfumato.report.page import page

    return page(account)
