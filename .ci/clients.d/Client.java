import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;

/** What the JDBC driver reads from the embedded engine: java Client HOST PORT PASSWORD DATABASE. */
public class Client {
  private static Jdbc jdbc;

  private static Jdbc connect(String[] args, String options) throws SQLException {
    return new Jdbc(args, "default", "/" + args[3] + options);
  }

  private static void fill(String city) throws SQLException {
    jdbc.run("CREATE TABLE t (id UInt32, name String, value Nullable(Float64), version UInt32) ENGINE = ReplacingMergeTree(version) ORDER BY id");
    jdbc.run("CREATE TABLE copy AS t ENGINE = MergeTree ORDER BY id");
    jdbc.run("CREATE VIEW v AS SELECT * FROM t");
    jdbc.run("SYSTEM STOP MERGES t");
    for (int version = 1; version <= 2; version++) {
      try (PreparedStatement insert = jdbc.connection.prepareStatement("INSERT INTO t (id, name, value, version) VALUES (?, ?, ?, ?)")) {
        for (int id = 0; id < 1000; id++) {
          insert.setInt(1, id);
          insert.setString(2, "n'" + id);
          if (id % 2 == 0) {
            insert.setDouble(3, version);
          } else {
            insert.setNull(3, Types.DOUBLE);
          }
          insert.setInt(4, version);
          insert.addBatch();
        }
        insert.executeBatch();
      }
      jdbc.run("INSERT INTO vayu.city_day (city, state, day, aqi) SELECT '" + city + "', 'Delhi', toDate('2026-01-02') + number, "
          + 100 * version + " FROM numbers(3)");
    }
  }

  public static void main(String[] args) throws SQLException {
    jdbc = connect(args, "");
    fill(args[3]);
    Jdbc off = connect(args, "?clickhouse_setting_final=0");
    Jdbc.show("versions", off.one("SELECT count() FROM t"));
    Jdbc.show("rows", jdbc.one("SELECT count() FROM t"));
    Jdbc.show("values", jdbc.one("SELECT sum(version) FROM t"));
    Jdbc.show("subquery", jdbc.one("SELECT count() FROM (SELECT id FROM t)"));
    Jdbc.show("join", jdbc.one("SELECT count() FROM numbers(3) AS n JOIN t ON t.id = n.number"));
    Jdbc.show("view", jdbc.one("SELECT count() FROM v"));
    Jdbc.show("city_day", jdbc.one("SELECT count() FROM vayu.city_day WHERE city = ? AND aqi = 200", args[3]));
    jdbc.run("INSERT INTO copy SELECT * FROM t");
    Jdbc.show("insert_select", jdbc.one("SELECT count() FROM copy"));
    Jdbc.show("final_off_in_query", jdbc.one("SELECT count() FROM t SETTINGS final = 0"));
    Jdbc.show("final_off_on_connection", off.one("SELECT count() FROM t"));
    off.connection.close();
    try (PreparedStatement statement = jdbc.connection.prepareStatement("SELECT name, value FROM t WHERE id = ? AND name = ?")) {
      statement.setInt(1, 7);
      statement.setString(2, "n'7");
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        Jdbc.show("parameter", rows.getString(1));
        Jdbc.show("nullable", rows.getObject(2));
      }
    }
    Jdbc packed = connect(args, "?client.use_http_compression=true&decompress=true");
    Jdbc.show("compressed", packed.one("SELECT count() FROM t"));
    packed.connection.close();
    Jdbc.show("streamed", jdbc.count("SELECT number FROM numbers(300000)"));
    Jdbc.show("failed", jdbc.code("SELECT throwIf(number = 900000) FROM numbers(1000000)"));
    Jdbc.show("after_failure", jdbc.one("SELECT count() FROM t"));
    Jdbc.show("unknown_table", jdbc.code("SELECT * FROM nowhere"));
    jdbc.connection.close();
  }
}
