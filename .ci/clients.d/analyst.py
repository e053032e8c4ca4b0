"""What clickhouse-connect may do as analyst, at its defaults: python analyst.py HOST PORT PASSWORD."""

import sys

import clickhouse_connect
from clickhouse_connect.driver.exceptions import DatabaseError

host, port, password = sys.argv[1:]
client = clickhouse_connect.get_client(host=host, port=int(port), username="analyst", password=password)


def show(name, value):
    print(name, str(value).lower())


def one(query):
    return client.query(query).result_rows[0][0]


def code(query):
    try:
        client.command(query)
    except DatabaseError as error:
        return str(error).split("ode: ")[1].split(",")[0].split(".")[0]
    return "no error"


show("database", one("SELECT currentDatabase()"))
show("rows", one("SELECT count() FROM city_day WHERE city = 'clients'"))
show("view", one("SELECT count() FROM standard WHERE parameter = 'pm25'"))
client.command("SET max_threads = 1")
show("setting", one("SELECT getSetting('max_threads')"))
client.command("CREATE TEMPORARY TABLE mine (n UInt8)")
client.insert("mine", [[1], [2]], column_names=["n"])
show("temporary", one("SELECT sum(n) FROM mine"))
tables = [row[0] for row in client.query("SHOW TABLES").result_rows]
show("tables", {"city_day", "daily", "standard"} <= set(tables))
show("private", "attempt" in tables)
columns = client.query("SELECT comment FROM system.columns WHERE database = 'vayu' AND table = 'daily'").result_rows
show("comments", len(columns) > 0 and all(row[0] for row in columns))
show("drop", code("DROP TABLE city_day"))
show("insert", code("INSERT INTO city_day (city) VALUES ('x')"))
show("create", code("CREATE TABLE t (n UInt8) ENGINE = Memory"))
show("url", code("SELECT * FROM url('http://127.0.0.1/', 'CSV', 'a String')"))
show("attempt", code("SELECT count() FROM attempt"))
show("limit", code("SELECT max(number) FROM numbers(1000000000000)"))
