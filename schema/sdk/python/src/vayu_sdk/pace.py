"""Delays of calls while the rate limit is used up."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping


class Pace:
    """The state of the rate limits. The name of the limit of a route is known from its last reply."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._limits: dict[str, tuple[float, float]] = {}  # time of the next call, seconds between calls
        self._lock = threading.Lock()

    def delay(self, route: str, now: float) -> float:
        """Returns the delay of the next call of a route in seconds, and reserves its time."""
        with self._lock:
            name = self._names.get(route, "")
            if name not in self._limits:
                return 0
            following, interval = self._limits[name]
            at = max(now, following)
            self._limits[name] = (at + interval, interval)
            return at - now

    def observe(self, route: str, headers: Mapping[str, str], now: float) -> None:
        """Reads the state of the limit from a reply."""
        state = re.fullmatch(r'"([^"]+)";r=(\d+);t=\d+', headers.get("RateLimit", ""))
        policy = re.search(r";q=(\d+);w=(\d+)$", headers.get("RateLimit-Policy", ""))
        if not state or not policy:
            return
        name = state[1]
        with self._lock:
            self._names[route] = name
            if int(state[2]) > 0:
                self._limits.pop(name, None)
                return
            # The bucket of q calls refills within w seconds.
            interval = int(policy[2]) / int(policy[1])
            self._limits[name] = (max(self._limits.get(name, (0, 0))[0], now + interval), interval)
