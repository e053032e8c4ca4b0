package server

import (
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"vayu/internal/sqlstore/connection"
)

// Conflict reports whether the server aborted the transaction in favour of another transaction. The errors are
// serialization_failure and deadlock_detected.
func Conflict(err error) bool {
	var stated *pgconn.PgError
	return errors.As(err, &stated) && (stated.Code == "40001" || stated.Code == "40P01")
}

// postgresFaults has the SQLSTATE classes of an unavailable server: connection exception, insufficient
// resources, operator intervention (which includes a statement timeout) and system error.
var postgresFaults = map[string]bool{"08": true, "53": true, "57": true, "58": true}

// Unavailable reports whether a SQLSTATE code means an unavailable server. These are the codes in the classes of
// postgresFaults, and the codes of five further errors: read-only (after a failover), lock not available,
// idle-transaction timeout, and the two conflicts (see Conflict).
func Unavailable(code string) bool {
	if len(code) != 5 {
		return false
	}
	switch code {
	case "25006", "55P03", "25P03", "40001", "40P01":
		return true
	}
	return postgresFaults[code[:2]]
}

// Broken reports whether err is an error of the connection, not of a statement.
func Broken(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, connection.ErrDiscarded) || errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}
