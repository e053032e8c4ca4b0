# %% [markdown]
# # DuckDB on Parquet files
#
# This notebook is for analysts who work without a connection, or share a data set. It writes a table of Vayu as
# Parquet files, one for each month, and analyses them with DuckDB, polars or anything else that reads Parquet.

# %%
import tempfile
from pathlib import Path

import duckdb
from connect import CITY, DATABASE, connect

client = connect()
folder = Path(tempfile.mkdtemp(prefix="vayu-"))

# %% [markdown]
# ## Export
#
# The engine writes Parquet itself, and the file arrives as a stream, so a table of any size needs little memory here.
# The folders have Hive's layout. A query on one year opens only the files of that year.

# %%
months = client.query(
    """
    SELECT DISTINCT toStartOfMonth(toDate(date, 'Asia/Kolkata')) FROM openair
    WHERE city = {city:String} ORDER BY 1 DESC LIMIT 24
    """,
    {"city": CITY},
).result_columns[0]
for month in months:
    target = folder / f"year={month.year}" / f"month={month.month}"
    target.mkdir(parents=True)
    rows = client.raw_stream(
        """
        SELECT * FROM openair WHERE city = {city:String} AND toStartOfMonth(toDate(date, 'Asia/Kolkata')) = {month:Date}
        ORDER BY station, date
        """,
        {"city": CITY, "month": month},
        fmt="Parquet",
    )
    with open(target / "openair.parquet", "wb") as file:
        for part in rows:
            file.write(part)
files = sorted(folder.rglob("*.parquet"))
print(f"{len(files)} files, {sum(f.stat().st_size for f in files):,} bytes")
assert files

# %% [markdown]
# ## Queries
#
# `date` is the beginning of the hour. The file has the instant, and the session has the time zone.

# %%
db = duckdb.connect()
db.execute("SET TimeZone = 'Asia/Kolkata'")
db.execute(f"CREATE VIEW air AS SELECT * FROM read_parquet('{folder}/*/*/*.parquet', hive_partitioning = true)")
db.sql("DESCRIBE SELECT date, station, name, city, pm25, pm10, ws, wd, year, month FROM air").df()

# %% [markdown]
# Monthly means with the data capture beside them. A mean of fewer than 75 % of the hours does not stand for its
# month.

# %%
monthly = db.sql("""
    SELECT station, make_date(year::INT, month::INT, 1) AS first, avg(pm25) AS mean, count(pm25) AS hours,
        count(pm25) / (24 * day(last_day(first))) AS capture
    FROM air GROUP BY station, year, month HAVING count(pm25) > 0 ORDER BY station, first
""").df()
monthly.tail(6).round({"mean": 2, "capture": 3})

# %% [markdown]
# The same figures come from the view `monthly_statistics` in the engine. Rows and sums are equal, so nothing was lost
# on the way.

# %%
rows, total = db.sql("SELECT count(*), sum(pm25) FROM air").fetchall()[0]
figures = client.query_df(
    """
    SELECT station, month, mean FROM monthly_statistics
    WHERE city = {city:String} AND parameter = 'pm25' AND month >= {from:Date}
    """,
    {"city": CITY, "from": min(months)},
)
both = monthly.merge(figures, left_on=["station", "first"], right_on=["station", "month"], suffixes=("", "_view"))
assert len(both) == len(monthly) == len(figures)
assert (both["mean"] - both["mean_view"]).abs().max() < 1e-9
print(f"{rows:,} rows, {total:,.1f} as sum of PM2.5; {len(both)} months equal the view")

# %% [markdown]
# The nine worst nights, from 20:00 to 08:00, as a window over the hours of each station:

# %%
db.sql("""
    SELECT name, (date - INTERVAL 20 HOUR)::DATE AS night, round(avg(pm25), 1) AS pm25, count(pm25) AS hours
    FROM air WHERE hour(date) >= 20 OR hour(date) < 8
    GROUP BY ALL HAVING hours >= 9 ORDER BY pm25 DESC, name LIMIT 9
""").df()

# %% [markdown]
# polars, pandas and R's arrow package read the same files:
#
#     polars.scan_parquet("FOLDER/*/*/*.parquet", hive_partitioning=True)
#     pandas.read_parquet("FOLDER")
#     arrow::open_dataset("FOLDER")
