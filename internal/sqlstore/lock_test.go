package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"vayu/internal/filelock"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// openFails runs a store that is expected to fail, and returns its error.
func openFails(tb testing.TB, c sqlstore.Config) error {
	tb.Helper()
	db, err := sqlstore.Open(c, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx); cancel() }()
	if err := db.Ready(ctx); err == nil {
		tb.Error("the store opened")
		cancel()
	}
	return <-ended
}

func TestSecondServiceGetsHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, stop := sqlstoretest.Start(t, sqlstore.Config{Data: dir})
	err := openFails(t, sqlstore.Config{Data: dir})
	var held *filelock.HeldError
	switch {
	case !errors.As(err, &held):
		t.Errorf("a second service got %v, want the holder of the directory", err)
	case held.Holder.PID != os.Getpid():
		t.Errorf("the holder is the process %d, want %d", held.Holder.PID, os.Getpid())
	case held.Holder.Started.IsZero():
		t.Error("the holder has no start time")
	case !strings.HasPrefix(held.Holder.Owner, filepath.Base(os.Args[0])):
		t.Errorf("held.Holder.Owner = %q, want the prefix %q", held.Holder.Owner, filepath.Base(os.Args[0]))
	case !strings.Contains(err.Error(), held.Holder.String()):
		t.Errorf("err.Error() = %q, want %q in it", err.Error(), held.Holder.String())
	}
	stop()
	wantSettings(t, sqlstoretest.Open(t, sqlstore.Config{Data: dir}))
}

// Two commands run concurrently, with a service and without one.
func TestCommandsRunBesideService(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wait sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} { // they also create the store, in any order
		command, ready, _ := sqlstoretest.StartAsync(t, sqlstore.Config{Data: dir, Share: true})
		wait.Go(func() {
			if err := ready(); err != nil {
				t.Error(err)
				return
			}
			if err := command.Update(context.Background(), func(tx *sqlstore.Tx) error { return set(tx, name, "1") }); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	service := sqlstoretest.Open(t, sqlstore.Config{Data: dir})
	command := sqlstoretest.Open(t, sqlstore.Config{Data: dir, Share: true})
	for i, db := range []*sqlstore.DB{service, command, service, command} {
		wait.Go(func() {
			for range 20 {
				if err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
					_, err := tx.Exec("UPDATE access_revision SET n = n + 1")
					return err
				}); err != nil {
					t.Error(i, err)
				}
			}
		})
	}
	wait.Wait()
	wantSettings(t, service, "a=1", "b=1", "c=1")
	var n int
	if err := command.View(t.Context()).QueryRow("SELECT n FROM access_revision").Scan(&n); err != nil || n != 80 {
		t.Errorf("80 changes through both counted %d, %v", n, err)
	}
}

// A command does not open the store of a service of another version. A program older than the store does not
// either.
func TestStoreOfAnotherVersionIsRejected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, stop := sqlstoretest.Start(t, sqlstore.Config{Data: dir})
	file, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)"); err != nil {
		t.Fatal(err)
	}
	if err := openFails(t, sqlstore.Config{Data: dir, Share: true}); err == nil || !strings.Contains(err.Error(), "of another version") {
		t.Errorf("a command beside a service of another version got %v", err)
	}
	stop()
	for _, share := range []bool{false, true} {
		if err := openFails(t, sqlstore.Config{Data: dir, Share: share}); err == nil || !strings.Contains(err.Error(), "newer vayu") {
			t.Errorf("an older program (a command: %v) got %v", share, err)
		}
	}
}

// The file contains hashes of keys.
func TestFilesAreReadableByOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := sqlstoretest.Open(t, sqlstore.Config{Data: dir})
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "1") })
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s, %v, want owner only", file, info.Mode(), err)
		}
	}
}
