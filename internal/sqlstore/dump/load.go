package dump

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/internal/backupfile"
	"vayu/internal/sqlstore"
)

const (
	// batch is the number of rows of one INSERT. 100 rows of 16 columns have 1,600 values, far below SQLite's limit
	// of 32,766 values per statement.
	batch = 100
	// maxLine bounds a line of a dump, in bytes. The longest lines contain replies stored for idempotency.
	maxLine = 64 << 20
	// loadTimeout limits the transaction that inserts all rows into a PostgreSQL server.
	loadTimeout = 6 * time.Hour
)

// ReadManifest reads the manifest of the dump in dir. It fails without a manifest, because the dump is then incomplete.
func ReadManifest(dir string) (Manifest, error) {
	var m Manifest
	if err := backupfile.ReadManifest(dir, &m); err != nil {
		return Manifest{}, fmt.Errorf("reading the dump: %w", err)
	}
	if m.Format != format {
		return Manifest{}, fmt.Errorf("%s: the format is %q, and this program reads %q", dir, m.Format, format)
	}
	return m, nil
}

// Load fills the store of cfg with the dump in dir, made from SQLite or PostgreSQL. It migrates the tables to the
// version of the dump, replaces all rows in one transaction, and then migrates the tables to the newest version. It
// rejects a store that has accounts, that a running service has locked, or whose tables are newer than the dump. If a
// file is damaged, the error names the file, and no row is changed.
func Load(ctx context.Context, cfg sqlstore.Config, dir string, log *slog.Logger) error {
	m, known, err := loadable(ctx, dir)
	if err != nil {
		return err
	}
	all, _, err := tables(ctx, m.Version)
	if err != nil {
		return err
	}
	err = withStore(ctx, cfg, log, m.Version, func(ctx context.Context, db *sqlstore.DB) error {
		return db.Update(ctx, func(tx *sqlstore.Tx) error { return fill(ctx, tx, all, m, dir) })
	})
	if err != nil || m.Version == known {
		return err
	}
	if err := withStore(ctx, cfg, log, known, func(context.Context, *sqlstore.DB) error { return nil }); err != nil {
		return fmt.Errorf("the dump of version %d is restored; bringing it to version %d: %w", m.Version, known, err)
	}
	return nil
}

// loadable reads the manifest of the dump in dir and checks its version. `known` is the program's newest version.
func loadable(ctx context.Context, dir string) (m Manifest, known int64, err error) {
	if m, err = ReadManifest(dir); err != nil {
		return m, 0, err
	}
	if _, known, err = tables(ctx, 0); err != nil {
		return m, 0, err
	}
	if m.Version < 1 || m.Version > known {
		err = fmt.Errorf("the dump is of version %d, and this program supports the versions 1 to %d: restore it with a newer vayu", m.Version, known)
	}
	return m, known, err
}

// withStore opens a store exclusively, with tables of the given version, and calls `do`.
func withStore(ctx context.Context, cfg sqlstore.Config, log *slog.Logger, version int64, do func(context.Context, *sqlstore.DB) error) error {
	cfg.Share, cfg.Version, cfg.ChangeTimeout = false, version, loadTimeout
	db, err := sqlstore.Open(cfg, log, nil)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		err := db.Run(ctx)
		stop(err)
		ended <- err
	}()
	if err = db.Ready(ctx); err == nil {
		err = do(ctx, db)
	}
	stop(nil)
	if failed := <-ended; failed != nil {
		return failed
	}
	return err
}

// fill replaces the rows of all tables by the rows of the dump. It fails if the store has accounts.
func fill(ctx context.Context, tx *sqlstore.Tx, all []table, m Manifest, dir string) error {
	var n int64
	if err := tx.QueryRow("UPDATE access_revision SET n = n RETURNING n").Scan(&n); err != nil { // blocks concurrent changes of accounts
		return err
	}
	if err := tx.QueryRow("SELECT count(*) FROM account").Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return notEmptyError(n)
	}
	for _, t := range slices.Backward(all) { // the migrations have inserted rows that are also in the dump
		if _, err := tx.Exec("DELETE FROM " + t.name); err != nil {
			return err
		}
	}
	for _, t := range all {
		i := slices.IndexFunc(m.Tables, func(of Table) bool { return of.Name == t.name })
		if i < 0 {
			return fmt.Errorf("the manifest of the dump has no table %q", t.name)
		}
		path := filepath.Join(dir, t.name+tableSuffix)
		if err := loadTable(ctx, tx, t, m.Tables[i], path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// notEmptyError is the error for a store that has accounts.
func notEmptyError(accounts int64) error {
	return fmt.Errorf("the state store has %d accounts: a dump is restored into an empty one only", accounts)
}

func loadTable(ctx context.Context, tx *sqlstore.Tx, t table, want Table, path string) error {
	return backupfile.Read(path, want.SHA256, func(from io.Reader) error {
		rows, err := insertRows(ctx, tx, t, from)
		if err == nil && rows != want.Rows {
			err = fmt.Errorf("%w: it has %d rows, and the manifest has %d", backupfile.ErrDamaged, rows, want.Rows)
		}
		return err
	})
}

// insertRows reads all lines of a file and inserts their rows into the table. The result n is the number of rows.
func insertRows(ctx context.Context, tx *sqlstore.Tx, t table, from io.Reader) (n int64, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	whole := insertion(t, batch)
	var values []any
	for lines.Scan() {
		row, err := parseRow(t.columns, bytes.TrimSpace(lines.Bytes()))
		if err != nil {
			return n, fmt.Errorf("%w: line %d: %w", backupfile.ErrDamaged, n+1, err)
		}
		n++
		values = append(values, row...)
		if len(values) < batch*len(t.columns) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if _, err := tx.Exec(whole, values...); err != nil {
			return n, err
		}
		values = values[:0]
	}
	if err := lines.Err(); err != nil {
		return n, fmt.Errorf("%w: after line %d: %w", backupfile.ErrDamaged, n, err)
	}
	if len(values) > 0 {
		_, err = tx.Exec(insertion(t, len(values)/len(t.columns)), values...)
	}
	return n, err
}

// insertion returns the INSERT statement for the given number of rows.
func insertion(t table, rows int) string {
	var out strings.Builder
	out.WriteString("INSERT INTO " + t.name + " (")
	for i, c := range t.columns {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(c.name)
	}
	out.WriteString(") VALUES ")
	for i := range rows * len(t.columns) {
		switch {
		case i == 0:
			out.WriteString("($")
		case i%len(t.columns) == 0:
			out.WriteString("), ($")
		default:
			out.WriteString(", $")
		}
		out.WriteString(strconv.Itoa(i + 1))
	}
	out.WriteString(")")
	return out.String()
}
