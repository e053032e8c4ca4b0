"""What clickhouse-connect reads from the embedded engine: python client.py HOST PORT PASSWORD DATABASE."""

import datetime
import sys

import clickhouse_connect
from clickhouse_connect.driver.exceptions import DatabaseError

host, port, password, database = sys.argv[1:]
DAY = datetime.date(2026, 1, 2)


def connect(**options):
    return clickhouse_connect.get_client(host=host, port=int(port), username="default", password=password, database=database, **options)


def show(name, value):
    print(name, "null" if value is None else value)


client = connect()


def one(query, **options):
    return client.query(query, **options).result_rows[0][0]


def code(query):
    try:
        client.query(query)
    except DatabaseError as error:
        return str(error).split("ode: ")[1].split(",")[0].split(".")[0]
    return "no error"


client.command("CREATE TABLE t (id UInt32, name String, value Nullable(Float64), version UInt32) "
               "ENGINE = ReplacingMergeTree(version) ORDER BY id")
client.command("CREATE TABLE copy AS t ENGINE = MergeTree ORDER BY id")
client.command("CREATE VIEW v AS SELECT * FROM t")
client.command("SYSTEM STOP MERGES t")
for version in (1, 2):
    client.insert("t", [[i, f"n'{i}", float(version) if i % 2 == 0 else None, version] for i in range(1000)],
                  column_names=["id", "name", "value", "version"])
    client.insert("vayu.city_day", [[database, "Delhi", DAY + datetime.timedelta(days=i), 100 * version] for i in range(3)],
                  column_names=["city", "state", "day", "aqi"])

show("versions", one("SELECT count() FROM t", settings={"final": 0}))
show("rows", one("SELECT count() FROM t"))
show("values", one("SELECT sum(version) FROM t"))
show("subquery", one("SELECT count() FROM (SELECT id FROM t)"))
show("join", one("SELECT count() FROM numbers(3) AS n JOIN t ON t.id = n.number"))
show("view", one("SELECT count() FROM v"))
show("city_day", one("SELECT count() FROM vayu.city_day WHERE city = {city:String} AND aqi = 200", parameters={"city": database}))
client.command("INSERT INTO copy SELECT * FROM t")
show("insert_select", one("SELECT count() FROM copy"))
show("final_off_in_query", one("SELECT count() FROM t SETTINGS final = 0"))
show("final_off_on_connection", connect(settings={"final": 0}).query("SELECT count() FROM t").result_rows[0][0])
row = client.query("SELECT name, value FROM t WHERE id = {id:UInt32} AND name IN {names:Array(String)}",
                   parameters={"id": 7, "names": ["n'7", "x"]}).result_rows[0]
show("parameter", row[0])
show("nullable", row[1])
counts = {connect(compress=method).query("SELECT count() FROM t").result_rows[0][0]
          for method in ("lz4", "zstd", "gzip", False)}
show("compressed", " ".join(map(str, counts)))
with client.query_row_block_stream("SELECT number FROM numbers(300000)") as stream:
    show("streamed", sum(len(block) for block in stream))
show("failed", code("SELECT throwIf(number = 900000) FROM numbers(1000000)"))
show("after_failure", one("SELECT count() FROM t"))
show("unknown_table", code("SELECT * FROM nowhere"))
