"""Signatures of webhooks and of requests."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from .errors import SignatureError

if TYPE_CHECKING:
    from .contract import Event


def verify_webhook(
    body: bytes | str,
    header: str | None,
    secrets: str | Sequence[str],
    *,
    now: float | None = None,
    tolerance: int = 300,
) -> Event:
    """Verifies a webhook and returns its event.

    body is the unparsed body, and header is X-SERVICE-Signature. Several secrets are for a rotation: any of them may
    have signed. Raises SignatureError.
    """
    raw = body.encode() if isinstance(body, str) else body
    items = [item.partition("=")[::2] for item in (header or "").split(",")]
    stamp = next((value for name, value in items if name == "t"), "")
    if not re.fullmatch(r"[0-9]{1,12}", stamp):
        raise SignatureError("The header X-SERVICE-Signature has no time.")
    if abs((time.time() if now is None else now) - int(stamp)) > tolerance:
        raise SignatureError("The signature is too old or from the future.")
    signatures = [value.encode() for name, value in items if name == "v1"]
    genuine = False
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        if not secret:
            raise SignatureError("The secret is empty.")
        want = hmac.new(secret.encode(), stamp.encode() + b"." + raw, hashlib.sha256).hexdigest().encode()
        for have in signatures:
            genuine = hmac.compare_digest(have, want) or genuine
    if not genuine:
        raise SignatureError("No signature matches the body and a secret.")
    return cast("Event", json.loads(raw))


class RequestSigner:
    """Signs requests. A signature is accepted once, so equal requests get different times."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._used: dict[str, int] = {}
        self._lock = threading.Lock()

    def sign(self, method: str, target: str, headers: Mapping[str, str], body: bytes, now: float) -> str:
        """Returns the header. target is the path with the query, as sent."""
        lines = [method, target, headers.get("Idempotency-Key", ""), headers.get("X-SERVICE-Version", "")]
        with self._lock:
            self._used = {signature: t for signature, t in self._used.items() if t >= now - 600}
            t = int(now)
            while True:
                text = "".join(f"{line}\n" for line in ["v2", t, *lines]).encode() + body
                signature = hmac.new(self._secret, text, hashlib.sha256).hexdigest()
                if signature not in self._used:
                    self._used[signature] = t
                    return f"t={t},v2={signature}"
                t -= 1
