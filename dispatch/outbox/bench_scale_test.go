package outbox

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/sqlstore/sqlstoretest"
)

// BenchmarkScaleOutbox measures the events a second that pass the outbox while many
// callers commit one at a time. Its floor is as many callers that commit one row each.
func BenchmarkScaleOutbox(b *testing.B) {
	for _, engine := range engines {
		for _, callers := range [...]int{1, 8, 64, 256} {
			b.Run(fmt.Sprintf("%s/callers=%d", engine, callers), func(b *testing.B) {
				d := benchFixture(b, engine)
				n := min(500*callers, 10_000)
				var id atomic.Int64
				began := time.Now()
				atOnce(callers, n, func(int) {
					sqlstoretest.Exec(b, d.DB, "INSERT INTO seen_signature (key_id, signature, expires_at) VALUES ($1, $2, 1)", fmt.Sprint("key_", id.Add(1)), []byte("signature"))
				})
				floor := float64(n) / time.Since(began).Seconds()
				rate := d.relayed(b, callers, n)
				b.ReportMetric(rate, "events/s")
				b.ReportMetric(floor, "commits/s")
				b.ReportMetric(rate/floor, "x-of-commits")
			})
		}
	}
}

// BenchmarkScaleRelay measures the maximum throughput of one store and one relay.
// Events are committed 500 at a time, then read, published in memory and deleted.
func BenchmarkScaleRelay(b *testing.B) {
	for _, engine := range engines {
		b.Run(engine, func(b *testing.B) {
			d := benchFixture(b, engine)
			const n = 50_000
			appended := d.appendMany(b, n)
			relayed := d.drained(b, n)
			b.ReportMetric(appended, "appended/s")
			b.ReportMetric(relayed, "relayed/s")
			b.ReportMetric(relayed/appended, "x-of-appended")
		})
	}
}
