"""The client of the API."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx

from .errors import ProblemError, TransportError, VayuError
from .live import Message, parse_sse
from .transport import KeySource, Outgoing, Transport, translated

POSTS_WITHOUT_KEY = frozenset(
    {
        "/v1/recharge",
        "/v1/sessions",
        "/v1/sessions/current/mode",
        "/v1/sign-in-links",
        "/v1/sign-in-links/confirm",
        "/v1/signup",
        "/v1/signup/confirm",
        "/callbacks/{provider}",
    }
)
"""POSTs that take no Idempotency-Key. The ref_id of a recharge has the same effect."""

Values = Mapping[str, object]


class Vayu:
    """A client of the API. Its methods take the paths of the contract, and raise VayuError. Threads can share it.

    key is the API key, or a function that returns the present one; see KeySource. timeout is the limit of one attempt
    in seconds. A Retry-After above max_wait seconds ends the call. sleep and clock are for tests.
    """

    def __init__(
        self,
        base_url: str,
        key: str | KeySource,
        *,
        signing_secret: str | None = None,
        timeout: float = 30,
        retries: int = 4,
        max_wait: float = 60,
        wait_for_rate_limit: bool = True,
        client: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._base = base_url.rstrip("/")
        self._transport = Transport(
            key=key,
            client=client or httpx.Client(),
            signing_secret=signing_secret,
            timeout=timeout,
            retries=retries,
            max_wait=max_wait,
            wait_for_rate_limit=wait_for_rate_limit,
            sleep=sleep,
            clock=clock,
        )

    def close(self) -> None:
        """Closes the connections."""
        self._transport.client.close()

    def __enter__(self) -> Vayu:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, route: str, **call: Any) -> Any:
        """Returns the JSON of a reply. The arguments are those of request."""
        return self.request("GET", route, **call)

    def post(self, route: str, **call: Any) -> Any:
        """Sends a POST. Without idempotency_key it chooses a random one, which its retries repeat."""
        return self.request("POST", route, **call)

    def put(self, route: str, **call: Any) -> Any:
        """Sends a PUT."""
        return self.request("PUT", route, **call)

    def patch(self, route: str, **call: Any) -> Any:
        """Sends a PATCH."""
        return self.request("PATCH", route, **call)

    def delete(self, route: str, **call: Any) -> Any:
        """Sends a DELETE."""
        return self.request("DELETE", route, **call)

    def request(
        self,
        method: str,
        route: str,
        *,
        query: Values | None = None,
        path: Values | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Sends a request and returns the JSON of its reply. path has the values of the placeholders of route."""
        call = self._outgoing(method, route, query, path, body, headers, idempotency_key, timeout)
        response = self._transport.send(call)
        try:
            return json.loads(response.content)
        except ValueError as error:
            raise VayuError(f"{method} {route}: the reply is not JSON") from error

    @contextmanager
    def response(
        self,
        route: str,
        *,
        query: Values | None = None,
        path: Values | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Iterator[httpx.Response]:
        """Opens the reply to a GET as a stream, for images, tiles, exports, GeoJSON and 304."""
        call = self._outgoing("GET", route, query, path, None, headers, None, timeout)
        limit = self._transport.timeout if timeout is None else timeout
        response = self._transport.send(call, read_timeout=limit)
        try:
            with translated(f"GET {route}", limit):
                yield response
        finally:
            response.close()

    def pages(self, route: str, *, query: Values | None = None, **call: Any) -> Iterator[dict[str, Any]]:
        """Iterates over the pages of a list."""
        query = dict(query or {})
        while True:
            page = self.get(route, query=query, **call)
            yield page
            following = page.get("next_cursor")
            if not page.get("has_more") or not following:
                return
            if following == query.get("cursor"):
                raise VayuError(f"GET {route}: next_cursor is the cursor of the same page")
            query = {**query, "cursor": following}

    def entries(self, route: str, **call: Any) -> Iterator[Any]:
        """Iterates over the entries of a list, and requests each page when it is needed."""
        for page in self.pages(route, **call):
            yield from page.get("data", page.get("results", []))

    def live(
        self, kinds: Sequence[str] | None = None, *, last_event_id: str | None = None, silence: float = 45
    ) -> Iterator[Message]:
        """Iterates over the messages of GET /v1/live without end.

        It reconnects with Last-Event-ID after a cut connection and after silence seconds without data, so a message can
        be repeated. The service sends something every 15 s. After a reset, read the objects of its kinds again. It
        raises ProblemError if the service rejects it.
        """
        state: dict[str, Any] = {"id": last_event_id, "retry": 2.0}
        query = {"kinds": ",".join(kinds)} if kinds else {}
        failures = 0
        while True:
            headers = {"Accept": "text/event-stream", **({"Last-Event-ID": state["id"]} if state["id"] else {})}
            try:
                call = self._outgoing("GET", "/v1/live", query, None, None, headers, None, None)
                response = self._transport.send(call, read_timeout=silence)
                try:
                    messages = parse_sse(
                        response.iter_bytes(), lambda s: state.update(retry=s), lambda i: state.update(id=i)
                    )
                    for event, position, data in messages:
                        failures = 0
                        yield Message(event, position, json.loads(data))
                finally:
                    response.close()
            except ProblemError as error:
                if not error.retryable:
                    raise
            except (TransportError, httpx.HTTPError):
                pass  # the next connection continues after the last message
            self._transport.sleep(max(state["retry"], self._transport.backoff(failures)))
            failures += 1

    def _outgoing(
        self,
        method: str,
        route: str,
        query: Values | None,
        path: Values | None,
        body: object,
        headers: Mapping[str, str] | None,
        idempotency_key: str | None,
        timeout: float | None,
    ) -> Outgoing:
        sent = dict(headers or {})
        takes_key = method == "POST" and route not in POSTS_WITHOUT_KEY
        if takes_key:
            sent["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        return Outgoing(
            method=method,
            route=route,
            url=self._url(route, query, path),
            headers=sent,
            body=None if body is None else json.dumps(body, separators=(",", ":")).encode(),
            timeout=timeout,
            idempotent=method != "POST" or takes_key or route == "/v1/recharge",
        )

    def _url(self, route: str, query: Values | None, path: Values | None) -> httpx.URL:
        def value(match: re.Match[str]) -> str:
            filled = (path or {}).get(match[1])
            if filled in (None, ""):
                raise VayuError(f"{route}: path[{match[1]!r}] is missing")
            return quote(str(filled), safe="")

        url = self._base + re.sub(r"\{(\w+)\}", value, route)
        parameters = {name: _text(v) for name, v in (query or {}).items() if v is not None}
        return httpx.URL(url, params=parameters) if parameters else httpx.URL(url)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
