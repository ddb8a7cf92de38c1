# SPDX-License-Identifier: MIT
"""The colours of the report's pictures, and Vega-Lite rendered as SVG, offline, for the pictures of a few methods.

The SVG holds shapes and shortened labels, never the data behind them. Every colour is a light value of
`PALETTE`; the page's style sheet maps each to a variable, so that a picture follows light, dark and print.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

PALETTE: Mapping[str, tuple[str, str]] = {
    "paper": ("#faf7f2", "#191715"),
    "card": ("#fffdfa", "#221f1c"),
    "ink": ("#2b2622", "#ece5db"),
    "soft": ("#6a6057", "#b3a89b"),
    "line": ("#ddd4c8", "#3d3731"),
    "before": ("#b09a7c", "#94805f"),
    "accent": ("#2f6b66", "#7fc1b8"),
    "warn": ("#a03f27", "#ee9a7c"),
}
"""Each colour in light and in dark mode."""

LABEL = 22
"""The longest label in a picture, in characters."""

_INK, _SOFT, _LINE = (PALETTE[name][0] for name in ("ink", "soft", "line"))
_CONFIG: Mapping[str, Any] = {
    "aria": False,
    "background": None,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": _SOFT,
        "labelFontSize": 12,
        "titleColor": _SOFT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "domainColor": _LINE,
        "gridColor": _LINE,
        "tickColor": _LINE,
        "ticks": False,
        "labelPadding": 6,
    },
    "text": {"color": _INK, "fontSize": 12},
}
_NAMESPACES = (' xmlns="http://www.w3.org/2000/svg"', ' xmlns:xlink="http://www.w3.org/1999/xlink"')

Spec = dict[str, Any]


def render_svg(spec: Spec) -> str:
    """A Vega-Lite specification as SVG that fits into an HTML page."""
    import vl_convert  # starts a JavaScript engine, a second that most reports do without

    whole = {"config": dict(_CONFIG), "padding": 2, **spec}
    svg: str = vl_convert.vegalite_to_svg(whole, allowed_base_urls=[])
    for namespace in _NAMESPACES:
        svg = svg.replace(namespace, "", 1)
    return _name_clips(svg)


def _name_clips(svg: str) -> str:
    """Name clip paths by content: the renderer numbers them over its lifetime, which reveals what else it drew.

    Names differ from picture to picture, as they must on one page.
    """
    order = list(dict.fromkeys(_CLIP.findall(svg)))
    bare = _CLIP.sub(lambda match: f"clip{order.index(match[1])}", svg)
    mark = hashlib.sha256(bare.encode()).hexdigest()[:10]
    return _CLIP.sub(lambda match: f"clip{mark}-{order.index(match[1])}", svg)


_CLIP = re.compile(r"\bclip(\d+)\b")
