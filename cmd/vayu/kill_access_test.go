//go:build integration

package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// accessKills is the number of kills under load.
const accessKills = 15

// acknowledged has the ids of acknowledged changes.
type acknowledged struct {
	mu      sync.Mutex
	made    []string
	revoked []string
	enough  chan struct{} // closed when a round has done enough to be killed
	left    int
}

func (a *acknowledged) add(list *[]string, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	*list = append(*list, id)
	if a.left--; a.left == 0 {
		close(a.enough)
	}
}

// load makes and revokes keys, and reads, until the service is killed.
func (a *acknowledged) load(s *serverProcess, round, worker int) {
	for n := 0; ; n++ {
		r, err := s.try(http.MethodPost, s.sandbox, "/v1/keys", `{"name":"load","scopes":["aqi:read"]}`,
			"Idempotency-Key", fmt.Sprintf("%d-%d-%d", round, worker, n))
		if err != nil {
			return
		}
		if r.status != http.StatusCreated {
			continue // refused: nothing was promised
		}
		id := r.text("id")
		a.add(&a.made, id)
		if n%3 == 0 {
			if r, err = s.try(http.MethodDelete, s.sandbox, "/v1/keys/"+id, ""); err != nil {
				return
			}
			if r.status == http.StatusOK {
				a.add(&a.revoked, id)
			}
		}
		if _, err := s.try(http.MethodGet, s.sandbox, aqi("Delhi"), ""); err != nil {
			return
		}
	}
}

// Acknowledged changes survive kills under load. The check reads the store directly.
func TestIntegrationKilledServiceLosesNothingItAcknowledged(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	key := newKey(t, data, "test", "--scopes", "all")
	a := &acknowledged{}
	// The rounds leave more active keys than an account may have by default.
	settings := filepath.Join(t.TempDir(), "vayu.yaml")
	if err := os.WriteFile(settings, []byte("access:\n  most-keys: 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	kills := killCount(t, accessKills)
	for round := range kills {
		s := start(t, data, "--config", settings)
		s.sandbox = key
		a.enough, a.left = make(chan struct{}), 5+(round*7)%40
		var load sync.WaitGroup
		for worker := range 8 {
			load.Go(func() { a.load(s, round, worker) })
		}
		select {
		case <-a.enough:
		case <-time.After(patience):
			t.Fatalf("round %d: the service acknowledges nothing", round)
		}
		s.stop(syscall.SIGKILL)
		load.Wait()
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "state.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	count := func(query string, args ...any) (n int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, id := range a.made {
		if count("SELECT count(*) FROM api_key WHERE id = ?", id) != 1 || count("SELECT count(*) FROM audit WHERE subject = ? AND action = 'key.create'", id) != 1 {
			t.Errorf("the key %s was acknowledged and is lost, or its audit row", id)
		}
	}
	for _, id := range a.revoked {
		if count("SELECT count(*) FROM api_key WHERE id = ? AND revoked_at IS NOT NULL", id) != 1 {
			t.Errorf("the end of key %s was acknowledged and is lost", id)
		}
	}
	// There are no partial changes: each key has its audit row.
	if keys, rows := count("SELECT count(*) FROM api_key"), count("SELECT count(*) FROM audit WHERE action = 'key.create'"); keys != rows {
		t.Errorf("%d keys and %d audit rows about them", keys, rows)
	}
	if out, err := vayu(t, data, "audit", "verify"); err != nil {
		t.Errorf("audit verify: %v\n%s", err, out)
	}
	t.Logf("%d kills, %d keys made and %d revoked", kills, len(a.made), len(a.revoked))
}
