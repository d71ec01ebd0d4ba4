"""The lab as one file that opens from a disk.

Browsers load no modules, workers or WebAssembly from `file://`. Here the files of the page stand inside it as
text; `offline.js` makes them addresses of the page's own (`blob:`), and browsers load these.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The name of the engine's file.
WASM = "cogtcp.wasm"
#: The script that starts the page. The rest of the policy of index.html stays.
_POLICY = (
    "default-src 'none'; script-src '{script}' 'wasm-unsafe-eval' blob:; worker-src blob:; "
    "style-src '{style}'; img-src data:; base-uri 'none'; form-action 'none'"
)


def page(contents: Mapping[str, bytes]) -> bytes:
    """Return the page with everything in it, of the files that `cogtcp.lab.site.contents` returns."""
    text = {name: found.decode() for name, found in contents.items() if name != WASM}
    modules = {name: source for name, source in text.items() if name.endswith(".js") and name != "offline.js"}
    files = {
        "modules": modules,
        "data": text["data.json"],
        "wasm": base64.b64encode(_deflated(contents[WASM])).decode(),
    }
    style = text["page.css"] + text["lab.css"]
    start = text["offline.js"]
    # The page's own script and style by their hashes: nothing else that is inline runs.
    policy = _POLICY.format(script=_hash(start), style=_hash(style))
    found = text["index.html"]
    found = re.sub(
        r'(<meta http-equiv="Content-Security-Policy" content=")[^"]*',
        lambda at: at[1] + html.escape(policy),
        found,
    )
    found = re.sub(r'<link rel="stylesheet"[^>]*>\n', "", found)
    found = re.sub(r"<script [^>]*></script>\n", "", found)
    # No `</script>` in it can end the element.
    inside = json.dumps(files, ensure_ascii=False).replace("<", "\\u003c")
    data = f'<script type="application/json" id="offline">{inside}</script>\n<script>{start}</script>\n'
    found = found.replace("</head>", f"<style>{style}</style>\n</head>")
    return found.replace("</body>", f"{data}</body>").encode()


def _deflated(content: bytes) -> bytes:
    # Raw deflate, without header: what browsers call `deflate-raw`.
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    return squeeze.compress(content) + squeeze.flush()


def _hash(content: str) -> str:
    """Return what a policy calls a script or a style by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
