"""Errors of this package. VayuError is the base of all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class VayuError(Exception):
    """The base of all errors of this package."""


class TransportError(VayuError):
    """No complete reply arrived. __cause__ has the error of httpx."""


class TimeoutError(TransportError):
    """An attempt took longer than its timeout."""


class SignatureError(VayuError):
    """A webhook whose signature is invalid or too old. Reply 400 and discard it."""


class ProblemError(VayuError):
    """The service replied with a problem of the contract. Branch on code, because messages can change."""

    def __init__(self, status: int, headers: Mapping[str, str], text: str) -> None:
        body = _parse(text)
        error = body.get("error")
        problem: dict[str, Any] = error if isinstance(error, dict) else {}
        self.message: str = problem.get("message", f"The reply has status {status} and no problem of the contract.")
        super().__init__(self.message)
        self.status = status
        self.body: Any = body or text
        """The whole reply. That of a failed recharge has the transaction."""
        self.code: str = problem.get("code", "unexpected_reply")
        """Stable code. It is unexpected_reply if the reply has no problem, as from a proxy."""
        self.field: str | None = problem.get("field")
        self.details: list[dict[str, str]] = problem.get("details", [])
        self.suggestions: list[str] = problem.get("suggestions", [])
        self.candidates: list[str] = problem.get("candidates", [])
        self.request_id: str | None = problem.get("request_id", headers.get("X-Request-Id"))
        # A transaction that has failed stays failed, so a repeated request has the same reply.
        failed = body.get("status") == "failed"
        self.retryable: bool = not failed and bool(problem.get("retryable", status in (429, 502, 503, 504)))
        seconds = headers.get("Retry-After", "")
        self.retry_after: int | None = int(seconds) if seconds.isdecimal() else None


def _parse(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
