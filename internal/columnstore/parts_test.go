package columnstore_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/testing/fixture"
)

const partRemedy = "engine-down.md#a-part-is-corrupt"

// partFixture creates a table with one part of 100,000 rows, and returns its file.
func partFixture(t *testing.T, db *columnstore.DB, dir string) (file string) {
	t.Helper()
	execute(t, db, "CREATE DATABASE vayu_parts", "CREATE TABLE vayu_parts.a (n UInt64) ENGINE = MergeTree ORDER BY n",
		"INSERT INTO vayu_parts.a SELECT rand64() FROM numbers(100000)")
	var path string
	if err := db.Conn().QueryRow(t.Context(), "SELECT path FROM system.parts WHERE database = 'vayu_parts'").Scan(&path); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(path, "data.bin")
	if !strings.HasPrefix(file, dir) {
		t.Fatalf("%s is outside of %s", file, dir)
	}
	return file
}

func execute(t *testing.T, db *columnstore.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := db.Conn().Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// restart kills the engine, and waits for the next one.
func restart(t *testing.T, db *columnstore.DB) {
	t.Helper()
	holder, ok := db.Holder()
	if !ok {
		t.Fatal("no holder")
	}
	if err := syscall.Kill(holder.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitOther(t, db, holder.PID)
}

// A flipped byte fails the queries that read it, and a truncated file removes its part at the next start.
func TestCorruptPartIsReportedWithItsRemedy(t *testing.T) {
	t.Parallel()
	columnstoretest.Library(t)
	dir := t.TempDir()
	var log fixture.Log
	db, err := columnstore.Open(embedded(dir), log.Logger(), nil)
	if err != nil {
		t.Fatal(err)
	}
	run(t, db)
	file := partFixture(t, db, dir)
	if err := db.CheckParts(t.Context()); err != nil {
		t.Errorf("before the fault: %v", err)
	}

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 0xff
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	restart(t, db)
	_, err = one(t.Context(), db, "SELECT sum(n) FROM vayu_parts.a")
	if err == nil || !strings.Contains(err.Error(), partRemedy) || !strings.Contains(err.Error(), "vayu_parts.a") {
		t.Errorf("reading a flipped byte returned %v, want the table and the remedy", err)
	}
	if err := db.CheckParts(t.Context()); err == nil || !strings.Contains(err.Error(), "CHECKSUM_DOESNT_MATCH /store/") || !strings.Contains(err.Error(), partRemedy) {
		t.Errorf("CheckParts returned %v, want the file and the remedy", err)
	}

	if err := os.Truncate(file, int64(len(text)/2)); err != nil {
		t.Fatal(err)
	}
	restart(t, db)
	if n, err := one(t.Context(), db, "SELECT count() FROM vayu_parts.a"); err != nil || n != 0 {
		t.Errorf("without its part the table has %d rows, %v", n, err)
	}
	const want = "1 corrupt parts are set aside, and their rows are missing: vayu_parts.a broken-on-start_all_1_1_0; "
	if err := db.CheckParts(t.Context()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), partRemedy) {
		t.Errorf("CheckParts returned %v, want %q", err, want)
	}
	fixture.Eventually(t, "the log names the part", func() bool { return strings.Contains(log.String(), want) })

	execute(t, db, "ALTER TABLE vayu_parts.a DROP DETACHED PART 'broken-on-start_all_1_1_0' SETTINGS allow_drop_detached = 1")
	if err := db.CheckParts(t.Context()); err != nil {
		t.Errorf("after the repair: %v", err)
	}
}

// An engine that is killed while it merges has the parts from before the merge.
func TestKilledMergeLosesNothing(t *testing.T) {
	t.Parallel()
	columnstoretest.Library(t)
	dir := t.TempDir()
	db, err := columnstore.Open(embedded(dir), slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	run(t, db)
	partFixture(t, db, dir)
	execute(t, db, "SYSTEM STOP MERGES vayu_parts.a", "INSERT INTO vayu_parts.a SELECT rand64() FROM numbers(20000000) SETTINGS max_block_size = 1000000")
	const checksum = "SELECT sum(sipHash64(n)) FROM vayu_parts.a"
	before, err := one(t.Context(), db, checksum)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, db, "SYSTEM START MERGES vayu_parts.a")
	merged := make(chan error, 1)
	go func() {
		merged <- db.Conn().Exec(context.WithoutCancel(t.Context()), "OPTIMIZE TABLE vayu_parts.a FINAL")
	}()
	awaitCount(t, db, "SELECT count() FROM system.merges WHERE database = 'vayu_parts'", 1)
	restart(t, db)
	if err := <-merged; err == nil {
		t.Error("the merge ended before the kill")
	}
	if after, err := one(t.Context(), db, checksum); err != nil || after != before {
		t.Errorf("after the kill the checksum is %d, %v, want %d", after, err, before)
	}
	if err := db.CheckParts(t.Context()); err != nil {
		t.Error(err)
	}
}
