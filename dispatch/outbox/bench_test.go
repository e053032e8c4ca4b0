package outbox

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// countingPublisher counts events, and signals when a number is reached. It records
// the time from the commit of each event to its publication.
type countingPublisher struct {
	reachable

	left  atomic.Int64
	done  chan struct{}
	mu    sync.Mutex
	waits []time.Duration
}

// Publish implements Publisher.
func (c *countingPublisher) Publish(_ context.Context, batch []Event) ([]Event, error) {
	c.mu.Lock()
	for _, e := range batch {
		c.waits = append(c.waits, time.Since(e.CreatedAt))
	}
	c.mu.Unlock()
	if c.left.Add(-int64(len(batch))) == 0 {
		close(c.done)
	}
	return batch, nil
}

// engines are the engines of the state store.
var engines = []string{"sqlite", "postgres"}

// benchFixture returns a fixture on a new store.
func benchFixture(b *testing.B, engine string) *outboxFixture {
	b.Helper()
	c := sqlstore.Config{Data: b.TempDir()}
	if engine == "postgres" {
		c.DSN = sqlstoretest.PostgresDSN(b)
	}
	return newFixture(b, sqlstoretest.Open(b, c))
}

// BenchmarkRelay measures events from 64 callers, each of which commits one after
// another, through the outbox to a publisher in memory.
func BenchmarkRelay(b *testing.B) {
	for _, engine := range engines {
		b.Run(engine, func(b *testing.B) {
			d := benchFixture(b, engine)
			b.ResetTimer()
			b.ReportMetric(d.relayed(b, 64, b.N), "events/s")
		})
	}
}

// relayed commits n events with concurrent callers, and returns the events a second
// that reach a publisher in memory.
func (d *outboxFixture) relayed(b *testing.B, callers, n int) float64 {
	b.Helper()
	to := &countingPublisher{done: make(chan struct{})}
	to.left.Store(int64(n))
	stop := d.run(to)
	defer stop()
	data := schema.TestEventData(schema.EventPaymentSucceeded)
	began := time.Now()
	atOnce(callers, n, func(caller int) {
		if err := d.DB.Update(context.Background(), func(tx *sqlstore.Tx) error {
			_, err := d.Append(tx, accounts[caller%3], schema.Live, schema.EventPaymentSucceeded, data)
			return err
		}); err != nil {
			b.Error(err)
		}
	})
	<-to.done
	return float64(n) / time.Since(began).Seconds()
}

// atOnce runs do n times in all, with concurrent callers that run sequentially.
func atOnce(callers, n int, do func(caller int)) {
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				do(caller)
			}
		})
	}
	all.Wait()
}

// BenchmarkBeside measures the time from the commit of an event in one process to its
// publication by another. 200 events a second are committed on a fixed schedule.
func BenchmarkBeside(b *testing.B) {
	for _, engine := range engines {
		b.Run(engine, func(b *testing.B) {
			c := sqlstore.Config{Data: b.TempDir()}
			if engine == "postgres" {
				c.DSN = sqlstoretest.PostgresDSN(b)
			}
			d := newFixture(b, sqlstoretest.Open(b, c))
			c.Share = true
			beside := newFixture(b, sqlstoretest.Open(b, c))
			to := &countingPublisher{done: make(chan struct{})}
			to.left.Store(int64(b.N))
			stop := d.run(to)
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			var appending sync.WaitGroup
			b.ResetTimer()
			for range b.N {
				<-tick.C
				appending.Go(func() { beside.appendEvent("acc_a") })
			}
			appending.Wait()
			<-to.done
			b.StopTimer()
			slices.Sort(to.waits)
			b.ReportMetric(float64(to.waits[len(to.waits)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(to.waits[len(to.waits)*99/100].Microseconds())/1000, "p99-ms")
			stop()
		})
	}
}

// BenchmarkDrain measures the publication of a backlog.
func BenchmarkDrain(b *testing.B) {
	for _, engine := range engines {
		b.Run(engine, func(b *testing.B) {
			d := benchFixture(b, engine)
			d.appendMany(b, b.N)
			b.ResetTimer()
			b.ReportMetric(d.drained(b, b.N), "events/s")
		})
	}
}

// appendMany commits n events of three accounts, 500 at a time, and returns the rate per second.
func (d *outboxFixture) appendMany(b *testing.B, n int) float64 {
	b.Helper()
	return d.appendTo(b, accounts[:3], n)
}

// appendTo is like appendMany for the given accounts.
func (d *outboxFixture) appendTo(b *testing.B, accounts []string, n int) float64 {
	b.Helper()
	data := schema.TestEventData(schema.EventPaymentSucceeded)
	began := time.Now()
	for from := 0; from < n; from += 500 {
		if err := d.DB.Update(context.Background(), func(tx *sqlstore.Tx) error {
			for i := from; i < min(from+500, n); i++ {
				if _, err := d.Append(tx, accounts[i%len(accounts)], schema.Live, schema.EventPaymentSucceeded, data); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n) / time.Since(began).Seconds()
}

// drained publishes a backlog of n events, and returns the rate per second.
func (d *outboxFixture) drained(b *testing.B, n int) float64 {
	b.Helper()
	to := &countingPublisher{done: make(chan struct{})}
	to.left.Store(int64(n))
	began := time.Now()
	stop := d.run(to)
	defer stop()
	<-to.done
	return float64(n) / time.Since(began).Seconds()
}

// BenchmarkIdle measures an idle relay: the share of one core in per cent. One
// operation is a second.
func BenchmarkIdle(b *testing.B) {
	for _, engine := range engines {
		b.Run(engine, func(b *testing.B) {
			d := benchFixture(b, engine)
			to := &countingPublisher{done: make(chan struct{})}
			to.left.Store(1)
			stop := d.run(to)
			d.appendEvent("acc_a")
			<-to.done
			<-time.After(time.Second) // until it is as slow as it gets
			before := fixture.ProcessorTime()
			b.ResetTimer()
			<-time.After(time.Duration(b.N) * time.Second)
			b.StopTimer()
			b.ReportMetric(100*(fixture.ProcessorTime()-before).Seconds()/b.Elapsed().Seconds(), "%core")
			stop()
		})
	}
}
