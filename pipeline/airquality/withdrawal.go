package airquality

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore"
	"vayu/schema/parameter"
)

// Withdrawal is an operator's order to exclude readings from every mean and index.
// The readings stay stored.
type Withdrawal struct {
	ID        string              // wdr_…, see [NewWithdrawalID]
	Station   string              // station id
	Parameter parameter.Parameter // zero for all parameters
	From, To  time.Time           // covers averaging intervals that end after From and not after To
	Reason    string
	Actor     string
	MadeAt    time.Time // set by [Rollup.Withdrawals]
}

// NewWithdrawalID returns a random id with the prefix wdr_.
func NewWithdrawalID() string { return "wdr_" + rand.Text() }

// ErrNoReadings is the error for a withdrawal that covers no stored reading.
var ErrNoReadings = errors.New("no readings of this station and parameter in this time")

// ErrNoWithdrawal is the error for the id of a withdrawal that does not exist or
// was revoked.
var ErrNoWithdrawal = errors.New("no such withdrawal")

// CountWithdrawn returns the number of stored readings that a withdrawal excludes. If there are none, the error is
// [ErrNoReadings]. CountWithdrawn also returns an error if the station id is an alias, because the readings of an alias
// are stored under the id of another station.
func (r *Rollup) CountWithdrawn(ctx context.Context, w Withdrawal) (readings uint64, err error) {
	station, err := r.aliasOf(ctx, w.Station)
	if err != nil {
		return 0, err
	}
	if station != "" {
		return 0, fmt.Errorf("%q is an alias of %q: withdraw readings of the latter", w.Station, station)
	}
	const query = `SELECT count() FROM %s.reading FINAL WHERE station = {station:String} AND ({parameter:String} = '' OR parameter = {parameter:String})
		AND at > fromUnixTimestamp({from:Int64}) AND at <= fromUnixTimestamp({to:Int64})`
	rows, err := r.conn.Query(ctx, fmt.Sprintf(query, r.tables.Database), clickhouse.Named("station", w.Station), clickhouse.Named("parameter", w.parameter()),
		clickhouse.Named("from", fmt.Sprint(w.From.Unix())), clickhouse.Named("to", fmt.Sprint(w.To.Unix())))
	if err != nil {
		return 0, fmt.Errorf("counting the readings of a withdrawal: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&readings); err != nil {
			return 0, fmt.Errorf("counting the readings of a withdrawal: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("counting the readings of a withdrawal: %w", err)
	}
	if readings == 0 {
		return 0, ErrNoReadings
	}
	return readings, nil
}

// aliasOf returns the id of the station that an alias stands for; "" if the id is
// not an alias.
func (r *Rollup) aliasOf(ctx context.Context, id string) (station string, err error) {
	rows, err := r.conn.Query(ctx, "SELECT station FROM "+r.tables.Database+".station_alias FINAL WHERE alias = {alias:String}", clickhouse.Named("alias", id))
	if err != nil {
		return "", fmt.Errorf("reading the alias of a station: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&station); err != nil {
			return "", fmt.Errorf("reading the alias of a station: %w", err)
		}
	}
	return station, rows.Err()
}

// Withdraw stores a withdrawal. It is idempotent. The next [Rollup.Increment] recomputes the affected hours.
func (r *Rollup) Withdraw(ctx context.Context, w Withdrawal) error {
	return r.storeWithdrawal(ctx, w, 0)
}

// Reinstate revokes a withdrawal, and stores w.Reason and w.Actor. The next
// [Rollup.Increment] includes the readings again.
func (r *Rollup) Reinstate(ctx context.Context, w Withdrawal) error {
	return r.storeWithdrawal(ctx, w, 1)
}

// Withdrawal returns the withdrawal with an id. If it does not exist or is revoked,
// the error is [ErrNoWithdrawal].
func (r *Rollup) Withdrawal(ctx context.Context, id string) (Withdrawal, error) {
	all, err := r.Withdrawals(ctx)
	if err != nil {
		return Withdrawal{}, err
	}
	i := slices.IndexFunc(all, func(w Withdrawal) bool { return w.ID == id })
	if i < 0 {
		return Withdrawal{}, fmt.Errorf("%w: %q", ErrNoWithdrawal, id)
	}
	return all[i], nil
}

// WriteWithdrawals writes the withdrawals in force as a table.
func (r *Rollup) WriteWithdrawals(ctx context.Context, w io.Writer) error {
	all, err := r.Withdrawals(ctx)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "ID\tSTATION\tPARAMETER\tAFTER\tUP TO\tMADE\tREASON")
	for _, one := range all {
		measured := "all"
		if one.Parameter.Valid() {
			measured = one.Parameter.ID()
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, one.Station, measured,
			one.From.Format(time.RFC3339), one.To.Format(time.RFC3339), one.MadeAt.UTC().Format(time.RFC3339), one.Reason)
	}
	return out.Flush()
}

// Withdrawals returns every withdrawal that is not revoked, the latest first.
func (r *Rollup) Withdrawals(ctx context.Context) (all []Withdrawal, err error) {
	rows, err := r.conn.Query(ctx, `SELECT id, station, parameter, from_at, to_at, reason, actor, made_at
		FROM `+r.tables.Database+`.withdrawal FINAL ORDER BY made_at DESC, id`)
	if err != nil {
		return nil, fmt.Errorf("reading the withdrawals: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var w Withdrawal
		var id string
		if err := rows.Scan(&w.ID, &w.Station, &id, &w.From, &w.To, &w.Reason, &w.Actor, &w.MadeAt); err != nil {
			return nil, fmt.Errorf("reading the withdrawals: %w", err)
		}
		w.Parameter, _ = parameter.Parse(id)
		all = append(all, w)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the withdrawals: %w", err)
	}
	return all, nil
}

// parameter returns the value for the column `parameter`; "" means all parameters.
func (w *Withdrawal) parameter() string {
	if !w.Parameter.Valid() {
		return ""
	}
	return w.Parameter.ID()
}

// withdrawalColumns are the columns that this program sets in the table withdrawal.
var withdrawalColumns = []clickhouse.ColumnNameAndType{
	{Name: "id", Type: "String"}, {Name: "station", Type: "String"}, {Name: "parameter", Type: "String"},
	{Name: "from_at", Type: "DateTime('UTC')"}, {Name: "to_at", Type: "DateTime('UTC')"},
	{Name: "reason", Type: "String"}, {Name: "actor", Type: "String"}, {Name: "removed", Type: "UInt8"},
}

func (r *Rollup) storeWithdrawal(ctx context.Context, w Withdrawal, removed uint8) error {
	err := columnstore.Insert(ctx, r.conn, r.tables.Database+".withdrawal", columnstore.NewToken(), withdrawalColumns, []any{
		[]string{w.ID}, []string{w.Station}, []string{w.parameter()}, []time.Time{w.From}, []time.Time{w.To},
		[]string{w.Reason}, []string{w.Actor}, []uint8{removed},
	})
	if err != nil {
		return fmt.Errorf("storing a withdrawal: %w", err)
	}
	return nil
}
