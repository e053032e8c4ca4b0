"""Writes the streams of this folder, as table libraries write them.

python3 -m venv v && v/bin/pip install pyarrow polars pandas duckdb && v/bin/python write.py
"""

import datetime
import io

import duckdb
import pandas
import polars
import pyarrow as pa

IST = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
AT = [datetime.datetime(2026, 11, 20, 14, minute, tzinfo=IST) for minute in (0, 15, 30)]
ROWS = {
    "station": ["roof-1", "roof-1", "a-station-with-a-long-name"],
    "parameter": ["pm25", "pm10", "pm25"],
    "value": [61.5, None, 12.25],
    "unit": ["ug/m3", "ug/m3", "µg/m³"],
    "at": AT,
    "averaging_minutes": [15, 15, None],
    "note": ["", None, "a column that no reading has"],
}


def save(name, table, **options):
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    open(name + ".arrow", "wb").write(out.getvalue())


plain = pa.table({**ROWS, "at": pa.array(AT, pa.timestamp("us", "Asia/Kolkata"))})
save("pyarrow", plain)
save("pyarrow_lz4", plain, compression="lz4")
save("pyarrow_zstd", plain, compression="zstd")
save("pyarrow_two_batches", pa.concat_tables([plain.slice(0, 2), plain.slice(2)]))
save("pyarrow_sliced", pa.concat_tables([plain, plain]).combine_chunks().slice(3, 3))
save("pyarrow_dictionaries", plain.set_column(0, "station", plain["station"].dictionary_encode()).set_column(3, "unit", plain["unit"].dictionary_encode()))
save("pyarrow_types", pa.table({
    "station": pa.array(ROWS["station"], pa.large_string()),
    "parameter": pa.array(ROWS["parameter"], pa.string_view()),
    "value": pa.array([61.5, None, 12.25], pa.float32()),
    "unit": pa.array(ROWS["unit"], pa.large_string()),
    "at": pa.array(AT, pa.timestamp("s", "UTC")),
    "averaging_minutes": pa.array([15, 15, None], pa.uint8()),
    "name": pa.nulls(3),
    "flag": pa.array([True, None, False]),
    "day": pa.array([None, None, datetime.date(2026, 11, 20)]),
    "bytes": pa.array([b"a", None, b""]),
}))
frame = pandas.DataFrame({**ROWS, "at": pandas.to_datetime(AT)})
frame["parameter"] = frame["parameter"].astype("category")
save("pandas", pa.Table.from_pandas(frame))
polars.DataFrame(ROWS).write_ipc_stream("polars.arrow")
polars.DataFrame(ROWS).with_columns(polars.col("unit").cast(polars.Categorical)).write_ipc_stream("polars_zstd.arrow", compression="zstd")
save("duckdb", duckdb.sql("SET TimeZone = 'UTC'") or duckdb.from_arrow(plain).to_arrow_table() if hasattr(duckdb.from_arrow(plain), "to_arrow_table") else duckdb.from_arrow(plain).arrow())
