import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What the JDBC driver may do as analyst: java Analyst HOST PORT PASSWORD. Metabase and DBeaver read the metadata so. */
public class Analyst {
  private static void session(String[] args) throws SQLException {
    Jdbc session = new Jdbc(args, "analyst", "/vayu?clickhouse_setting_session_id=jdbc");
    session.run("SET max_threads = 1");
    Jdbc.show("setting", session.one("SELECT getSetting('max_threads')"));
    session.run("CREATE TEMPORARY TABLE mine (n UInt8)");
    session.run("INSERT INTO mine VALUES (1), (2)");
    Jdbc.show("temporary", session.one("SELECT sum(n) FROM mine"));
    session.connection.close();
  }

  private static void metadata(Jdbc jdbc) throws SQLException {
    Set<String> tables = new HashSet<>();
    try (ResultSet rows = jdbc.connection.getMetaData().getTables(null, "vayu", "%", null)) {
      while (rows.next()) {
        tables.add(rows.getString("TABLE_NAME"));
      }
    }
    Jdbc.show("tables", tables.containsAll(List.of("city_day", "daily", "standard")));
    Jdbc.show("private", tables.contains("attempt"));
    int columns = 0;
    int comments = 0;
    try (ResultSet rows = jdbc.connection.getMetaData().getColumns(null, "vayu", "daily", "%")) {
      for (; rows.next(); columns++) {
        comments += rows.getString("REMARKS").isEmpty() ? 0 : 1;
      }
    }
    Jdbc.show("comments", columns > 0 && comments == columns);
  }

  public static void main(String[] args) throws SQLException {
    Jdbc jdbc = new Jdbc(args, "analyst", "/vayu");
    Jdbc.show("database", jdbc.one("SELECT currentDatabase()"));
    Jdbc.show("rows", jdbc.one("SELECT count() FROM city_day WHERE city = 'clients'"));
    Jdbc.show("view", jdbc.one("SELECT count() FROM standard WHERE parameter = 'pm25'"));
    session(args);
    metadata(jdbc);
    Jdbc.show("drop", jdbc.code("DROP TABLE city_day"));
    Jdbc.show("insert", jdbc.code("INSERT INTO city_day (city) VALUES ('x')"));
    Jdbc.show("create", jdbc.code("CREATE TABLE t (n UInt8) ENGINE = Memory"));
    Jdbc.show("url", jdbc.code("SELECT * FROM url('http://127.0.0.1/', 'CSV', 'a String')"));
    Jdbc.show("attempt", jdbc.code("SELECT count() FROM attempt"));
    Jdbc.show("limit", jdbc.code("SELECT max(number) FROM numbers(1000000000000)"));
    jdbc.connection.close();
  }
}
