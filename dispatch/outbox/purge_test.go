package outbox

import (
	"testing"
	"testing/synctest"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// Events are kept for 30 days, and for longer when they wait or a delivery
// refers to them.
func TestExpiredEventsArePurged(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		store := func(n int) (ids []string) {
			t.Helper()
			if err := d.DB.Update(t.Context(), func(tx *sqlstore.Tx) error {
				for range n {
					e, err := d.Store(tx, "acc_a", schema.Live, schema.EventQuotaWarning, struct{}{})
					if err != nil {
						return err
					}
					ids = append(ids, e.ID)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return ids
		}
		d.clock.Set(noon)
		old := store(2*purgeGroup + 1)
		waiting := d.appendEvent("acc_a")
		d.clock.Set(noon.Add(time.Millisecond))
		young := store(1)[0]
		d.exec(`INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, revision)
			VALUES ('wh', 'acc_a', 'live', 'https://example.com', '', 1, '', $1, '', 0, 1)`, []byte("secret"))
		d.exec(`INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, state, attempts, due_at, token, created_at, retried_as)
			VALUES ('dlv', $1, 'wh', 'acc_a', 'live', '', 'failed', 8, 0, '', 0, '')`, old[7])
		for _, c := range []struct {
			at   time.Time
			left int
		}{{noon.Add(retention), len(old) + 2}, {noon.Add(retention + time.Millisecond), 3}} {
			d.clock.Set(c.at)
			if err := d.purgeOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := d.count("event"); n != c.left {
				t.Errorf("at %s %d events are left, want %d", c.at, n, c.left)
			}
		}
		if n := d.count("event WHERE id IN ($1, $2, $3)", old[7], waiting, young); n != 3 {
			t.Errorf("%d of the three that must stay are there", n)
		}
		if n := d.metric("vayu_outbox_purged_total", ""); int(n) != len(old)-1 {
			t.Errorf("%v are counted as deleted, want %d", n, len(old)-1)
		}
	})
}

func TestPurgeRetries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, stopStore := sqlstoretest.Start(t, sqlstore.Config{Data: dir})
		d := newFixture(t, db)
		d.clock.Set(noon)
		d.appendEvent("acc_a")
		s := newMemoryPublisher()
		d.run(s)
		d.clock.Set(noon.Add(retention + time.Hour))
		time.Sleep(purgeDelay - time.Second)
		if d.count("event") != 1 {
			t.Error("the event is deleted at the start")
		}
		time.Sleep(2 * time.Second)
		if d.count("event") != 0 {
			t.Error("the event is there a minute after the start")
		}
		stopStore()
		time.Sleep(purgeEvery)
		if n := d.failures("purge"); n != 1 {
			t.Errorf("%v failures to delete are counted, want 1", n)
		}
	})
}
