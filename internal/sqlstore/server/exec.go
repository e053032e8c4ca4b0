package server

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Exec runs statements without parameters, separated by semicolons, in one round trip. It returns the result of each.
func Exec(ctx context.Context, conn *sql.Conn, statements string) (results []*pgconn.Result, err error) {
	err = raw(conn, func(c *pgx.Conn) (err error) {
		results, err = c.PgConn().Exec(ctx, statements).ReadAll()
		return err
	})
	return results, err
}

// Send runs the statements of a batch in one round trip. It returns the first error. The error comes from the server
// (*pgconn.PgError), from the connection, or from a function of the batch that handles the result of a statement.
func Send(ctx context.Context, conn *sql.Conn, batch *pgx.Batch) error {
	return raw(conn, func(c *pgx.Conn) error { return c.SendBatch(ctx, batch).Close() })
}

// raw calls `do` with the driver's connection, and returns the error of `do`. It hides the error from database/sql,
// which would close the connection after some errors.
func raw(conn *sql.Conn, do func(*pgx.Conn) error) (err error) {
	failed := conn.Raw(func(driver any) error {
		err = do(driver.(*stdlib.Conn).Conn())
		return nil
	})
	return errors.Join(err, failed)
}

// Rejected reports whether err, the error of COMMIT, is an answer of the server with severity ERROR, such as for a full
// disk. After such an answer, the change is rolled back, and the connection still works.
func Rejected(err error) bool {
	stated, ok := errors.AsType[*pgconn.PgError](err)
	return ok && stated.SeverityUnlocalized == "ERROR"
}
