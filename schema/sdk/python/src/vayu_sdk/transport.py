"""Transport sends requests with key, signature, timeout and retries."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from .errors import ProblemError, TimeoutError, TransportError
from .pace import Pace
from .signature import RequestSigner

FIRST_BACKOFF = 0.5
MAX_BACKOFF = 16.0

KeySource = Callable[[str | None], str]
"""Returns the API key. The argument is the previous one if the service has just rejected it, else None."""


@dataclass
class Outgoing:
    """A request. route is the path of the contract, with placeholders. An idempotent one can be repeated."""

    method: str
    route: str
    url: httpx.URL
    headers: dict[str, str]
    body: bytes | None
    timeout: float | None
    idempotent: bool


@dataclass
class Transport:
    """The settings and the state that all calls share."""

    key: str | KeySource
    client: httpx.Client
    signing_secret: str | None = None
    timeout: float = 30
    retries: int = 4
    max_wait: float = 60
    wait_for_rate_limit: bool = True
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time
    _pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        self._signer = RequestSigner(self.signing_secret) if self.signing_secret is not None else None

    def send(self, call: Outgoing, read_timeout: float | None = None) -> httpx.Response:
        """Sends a request until it succeeds or a retry cannot help.

        With read_timeout, the caller reads and closes the reply, and the timeout is between two chunks.
        """
        attempt, renewed = 0, False
        rejected: str | None = None
        while True:
            if self.wait_for_rate_limit and (delay := self._pace.delay(call.route, self.clock())) > 0:
                self.sleep(delay)
            key = self.key if isinstance(self.key, str) else self.key(rejected)
            rejected = None
            try:
                return self._attempt(call, key, read_timeout)
            except (ProblemError, TransportError) as error:
                if not renewed and isinstance(error, ProblemError) and error.status == 401 and callable(self.key):
                    # A second key is not an attempt: the service has done nothing with the first one.
                    renewed, rejected = True, key
                    continue
                if attempt >= self.retries or not _can_retry(error, call):
                    raise
                wait = self.backoff(attempt, getattr(error, "retry_after", None) or 0)
                if wait > self.max_wait:
                    raise
            self.sleep(wait)
            attempt += 1

    def backoff(self, attempt: int, retry_after: float = 0) -> float:
        """Returns the wait before a retry: exponential with jitter, and at least Retry-After."""
        longest: float = min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** min(attempt, 16))
        return max(retry_after, longest * random.uniform(0.5, 1))

    def _attempt(self, call: Outgoing, key: str, read_timeout: float | None) -> httpx.Response:
        headers = {**call.headers, "Authorization": f"Bearer {key}"}
        if call.body is not None:
            headers["Content-Type"] = "application/json"
        if self._signer:
            target = call.url.raw_path.decode()
            headers["X-SERVICE-Request-Signature"] = self._signer.sign(
                call.method, target, headers, call.body or b"", self.clock()
            )
        limit = self.timeout if call.timeout is None else call.timeout
        timeout = httpx.Timeout(limit, read=limit if read_timeout is None else read_timeout)
        request = self.client.build_request(call.method, call.url, headers=headers, content=call.body, timeout=timeout)
        what = f"{call.method} {call.route}"
        with translated(what, limit):
            end = time.monotonic() + limit
            response = self.client.send(request, stream=True)
            self._pace.observe(call.route, response.headers, self.clock())
            good = response.is_success or response.status_code == 304
            if good and read_timeout is not None:
                return response
            content = bytearray()
            try:
                for chunk in response.iter_bytes():
                    content += chunk
                    if time.monotonic() > end:
                        raise httpx.ReadTimeout("the reply is too slow", request=request)
            finally:
                response.close()
        if not good:
            raise ProblemError(response.status_code, response.headers, content.decode(errors="replace"))
        # The content is decoded, so its encoding is no longer that of the headers.
        decoded = [(k, v) for k, v in response.headers.multi_items() if k not in ("content-encoding", "content-length")]
        return httpx.Response(response.status_code, headers=decoded, content=bytes(content), request=request)


@contextmanager
def translated(what: str, limit: float) -> Iterator[None]:
    """Turns the errors of httpx into those of this package."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise TimeoutError(f"{what}: no reply within {limit:g} s") from error
    except httpx.HTTPError as error:
        raise TransportError(f"{what}: the connection failed: {error}") from error


def _can_retry(error: ProblemError | TransportError, call: Outgoing) -> bool:
    # A rejected request has changed nothing. After other failures, only an idempotent request can be repeated.
    if isinstance(error, ProblemError):
        return error.retryable and (call.idempotent or error.status == 429)
    return call.idempotent
