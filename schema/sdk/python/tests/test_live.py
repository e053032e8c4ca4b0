from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from conftest import Exchange, Serve

from vayu_sdk import ProblemError
from vayu_sdk.live import parse_sse

def air(i: int) -> str:
    return f'id: {i}\nevent: air\ndata: {{"cities":{i}}}\n\n'


def test_cut_stream_continues(serve: Serve) -> None:
    def handler(x: Exchange) -> None:
        x.start(200, {"Content-Type": "text/event-stream", "Content-Length": 10_000})
        # The second message of the first stream is incomplete, so it must not be delivered.
        x.cut([f"retry: 5000\n{air(1)}id: 2\nevent: air\ndata: {{}}", "id: 7\n: nothing new\n\n", air(8)][x.count])

    s = serve(handler)
    stream = s.client.live(["air"])
    got = [next(stream), next(stream)]
    stream.close()  # type: ignore[attr-defined]
    assert [(m.event, m.id, m.data["cities"]) for m in got] == [("air", "1", 1), ("air", "8", 8)]
    assert [x.headers["Last-Event-ID"] for x in s.received] == [None, "1", "7"]
    assert s.received[0].path == "/v1/live?kinds=air"
    assert s.waits == [5, 5]


def test_rejected_stream(serve: Serve) -> None:
    s = serve(lambda x: x.problem(401, "key_revoked"))
    with pytest.raises(ProblemError):
        next(s.client.live())
    assert len(s.received) == 1


def test_service_that_is_away(serve: Serve) -> None:
    def handler(x: Exchange) -> None:
        if x.count < 3:
            return x.cut()
        x.start(200, {"Content-Length": 10_000})
        x.cut(air(1))

    s = serve(handler, retries=0)
    assert next(s.client.live()).id == "1"
    assert len(s.received) == 4


def test_silent_connection_is_replaced(serve: Serve) -> None:
    end = threading.Event()

    def handler(x: Exchange) -> None:
        x.start(200, {"Content-Length": 10_000})
        if x.count == 0:
            end.wait()
        else:
            x.cut(air(1))

    s = serve(handler)
    try:
        assert next(s.client.live(silence=0.05)).id == "1"
    finally:
        end.set()
    assert len(s.received) >= 2


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_chunks_and_line_ends(size: int) -> None:
    text = "id: 1\r\nevent: a\r\ndata: ü\u2028\r\ndata: x\r\n\r\ndata:y\n\n: comment\n\nevent: b\n\nid: 3\ndata\rdata: z\r\n\n"
    content = text.encode()

    def chunks() -> Iterator[bytes]:
        for i in range(0, len(content), size):
            yield content[i : i + size]

    got = list(parse_sse(chunks(), lambda _: None, lambda _: None))
    assert got == [("a", "1", "ü\u2028\nx"), ("message", "1", "y"), ("message", "3", "\nz")]
