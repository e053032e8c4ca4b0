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

// Record is what is looked at of a recharge.
type Record struct {
	ID         string
	Owner      schema.Owner
	State      schema.RechargeState
	Number     string
	Operator   string // empty when it failed before that was known
	Amount     schema.Paise
	Provider   string
	Reference  string // under which the provider knows it
	Alarm      string // late_success, late_failure or ""
	CreatedAt  time.Time
	RefundedAt time.Time // zero unless refunded
	ResolvedAt time.Time // when its alarm was; zero while it is open, and without one
}

const (
	columnNames = "id, account_id, mode, state, number, operator, amount, provider, reference, alarm, created_at, refunded_at, resolved_at"
	columnList  = "SELECT " + columnNames + " FROM "
	columnsOf   = columnList + "recharge "

	// selectAbsent goes along the references of a provider; those begin with an id,
	// and so with the time at which it was made.
	selectAbsent = columnsOf + `WHERE mode = $1 AND provider = $2 AND reference > $3 AND reference < $4
		AND created_at >= $5 AND created_at < $6 AND state IN ('success', 'pending') ORDER BY reference LIMIT $7`

	// selectProvider is the name after another.
	selectProvider = "SELECT provider FROM recharge WHERE mode = $1 AND provider > $2 ORDER BY provider LIMIT 1"
)

// With IN, and with the mode beside ids, SQLite rather reads all that a provider or a
// world has: it knows nothing of how much that is, and takes it for ten rows.
var (
	selectByReference = sqlstore.Group(2, columnList+"(VALUES ", "(?)", ") AS w CROSS JOIN recharge WHERE mode = $1 AND provider = $2 AND reference = w.column1")
	selectByID        = sqlstore.Group(0, columnsOf+"WHERE id IN (", "?", ")")
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

// find asks for many recharges, by what key makes of each.
func find(q sqlstore.Querier, statement *sqlstore.Grouped, fixed []any, names []string, key func(*Record) string) (map[string]*Record, error) {
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

// idOf is the id of the recharge that a reference was made for: an attempt after the
// first has a number behind it (txn_…-2).
func idOf(reference string) string {
	id, _, _ := strings.Cut(reference, "-")
	return id
}

// idPrefix begins the id of a recharge.
const idPrefix = "txn_"

// slack is how far the time in an id and that of its row may be apart.
const slack = time.Second

// idsFrom is what every id that was made at a time or later comes after, and no id
// from before it does.
func idsFrom(at time.Time) string {
	var id ulid.ULID
	ms := max(at.UnixMilli(), 0)
	_ = id.SetTime(min(uint64(ms), ulid.MaxTime())) // it is in its range
	const timePart = 10                             // characters of a ULID that are its time
	return idPrefix + id.String()[:timePart]
}

// Providers are the names of those who were ever asked for a recharge in a world.
func Providers(q sqlstore.Querier, world schema.World) ([]string, error) {
	var names []string
	for name := ""; ; {
		next, err := sqlstore.All(q, func(row sqlstore.Scanner) (name string, err error) {
			err = row.Scan(&name)
			return name, err
		}, selectProvider, world.String(), name)
		if err != nil {
			return nil, fmt.Errorf("looking for providers: %w", err)
		}
		if len(next) == 0 {
			return names, nil
		}
		name = next[0]
		names = append(names, name)
	}
}
