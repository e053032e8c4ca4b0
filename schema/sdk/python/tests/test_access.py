from __future__ import annotations

import hashlib
import hmac
import re

import pytest
from conftest import RECORD, Exchange, Serve

from vayu_sdk import ProblemError, VayuError

DELHI = {"city": "Delhi"}


def test_rejected_key_is_replaced(serve: Serve) -> None:
    rejected: list[str | None] = []

    def key(previous: str | None) -> str:
        rejected.append(previous)
        return "old" if previous is None else "new"

    def handler(x: Exchange) -> None:
        x.json(200, RECORD) if x.headers["Authorization"] == "Bearer new" else x.problem(401, "key_revoked")

    s = serve(handler, key=key)
    assert s.client.get("/v1/aqi", query=DELHI) == RECORD
    assert [x.headers["Authorization"] for x in s.received] == ["Bearer old", "Bearer new"]
    assert (rejected, s.waits) == ([None, "old"], [])


def test_key_that_stays_invalid(serve: Serve) -> None:
    s = serve(lambda x: x.problem(401, "key_expired"), key=lambda _: "old")
    with pytest.raises(ProblemError) as error:
        s.client.get("/v1/aqi", query=DELHI)
    assert (error.value.code, len(s.received)) == ("key_expired", 2)


def test_signed_requests(serve: Serve) -> None:
    s = serve(lambda x: x.json(200, RECORD), signing_secret="secret", clock=lambda: 1795229706.5)
    s.client.get("/v1/aqi", query={"city": "Navi Mumbai"})
    s.client.get("/v1/aqi", query={"city": "Navi Mumbai"})
    version = {"X-SERVICE-Version": "2026-11-01"}
    s.client.post("/v1/wallet/topups", body={"amount": 5}, idempotency_key="k", headers=version)
    times = []
    for x in s.received:
        found = re.fullmatch(r"t=(\d+),v2=([0-9a-f]{64})", x.headers["X-SERVICE-Request-Signature"])
        assert found
        headers = [x.headers.get("Idempotency-Key", ""), x.headers.get("X-SERVICE-Version", "")]
        text = "".join(f"{line}\n" for line in ["v2", found[1], x.command, x.path, *headers]) + x.body
        assert found[2] == hmac.new(b"secret", text.encode(), hashlib.sha256).hexdigest()
        times.append(int(found[1]))
    assert times == [1795229706, 1795229705, 1795229706]


def test_encoding(serve: Serve) -> None:
    s = serve(lambda x: x.json(200, {}))
    s.client.get("/v1/stations/{id}", path={"id": "a/b ü"})
    s.client.get("/v1/stations", query={"state": "Tamil Nadu & more", "own": True, "kind": None})
    assert [x.path for x in s.received] == [
        "/v1/stations/a%2Fb%20%C3%BC",
        "/v1/stations?state=Tamil+Nadu+%26+more&own=true",
    ]
    with pytest.raises(VayuError, match=r"path\['id'\] is missing"):
        s.client.get("/v1/stations/{id}")


def test_reply_as_it_is(serve: Serve) -> None:
    s = serve(lambda x: x.start(304, {"ETag": '"1"'}))
    with s.client.response("/v1/cities", headers={"If-None-Match": '"1"'}) as reply:
        assert (reply.status_code, reply.read()) == (304, b"")


def test_cut_export_is_an_error(serve: Serve) -> None:
    def handler(x: Exchange) -> None:
        x.start(200, {"Content-Length": 1000})
        x.cut("one")

    s = serve(handler)
    with pytest.raises(VayuError, match="GET /v1/export/{table}"):
        with s.client.response("/v1/export/{table}", path={"table": "city_day"}) as reply:
            reply.read()
