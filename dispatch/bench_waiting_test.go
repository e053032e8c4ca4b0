package dispatch_test

import (
	"net/http"
	"runtime"
	"testing"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// BenchmarkWaiting starts an instance on a store with a million due deliveries to
// 1,000 endpoints that do not answer. It measures the time until a new event of
// another account has arrived, and the memory of the process after that.
func BenchmarkWaiting(b *testing.B) {
	const endpoints, each = 1000, 1000
	dead := receive(b, false, func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
	good := receive(b, false, nil)
	o := newFixture(b, sqlstoretest.SQLite(b), nil)
	healthy, other := o.account("healthy"), o.account("dead")
	o.subscribe(healthy, good.URL)
	for range endpoints {
		o.subscribe(other, dead.URL)
	}
	o.update(func(tx *sqlstore.Tx) error {
		_, err := tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO event (id, account_id, mode, type, created_at, envelope)
			SELECT 'evt_00000000000000000000' || substr('000000' || i, -6), $2, 'live', 'payment.succeeded', 1, CAST('{"id":"evt"}' AS BYTEA) FROM n`, each, other)
		return err
	})
	o.update(func(tx *sqlstore.Tx) error {
		_, err := tx.Exec(`INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, state, attempts, due_at, token, created_at, retried_as)
			SELECT 'dlv_' || substr(w.id, -10) || substr(e.id, -10), e.id, w.id, w.account_id, 'live', '', 'waiting', 0, 1, '', 1, ''
			FROM event e, webhook w WHERE w.account_id = $1`, other)
		return err
	})
	for b.Loop() {
		began := time.Now()
		stop := o.run()
		o.appendEvent(healthy)
		good.wait(b, 1)
		b.ReportMetric(time.Since(began).Seconds(), "s-to-first")
		waitQuery(o, true, "SELECT count(*) >= 1500 FROM delivery WHERE token <> ''") // every lane holds what it will
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapInuse+m.StackInuse)/1e6, "MB-in-use")
		b.ReportMetric(float64(m.Sys-m.HeapReleased)/1e6, "MB-of-the-system")
		stop()
	}
}
