package sqlstore

import (
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"vayu/internal/sqlstore/server"
)

// unit is the state that the changes of one transaction share.
type unit struct {
	queue *pgx.Batch // statements to send; nil if each is sent at once
	all   []any      // values that AtEnd has created; ends has their functions
	ends  []func(*Tx) error
}

// errUnexpected means that a statement of Expect changed another number of rows than assumed.
var errUnexpected = errors.New("a statement changed an unexpected number of rows")

// Expect runs a statement that usually changes n rows, and reports whether it has changed n rows. But if changes of a
// group share the transaction (see [WithGroup]), Expect only queues the statement and returns true. Queued statements
// are sent in one round trip before the next query or the commit, which returns their errors. If one changes another
// number of rows, the transaction is rolled back, and each change runs again in a transaction of its own.
func (tx *Tx) Expect(n int64, query string, args ...any) (bool, error) {
	if tx.queue == nil {
		changed, err := tx.Exec(query, args...)
		return changed == n, err
	}
	for i, arg := range args { // as database/sql does for Exec
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return false, tx.note(err)
		}
		args[i] = value
	}
	tx.queue.Queue(query, args...).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() != n {
			return errUnexpected
		}
		return nil
	})
	return true, nil
}

func (tx *Tx) flush() error {
	if tx.queue == nil || tx.queue.Len() == 0 {
		return nil
	}
	queue := tx.queue
	tx.queue = &pgx.Batch{}
	return tx.note(server.Send(tx.ctx, tx.session.(*sql.Conn), queue))
}

// AtEnd lets several callers in one transaction write together at its end. It returns a value of type T, to which each
// caller adds its data. The first call creates the value, and its function `end` writes the value before the commit.
func AtEnd[T any](tx *Tx, end func(*T, *Tx) error) *T {
	for _, value := range tx.all {
		if value, ok := value.(*T); ok {
			return value
		}
	}
	value := new(T)
	tx.all = append(tx.all, value)
	tx.ends = append(tx.ends, func(tx *Tx) error { return end(value, tx) })
	return value
}

// run calls `do` and the functions of AtEnd, and sends the queued statements.
func (tx *Tx) run(do func(*Tx) error) error {
	err := do(tx)
	for i := 0; err == nil && i < len(tx.ends); i++ { // a function can add another one
		err = tx.ends[i](tx)
	}
	if err == nil {
		err = tx.flush()
	}
	return tx.result(err)
}
