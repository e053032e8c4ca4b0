package outbox

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
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

// slowPublisher acknowledges a batch after a delay, like a broker that waits for its replicas.
type slowPublisher struct {
	Publisher
	ack time.Duration
}

// Publish implements Publisher.
func (s slowPublisher) Publish(ctx context.Context, batch []Event) ([]Event, error) {
	sleep.For(ctx, s.ack)
	return s.Publisher.Publish(ctx, batch)
}

// BenchmarkScaleRelays measures how the throughput of the relay grows with the instances. Each has its own connections
// to one PostgreSQL. The backlog is of 64 accounts. Its floor is one instance.
func BenchmarkScaleRelays(b *testing.B) {
	for _, ack := range [...]time.Duration{0, 10 * time.Millisecond} {
		one := 0.0
		for _, instances := range [...]int{1, 2, 4} {
			b.Run(fmt.Sprintf("ack=%s/instances=%d", ack, instances), func(b *testing.B) {
				c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(b)}
				d := newFixture(b, sqlstoretest.Open(b, c))
				of := d.accountsOf(64 / partitions)
				d.appendTo(b, slices.Concat(of[:]...), 50_000)
				to := slowPublisher{newMemoryPublisher(), ack}
				relays := make([]*relay, instances)
				for i := range relays {
					relays[i] = &relay{Outbox: newFixture(b, sqlstoretest.Open(b, c)).Outbox, to: to}
				}
				for p := range partitions {
					relays[p%instances].owned[p] = true
				}
				rate := passed(b, relays...)
				if instances == 1 {
					one = rate
				}
				b.ReportMetric(rate, "relayed/s")
				if one > 0 {
					b.ReportMetric(rate/one, "x-of-one")
				}
			})
		}
	}
}

// BenchmarkScaleUnowned measures a relay beside the events of partitions without an owner. Its floor is the same relay
// without them.
func BenchmarkScaleUnowned(b *testing.B) {
	alone := 0.0
	for _, unowned := range [...]int{0, 200_000} {
		b.Run(fmt.Sprintf("unowned=%d", unowned), func(b *testing.B) {
			d := newFixture(b, sqlstoretest.Open(b, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(b)}))
			of := d.accountsOf(64 / partitions)
			d.appendTo(b, slices.Concat(of[partitions/2:]...), unowned)
			d.appendTo(b, slices.Concat(of[:partitions/2]...), 25_000)
			r := &relay{Outbox: d.Outbox, to: newMemoryPublisher()}
			for p := range partitions / 2 {
				r.owned[p] = true
			}
			rate := passed(b, r)
			if unowned == 0 {
				alone = rate
			}
			b.ReportMetric(rate, "relayed/s")
			if alone > 0 {
				b.ReportMetric(rate/alone, "x-of-alone")
			}
		})
	}
}

// passed lets each relay pass once at the same time, and returns the events that they publish in a second.
func passed(b *testing.B, relays ...*relay) float64 {
	b.Helper()
	var all sync.WaitGroup
	var published atomic.Int64
	began := time.Now()
	for _, r := range relays {
		all.Go(func() {
			n, err := r.pass(b.Context())
			if err != nil {
				b.Error(err)
			}
			published.Add(int64(n))
		})
	}
	all.Wait()
	return float64(published.Load()) / time.Since(began).Seconds()
}
