package batch_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/batch"
	"vayu/schema"
)

// life is an instance from its start until it is killed: its store is torn away under
// it, so that it can give nothing back and record nothing any more.
type life struct {
	*site

	kill func()
}

func newLife(t *testing.T, cfg sqlstore.Config, at time.Time) life {
	t.Helper()
	db, stop := sqlstoretest.Start(t, cfg)
	s := newSite(t, db, 16)
	s.clock.Set(at)
	s.Graceless()
	return life{s, stop}
}

// resume finishes what an instance that is gone has begun, as whoever keeps the things
// does.
func (s *site) resume() {
	s.t.Helper()
	type thing struct {
		id, batch string
		place     int
		record    []byte
	}
	left, err := sqlstore.All(s.DB.View(context.Background()), func(row sqlstore.Scanner) (v thing, err error) {
		err = row.Scan(&v.id, &v.batch, &v.place, &v.record)
		return v, err
	}, "SELECT id, batch_id, place, record FROM thing WHERE state = 'pending'")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, v := range left {
		if err := s.settle(context.Background(), v.id, v.batch, v.place, !bytes.Contains(v.record, []byte("fail"))); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Whatever is killed, and when, each record becomes one thing, and the batch counts
// each of them once.
func TestEachRecordOnceOverKills(t *testing.T) {
	t.Parallel()
	for _, n := range []int{50, 450} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, cfg sqlstore.Config) {
				now := time.Now()
				first := newLife(t, cfg, now)
				createThings(t, first.DB)
				first.a = accesstest.AddTenant(t, first.DB, "a")
				first.open()
				array, want, refused := mixed(n)
				id := first.post(first.a, array)
				random := rand.New(rand.NewPCG(uint64(n), 7))
				l := first
				for range 6 {
					l.until(random.IntN(n/4) + 1)
					now = now.Add(2 * time.Minute) // beyond every lease
					l = newLife(t, cfg, now)
					l.resume()
				}
				l.a = first.a
				l.Hurry()
				if done := one[int](t, l.DB, "SELECT successful + failed FROM batch WHERE id = $1", id); done < n {
					stop := l.run()
					l.wait(id)
					stop()
				}
				l.resume()
				l.begunOnce(id, n-refused, refused)
				l.open()
				if got := l.ask(path + "/" + id); got.At("total") != float64(n) || got.At("successful") != float64(want.Successful) || got.At("failed") != float64(want.Failed) || got.Said("state") != "completed" {
					t.Errorf("got %s", got.Text)
				}
			})
		})
	}
}

// until lets a life work until so many records were looked at, and kills it there:
// before or after they were begun.
func (l life) until(n int) {
	l.t.Helper()
	var seen atomic.Int64
	dead := make(chan struct{})
	at := func(ctx context.Context, _ batch.Item) error {
		switch got := seen.Add(1); {
		case got == int64(n):
			close(dead)
			fallthrough
		case got > int64(n):
			<-ctx.Done()
			return errAway
		}
		return nil
	}
	l.before, l.between = at, at
	stop := l.run()
	select {
	case <-dead:
	case f := <-l.finished: // there were not so many left
		l.finished <- f
	}
	l.kill()
	stop()
}

// A lease that has run out is another's, and what its first holder does afterwards
// changes nothing.
func TestALeaseThatRunsOutIsAnothers(t *testing.T) {
	t.Parallel()
	cfg := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 8}}
	now := time.Now()
	frozen, other := newLife(t, cfg, now), newLife(t, cfg, now)
	createThings(t, frozen.DB)
	frozen.a = accesstest.AddTenant(t, frozen.DB, "a")
	frozen.open()
	g := newGate(frozen.site)
	id := frozen.post(frozen.a, records(150, "{}"))
	frozen.run()
	for range 16 {
		<-g.arrived
	}
	stop := other.run()
	other.clock.Pass(2 * time.Minute)
	if f := other.wait(id); f.Successful != 150 || f.Owner != frozen.a.In(schema.Live) {
		t.Errorf("finished: %+v", f)
	}
	for range 16 {
		g.release("")
	}
	stop()
	frozen.begunOnce(id, 150, 0)
}

// A lease is renewed as long as somebody works under it. Who finds that another has it
// begins nothing more of it.
func TestLeasesAreRenewedAndLost(t *testing.T) {
	t.Parallel()
	eachSite(t, 1, func(t *testing.T, s *site) {
		g := newGate(s)
		s.Lease(30 * time.Millisecond)
		id := s.post(s.a, records(150, "{}"))
		s.run()
		<-g.arrived
		due := func() int64 {
			return one[int64](t, s.DB, "SELECT due_at FROM batch_chunk WHERE batch_id = $1 AND first = 0", id)
		}
		for before := due(); before == due(); {
			runtime.Gosched()
		}
		if got := s.figure("vayu_batch_waiting_chunks", "kind", "recharge"); got != 2 {
			t.Errorf("%v chunks wait, want 2", got)
		}
		update(t, s.DB, func(tx *sqlstore.Tx) error {
			_, err := tx.Exec("UPDATE batch_chunk SET due_at = $2, token = 'another' WHERE batch_id = $1", id, s.clock.Now().Add(time.Hour).UnixMicro())
			return err
		})
		s.logged("lease had run out")
		if got := s.figure("vayu_batch_failures_total", "kind", "recharge"); got == 0 {
			t.Error("it is not counted")
		}
		s.post(s.b, "[{}]")
		g.release("")
		if item := <-g.arrived; item.Owner.Account != s.b.ID {
			t.Errorf("record %d of a lost chunk was begun", item.Index)
		}
	})
}

// An instance that stops gives back what it has not begun, at once, and ends what is
// under way.
func TestWhatStopsGivesBack(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, cfg sqlstore.Config) {
		now := time.Now()
		first := newLife(t, cfg, now)
		createThings(t, first.DB)
		first.a = accesstest.AddTenant(t, first.DB, "a")
		first.open()
		id := first.post(first.a, records(250, "{}"))
		arrived := make(chan struct{}, 100)
		first.before = func(ctx context.Context, item batch.Item) error {
			if item.Index < 10 {
				return nil
			}
			arrived <- struct{}{}
			<-ctx.Done()
			return errAway
		}
		stop := first.run()
		for range 16 {
			<-arrived
		}
		stop()
		if leased := one[int](t, first.DB, "SELECT COUNT(*) FROM batch_chunk WHERE token <> ''"); leased > 0 {
			t.Errorf("%d chunks are kept", leased)
		}
		if begun := one[int](t, first.DB, "SELECT COUNT(*) FROM batch_item WHERE outcome = 'successful'"); begun != 10 {
			t.Errorf("%d are done, want 10", begun)
		}
		first.kill()
		second := newLife(t, cfg, now.Add(time.Second))
		second.run()
		if f := second.wait(id); f.Successful != 250 {
			t.Errorf("finished: %+v", f)
		}
		for i := range 10 {
			if second.called(id, i) > 0 {
				t.Errorf("record %d was tried again", i)
			}
		}
		if got := second.figure("vayu_batch_records_total", "outcome", "passed"); got != 10 {
			t.Errorf("%v were passed over", got)
		}
	})
}
