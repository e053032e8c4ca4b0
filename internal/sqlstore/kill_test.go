package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // for a reader outside package sqlstore

	"vayu/internal/sqlstore"
	"vayu/internal/testing/fixture"
)

// childVariable is the directory in which the test binary, started as a child, commits until it is killed.
const childVariable = "VAYU_TEST_STATE_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		fmt.Fprintln(os.Stderr, commitUntilKilled(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// commitUntilKilled prints the id of each change after the store has acknowledged it.
func commitUntilKilled(dir string) error {
	db, err := sqlstore.Open(sqlstore.Config{Data: dir}, nil, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx); cancel() }()
	if err := db.Ready(ctx); err != nil {
		return fmt.Errorf("%w: %w", err, <-ended)
	}
	for worker := range 32 {
		go func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("acc_%d_%d_%d", os.Getpid(), worker, n)
				err := db.Update(ctx, func(tx *sqlstore.Tx) error {
					if _, err := tx.Exec(`INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'free', '', $2, 1)`, id, n); err != nil {
						return err
					}
					_, err := tx.Exec(`INSERT INTO audit_head (account_id, mode, seq, hash) VALUES ($1, 'live', $2, $3)`, id, n, []byte(id))
					return err
				})
				if err != nil {
					ended <- err
					return
				}
				if _, err := os.Stdout.WriteString(id + "\n"); err != nil {
					return
				}
			}
		}()
	}
	return <-ended
}

// 20 processes run one after the other on one directory, each killed after some acknowledgements.
func TestKillKeepsAcknowledgedChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acknowledged := []string{}
	for round := range 20 {
		acknowledged = append(acknowledged, fixture.KillAfter(t, childVariable+"="+dir, 1+rand.IntN(600))...)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	reader, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, id := range acknowledged {
		var hash string
		if err := reader.QueryRow("SELECT CAST(h.hash AS TEXT) FROM account a JOIN audit_head h ON h.account_id = a.id WHERE a.id = ?", id).Scan(&hash); err != nil || hash != id {
			t.Errorf("%s was acknowledged and is missing or incomplete: %q, %v", id, hash, err)
		}
	}
	var halves int
	if err := reader.QueryRow("SELECT count(*) FROM account WHERE id NOT IN (SELECT account_id FROM audit_head)").Scan(&halves); err != nil || halves != 0 {
		t.Errorf("%d changes are incomplete, %v", halves, err)
	}
	var whole string
	if err := reader.QueryRow("PRAGMA integrity_check").Scan(&whole); err != nil || whole != "ok" {
		t.Errorf("integrity_check returned %q, %v", whole, err)
	}
	rows, err := reader.Query("PRAGMA foreign_key_check")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if rows.Next() || rows.Err() != nil {
		t.Errorf("foreign_key_check finds orphans, %v", rows.Err())
	}
	t.Logf("%d changes were acknowledged and found", len(acknowledged))
}
