package ingest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"vayu/internal/columnstore"
	"vayu/schema"
	"vayu/schema/parameter"
)

// Loader writes batches into the tables `reading`, `station`, `station_alias` and
// `station_change` of one world. It may be used by several goroutines.
type Loader struct {
	conn     driver.Conn
	database string

	mu       sync.Mutex // serialises reading and writing the tables of stations
	book     *book
	loadedAt time.Time
}

// NewLoader returns a loader into a database, see [schema.World.Database]. It
// neither connects nor
// owns conn.
func NewLoader(conn driver.Conn, database string) *Loader {
	return &Loader{conn: conn, database: database}
}

// readingColumns are the types in which columns travel over HTTP. They are the
// plain forms of the table's types, which ClickHouse converts itself: the
// client would build LowCardinality and Enum8 with a boxed value per row. Over
// TCP the server names the types, and the same slices are accepted.
var readingColumns = []clickhouse.ColumnNameAndType{
	{Name: "station", Type: "String"},
	{Name: "parameter", Type: "String"},
	{Name: "at", Type: "DateTime('UTC')"},
	{Name: "value", Type: "Float64"},
	{Name: "kind", Type: "Int8"},
	{Name: "averaging", Type: "UInt16"},
	{Name: "flag", Type: "Int8"},
	{Name: "source", Type: "String"},
}

// Load stores a batch and returns nil once ClickHouse has acknowledged it.
// After an error some of it may be stored; loading it again then completes it
// and doubles nothing. A position that lies far from a station's known one, and
// whose source is no better, is refused and counted in b.Rejected as
// [StationMoved], once, when Load succeeds. Readings of an alias are stored under
// the id of its station.
// Load does not release the batch.
func (l *Loader) Load(ctx context.Context, b *Batch) error {
	withdrawn, err := l.retract(ctx, b.Missing)
	if err != nil {
		return err
	}
	b.Withdrawn = withdrawn
	if b.Rows() == 0 {
		return nil
	}
	moved, aliases, err := l.loadStations(ctx, b.Stations)
	if err != nil {
		return err
	}
	if b.token == "" {
		b.token = columnstore.NewToken()
	}
	if err := l.loadReadings(ctx, b.token, b.Readings, aliases); err != nil {
		return err
	}
	b.token = "" // what is loaded once more on purpose counts once more
	if moved > 0 {
		b.Rejected.Add(StationMoved, moved)
	}
	return nil
}

func (l *Loader) loadReadings(ctx context.Context, token string, record arrow.Record, aliases map[string]string) error {
	columns := readingSlices(record)
	if stations, ok := columns[schema.ReadingStation].([]string); ok && len(aliases) > 0 {
		for i, id := range stations {
			if station, aliased := aliases[id]; aliased {
				stations[i] = station
			}
		}
	}
	err := columnstore.Insert(ctx, l.conn, l.database+".reading", token, readingColumns, columns)
	if err != nil {
		return fmt.Errorf("storing %d readings: %w", record.NumRows(), err)
	}
	return nil
}

// readingSlices returns the columns of a record as Go slices that share the
// record's memory, in the order of readingColumns.
func readingSlices(record arrow.Record) []any {
	at := record.Column(schema.ReadingAt).(*array.Timestamp).TimestampValues()
	int8s := func(column int) []int8 { return record.Column(column).(*array.Int8).Int8Values() }
	return []any{
		texts(record.Column(schema.ReadingStation).(*array.String)),
		identifiers(record.Column(schema.ReadingParameter).(*array.Uint8)),
		arrow.Int64Traits.CastFromBytes(arrow.TimestampTraits.CastToBytes(at)),
		record.Column(schema.ReadingValue).(*array.Float64).Float64Values(),
		int8s(schema.ReadingKind),
		record.Column(schema.ReadingAveraging).(*array.Uint16).Uint16Values(),
		int8s(schema.ReadingFlag),
		texts(record.Column(schema.ReadingSource).(*array.String)),
	}
}

// identifiers returns the identifiers of a column of parameters.
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

// Coverage returns the first and the last end of an averaging interval that
// the world holds from a source, looking no further back than since. Both are
// zero when it holds nothing.
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
