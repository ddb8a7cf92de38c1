# SPDX-License-Identifier: MIT
"""The documentation: Markdown pages, the theme that comes with Sphinx, nothing from the network."""

from importlib.metadata import version as version_of

project = "sfumato"
version = release = version_of("sfumato")
author = copyright = "the authors of sfumato"

extensions = ["myst_parser"]
exclude_patterns = ["_build", "_templates"]
myst_heading_anchors = 3
suppress_warnings: list[str] = []
nitpicky = True

html_theme = "alabaster"
html_theme_options = {
    "description": "A method turns data into a release that carries claims; a certificate says what was found.",
    "fixed_sidebar": True,
    "page_width": "76rem",
    "code_font_size": "0.8em",
    "github_button": False,
    "github_banner": False,
}
html_static_path = ["_static"]
html_css_files = ["narrow.css"]
html_copy_source = False
html_show_sphinx = False
