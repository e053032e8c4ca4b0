package reconcile

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Record holds the columns of a recharge that this package needs.
type Record struct {
	ID         string
	Owner      schema.Owner
	State      schema.RechargeState
	Number     string
	Operator   string // empty if the recharge failed before the operator was known
	Amount     schema.Paise
	Provider   string
	Reference  string // reference of the current order, as the provider has it; empty if the recharge failed before any
	Alarm      string // late_success, late_failure or ""
	CreatedAt  time.Time
	RefundedAt time.Time // zero unless refunded
	ResolvedAt time.Time // when the alarm was resolved; zero for an open alarm or none
}

const (
	columnNames = "id, account_id, mode, state, number, operator, amount, provider, reference, alarm, created_at, refunded_at, resolved_at"
	columnList  = "SELECT " + columnNames + " FROM "
	columnsOf   = columnList + "recharge "

	// selectAbsent selects recharges that a file should have. It uses the index of a provider's
	// references. A reference begins with a recharge id, and ids are sorted by time.
	selectAbsent = columnsOf + `WHERE mode = $1 AND provider = $2 AND reference > $3 AND reference < $4
		AND created_at >= $5 AND created_at < $6 AND state IN ('success', 'pending') ORDER BY reference LIMIT $7`

	// selectProvider selects the first provider after a given name.
	selectProvider = "SELECT provider FROM recharge WHERE mode = $1 AND provider > $2 ORDER BY provider LIMIT 1"
)

// The form of these queries makes SQLite use the right index. SQLite assumes that an index finds
// ten rows. With IN for references, or with a condition on the mode besides ids, SQLite would use
// another index. It would then read all recharges of a provider or world.
var (
	selectByReference = sqlstore.NewBatchStatement(2, columnList+"(VALUES ", "(?)", ") AS w CROSS JOIN recharge WHERE mode = $1 AND provider = $2 AND reference = w.column1")
	selectByID        = sqlstore.NewBatchStatement(0, columnsOf+"WHERE id IN (", "?", ")")
)

func scan(row sqlstore.Scanner) (r Record, err error) {
	var mode string
	var created int64
	var refunded, resolved sql.NullInt64
	err = row.Scan(&r.ID, &r.Owner.Account, &mode, &r.State, &r.Number, &r.Operator, &r.Amount, &r.Provider, &r.Reference, &r.Alarm, &created, &refunded, &resolved)
	r.Owner.World = schema.WorldOf(mode)
	r.CreatedAt = time.UnixMicro(created).UTC()
	if refunded.Valid {
		r.RefundedAt = time.UnixMicro(refunded.Int64).UTC()
	}
	if resolved.Valid {
		r.ResolvedAt = time.UnixMicro(resolved.Int64).UTC()
	}
	return r, err
}

// find looks up recharges by their names, which are references or ids. fixed holds the statement's
// first arguments. The function key returns the key of a recharge in the resulting map.
func find(q sqlstore.Querier, statement *sqlstore.BatchStatement, fixed []any, names []string, key func(*Record) string) (map[string]*Record, error) {
	found := map[string]*Record{}
	err := statement.Each(len(names), func(text string, from, to int) error {
		args := append([]any{}, fixed...)
		for _, name := range names[from:to] {
			args = append(args, name)
		}
		return sqlstore.Each(q, func(row sqlstore.Scanner) error {
			r, err := scan(row)
			found[key(&r)] = &r
			return err
		}, text, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("looking up recharges: %w", err)
	}
	return found, nil
}

// idOf returns the recharge id in a reference. The reference of a second order has a suffix after
// the id (txn_…-2).
func idOf(reference string) string {
	id, _, _ := strings.Cut(reference, "-")
	return id
}

// idPrefix is the prefix of recharge ids.
const idPrefix = "txn_"

// clockMargin is the maximum difference between the time in a recharge id and the creation time in
// the recharge's row.
const clockMargin = time.Second

// idsFrom returns a string that sorts before every id created in the millisecond of the given time
// or later. The string sorts after every id of an earlier millisecond.
func idsFrom(at time.Time) string {
	var id ulid.ULID
	ms := max(at.UnixMilli(), 0)
	_ = id.SetTime(min(uint64(ms), ulid.MaxTime())) // the time is in range
	const timePart = 10                             // characters of the time in a ULID
	return idPrefix + id.String()[:timePart]
}

// Providers returns the names of all providers with recharges in a world (live or sandbox).
func Providers(q sqlstore.Querier, world schema.World) ([]string, error) {
	var names []string
	for name := ""; ; {
		next, err := sqlstore.All(q, func(row sqlstore.Scanner) (name string, err error) {
			err = row.Scan(&name)
			return name, err
		}, selectProvider, world.String(), name)
		if err != nil {
			return nil, fmt.Errorf("listing providers: %w", err)
		}
		if len(next) == 0 {
			return names, nil
		}
		name = next[0]
		names = append(names, name)
	}
}
