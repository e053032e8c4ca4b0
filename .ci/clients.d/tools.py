"""What SQLAlchemy, as Superset uses it, and DuckDB read: python tools.py HOST PORT PASSWORD FILE.

FILE is a Parquet file of GET /v1/export/station of the sandbox.
"""

import sys

import duckdb
from sqlalchemy import MetaData, Table, create_engine, func, inspect, select, text
from sqlalchemy.exc import DBAPIError

host, port, password, file = sys.argv[1:]
engine = create_engine(f"clickhousedb://analyst:{password}@{host}:{port}/vayu")


def show(name, value):
    print(name, str(value).lower())


def one(query):
    with engine.connect() as connection:
        return connection.execute(text(query)).scalar()


show("query", one("SELECT count() FROM city_day WHERE city = 'clients'"))
inspector = inspect(engine)
show("schemas", {"vayu", "vayu_sandbox"} <= set(inspector.get_schema_names()))
show("private_schema", "vayu_ops" in inspector.get_schema_names())
show("tables", {"city_day", "standard"} <= set(inspector.get_table_names(schema="vayu")))
show("private_table", "attempt" in inspector.get_table_names(schema="vayu"))
show("views", {"daily", "openair", "trend"} <= set(inspector.get_view_names(schema="vayu")))
types = {column["name"]: type(column["type"]).__name__ for column in inspector.get_columns("city_day")}
show("types", " ".join(f"{name}:{types[name]}" for name in ("city", "day", "aqi")))
show("view_columns", len(inspector.get_columns("daily")) > 10)
show("comment", bool(inspector.get_table_comment("city_day")["text"]))
show("keys", inspector.get_pk_constraint("city_day")["constrained_columns"] + inspector.get_foreign_keys("city_day") + inspector.get_indexes("city_day"))
day = Table("city_day", MetaData(), autoload_with=engine)
with engine.connect() as connection:
    query = select(day.c.city, func.max(day.c.aqi), func.count()).where(day.c.city == "clients").group_by(day.c.city)
    show("reflected", " ".join(map(str, connection.execute(query).one())))
metadata = MetaData()
metadata.reflect(bind=engine, views=True)
show("all_reflected", {"city_day", "daily"} <= set(metadata.tables))

# The statements of Superset: the list of functions, the sample of a table, a chart with a time grain, a data set from SQL.
show("functions", one("SELECT count() > 1000 FROM (SELECT name FROM system.functions UNION ALL SELECT name FROM system.table_functions LIMIT 10000)"))
show("sample", one("SELECT count() FROM (SELECT * FROM vayu.city_day WHERE city = 'clients' LIMIT 101)"))
show("chart", one("SELECT max(a) FROM (SELECT toStartOfMonth(toDateTime(`day`)) AS `__timestamp`, max(`aqi`) AS a FROM `vayu`.`city_day` "
                  "WHERE `day` >= toDate('2026-01-01') AND `day` < toDate('2027-01-01') AND city = 'clients' "
                  "GROUP BY toStartOfMonth(toDateTime(`day`)) ORDER BY a DESC LIMIT 50000)"))
show("data_set", one("SELECT count() FROM (SELECT * FROM (SELECT city, aqi FROM city_day WHERE city = 'clients') AS `virtual_table` LIMIT 1000)"))
# Those of Metabase: tables and columns of the schema.
show("information_schema", one("SELECT count() > 10 FROM information_schema.columns WHERE table_schema = 'vayu' AND table_name = 'daily'"))
show("system_tables", one("SELECT count() > 10 FROM system.tables WHERE database = 'vayu' AND NOT is_temporary AND engine = 'View'"))
try:
    one("DROP TABLE city_day")
except DBAPIError as error:
    show("drop", "497" in str(error))

exported = duckdb.sql(f"SELECT count(), count(DISTINCT id), count(city) FROM '{file}'").fetchall()[0]
show("duckdb", exported[0] > 0 and exported[0] == exported[1] == exported[2] == one("SELECT count() FROM vayu_sandbox.station"))
