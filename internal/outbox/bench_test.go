package outbox

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"vayu/internal/state"
	"vayu/internal/state/statetest"
	"vayu/schema"
)

// counted is a publisher that counts, and says when it has seen enough. It keeps
// how long each event took from its making to here.
type counted struct {
	left  atomic.Int64
	done  chan struct{}
	mu    sync.Mutex
	waits []time.Duration
}

// Publish implements Publisher.
func (c *counted) Publish(_ context.Context, batch []Event) ([]Event, error) {
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

// engines are the kinds of stores.
var engines = []string{"sqlite", "postgres"}

// benchDesk is a desk on a store of a kind.
func benchDesk(b *testing.B, engine string) *desk {
	b.Helper()
	c := state.Config{Data: b.TempDir()}
	if engine == "postgres" {
		c.DSN = statetest.PostgresDSN(b)
	}
	return newDesk(b, statetest.Open(b, c))
}

// BenchmarkRelay is the way of an event from 64 callers, each of which commits
// one after the other, through the outbox to a publisher in memory.
func BenchmarkRelay(b *testing.B) {
	for _, engine := range engines {
		b.Run(engine, func(b *testing.B) {
			d := benchDesk(b, engine)
			to := &counted{done: make(chan struct{})}
			to.left.Store(int64(b.N))
			stop := d.run(to)
			data := schema.TestEventData(schema.EventPaymentSucceeded)
			var left atomic.Int64
			left.Store(int64(b.N))
			var appending sync.WaitGroup
			b.ResetTimer()
			for n := range 64 {
				appending.Go(func() {
					for left.Add(-1) >= 0 {
						if err := d.DB.Update(context.Background(), func(tx *state.Tx) error {
							_, err := d.Append(tx, accounts[n%3], schema.Live, schema.EventPaymentSucceeded, data)
							return err
						}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			appending.Wait()
			<-to.done
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			stop()
		})
	}
}

// BenchmarkBeside is how long an event takes from its making, in a process beside
// the one that relays, to the publisher: 200 a second, on time whatever happens.
func BenchmarkBeside(b *testing.B) {
	for _, engine := range engines {
		b.Run(engine, func(b *testing.B) {
			c := state.Config{Data: b.TempDir()}
			if engine == "postgres" {
				c.DSN = statetest.PostgresDSN(b)
			}
			d := newDesk(b, statetest.Open(b, c))
			c.Share = true
			beside := newDesk(b, statetest.Open(b, c))
			to := &counted{done: make(chan struct{})}
			to.left.Store(int64(b.N))
			stop := d.run(to)
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			var appending sync.WaitGroup
			b.ResetTimer()
			for range b.N {
				<-tick.C
				appending.Go(func() { beside.say("acc_a") })
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

// BenchmarkDrain brings on what has waited.
func BenchmarkDrain(b *testing.B) {
	for _, engine := range engines {
		b.Run(engine, func(b *testing.B) {
			d := benchDesk(b, engine)
			data := schema.TestEventData(schema.EventPaymentSucceeded)
			for n := 0; n < b.N; n += 500 {
				if err := d.DB.Update(context.Background(), func(tx *state.Tx) error {
					for i := n; i < min(n+500, b.N); i++ {
						if _, err := d.Append(tx, accounts[i%3], schema.Live, schema.EventPaymentSucceeded, data); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
			to := &counted{done: make(chan struct{})}
			to.left.Store(int64(b.N))
			b.ResetTimer()
			stop := d.run(to)
			<-to.done
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			stop()
		})
	}
}

// BenchmarkIdle is what a relay costs that has nothing to do: the share of one
// core, in per cent. An operation is a second.
func BenchmarkIdle(b *testing.B) {
	for _, engine := range engines {
		b.Run(engine, func(b *testing.B) {
			d := benchDesk(b, engine)
			to := &counted{done: make(chan struct{})}
			to.left.Store(1)
			stop := d.run(to)
			d.say("acc_a")
			<-to.done
			<-time.After(time.Second) // until it is as slow as it gets
			before := spent(b)
			b.ResetTimer()
			<-time.After(time.Duration(b.N) * time.Second)
			b.StopTimer()
			b.ReportMetric(100*(spent(b)-before).Seconds()/b.Elapsed().Seconds(), "%core")
			stop()
		})
	}
}

// spent is the time of processors that this process has taken.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
