"""The key under which a call is recorded: a hash of the logical request, before any adaptation to a server.

In it: provider, identity, model, every sampling parameter that was set, extra_body, query (all of them in a model's `identity`), and the request with
its draw. Not in it: keys, headers, proxies, timeouts, limits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def call_key(kind: str, identity: Mapping[str, Any], told: Any) -> str:
    """32 hex digits. `kind`: chat, embedding, probe, learned; `told`: the request as JSON."""
    text = json.dumps([kind, identity, told], sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
