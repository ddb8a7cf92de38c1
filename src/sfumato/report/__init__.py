# SPDX-License-Identifier: MIT
"""The HTML report: one page that stays with the custodian, and one that may be published with the release."""

from sfumato.report.run_account import RunAccount

__all__ = ["RunAccount", "render_report"]


def render_report(account: RunAccount) -> str:
    """The report as one self-contained HTML page: an account without originals gives the public page."""
    from sfumato.report.page import render_page

    return render_page(account)
