package wiring

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"vayu/cmd/vayu/settings"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// Two instances that start on one empty store make one account, and one of them prints
// its keys.
func TestBootstrapRunsOnce(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) [2]*sqlstore.DB{
		"sqlite": func(t *testing.T) [2]*sqlstore.DB {
			t.Helper()
			db := sqlstoretest.SQLite(t)
			return [2]*sqlstore.DB{db, db}
		},
		"postgres": func(t *testing.T) [2]*sqlstore.DB {
			t.Helper()
			c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}
			return [2]*sqlstore.DB{sqlstoretest.Open(t, c), sqlstoretest.Open(t, c)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box, err := encryption.Open(config.Secret{}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			var shown [2]bytes.Buffer
			var both sync.WaitGroup
			dbs := open(t)
			if err := box.Claim(t.Context(), dbs[0]); err != nil {
				t.Fatal(err)
			}
			for i, db := range dbs {
				s := &Service{Config: settings.Defaults(), state: db, cipher: box, out: &shown[i]}
				both.Go(func() {
					if err := s.bootstrap(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			if n := strings.Count(shown[0].String()+shown[1].String(), "sk_live_"); n != 1 {
				t.Errorf("%d live keys are shown:\n%s\n%s", n, &shown[0], &shown[1])
			}
		})
	}
}
