package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"golang.org/x/sync/errgroup"

	"vayu/schema/statement"
)

// batchRows is the number of rows of a record. But a record of a table with more than `wide` columns has wideRows
// rows. A record has about 7 MB, and an export holds several records. A record is also a row group in Parquet.
// Readers read or skip whole row groups, so smaller records would make large files slower to read.
const (
	batchRows = 1 << 16
	wideRows  = 1 << 15
	wide      = 16
)

// Reader reads the rows of one database that its Selection selects. It is safe for concurrent use.
type Reader struct {
	conn     Conn
	database string // quoted
	where    []condition
	args     []any

	Selection Selection
	Columns   []Column
}

// NewReader returns a reader of the selected rows. It looks up the columns of the table.
func NewReader(ctx context.Context, conn Conn, database string, s Selection) (*Reader, error) {
	all, err := Columns(ctx, conn, database, s.Table)
	if err != nil {
		return nil, err
	}
	r := &Reader{conn: conn, database: statement.QuoteName(database), Selection: s, Columns: s.columns(all)}
	r.where, r.args = s.conditions(r.database)
	return r, nil
}

// settings are the ClickHouse settings of all queries. FINAL can merge each partition separately, because all versions
// of a row are in one partition. There is no time limit, because a client may read slowly. Two threads limit the
// memory, and still read faster than one thread writes.
var settings = clickhouse.Settings{
	"final": 1, "do_not_merge_across_partitions_select_final": 1, "max_execution_time": 0,
	"max_threads": 2, "optimize_read_in_order": 1, "max_block_size": blockRows, "preferred_block_size_bytes": 0,
}

// from returns the FROM and WHERE clauses for the selected rows, with additional conditions.
func (r *Reader) from(more ...condition) string {
	return " FROM " + r.database + "." + statement.QuoteName(r.Selection.Table.Name) + clause(append(slices.Clone(r.where), more...))
}

// Month has the number of rows of one month, and a hash of their versions, by which [Month.Equal] detects changed rows.
type Month struct {
	Month uint32 // such as 202611; 0 for a table without time
	Rows  uint64
	Hash  uint64 // of the versions of the rows
	// Changed is the time at which the latest of the rows was written; zero if the table does not state it.
	Changed time.Time
}

// Equal reports whether two months have the same rows.
func (m Month) Equal(o Month) bool { return m.Month == o.Month && m.Rows == o.Rows && m.Hash == o.Hash }

// Months returns the months that have rows, in order. To find changed months, compare those of two calls by Equal.
func (r *Reader) Months(ctx context.Context) ([]Month, error) {
	t := &r.Selection.Table
	changed := "toInt64(0)"
	if t.Version != "" {
		changed = "toInt64(toUnixTimestamp(max(" + t.Version + ")))"
	}
	rows, err := r.conn.Query(clickhouse.Context(ctx, clickhouse.WithSettings(settings)), "SELECT "+t.month()+" AS m, count(), sum("+t.changes(r.Columns)+"), "+changed+r.from()+" GROUP BY m ORDER BY m", r.args...)
	if err != nil {
		return nil, fmt.Errorf("reading the months of %s: %w", t.Name, err)
	}
	defer func() { _ = rows.Close() }()
	var all []Month
	for rows.Next() {
		var m Month
		var at int64
		if err := rows.Scan(&m.Month, &m.Rows, &m.Hash, &at); err != nil {
			return nil, fmt.Errorf("reading the months of %s: %w", t.Name, err)
		}
		if at != 0 {
			m.Changed = time.Unix(at, 0).UTC()
		}
		all = append(all, m)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the months of %s: %w", t.Name, err)
	}
	return all, nil
}

