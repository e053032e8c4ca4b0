from __future__ import annotations

import threading

import pytest
from conftest import RECORD, Exchange, Serve

from vayu_sdk import ProblemError, TimeoutError, TransportError

DELHI = {"city": "Delhi"}
ORDER = {"mobile": "9000000001", "operator": "auto", "amount": 19.35, "type": "prepaid", "ref_id": "one"}


def test_retry_after(serve: Serve) -> None:
    def handler(x: Exchange) -> None:
        x.problem(429, "rate_limited", {"Retry-After": 7}) if x.count == 0 else x.json(200, RECORD)

    s = serve(handler)
    assert s.client.get("/v1/aqi", query=DELHI) == RECORD
    assert s.waits == [7]


def test_exponential_backoff(serve: Serve) -> None:
    s = serve(lambda x: x.problem(502 + x.count, "service_unavailable") if x.count < 3 else x.json(200, RECORD))
    s.client.get("/v1/aqi", query=DELHI)
    assert len(s.received) == 4
    for i, wait in enumerate(s.waits):
        assert 0.25 * 2**i <= wait <= 0.5 * 2**i


def test_last_attempt(serve: Serve) -> None:
    s = serve(lambda x: x.problem(503, "service_unavailable"), retries=2)
    with pytest.raises(ProblemError) as error:
        s.client.get("/v1/aqi", query=DELHI)
    assert (error.value.status, error.value.code) == (503, "service_unavailable")
    assert len(s.received) == 3


def test_next_month_is_too_far(serve: Serve) -> None:
    s = serve(lambda x: x.problem(429, "quota_exceeded", {"Retry-After": 86400}))
    with pytest.raises(ProblemError) as error:
        s.client.get("/v1/aqi", query=DELHI)
    assert (error.value.code, error.value.retry_after, s.waits) == ("quota_exceeded", 86400, [])


def test_post_repeats_its_idempotency_key(serve: Serve) -> None:
    s = serve(lambda x: x.problem(503, "service_unavailable") if x.count % 2 == 0 else x.json(200, {}))
    s.client.post("/v1/wallet/topups", body={"amount": 500.29})
    s.client.post("/v1/wallet/topups", body={"amount": 500.29}, idempotency_key="mine")
    keys = [x.headers["Idempotency-Key"] for x in s.received]
    assert len(keys[0]) == 36
    assert keys == [keys[0], keys[0], "mine", "mine"]
    assert s.received[1].body == '{"amount":500.29}'


def test_recharge_is_repeated_by_ref_id(serve: Serve) -> None:
    s = serve(lambda x: x.cut() if x.count == 0 else x.json(200, RECORD))
    s.client.post("/v1/recharge", body=ORDER)
    assert [x.headers["Idempotency-Key"] for x in s.received] == [None, None]


def test_failed_recharge_is_final(serve: Serve) -> None:
    error_body = {"code": "operator_network_error", "message": "It failed.", "retryable": True}
    body = {"status": "failed", "transaction_id": "txn_1", "error": error_body}
    s = serve(lambda x: x.json(502, body))
    with pytest.raises(ProblemError) as error:
        s.client.post("/v1/recharge", body=ORDER)
    assert (error.value.body, error.value.retryable, len(s.received)) == (body, False, 1)


def test_post_that_is_not_idempotent(serve: Serve) -> None:
    s = serve(lambda x: x.cut())
    with pytest.raises(TransportError, match="POST /v1/sessions"):
        s.client.post("/v1/sessions")
    assert len(s.received) == 1


def test_cut_reply(serve: Serve) -> None:
    def handler(x: Exchange) -> None:
        if x.count > 0:
            return x.json(200, RECORD)
        x.start(200, {"Content-Length": 1000})
        x.cut('{"status":')

    s = serve(handler)
    assert s.client.get("/v1/aqi", query=DELHI) == RECORD
    assert len(s.received) == 2


def test_no_reply(serve: Serve) -> None:
    end = threading.Event()
    s = serve(lambda x: end.wait() and None, timeout=0.02, retries=1)
    try:
        with pytest.raises(TimeoutError, match="GET /v1/aqi: no reply within 0.02 s"):
            s.client.get("/v1/aqi", query=DELHI)
    finally:
        end.set()
    assert len(s.waits) == 1


def test_invalid_request(serve: Serve) -> None:
    s = serve(lambda x: x.problem(400, "invalid_request", field="city"))
    with pytest.raises(ProblemError, match="It failed.") as error:
        s.client.get("/v1/aqi", query=DELHI)
    assert (error.value.code, error.value.field, error.value.request_id) == ("invalid_request", "city", "req_1")
    assert len(s.received) == 1


def test_html_of_a_proxy(serve: Serve) -> None:
    s = serve(lambda x: x.text(502, "<html>", {"X-Request-Id": "proxy"}), retries=1)
    with pytest.raises(ProblemError) as error:
        s.client.get("/v1/aqi", query=DELHI)
    assert (error.value.code, error.value.request_id, error.value.body) == ("unexpected_reply", "proxy", "<html>")
    assert len(s.received) == 2


def test_rate_limit(serve: Serve) -> None:
    def handler(x: Exchange) -> None:
        left = 0 if x.count < 2 else 5
        x.json(200, RECORD, {"RateLimit": f'"default";r={left};t=1', "RateLimit-Policy": '"default";q=20;w=1'})

    s = serve(handler, clock=lambda: 1000.0)
    for _ in range(4):
        s.client.get("/v1/aqi", query=DELHI)
    # The second call reserves the next moment, so the third waits for the one after it.
    assert s.waits == pytest.approx([0.05, 0.1])


def test_limits_are_separate(serve: Serve) -> None:
    def handler(x: Exchange) -> None:
        name, left = ("default", 9) if x.path.startswith("/v1/aqi") else ("payment", 0)
        x.json(200, RECORD, {"RateLimit": f'"{name}";r={left};t=1', "RateLimit-Policy": f'"{name}";q=40;w=2'})

    s = serve(handler)
    s.client.post("/v1/recharge", body=ORDER)
    s.client.get("/v1/aqi", query=DELHI)
    s.client.get("/v1/aqi", query=DELHI)
    assert s.waits == []
