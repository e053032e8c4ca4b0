// Package loader writes batches of readings and their stations to ClickHouse.
package loader

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"vayu/ingest"
	"vayu/ingest/station"
	"vayu/internal/columnstore"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// Loader writes batches into the tables `reading`, `bulletin`, `station`, `station_alias`
// and `station_change` of one world (live or sandbox). It is safe for concurrent use.
type Loader struct {
	conn     driver.Conn
	database string

	mu          sync.Mutex // serialises access to the station tables
	cache       *station.Cache
	loadedAt    time.Time     // when the aliases were read
	stationsAt  time.Time     // when the stations were read
	stationsFor time.Duration // how long the cached stations are valid
}

// New returns a loader into a database, see [schema.World.Database]. It does not connect; the caller owns conn.
func New(conn driver.Conn, database string) *Loader {
	return &Loader{conn: conn, database: database}
}

// readingColumns are the columns of an insert over HTTP, with types that the client encodes fast. ClickHouse converts
// them to the types of the table. For LowCardinality and Enum8, the client would allocate each value separately. Over
// TCP the server states the types, and the client accepts the same slices.
var readingColumns = []clickhouse.ColumnNameAndType{
	{Name: "station", Type: "String"},
	{Name: "parameter", Type: "String"},
	{Name: "at", Type: "DateTime('UTC')"},
	{Name: "value", Type: "Float64"},
	{Name: "kind", Type: "Int8"},
	{Name: "averaging", Type: "UInt16"},
	{Name: "flag", Type: "Int8"},
	{Name: "source", Type: "String"},
	{Name: "run", Type: "UInt64"},
}

// Load stores a batch and returns nil once ClickHouse has acknowledged it. It is idempotent, so the caller can load the
// batch again after an error. Readings of an alias are stored under the id of its station. Load does not release the
// batch.
//
// Load refuses a position far from the station's known position, unless the new position's source ranks higher (see
// positionRank in package station). On success it counts each refusal in b.Rejected as [ingest.StationMoved].
func (l *Loader) Load(ctx context.Context, b *ingest.Batch) error {
	withdrawn, err := l.retract(ctx, b.Missing)
	if err != nil {
		return err
	}
	b.Withdrawn = withdrawn
	if err := l.loadBulletins(ctx, b); err != nil {
		return err
	}
	if b.Rows() == 0 {
		return nil
	}
	moved, aliases, err := l.loadStations(ctx, b.Stations)
	if err != nil {
		return err
	}
	if b.Token == "" {
		b.Token = columnstore.NewToken()
	}
	if err := l.loadReadings(ctx, b, aliases); err != nil {
		return err
	}
	b.Token = "" // the batch is stored, so another load is a new insert
	if moved > 0 {
		b.Rejected.Add(ingest.StationMoved, moved)
	}
	return nil
}

func (l *Loader) loadReadings(ctx context.Context, b *ingest.Batch, aliases map[string]string) error {
	columns := readingSlices(b.Readings)
	columns = append(columns, slices.Repeat([]uint64{b.Run}, b.Rows()))
	if stations, ok := columns[air.ReadingStation].([]string); ok && len(aliases) > 0 {
		for i, id := range stations {
			if station, aliased := aliases[id]; aliased {
				stations[i] = station
			}
		}
	}
	err := columnstore.Insert(ctx, l.conn, l.database+".reading", b.Token, readingColumns, columns)
	if err != nil {
		return fmt.Errorf("storing %d readings: %w", b.Rows(), err)
	}
	return nil
}

// readingSlices returns the columns of a record in the order of readingColumns, without the column `run`. The slices
// share the record's memory.
func readingSlices(record arrow.Record) []any {
	at := record.Column(air.ReadingAt).(*array.Timestamp).TimestampValues()
	int8s := func(column int) []int8 { return record.Column(column).(*array.Int8).Int8Values() }
	return []any{
		texts(record.Column(air.ReadingStation).(*array.String)),
		identifiers(record.Column(air.ReadingParameter).(*array.Uint8)),
		arrow.Int64Traits.CastFromBytes(arrow.TimestampTraits.CastToBytes(at)),
		record.Column(air.ReadingValue).(*array.Float64).Float64Values(),
		int8s(air.ReadingKind),
		record.Column(air.ReadingAveraging).(*array.Uint16).Uint16Values(),
		int8s(air.ReadingFlag),
		texts(record.Column(air.ReadingSource).(*array.String)),
	}
}

// identifiers converts a column of parameters to their identifiers, such as "pm25".
func identifiers(column *array.Uint8) []string {
	out := make([]string, column.Len())
	for i, p := range column.Uint8Values() {
		out[i] = parameter.Parameter(p).ID()
	}
	return out
}

func texts(column *array.String) []string {
	out := make([]string, column.Len())
	for i := range out {
		out[i] = column.Value(i)
	}
	return out
}

// Coverage returns the times of the first and the last stored reading of a source, at or after `since`. Both are zero
// if no such reading exists. The time of a reading is the end of its averaging interval.
func (l *Loader) Coverage(ctx context.Context, source string, since time.Time) (first, last time.Time, err error) {
	query := "SELECT count(), min(at), max(at) FROM " + l.database + ".reading WHERE source = {source:String} AND at >= fromUnixTimestamp({since:Int64})"
	var rows uint64
	row := l.conn.QueryRow(ctx, query, clickhouse.Named("source", source), clickhouse.Named("since", fmt.Sprint(since.Unix())))
	if err := row.Scan(&rows, &first, &last); err != nil {
		return time.Time{}, time.Time{}, fmt.Errorf("reading the newest reading of %q: %w", source, err)
	}
	if rows == 0 {
		return time.Time{}, time.Time{}, nil
	}
	return first.UTC(), last.UTC(), nil
}
