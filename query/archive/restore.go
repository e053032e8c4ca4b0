package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/migration"
	"vayu/query/dataset"
	"vayu/schema"
)

// restoreRows is the number of rows of one INSERT.
const restoreRows = 1 << 16

// RestoreOptions describe a restore.
type RestoreOptions struct {
	World schema.World
	// Tables has the name of the database, and of the cluster if there is one.
	Tables migration.Params
	Now    time.Time
	// Again empties the tables first if a restore into them was killed.
	Again bool
	// Progress is called after each file; nil for none. skipped means that ClickHouse would delete its rows at once, because
	// they are older than its retention.
	Progress func(f File, skipped bool)
}

// Restore fills the tables of a database from an archive. The tables must exist and be empty, and nothing else may write
// to them. If it fails, they are empty again.
func Restore(ctx context.Context, conn driver.Conn, place Reader, o RestoreOptions) (Manifest, error) {
	m, err := open(ctx, place)
	if err != nil {
		return m, err
	}
	if m.World != o.World.String() {
		return m, fmt.Errorf("the archive is one of the %s world, not of %s", m.World, o.World)
	}
	r := &restore{conn: conn, place: place, o: o, database: o.Tables.Database}
	if err := r.check(m); err != nil {
		return m, err
	}
	if err := r.begin(ctx, m); err != nil {
		return m, err
	}
	for _, t := range m.Tables {
		if t.Name == catalogue && r.keep {
			continue
		}
		if err := r.table(ctx, t); err != nil {
			return m, errors.Join(fmt.Errorf("restoring the table %s: %w", t.Name, err), r.clear(ctx, m))
		}
	}
	return m, r.end(ctx)
}

type restore struct {
	conn     driver.Conn
	place    Reader
	o        RestoreOptions
	database string
	keep     bool // the tables have a catalogue, which stays
}

// catalogue is the table that the program writes itself when it prepares the tables.
const catalogue = "parameter"

// check returns an error unless this program knows the tables of the archive.
func (r *restore) check(m Manifest) error {
	all := known(m)
	for _, t := range m.Tables {
		if !slices.ContainsFunc(all, func(k dataset.Table) bool { return k.Name == t.Name }) {
			return fmt.Errorf("the archive has a table %q, which this program does not know; upgrade the program", t.Name)
		}
	}
	return nil
}

// known returns the tables of an archive that this program knows.
func known(m Manifest) []dataset.Table {
	return slices.DeleteFunc(dataset.Archived(), func(t dataset.Table) bool {
		return !slices.ContainsFunc(m.Tables, func(of Table) bool { return of.Name == t.Name })
	})
}

// file stores the rows of a file. It compares the checksum before it stores the first row.
func (r *restore) file(ctx context.Context, table string, f File, present []dataset.Column) error {
	local, err := fetch(ctx, r.place, f)
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(local.Close(), os.Remove(local.Name())) }()
	in, err := file.NewParquetReader(local)
	if err != nil {
		return err
	}
	reader, err := pqarrow.NewFileReader(in, pqarrow.ArrowReadProperties{BatchSize: restoreRows}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	records, err := reader.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return err
	}
	defer records.Release()
	rows := uint64(0)
	for records.Next() {
		record := records.Record()
		rows += uint64(record.NumRows())
		if err := r.insert(ctx, table, record, present); err != nil {
			return err
		}
	}
	if err := records.Err(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if rows != f.Rows {
		return fmt.Errorf("the file has %d rows, and the manifest has %d", rows, f.Rows)
	}
	return nil
}

func (r *restore) insert(ctx context.Context, table string, record arrow.Record, present []dataset.Column) error {
	var columns []clickhouse.ColumnNameAndType
	var all []any
	for i, field := range record.Schema().Fields() {
		at := slices.IndexFunc(present, func(c dataset.Column) bool { return c.Name == field.Name })
		if at < 0 || !present[at].Stored {
			continue
		}
		slice, err := values(record.Column(i), present[at].Type)
		if err != nil {
			return fmt.Errorf("column %s: %w", field.Name, err)
		}
		columns = append(columns, clickhouse.ColumnNameAndType{Name: field.Name, Type: present[at].Type})
		all = append(all, slice)
	}
	return columnstore.Insert(ctx, r.conn, columnstore.QuoteName(r.database, table), columnstore.NewToken(), columns, all)
}

// values returns a column as a slice that the driver takes for a ClickHouse type.
func values(column arrow.Array, kind string) (any, error) {
	optional := len(kind) > 9 && kind[:9] == "Nullable("
	switch c := column.(type) {
	case *array.String:
		if !strings.Contains(kind, "String") && !strings.HasPrefix(kind, "Enum") { // a type that an export shows as text
			return nil, fmt.Errorf("a text is no value of %s", kind)
		}
		return plain(c, c.Value), nil
	case *array.Timestamp:
		return plain(c, func(i int) time.Time { return time.UnixMilli(int64(c.Value(i))).UTC() }), nil
	case *array.Date32:
		return plain(c, func(i int) time.Time { return c.Value(i).ToTime() }), nil
	case *array.Boolean:
		return plain(c, c.Value), nil
	case *array.Float64:
		return maybe(c, c.Value, optional), nil
	case *array.Float32:
		return maybe(c, c.Value, optional), nil
	case *array.Uint8:
		return maybe(c, c.Value, optional), nil
	case *array.Uint16:
		return maybe(c, c.Value, optional), nil
	case *array.Uint32:
		return maybe(c, c.Value, optional), nil
	case *array.Uint64:
		return maybe(c, c.Value, optional), nil
	case *array.Int32:
		return maybe(c, c.Value, optional), nil
	case *array.Int64:
		return maybe(c, c.Value, optional), nil
	case *array.List:
		switch items := c.ListValues().(type) {
		case *array.String:
			return lists(c, items.Value), nil
		case *array.Float64:
			return lists(c, items.Value), nil
		}
	}
	return nil, fmt.Errorf("the type %s is not one of an archive", column.DataType())
}

func lists[T any](c *array.List, value func(int) T) [][]T {
	return plain(c, func(i int) []T {
		from, to := c.ValueOffsets(i)
		list := make([]T, 0, to-from)
		for j := from; j < to; j++ {
			list = append(list, value(int(j)))
		}
		return list
	})
}

func plain[T any](c arrow.Array, value func(int) T) []T {
	all := make([]T, c.Len())
	for i := range all {
		all[i] = value(i)
	}
	return all
}

// maybe returns pointers for a column that can be NULL.
func maybe[T any](c arrow.Array, value func(int) T, optional bool) any {
	if !optional {
		return plain(c, value)
	}
	return plain(c, func(i int) *T {
		if c.IsNull(i) {
			return nil
		}
		v := value(i)
		return &v
	})
}
