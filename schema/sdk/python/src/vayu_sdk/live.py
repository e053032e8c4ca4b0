"""Server-sent events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


@dataclass(frozen=True)
class Message:
    """A message of GET /v1/live. The contract has the types of data, such as LiveAir."""

    event: str
    id: str
    data: Any


def parse_sse(
    chunks: Iterable[bytes], on_retry: Callable[[float], None], on_id: Callable[[str], None]
) -> Iterator[tuple[str, str, str]]:
    """Yields event, id and data of each message of an SSE stream.

    An incomplete last message is discarded, as the specification of SSE demands. on_retry gets the delay of a
    reconnection in seconds, and on_id each id, also one without a message.
    """
    rest, event, last = b"", "", ""
    data: list[str] = []
    for chunk in chunks:
        # A carriage return at the end can belong to a line feed that has not arrived.
        *lines, rest = _LINE_END.split(rest + chunk)
        for line in lines:
            if not line:
                if last:
                    on_id(last)
                if data:
                    yield event or "message", last, "\n".join(data)
                event, data = "", []
                continue
            name, _, value = line.decode(errors="replace").partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                data.append(value)
            elif name == "event":
                event = value
            elif name == "id" and "\0" not in value:
                last = value
            elif name == "retry" and value.isdecimal():
                on_retry(int(value) / 1000)
