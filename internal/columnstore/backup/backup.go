// Package backup copies the tables of ClickHouse into files, and restores them.
package backup

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	chproto "github.com/ClickHouse/ch-go/proto"
	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"

	"vayu/internal/backupfile"
	"vayu/internal/columnstore/migration"
	"vayu/schema/statement"
)

// Store is the ClickHouse to back up or restore. [columnstore.DB] implements it.
type Store interface {
	migration.Store
	Version(ctx context.Context) (string, error)
}

// Write copies the tables of `databases` into the directory `dir`, which must be absent or empty. It copies the tables
// that the migrations of each database define. Other queries and inserts can run meanwhile. The backup has a manifest
// only if Write returns nil.
//
// Write copies only the latest row of each key. It reads tables in the reverse order of their creation, so that
// derived tables come before their sources. So the backup contains the sources of every derived row in it. The backup
// may lack rows that are stored while Write runs.
func Write(ctx context.Context, db Store, databases []migration.Params, dir string) (Manifest, error) {
	m := Manifest{Format: formatVersion, Began: time.Now().UTC().Truncate(time.Second)}
	b := &backup{db: db, dir: dir}
	err := b.run(ctx, &m, databases)
	if err != nil {
		return Manifest{}, fmt.Errorf("backing up ClickHouse: %w", err)
	}
	return m, nil
}

type backup struct {
	db  Store
	dir string
}

func (b *backup) run(ctx context.Context, m *Manifest, databases []migration.Params) error {
	if err := backupfile.NewFolder(b.dir); err != nil {
		return err
	}
	var err error
	if m.ClickHouse, err = b.db.Version(ctx); err != nil {
		return err
	}
	for _, p := range databases {
		d, err := b.database(ctx, p)
		if err != nil {
			return fmt.Errorf("database %s: %w", p.Database, err)
		}
		m.Databases = append(m.Databases, d)
	}
	m.Ended = time.Now().UTC().Truncate(time.Second)
	return backupfile.WriteManifest(b.dir, m)
}

func (b *backup) database(ctx context.Context, p migration.Params) (Database, error) {
	d := Database{Name: p.Database}
	defined, err := migration.Tables(p)
	if err != nil {
		return d, err
	}
	if d.Migrations, _, err = migration.Applied(ctx, b.db, p); err != nil {
		return d, err
	}
	present, err := names(ctx, b.db.Conn(), "SELECT name FROM system.tables WHERE database = {database:String} AND engine NOT LIKE '%View' ORDER BY name",
		clickhouse.Named("database", p.Database))
	if err != nil {
		return d, err
	}
	for _, name := range present {
		known := func(table string) bool { return name == table || name == p.Local(table) }
		if name != "migration" && !slices.ContainsFunc(defined, known) {
			d.Skipped = append(d.Skipped, name)
		}
	}
	for _, name := range slices.Backward(defined) {
		if !slices.Contains(present, name) {
			continue
		}
		t, err := b.table(ctx, p.Database, name)
		if err != nil {
			return d, fmt.Errorf("table %s: %w", name, err)
		}
		d.Tables = append(d.Tables, t)
	}
	return d, nil
}

// names returns the column "name" of a query's result, in the query's order, which groupArray preserves.
func names(ctx context.Context, conn driver.Conn, query string, args ...any) (list []string, err error) {
	err = conn.QueryRow(ctx, "SELECT groupArray(name) FROM ("+query+")", args...).Scan(&list)
	return list, err
}

// finalRows returns a context whose queries read only the latest row of each key (FINAL). With the setting
// do_not_merge_across_partitions_select_final, ClickHouse merges one partition at a time, which saves memory. The
// result is correct, because all rows of a key are in one partition.
func finalRows(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"final": 1, "do_not_merge_across_partitions_select_final": 1,
	}))
}

func (b *backup) table(ctx context.Context, database, name string) (Table, error) {
	t := Table{Name: name}
	var err error
	t.Columns, err = names(ctx, b.db.Conn(), `SELECT name FROM system.columns WHERE database = {database:String} AND table = {table:String}
		AND default_kind NOT IN ('MATERIALIZED', 'ALIAS', 'EPHEMERAL') ORDER BY position`,
		clickhouse.Named("database", database), clickhouse.Named("table", name))
	if err != nil {
		return t, err
	}
	partitions, err := names(ctx, b.db.Conn(), "SELECT DISTINCT _partition_id AS name FROM "+statement.QuoteName(database, name)+" ORDER BY 1")
	if err != nil {
		return t, fmt.Errorf("listing the partitions: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(b.dir, database, name), 0o700); err != nil {
		return t, err
	}
	for _, p := range partitions {
		f, err := b.partition(ctx, database, t, p)
		if err != nil {
			return t, fmt.Errorf("partition %s: %w", p, err)
		}
		if f.Rows > 0 {
			t.Files = append(t.Files, f)
		}
	}
	return t, nil
}

// contentHash returns the SQL expression for the hash of a row. Without `tuple`, one NULL makes the hash NULL.
func contentHash(columns string) string { return "cityHash64(tuple(" + columns + "))" }

func columnList(columns []string) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = statement.QuoteName(c)
	}
	return strings.Join(quoted, ", ")
}

func (b *backup) partition(ctx context.Context, database string, t Table, id string) (f File, err error) {
	f = File{Path: path.Join(database, t.Name, id+".native.zst"), Partition: id}
	columns := columnList(t.Columns)
	query := fmt.Sprintf("SELECT %s, %s AS _content_hash FROM %s WHERE _partition_id = '%s'",
		columns, contentHash(columns), statement.QuoteName(database, t.Name), id)
	file := filepath.Join(b.dir, filepath.FromSlash(f.Path))
	sum, err := backupfile.Write(file, func(w io.Writer) error {
		var buffer chproto.Buffer
		return selectBlocks(finalRows(ctx), b.db.Conn(), query, func(block *proto.Block) error { return f.append(w, block, &buffer) })
	})
	f.Bytes, f.Raw, f.SHA256 = sum.Bytes, sum.Raw, sum.SHA256
	if err == nil && f.Rows == 0 {
		err = os.Remove(file)
	}
	return f, err
}

// append writes a block without its last column, which has the hash of each row. It adds these hashes to f.Hash.
func (f *File) append(w io.Writer, block *proto.Block, buffer *chproto.Buffer) error {
	if block.Rows() == 0 {
		return nil
	}
	last := len(block.Columns) - 1
	for row := range block.Rows() {
		var h uint64
		if err := block.Columns[last].ScanRow(&h, row); err != nil {
			return err
		}
		f.Hash += hash(h)
	}
	f.Rows += uint64(block.Rows())
	rest := *block
	rest.Columns = block.Columns[:last]
	buffer.Reset()
	if err := rest.Encode(buffer, 0); err != nil {
		return err
	}
	_, err := w.Write(buffer.Buf)
	return err
}
