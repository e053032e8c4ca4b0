import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;

/** What the JDBC driver may do as analyst: java Analyst HOST PORT PASSWORD. Metabase and DBeaver read the metadata so. */
public class Analyst {
  private static Connection connection;

  private static Connection connect(String[] args, String options) throws SQLException {
    Properties login = new Properties();
    login.put("user", "analyst");
    login.put("password", args[2]);
    return DriverManager.getConnection("jdbc:clickhouse://" + args[0] + ":" + args[1] + options, login);
  }

  private static String one(Connection from, String query) throws SQLException {
    try (Statement statement = from.createStatement(); ResultSet rows = statement.executeQuery(query)) {
      rows.next();
      return rows.getString(1);
    }
  }

  private static String code(String query) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(query);
    } catch (SQLException e) {
      return String.valueOf(e.getErrorCode());
    }
    return "no error";
  }

  private static void show(String name, Object value) {
    System.out.println(name + " " + value);
  }

  private static void session(String[] args) throws SQLException {
    try (Connection session = connect(args, "/vayu?clickhouse_setting_session_id=jdbc"); Statement statement = session.createStatement()) {
      statement.execute("SET max_threads = 1");
      show("setting", one(session, "SELECT getSetting('max_threads')"));
      statement.execute("CREATE TEMPORARY TABLE mine (n UInt8)");
      statement.execute("INSERT INTO mine VALUES (1), (2)");
      show("temporary", one(session, "SELECT sum(n) FROM mine"));
    }
  }

  private static void metadata() throws SQLException {
    Set<String> tables = new HashSet<>();
    try (ResultSet rows = connection.getMetaData().getTables(null, "vayu", "%", null)) {
      while (rows.next()) {
        tables.add(rows.getString("TABLE_NAME"));
      }
    }
    show("tables", tables.containsAll(List.of("city_day", "daily", "standard")));
    show("private", tables.contains("attempt"));
    int columns = 0;
    int comments = 0;
    try (ResultSet rows = connection.getMetaData().getColumns(null, "vayu", "daily", "%")) {
      for (; rows.next(); columns++) {
        comments += rows.getString("REMARKS").isEmpty() ? 0 : 1;
      }
    }
    show("comments", columns > 0 && comments == columns);
  }

  public static void main(String[] args) throws SQLException {
    connection = connect(args, "/vayu");
    show("database", one(connection, "SELECT currentDatabase()"));
    show("rows", one(connection, "SELECT count() FROM city_day WHERE city = 'clients'"));
    show("view", one(connection, "SELECT count() FROM standard WHERE parameter = 'pm25'"));
    session(args);
    metadata();
    show("drop", code("DROP TABLE city_day"));
    show("insert", code("INSERT INTO city_day (city) VALUES ('x')"));
    show("create", code("CREATE TABLE t (n UInt8) ENGINE = Memory"));
    show("url", code("SELECT * FROM url('http://127.0.0.1/', 'CSV', 'a String')"));
    show("attempt", code("SELECT count() FROM attempt"));
    show("limit", code("SELECT max(number) FROM numbers(1000000000000)"));
    connection.close();
  }
}
