import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.Properties;

/** What the JDBC driver reads from the embedded engine: java Client HOST PORT PASSWORD DATABASE. */
public class Client {
  private static Connection connection;

  private static Connection connect(String[] args, String options) throws SQLException {
    Properties login = new Properties();
    login.put("user", "default");
    login.put("password", args[2]);
    return DriverManager.getConnection("jdbc:clickhouse://" + args[0] + ":" + args[1] + "/" + args[3] + options, login);
  }

  private static void run(String query) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(query);
    }
  }

  private static long one(Connection from, String query, Object... values) throws SQLException {
    try (PreparedStatement statement = from.prepareStatement(query)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        return rows.getLong(1);
      }
    }
  }

  private static long one(String query, Object... values) throws SQLException {
    return one(connection, query, values);
  }

  private static int count(String query) throws SQLException {
    int n = 0;
    try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(query)) {
      while (rows.next()) {
        n++;
      }
    }
    return n;
  }

  private static String code(String query) {
    try {
      count(query);
    } catch (SQLException e) {
      return String.valueOf(e.getErrorCode());
    }
    return "no error";
  }

  private static void show(String name, Object value) {
    System.out.println(name + " " + value);
  }

  private static void fill(String city) throws SQLException {
    run("CREATE TABLE t (id UInt32, name String, value Nullable(Float64), version UInt32) ENGINE = ReplacingMergeTree(version) ORDER BY id");
    run("CREATE TABLE copy AS t ENGINE = MergeTree ORDER BY id");
    run("CREATE VIEW v AS SELECT * FROM t");
    run("SYSTEM STOP MERGES t");
    for (int version = 1; version <= 2; version++) {
      try (PreparedStatement insert = connection.prepareStatement("INSERT INTO t (id, name, value, version) VALUES (?, ?, ?, ?)")) {
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
      run("INSERT INTO vayu.city_day (city, state, day, aqi) SELECT '" + city + "', 'Delhi', toDate('2026-01-02') + number, "
          + 100 * version + " FROM numbers(3)");
    }
  }

  public static void main(String[] args) throws SQLException {
    connection = connect(args, "");
    fill(args[3]);
    try (Connection off = connect(args, "?clickhouse_setting_final=0")) {
      show("versions", one(off, "SELECT count() FROM t"));
      show("rows", one("SELECT count() FROM t"));
      show("values", one("SELECT sum(version) FROM t"));
      show("subquery", one("SELECT count() FROM (SELECT id FROM t)"));
      show("join", one("SELECT count() FROM numbers(3) AS n JOIN t ON t.id = n.number"));
      show("view", one("SELECT count() FROM v"));
      show("city_day", one("SELECT count() FROM vayu.city_day WHERE city = ? AND aqi = 200", args[3]));
      run("INSERT INTO copy SELECT * FROM t");
      show("insert_select", one("SELECT count() FROM copy"));
      show("final_off_in_query", one("SELECT count() FROM t SETTINGS final = 0"));
      show("final_off_on_connection", one(off, "SELECT count() FROM t"));
    }
    try (PreparedStatement statement = connection.prepareStatement("SELECT name, value FROM t WHERE id = ? AND name = ?")) {
      statement.setInt(1, 7);
      statement.setString(2, "n'7");
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        show("parameter", rows.getString(1));
        show("nullable", rows.getObject(2));
      }
    }
    try (Connection packed = connect(args, "?client.use_http_compression=true&decompress=true")) {
      show("compressed", one(packed, "SELECT count() FROM t"));
    }
    show("streamed", count("SELECT number FROM numbers(300000)"));
    show("failed", code("SELECT throwIf(number = 900000) FROM numbers(1000000)"));
    show("after_failure", one("SELECT count() FROM t"));
    show("unknown_table", code("SELECT * FROM nowhere"));
    connection.close();
  }
}
