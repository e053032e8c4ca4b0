"""Reads an archive and an export of its readings: python read.py ARCHIVE EXPORT SUMS.

SUMS is the CSV of "parameter, count, sum of values" from SQL. Each reader must find the same.
"""

import csv
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading

import duckdb
import pandas
import polars
import pyarrow.dataset

archive, export, sums = sys.argv[1:]

with open(sums, newline="", encoding="utf-8") as file:
    want = {row[0]: (int(row[1]), float(row[2])) for row in csv.reader(file)}
assert want, "SQL has no readings"


def same(reader, got):
    assert got.keys() == want.keys(), f"{reader}: parameters {sorted(got)}, want {sorted(want)}"
    for name, (count, total) in got.items():
        assert count == want[name][0], f"{reader}: {count} rows of {name}, want {want[name][0]}"
        assert abs(total - want[name][1]) <= 1e-9 * abs(want[name][1]), f"{reader}: sum {total} of {name}, want {want[name][1]}"
    print(f"{reader}: {sum(count for count, _ in got.values())} readings as in SQL")


def grouped(frame):
    groups = frame.groupby("parameter")["value"].agg(["count", "sum"])
    return {name: (int(row["count"]), float(row["sum"])) for name, row in groups.iterrows()}


with open(f"{archive}/manifest.json", encoding="utf-8") as file:
    tables = json.load(file)["tables"]
for table in tables:
    for part in table["files"]:
        rows = duckdb.sql(f"SELECT count(*) FROM read_parquet('{archive}/{part['path']}')").fetchall()[0][0]
        assert rows == part["rows"], f"{part['path']}: {rows} rows, and the manifest has {part['rows']}"

pattern = f"{archive}/reading/**/*.parquet"
query = "SELECT parameter, count(*), sum(value) FROM read_parquet('{}') GROUP BY 1"
for name, path in ("DuckDB", pattern), ("DuckDB, export", export):
    same(name, {row[0]: row[1:] for row in duckdb.sql(query.format(path)).fetchall()})
totals = polars.scan_parquet(pattern, hive_partitioning=True).group_by("parameter").agg(polars.len(), polars.col("value").sum()).collect()
same("polars", {row[0]: row[1:] for row in totals.rows()})
same("pandas", grouped(pandas.read_parquet(export)))
same("pyarrow", grouped(pyarrow.dataset.dataset(f"{archive}/reading", partitioning="hive").to_table(columns=["parameter", "value"]).to_pandas()))


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves the archive without a log."""

    def log_message(self, *_):
        pass


def parsed(text):
    return {row[0]: (int(row[1]), float(row[2])) for row in csv.reader(text.splitlines())}


# ClickHouse reads by URL. The engine is fenced in from the network, unless it has a configuration file of its own.
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=archive))
threading.Thread(target=server.serve_forever, daemon=True).start()
paths = ",".join(part["path"] for table in tables if table["name"] == "reading" for part in table["files"])
address = f"http://127.0.0.1:{server.server_port}/{{{paths}}}"
config = os.path.join(os.path.dirname(os.path.abspath(sums)), "config", "network.xml")
os.makedirs(os.path.dirname(config))
with open(config, "w", encoding="utf-8") as file:
    file.write("<clickhouse></clickhouse>\n")
answer = subprocess.run(
    ["bin/vayu", "sql", "--write", "--format", "CSV", f"SELECT parameter, count(), sum(value) FROM url('{address}', 'Parquet') GROUP BY parameter"],
    env=os.environ | {"VAYU_ENGINE_CONFIG": config}, stdout=subprocess.PIPE, text=True, check=True)
same("ClickHouse by URL", parsed(answer.stdout))
server.shutdown()

query = f"""
suppressPackageStartupMessages(library(arrow))
d <- as.data.frame(Scanner$create(open_dataset("{archive}/reading"), projection = c("parameter", "value"))$ToTable())
for (p in unique(d$parameter)) cat(sprintf("%s,%d,%.17g\\n", p, sum(d$parameter == p), sum(d$value[d$parameter == p])))
"""
has_arrow = shutil.which("Rscript") and subprocess.run(["Rscript", "-e", "library(arrow)"], capture_output=True, check=False).returncode == 0
if has_arrow:
    same("R", parsed(subprocess.run(["Rscript", "-e", query], stdout=subprocess.PIPE, text=True, check=True).stdout))
else:
    print("R: skipped, the package arrow is not installed")
