from __future__ import annotations

import hashlib
import hmac

import pytest

from vayu_sdk import SignatureError, verify_webhook

NOW = 1795000000
BODY = '{"id":"evt_1","type":"quota.warning","created":1795000000,"api_version":"2026-11-01","data":{"ü":1}}'


def sign(secret: str, t: int = NOW, text: str = BODY) -> str:
    return hmac.new(secret.encode(), f"{t}.{text}".encode(), hashlib.sha256).hexdigest()


def test_event() -> None:
    header = f"t={NOW},v1={sign('whsec_a')}"
    assert verify_webhook(BODY, header, "whsec_a", now=NOW)["type"] == "quota.warning"
    assert verify_webhook(BODY.encode(), header, "whsec_a", now=NOW + 300)["id"] == "evt_1"


@pytest.mark.parametrize("secrets", ["whsec_new", "whsec_old", ["whsec_older", "whsec_old"]])
def test_rotation(secrets: str | list[str]) -> None:
    both = f"t={NOW},v1={sign('whsec_new')},v1={sign('whsec_old')}"
    assert verify_webhook(BODY, both, secrets, now=NOW)["id"] == "evt_1"


def test_receiver_with_two_secrets() -> None:
    header = f"t={NOW},v1={sign('whsec_old')}"
    assert verify_webhook(BODY, header, ["whsec_new", "whsec_old"], now=NOW)["id"] == "evt_1"


@pytest.mark.parametrize(
    ("body", "header", "secrets", "now"),
    [
        (BODY + " ", f"t={NOW},v1={sign('whsec_a')}", "whsec_a", NOW),
        (BODY, f"t={NOW},v1={sign('whsec_b')}", "whsec_a", NOW),
        (BODY, f"t={NOW},v1={sign('whsec_a')}", "whsec_a", NOW + 301),
        (BODY, f"t={NOW},v1={sign('whsec_a')}", "whsec_a", NOW - 301),
        (BODY, f"t={NOW + 1},v1={sign('whsec_a')}", "whsec_a", NOW),
        (BODY, f"v1={sign('whsec_a')}", "whsec_a", NOW),
        (BODY, f"t={NOW},v2={sign('whsec_a')}", "whsec_a", NOW),
        (BODY, f"t={NOW},v1={sign('whsec_a')[:32]}", "whsec_a", NOW),
        (BODY, None, "whsec_a", NOW),
        (BODY, f"t={NOW},v1={sign('')}", "", NOW),
        (BODY, f"t={NOW},v1={sign('')}", [], NOW),
    ],
)
def test_refused(body: str, header: str | None, secrets: str | list[str], now: int) -> None:
    with pytest.raises(SignatureError):
        verify_webhook(body, header, secrets, now=now)
