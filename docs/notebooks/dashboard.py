#!/usr/bin/env python3
"""Runs every query of docs/operations/grafana-air.json as Grafana would: dashboard.py FROM TO

FROM and TO, days, are the time range. Each query must return rows. The environment is that of connect.py. The macros
are those of pkg/macros/macros.go of grafana/clickhouse-datasource 4, and variables have Grafana's formats.
"""

import json
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

from connect import CITY, DATABASE, connect

BOARD = Path(__file__).parents[1] / "operations" / "grafana-air.json"


def quoted(values):
    return ",".join("'" + value.replace("'", "''") + "'" for value in values)


def macros(begin, end):
    """Returns the macros of the plugin as pairs of a pattern and a replacement."""
    first, last = (f"toDateTime({int(t.timestamp())})" for t in (begin, end))
    return [
        (r"\$__timeFilter\(([^()]+)\)", rf"\1 >= {first} AND \1 <= {last}"),
        (r"\$__timeInterval\(([^()]+)\)", r"toStartOfInterval(toDateTime(\1), INTERVAL 3600 second)"),
        (r"\$__fromTime", first),
        (r"\$__toTime", last),
    ]


def expand(text, variables, pairs):
    """Returns the SQL that reaches the engine. It fails on a variable or macro that it does not know."""
    text = re.sub(r"\$\{(\w+):sqlstring\}", lambda m: quoted(variables[m[1]]), text)
    text = re.sub(r"\$\{(\w+)\}", lambda m: variables[m[1]][0], text)
    for pattern, replacement in pairs:
        text = re.sub(pattern, replacement, text)
    if "$" in text:
        raise ValueError(f"unknown macro or variable: {text}")
    return text


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pairs = macros(*(datetime.fromisoformat(day).replace(tzinfo=timezone.utc) for day in sys.argv[1:]))
    board = json.loads(BOARD.read_text(encoding="utf-8"))
    client = connect()
    variables = {"database": [DATABASE]}
    failed = queries = 0
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            found = [str(row[0]) for row in client.query(expand(variable["query"], variables, pairs)).result_rows]
            name, preferred = variable["name"], {"city": CITY, "parameter": "pm25"}.get(variable["name"])
            if not found or preferred and preferred not in found:
                sys.exit(f"variable {name}: {found}, want {preferred or 'values'}")
            variables[name] = [preferred] if preferred else found
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            queries += 1
            try:
                result = client.query(expand(target["rawSql"], variables, pairs))
                fault = "" if result.row_count else "no rows"
                if target["queryType"] == "timeseries" and "time" not in result.column_names:
                    fault = "no column time"
            except Exception as error:  # report the other queries, too
                fault = str(error)
            if fault:
                failed += 1
                print(f"{panel['title']}, query {target['refId']}: {fault}", file=sys.stderr)
    print(f"{queries} queries of {BOARD.name} returned rows, {failed} failed")
    sys.exit(failed > 0 or queries == 0)


if __name__ == "__main__":
    main()
