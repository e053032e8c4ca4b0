from __future__ import annotations

from datetime import date, datetime, timezone
from urllib.parse import parse_qs, urlsplit

import pandas
import polars
import pytest
from conftest import Exchange, Serve

from vayu_sdk import ProblemError, VayuError, to_pandas, to_polars

CITIES = [{"city": "Delhi"}, {"city": "Pune"}, {"city": "Surat"}]
HISTORY = {
    "status": "success",
    "city": "Delhi",
    "records": [
        {"date": "2026-11-01", "aqi": 337, "pm25": 162.39, "dominant": "PM2.5", "updated": "2026-11-01T18:30:00Z"},
        {"date": "2026-11-02", "aqi": None, "pm25": None, "dominant": None, "updated": None},
    ],
}


def test_entries_of_all_pages(serve: Serve) -> None:
    def handler(x: Exchange) -> None:
        at = int(parse_qs(urlsplit(x.path).query).get("cursor", ["0"])[0])
        more = at + 2 < len(CITIES)
        following = str(at + 2) if more else None
        x.json(200, {"data": CITIES[at : at + 2], "has_more": more, "next_cursor": following})

    s = serve(handler)
    entries = s.client.entries("/v1/cities", query={"limit": 2, "state": "Goa"})
    assert list(entries) == CITIES
    assert [x.path for x in s.received] == ["/v1/cities?limit=2&state=Goa", "/v1/cities?limit=2&state=Goa&cursor=2"]


def test_pages_are_requested_when_needed(serve: Serve) -> None:
    s = serve(lambda x: x.json(200, {"data": CITIES, "has_more": True, "next_cursor": str(x.count)}))
    entries = s.client.entries("/v1/cities")
    assert [next(entries) for _ in CITIES] == CITIES
    assert len(s.received) == 1


def test_results_of_batches(serve: Serve) -> None:
    s = serve(lambda x: x.json(200, {"results": [{"index": 0}], "has_more": False, "next_cursor": None}))
    assert list(s.client.entries("/v1/verification/batch/{id}/results", path={"id": "bat_1"})) == [{"index": 0}]


def test_cursor_that_does_not_advance(serve: Serve) -> None:
    s = serve(lambda x: x.json(200, {"data": [], "has_more": True, "next_cursor": "same"}))
    with pytest.raises(VayuError, match="next_cursor"):
        list(s.client.entries("/v1/cities"))
    assert len(s.received) == 2


def test_error_on_a_later_page(serve: Serve) -> None:
    def handler(x: Exchange) -> None:
        page = {"data": [], "has_more": True, "next_cursor": "1"}
        x.json(200, page) if x.count == 0 else x.problem(400, "invalid_request", field="cursor")

    with pytest.raises(ProblemError):
        list(serve(handler).client.entries("/v1/cities"))


def test_pandas() -> None:
    frame = to_pandas(HISTORY)
    assert frame["date"].tolist() == [pandas.Timestamp("2026-11-01"), pandas.Timestamp("2026-11-02")]
    assert frame["updated"][0] == pandas.Timestamp("2026-11-01T18:30:00", tz="UTC")
    assert frame["updated"].isna().tolist() == [False, True]
    assert frame["pm25"].sum() == 162.39
    assert to_pandas(iter(CITIES))["city"].tolist() == ["Delhi", "Pune", "Surat"]
    assert to_pandas({"status": "success", "city": "Delhi", "aqi": 3})["aqi"].tolist() == [3]
    assert to_pandas([]).empty


def test_polars() -> None:
    frame = to_polars(HISTORY)
    assert frame.schema["date"] == polars.Date
    assert frame["date"].to_list() == [date(2026, 11, 1), date(2026, 11, 2)]
    assert frame["updated"].to_list() == [datetime(2026, 11, 1, 18, 30, tzinfo=timezone.utc), None]
    assert frame["aqi"].to_list() == [337, None]
    assert to_polars(iter(CITIES))["city"].to_list() == ["Delhi", "Pune", "Surat"]
    assert to_polars([]).is_empty()
    assert HISTORY["records"][0]["date"] == "2026-11-01"  # type: ignore[index]
