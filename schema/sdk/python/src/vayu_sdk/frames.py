"""Tables of replies for pandas and polars."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")

Source = Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""A reply with records, data or results, or an iterable of entries."""


def to_pandas(source: Source) -> pandas.DataFrame:
    """Returns a table with a row for each entry. Times are in UTC, and dates are datetime64 without a zone."""
    import pandas

    rows = _rows(source)
    frame = pandas.DataFrame.from_records(rows)
    for name, convert in _conversions(rows).items():
        frame[name] = pandas.to_datetime(frame[name], utc=convert is _time, format="ISO8601")
    return frame


def to_polars(source: Source) -> polars.DataFrame:
    """Returns a table with a row for each entry. Times are Datetime in UTC, and dates are Date."""
    import polars

    rows = _rows(source)
    for name, convert in _conversions(rows).items():
        for row in rows:
            if row.get(name) is not None:
                row[name] = convert(row[name])
    return polars.from_dicts(rows, infer_schema_length=None) if rows else polars.DataFrame()


def _rows(source: Source) -> list[dict[str, Any]]:
    if isinstance(source, Mapping):
        for name in ("records", "data", "results"):
            if isinstance(source.get(name), list):
                return [dict(row) for row in source[name]]
        return [dict(source)]
    return [dict(row) for row in source]


def _conversions(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the conversion of each column whose values are all times or all dates."""
    found = {}
    for name in {name: None for row in rows for name in row}:
        values = [row[name] for row in rows if row.get(name) is not None]
        for pattern, convert in ((_TIME, _time), (_DATE, date.fromisoformat)):
            if values and all(isinstance(value, str) and pattern.fullmatch(value) for value in values):
                found[name] = convert
    return found


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
