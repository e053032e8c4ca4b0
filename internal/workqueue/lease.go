package workqueue

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/sqlstore"
)

// Lease is an exclusive right to work on a row until a time. The row stores the token, which
// identifies the lease. The zero Lease means that there is no lease.
type Lease struct {
	Token string
	Until time.Time
}

// Tokens makes the tokens of leases, each unique across all instances. It is safe for concurrent use.
type Tokens struct {
	prefix string
	made   atomic.Uint64
}

// NewTokens returns Tokens for one instance.
func NewTokens() *Tokens { return &Tokens{prefix: ulid.Make().String()} }

// Lease returns a lease with a new token, which ends at the time `until`.
func (t *Tokens) Lease(until time.Time) Lease {
	return Lease{t.prefix + "." + strconv.FormatUint(t.made.Add(1), 36), until}
}

// SelectDue runs a query of due rows that the transaction is about to lease. On PostgreSQL it locks these rows of
// `table` (a table or an alias in the query), and skips rows that another instance has locked.
func SelectDue[R any](tx *sqlstore.Tx, table string, scan func(sqlstore.Scanner) (R, error),
	query string, args ...any,
) ([]R, error) {
	if tx.Name() == "postgres" {
		query += " FOR UPDATE OF " + table + " SKIP LOCKED"
	}
	return sqlstore.All(tx, scan, query, args...)
}

// Leases has the SQL statements that begin, renew and end leases of rows of one table, for many rows at once. The table
// has the columns due_at and token.
type Leases struct {
	key                   int // number of key columns
	claim, renew, release sqlstore.BatchStatement
}

// Leased is a row with a lease.
type Leased struct {
	Key   []any
	Token string
	Due   time.Time // due time that Release gives the row
}

// NewLeases returns the statements of a table. The parameter `key` has the names of the primary key's columns, with
// " BIGINT" after the name of an integer column. The statements CAST the values of an integer column, because
// PostgreSQL would otherwise treat these values as text.
func NewLeases(table string, key ...string) Leases {
	columns, matches, row := make([]string, len(key)), make([]string, len(key)), make([]string, len(key))
	for i, column := range key {
		name, integer := strings.CutSuffix(column, " BIGINT")
		columns[i], matches[i], row[i] = name, fmt.Sprintf("t.%s = v.column%d", name, i+1), "?"
		if integer {
			row[i] = "CAST(? AS BIGINT)"
		}
	}
	n, keys := len(key), strings.Join(row, ", ")
	match := ") AS v WHERE " + strings.Join(matches, " AND ")
	token := fmt.Sprintf(" AND t.token = v.column%d", n+1)
	update := "UPDATE " + table + " AS t SET "
	return Leases{
		key:   n,
		claim: sqlstore.NewBatchStatement(2, update+"due_at = $1, token = $2 FROM (VALUES ", "("+keys+")", match),
		renew: sqlstore.NewBatchStatement(1, update+"due_at = $1 FROM (VALUES ", "("+keys+", ?)",
			match+token+" RETURNING "+strings.Join(columns, ", ")),
		release: sqlstore.NewBatchStatement(0, fmt.Sprintf("%sdue_at = v.column%d, token = '' FROM (VALUES ", update, n+2),
			"("+keys+", ?, CAST(? AS BIGINT))", match+token),
	}
}

// Statements returns the statements that claim and release a full group of rows. Tests check their query plans.
func (l *Leases) Statements() (claim, release string) {
	return l.claim[len(l.claim)-1], l.release[len(l.release)-1]
}

// Claim leases rows. It does not check that they are due: [SelectDue] must have found them in the same transaction.
func (l *Leases) Claim(tx *sqlstore.Tx, lease Lease, keys [][]any) error {
	return l.claim.Each(len(keys), func(text string, from, to int) error {
		args := append(make([]any, 0, 2+l.key*(to-from)), lease.Until.UnixMicro(), lease.Token)
		for _, key := range keys[from:to] {
			args = append(args, key...)
		}
		_, err := tx.Exec(text, args...)
		return err
	})
}

// Renew extends leases. It returns the leases that are lost: their rows have another token or are deleted.
func (l *Leases) Renew(tx *sqlstore.Tx, until time.Time, all []Leased) (lost []Leased, err error) {
	renewed := map[string]bool{}
	err = l.renew.Each(len(all), func(text string, from, to int) error {
		args := []any{until.UnixMicro()}
		for _, row := range all[from:to] {
			args = append(append(args, row.Key...), row.Token)
		}
		return sqlstore.Each(tx, func(row sqlstore.Scanner) error {
			key, into := make([]any, l.key), make([]any, l.key)
			for i := range key {
				into[i] = &key[i]
			}
			err := row.Scan(into...)
			renewed[fmt.Sprint(key...)] = true
			return err
		}, text, args...)
	})
	for _, row := range all {
		if !renewed[fmt.Sprint(row.Key...)] {
			lost = append(lost, row)
		}
	}
	return lost, err
}

// Release ends leases, and sets the due times of their rows. It does not change rows whose token differs.
func (l *Leases) Release(tx *sqlstore.Tx, all []Leased) error {
	return l.release.Each(len(all), func(text string, from, to int) error {
		args := make([]any, 0, (l.key+2)*(to-from))
		for _, row := range all[from:to] {
			args = append(append(args, row.Key...), row.Token, row.Due.UnixMicro())
		}
		_, err := tx.Exec(text, args...)
		return err
	})
}

// LeaseEnd returns the end of a lease that begins at `now`. A lease lasts for the timeout of a call plus LeaseMargin.
func (p *Pool) LeaseEnd(now time.Time) time.Time {
	return now.Add(p.provider.Timeout + LeaseMargin)
}

// LatestStart returns the latest time at which a call may start, so that it times out before its lease `own` ends.
func (p *Pool) LatestStart(own Lease) time.Time {
	return own.Until.Add(-p.provider.Timeout).UTC().Truncate(time.Microsecond)
}
