package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"vayu/query/dataset"
	"vayu/schema"
)

// restoreRows is the number of rows of one INSERT.
const restoreRows = 1 << 16

// Restore fills the tables of a database from an archive. The tables must exist and be empty. If it fails, they are
// empty again. progress is called after each file; nil for none.
func Restore(ctx context.Context, conn driver.Conn, place Place, world schema.World, database string, progress func(File)) (Manifest, error) {
	if f, ok := place.(*Folder); ok {
		if err := f.Recover(); err != nil {
			return Manifest{}, fmt.Errorf("completing the archive: %w", err)
		}
	}
	m, err := ReadManifest(ctx, place)
	if err != nil {
		return m, err
	}
	if m.World != world.String() {
		return m, fmt.Errorf("the archive is one of the %s world, not of %s", m.World, world)
	}
	r := &restore{conn: conn, place: place, database: database, progress: progress}
	if err := r.check(ctx, m); err != nil {
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
	return m, nil
}

type restore struct {
	conn     driver.Conn
	place    Place
	database string
	progress func(File)
	keep     bool // the tables have a catalogue, which stays
}

// catalogue is the table that the program writes itself when it prepares the tables.
const catalogue = "parameter"

// check returns an error unless the tables of the archive are known and empty.
func (r *restore) check(ctx context.Context, m Manifest) error {
	known := dataset.Archived()
	for _, t := range m.Tables {
		if !slices.ContainsFunc(known, func(k dataset.Table) bool { return k.Name == t.Name }) {
			return fmt.Errorf("the archive has a table %q, which this program does not know; upgrade the program", t.Name)
		}
		var n uint64
		if err := r.conn.QueryRow(ctx, "SELECT count() FROM "+columnstore.QuoteName(r.database, t.Name)).Scan(&n); err != nil {
			return fmt.Errorf("reading the table %s: %w", t.Name, err)
		}
		if n > 0 && t.Name == catalogue {
			r.keep = true
			continue
		}
		if n > 0 {
			return fmt.Errorf("the table %s has %d rows: an archive is restored into an empty installation only", t.Name, n)
		}
	}
	return nil
}

// clearTimeout limits the cleanup after a failure, which continues even if the caller's context has ended.
const clearTimeout = time.Minute

func (r *restore) clear(ctx context.Context, m Manifest) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearTimeout)
	defer cancel()
	for _, t := range m.Tables {
		if t.Name == catalogue && r.keep {
			continue
		}
		if err := r.conn.Exec(ctx, "TRUNCATE TABLE "+columnstore.QuoteName(r.database, t.Name)); err != nil {
			return fmt.Errorf("emptying the table %s after the failure: %w", t.Name, err)
		}
	}
	return nil
}

func (r *restore) table(ctx context.Context, t Table) error {
	table, _ := dataset.Find(t.Name)
	table.Name = t.Name
	present, err := dataset.Columns(ctx, r.conn, r.database, table)
	if err != nil {
		return err
	}
	for _, c := range t.Columns {
		if !slices.ContainsFunc(present, func(p dataset.Column) bool { return p.Name == c.Name }) {
			return fmt.Errorf("the archive has a column %q, which this program does not know; upgrade the program", c.Name)
		}
	}
	for _, f := range t.Files {
		if err := r.file(ctx, t.Name, f, present); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		if r.progress != nil {
			r.progress(f)
		}
	}
	var n uint64
	if err := r.conn.QueryRow(columnstore.Final(ctx), "SELECT count() FROM "+columnstore.QuoteName(r.database, t.Name)).Scan(&n); err != nil {
		return fmt.Errorf("counting the rows: %w", err)
	}
	if n != t.Rows() {
		return fmt.Errorf("%d rows are stored, and the archive has %d", n, t.Rows())
	}
	return nil
}

// file stores the rows of a file. It compares the checksum before it stores the first row.
func (r *restore) file(ctx context.Context, table string, f File, present []dataset.Column) error {
	local, err := r.fetch(ctx, f)
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

// fetch copies a file into a temporary one, and compares its checksum.
func (r *restore) fetch(ctx context.Context, f File) (*os.File, error) {
	in, err := r.place.Open(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	local, err := os.CreateTemp("", "vayu-restore-*")
	if err != nil {
		return nil, err
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(local, hash), in)
	if sum := hex.EncodeToString(hash.Sum(nil)); err == nil && sum != f.SHA256 {
		err = fmt.Errorf("the file is damaged, or a later run was interrupted: its SHA-256 is %s, and the manifest has %s", sum, f.SHA256)
	}
	if err == nil {
		_, err = local.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, local.Close(), os.Remove(local.Name()))
	}
	return local, nil
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
