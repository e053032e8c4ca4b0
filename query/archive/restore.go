package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/migration"
	"vayu/query/archive/column"
	"vayu/query/dataset"
	"vayu/schema"
	"vayu/schema/statement"
)

// restoreRows is the number of rows of one INSERT.
const restoreRows = 1 << 16

// RestoreOptions describe a restore.
type RestoreOptions struct {
	World schema.World
	// Tables has the name of the database, and of the cluster if there is one.
	Tables migration.Params
	Now    time.Time
	// Again allows a restore into tables that a killed restore has filled. Restore then empties these tables first.
	Again bool
	// Restore calls Progress after each file; nil for none. `skipped` means that Restore did not store the file. Its
	// rows are older than the retention of their table, so ClickHouse would delete them at once.
	Progress func(f File, skipped bool)
}

// Restore fills the tables of a database from an archive. The tables must exist and be empty, and nothing else may
// write to them. If filling a table fails, Restore empties all tables again.
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
	keep     bool // the table `catalogue` has rows, and keeps them
}

// catalogue is the table that the program itself fills when it creates the tables.
const catalogue = "parameter"

// check returns an error if the archive has a table that this program does not know.
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

// file stores the rows of a file. It checks the file's checksum first, and the number of rows at the end.
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
		slice, err := column.Slice(record.Column(i), present[at].Type)
		if err != nil {
			return fmt.Errorf("column %s: %w", field.Name, err)
		}
		columns = append(columns, clickhouse.ColumnNameAndType{Name: field.Name, Type: present[at].Type})
		all = append(all, slice)
	}
	return columnstore.Insert(ctx, r.conn, statement.QuoteName(r.database, table), columnstore.NewToken(), columns, all)
}
