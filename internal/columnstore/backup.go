package columnstore

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	chproto "github.com/ClickHouse/ch-go/proto"
	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"

	"vayu/internal/backupfile"
)

// Backup copies the tables of each of worlds (live, sandbox) into dir. These are the tables that the migrations in
// files define. Reads and writes continue. dir must be absent or empty. The backup has a manifest only if Backup
// returns nil.
//
// Of each key Backup copies only the latest row. It reads tables in the reverse order of their creation, so that
// derived tables come before their sources. So the backup contains the sources of every derived row in it. It may
// miss rows that are stored while Backup runs.
func Backup(ctx context.Context, db *DB, files fs.FS, worlds []Params, dir string) (Manifest, error) {
	m := Manifest{Format: backupFormat, Began: time.Now().UTC().Truncate(time.Second)}
	b := &backup{db: db, dir: dir}
	err := b.run(ctx, &m, files, worlds)
	if err != nil {
		return Manifest{}, fmt.Errorf("backing up ClickHouse: %w", err)
	}
	return m, nil
}

// backup is a backup in progress.
type backup struct {
	db  *DB
	dir string
}

func (b *backup) run(ctx context.Context, m *Manifest, files fs.FS, worlds []Params) error {
	if err := backupfile.NewFolder(b.dir); err != nil {
		return err
	}
	var err error
	if m.ClickHouse, err = b.db.Version(ctx); err != nil {
		return err
	}
	for _, world := range worlds {
		d, err := b.database(ctx, files, world)
		if err != nil {
			return fmt.Errorf("database %s: %w", world.Database, err)
		}
		m.Databases = append(m.Databases, d)
	}
	m.Ended = time.Now().UTC().Truncate(time.Second)
	return backupfile.WriteManifest(b.dir, m)
}

func (b *backup) database(ctx context.Context, files fs.FS, world Params) (DatabaseBackup, error) {
	d := DatabaseBackup{Name: world.Database}
	defined, err := definedTables(files, world)
	if err != nil {
		return d, err
	}
	if d.Migrations, _, err = b.db.applied(ctx, world); err != nil {
		return d, err
	}
	var present []string
	rows, err := b.db.names(ctx, "SELECT name FROM system.tables WHERE database = {database:String} AND engine NOT LIKE '%View' ORDER BY name",
		clickhouse.Named("database", world.Database))
	if err != nil {
		return d, err
	}
	for _, name := range rows {
		switch {
		case slices.Contains(defined, name):
			present = append(present, name)
		case name != "migration" && !slices.ContainsFunc(defined, func(t string) bool { return name == world.local(t) }):
			d.Skipped = append(d.Skipped, name)
		}
	}
	for _, name := range slices.Backward(defined) {
		if !slices.Contains(present, name) {
			continue
		}
		t, err := b.table(ctx, world.Database, name)
		if err != nil {
			return d, fmt.Errorf("table %s: %w", name, err)
		}
		d.Tables = append(d.Tables, t)
	}
	return d, nil
}

// names runs a query and returns the strings in the only column of its result.
func (db *DB) names(ctx context.Context, query string, args ...any) (names []string, err error) {
	rows, err := db.conn.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// finalRows returns a context whose queries read only the latest row of each key. All rows of a key are in one
// partition, so ClickHouse can merge one partition at a time. The second setting does that to save memory.
func finalRows(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		finalSetting: 1, "do_not_merge_across_partitions_select_final": 1,
	}))
}

func (b *backup) table(ctx context.Context, database, name string) (TableBackup, error) {
	t := TableBackup{Name: name}
	var err error
	t.Columns, err = b.db.names(ctx, `SELECT name FROM system.columns WHERE database = {database:String} AND table = {table:String}
		AND default_kind NOT IN ('MATERIALIZED', 'ALIAS', 'EPHEMERAL') ORDER BY position`,
		clickhouse.Named("database", database), clickhouse.Named("table", name))
	if err != nil {
		return t, err
	}
	partitions, err := b.db.names(ctx, "SELECT DISTINCT _partition_id FROM "+quoteName(database)+"."+quoteName(name)+" ORDER BY 1")
	if err != nil {
		return t, fmt.Errorf("listing its partitions: %w", err)
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

// contentHash returns the SQL of a row's hash. Without tuple a NULL column would make the whole hash NULL.
func contentHash(columns string) string { return "cityHash64(tuple(" + columns + "))" }

func columnList(columns []string) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = quoteName(c)
	}
	return strings.Join(quoted, ", ")
}

func (b *backup) partition(ctx context.Context, database string, t TableBackup, id string) (f FileBackup, err error) {
	f = FileBackup{Path: path.Join(database, t.Name, id+".native.zst"), Partition: id}
	columns := columnList(t.Columns)
	query := fmt.Sprintf("SELECT %s, %s AS _content_hash FROM %s.%s WHERE _partition_id = '%s'",
		columns, contentHash(columns), quoteName(database), quoteName(t.Name), id)
	file := filepath.Join(b.dir, filepath.FromSlash(f.Path))
	sum, err := backupfile.Write(file, func(w io.Writer) error {
		var buffer chproto.Buffer
		return selectBlocks(finalRows(ctx), b.db.conn, query, func(block *proto.Block) error { return f.append(w, block, &buffer) })
	})
	f.Bytes, f.Raw, f.SHA256 = sum.Bytes, sum.Raw, sum.SHA256
	if err == nil && f.Rows == 0 {
		err = os.Remove(file)
	}
	return f, err
}

// append writes a block without its last column, the hashes of the rows, which append adds to f.Hash.
func (f *FileBackup) append(w io.Writer, block *proto.Block, buffer *chproto.Buffer) error {
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
