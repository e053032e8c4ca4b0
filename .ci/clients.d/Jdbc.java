import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;

/** What Client and Analyst share: a connection, and short forms of queries. */
class Jdbc {
  final Connection connection;

  /** Connects as user with the arguments HOST PORT PASSWORD. path is a database and options, such as "/vayu?a=b". */
  Jdbc(String[] args, String user, String path) throws SQLException {
    Properties login = new Properties();
    login.put("user", user);
    login.put("password", args[2]);
    connection = DriverManager.getConnection("jdbc:clickhouse://" + args[0] + ":" + args[1] + path, login);
  }

  void run(String query) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(query);
    }
  }

  /** Returns the only value of a result. */
  String one(String query, Object... values) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(query)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        return rows.getString(1);
      }
    }
  }

  /** Reads all rows of a result, if there is one, and returns their number. */
  int count(String query) throws SQLException {
    int n = 0;
    try (Statement statement = connection.createStatement()) {
      if (statement.execute(query)) {
        for (ResultSet rows = statement.getResultSet(); rows.next(); n++) {}
      }
    }
    return n;
  }

  /** Returns the code of the error of a statement. */
  String code(String query) {
    try {
      count(query);
    } catch (SQLException e) {
      return String.valueOf(e.getErrorCode());
    }
    return "no error";
  }

  static void show(String name, Object value) {
    System.out.println(name + " " + value);
  }
}