// Each reads the rows of months and passes them to `take` as records. Rows are in the order of the months and of the
// table's key. All records but the last have the same number of rows. Each reads the next record while `take`
// processes a record. `take` must not retain the record. If there are no rows, Each does not call `take`.
func (r *Reader) Each(ctx context.Context, schema *arrow.Schema, months []Month, take func(arrow.Record) error) error {
	work, ctx := errgroup.WithContext(ctx)
	records := make(chan arrow.Record)
	work.Go(func() error {
		defer close(records)
		return r.read(ctx, schema, months, func(record arrow.Record) error {
			select {
			case records <- record:
				return nil
			case <-ctx.Done():
				record.Release()
				return context.Cause(ctx)
			}
		})
	})
	work.Go(func() error {
		for record := range records {
			err := take(record)
			record.Release()
			if err != nil {
				return err
			}
		}
		return nil
	})
	return work.Wait()
}

// read reads the rows of months and passes them to `take` as records. `take` must release each record.
func (r *Reader) read(ctx context.Context, schema *arrow.Schema, months []Month, take func(arrow.Record) error) error {
	in := newBlock(r.Columns)
	out := newBatch(schema, in, take)
	defer out.release()
	ctx, table := clickhouse.Context(ctx, clickhouse.WithSettings(settings)), &r.Selection.Table
	order := strings.Join(table.Key, ", ")
	if table.Derived {
		order = table.month() + ", " + order
	}
	for n := 1; len(months) > 0; months, n = months[n:], 1 {
		// For a view, one query reads all months of a year, because each query computes the view again.
		for table.Derived && n < len(months) && months[n].Month/100 == months[0].Month/100 {
			n++
		}
		query := "SELECT " + selectList(r.Columns) + r.from(table.within(months[0].Month, months[n-1].Month)...) + " ORDER BY " + order
		if err := in.each(ctx, r.conn, out.add, query, r.args...); err != nil {
			return fmt.Errorf("reading %s of %d: %w", table.Name, months[0].Month, err)
		}
	}
	return out.flush()
}

// within returns conditions that select the rows from the month `first` to the month `last`. With these
// conditions, ClickHouse reads only the partitions of these months.
func (t *Table) within(first, last uint32) []condition {
	if t.Time == "" {
		return nil
	}
	begin := func(month uint32) int64 {
		return time.Date(int(month/100), time.Month(month%100), 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	format, from, to := "%[1]s >= fromUnixTimestamp(%[2]d) AND %[1]s < fromUnixTimestamp(%[3]d)", begin(first), begin(last+1) // month 13 is January
	if t.Daily {
		format, from, to = "%[1]s >= toDate(%[2]d) AND %[1]s < toDate(%[3]d)", from/86_400, to/86_400
	}
	return []condition{{fmt.Sprintf(format, t.Time, from, to), !t.Derived && slices.Contains(t.Key, t.Time)}}
}

// batch collects rows into records. A record has at most `most` rows.
type batch struct {
	schema   *arrow.Schema
	builders []builder
	rows     int
	most     int
	take     func(arrow.Record) error
}

func newBatch(schema *arrow.Schema, of *block, take func(arrow.Record) error) *batch {
	b := &batch{schema: schema, most: batchRows, take: take}
	if len(of.columns) > wide {
		b.most = wideRows
	}
	for i, c := range of.columns {
		b.builders = append(b.builders, c.build(schema.Field(i).Type))
	}
	return b
}

func (b *batch) release() {
	for _, one := range b.builders {
		one.Release()
	}
}

func (b *batch) add(part *block) error {
	for from := 0; from < part.rows; {
		to := min(part.rows, from+b.most-b.rows)
		for i, c := range part.columns {
			c.appendTo(b.builders[i], from, to)
		}
		b.rows, from = b.rows+to-from, to
		if b.rows == b.most {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush passes the collected rows, if there are any, to `take` as a record.
func (b *batch) flush() error {
	if b.rows == 0 {
		return nil
	}
	columns := make([]arrow.Array, len(b.builders))
	for i, one := range b.builders {
		columns[i] = one.NewArray()
	}
	record := array.NewRecord(b.schema, columns, int64(b.rows))
	for _, c := range columns {
		c.Release()
	}
	b.rows = 0
	return b.take(record)
}
