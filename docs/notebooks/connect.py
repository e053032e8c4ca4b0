"""Connects the notebooks to the engine of a running Vayu.

VAYU_DATA is its data directory, VAYU_DATABASE the database, and VAYU_CITY the city that the notebooks analyse.
"""

import os
from pathlib import Path

import clickhouse_connect

DATA = Path(os.environ.get("VAYU_DATA", Path(__file__).parents[2] / "data"))
DATABASE = os.environ.get("VAYU_DATABASE", "vayu_sandbox")
CITY = os.environ.get("VAYU_CITY", "Delhi")


def connect():
    """Returns a clickhouse-connect client. The user is `analyst`, who can only read."""
    host, port = (DATA / "engine.port").read_text().strip().rsplit(":", 1)
    return clickhouse_connect.get_client(
        host=host,
        port=int(port),
        username="analyst",
        password=(DATA / "analyst.password").read_text().strip(),
        database=DATABASE,
    )


def indian_time(times):
    """Returns a column of instants in Indian time. The client gives those in UTC without a zone."""
    if times.dt.tz is None:
        times = times.dt.tz_localize("UTC")
    return times.dt.tz_convert("Asia/Kolkata")
