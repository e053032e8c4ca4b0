package access

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// eachPair runs a test on a store that is opened twice: PostgreSQL by two instances, SQLite by a
// service and a command.
func eachPair(t *testing.T, do func(t *testing.T, mine, theirs *sqlstore.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		do(t, sqlstoretest.Open(t, sqlstore.Config{Data: dir}), sqlstoretest.Open(t, sqlstore.Config{Data: dir, Share: true}))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := sqlstoretest.PostgresDSN(t)
		do(t, sqlstoretest.Open(t, sqlstore.Config{DSN: dsn, Settings: sqlstore.Settings{Connections: 8}}), sqlstoretest.Open(t, sqlstore.Config{DSN: dsn, Settings: sqlstore.Settings{Connections: 8}}))
	})
}

// eventRecorder stores events in the transaction of their change.
type eventRecorder struct{}

// Append implements quota.Events. It uses a table of the transaction's store, so that a rollback also
// removes the event.
func (eventRecorder) Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (string, error) {
	q := data.(schema.Quota)
	_, err := tx.Exec("INSERT INTO recorded_event (account, world, event, period, threshold, used, percent, most) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
		account, world.String(), string(event), q.Period, q.Threshold, q.Used, q.Percent, q.Limit)
	return "evt_told", err
}

// withEvents creates the table of the events.
func withEvents(t *testing.T, db *sqlstore.DB) func(*Config) {
	t.Helper()
	sqlstoretest.Exec(t, db, "CREATE TABLE recorded_event (account TEXT, world TEXT, event TEXT, period TEXT, threshold BIGINT, used BIGINT, percent BIGINT, most BIGINT)")
	return func(c *Config) { c.Events = eventRecorder{} }
}

func TestTwoInstancesShareAQuotaAndAnnounceOnce(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, mine, theirs *sqlstore.DB) {
		events := withEvents(t, mine)
		acc := addAccount(t, mine, "one", "free")
		key := addKey(t, mine, apikey.Spec{Account: acc, World: schema.Live}).Key
		sites := []*serviceFixture{newServiceFixture(t, mine, events), newServiceFixture(t, theirs, events)}
		for _, s := range sites {
			s.refresh()
		}
		var passed atomic.Int64
		ask := func(s *serviceFixture) {
			var all sync.WaitGroup
			for range 32 {
				all.Go(func() {
					for range 40 {
						if s.get(key, "").status == http.StatusOK {
							passed.Add(1)
						}
					}
				})
			}
			all.Wait()
		}
		exchange := func() {
			for _, s := range sites {
				s.write()
			}
			for _, s := range sites {
				s.refresh()
			}
		}
		sites[1].get(key, "/v1/aqi?count=300")
		exchange()
		ask(sites[0]) // 1280 calls for the remaining 700
		if n := passed.Load(); n != 700 {
			t.Errorf("%d calls of 700 passed", n)
		}
		exchange()
		ask(sites[1])
		exchange()
		got := [...]int64{
			sqlstoretest.Value[int64](t, mine, "SELECT used FROM quota_period"),
			sqlstoretest.Value[int64](t, mine, "SELECT counted FROM usage_day"),
			sqlstoretest.Value[int64](t, mine, "SELECT calls - failed FROM usage_day"),
			sqlstoretest.Value[int64](t, mine, "SELECT COUNT(*) FROM recorded_event WHERE event = 'quota.warning' AND threshold = 80 AND used >= 800 AND percent = used / 10 AND world = 'live' AND most = 1000"),
			sqlstoretest.Value[int64](t, mine, "SELECT COUNT(*) FROM recorded_event WHERE event = 'quota.exceeded' AND threshold = 100 AND used >= 1000 AND percent = used / 10"),
			sqlstoretest.Value[int64](t, mine, "SELECT COUNT(*) FROM recorded_event"),
			sqlstoretest.Value[int64](t, mine, "SELECT COUNT(*) FROM quota_period WHERE warned_at IS NOT NULL AND exceeded_at IS NOT NULL"),
		}
		if diff := cmp.Diff([...]int64{1000, 1000, 701, 1, 1, 2, 1}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestQuotaUsedElsewhereIsKnown(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, mine, theirs *sqlstore.DB) {
		acc := addAccount(t, mine, "one", "hundred")
		key := addKey(t, mine, apikey.Spec{Account: acc, World: schema.Live}).Key
		here, there := newServiceFixture(t, mine, nil), newServiceFixture(t, theirs, nil)
		here.refresh()
		there.refresh()
		there.get(key, "/v1/aqi?count=100")
		here.wants(key, "/v1/aqi?fail=forbidden", schema.Forbidden)
		there.write()
		here.refresh()
		here.wants(key, "/v1/aqi?fail=forbidden", schema.QuotaExceeded)
		if got := here.quotaOf(acc).Used; got != 100 {
			t.Errorf("%d calls are known to be used, want 100", got)
		}
	})
}

func TestUsedQuotaOutlivesARestart(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		events := withEvents(t, db)
		acc := addAccount(t, db, "one", "five")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}).Key
		for i := range 6 {
			s := newServiceFixture(t, db, events)
			stop := s.start()
			want := http.StatusOK
			if i == 5 {
				want = http.StatusTooManyRequests
			}
			if got := s.get(key, ""); got.status != want {
				t.Errorf("call %d: %d, want %d", i, got.status, want)
			}
			stop()
		}
		if n := sqlstoretest.Value[int64](t, db, "SELECT COUNT(*) FROM recorded_event"); n != 2 {
			t.Errorf("%d events, want 2", n)
		}
	})
}
