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
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// instance is a process from its start until it is killed. A kill closes its store, so
// that it can neither release nor record anything.
type instance struct {
	*batchFixture

	kill func()
}

func newInstance(t *testing.T, cfg sqlstore.Config, at time.Time) instance {
	t.Helper()
	db, stop := sqlstoretest.Start(t, cfg)
	s := newBatchFixture(t, db, 16)
	s.clock.Set(at)
	s.NoGrace()
	return instance{s, stop}
}

// finishBegun finishes what a killed instance has begun, as the owner of the things does.
func (s *batchFixture) finishBegun() {
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
		if err := s.finishThing(context.Background(), v.id, v.batch, v.place, !bytes.Contains(v.record, []byte("fail"))); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Despite kills at any time, each record becomes one thing and is counted once.
func TestRecordsAreProcessedOnceDespiteKills(t *testing.T) {
	t.Parallel()
	for _, n := range []int{50, 450} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, cfg sqlstore.Config) {
				now := time.Now()
				first := newInstance(t, cfg, now)
				createThingTable(t, first.DB)
				first.a = accesstest.AddTenant(t, first.DB, "a")
				first.newDoor()
				array, want, refused := mixed(n)
				id := first.post(first.a, array)
				random := rand.New(rand.NewPCG(uint64(n), 7))
				l := first
				for range 6 {
					l.killAfter(random.IntN(n/4) + 1)
					now = now.Add(2 * time.Minute) // beyond every lease
					l = newInstance(t, cfg, now)
					l.finishBegun()
				}
				l.a = first.a
				l.ShortenPauses()
				if done := sqlstoretest.Value[int](t, l.DB, "SELECT successful + failed FROM batch WHERE id = $1", id); done < n {
					stop := l.run()
					l.wait(id)
					stop()
				}
				l.finishBegun()
				l.wantDoneOnce(id, n-refused, refused)
				l.newDoor()
				switch got := l.get(path + "/" + id); {
				case got.At("total") != float64(n):
					t.Errorf("%s: At(\"total\") = %v, want %v", got.Text, got.At("total"), float64(n))
				case got.At("successful") != float64(want.Successful):
					t.Errorf("%s: At(\"successful\") = %v, want %v", got.Text, got.At("successful"), float64(want.Successful))
				case got.At("failed") != float64(want.Failed):
					t.Errorf("%s: At(\"failed\") = %v, want %v", got.Text, got.At("failed"), float64(want.Failed))
				case got.TextAt("state") != "completed":
					t.Errorf("%s: TextAt(\"state\") = %q, want \"completed\"", got.Text, got.TextAt("state"))
				}
			})
		})
	}
}

// killAfter runs an instance until n records were processed, and kills it before or after
// they began.
func (l instance) killAfter(n int) {
	l.t.Helper()
	var seen atomic.Int64
	dead := make(chan struct{})
	at := func(ctx context.Context, _ item.Item) error {
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

// After a lease expires, writes of its first holder have no effect.
func TestExpiredLeaseHasNoEffect(t *testing.T) {
	t.Parallel()
	cfg := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 8}}
	now := time.Now()
	frozen, other := newInstance(t, cfg, now), newInstance(t, cfg, now)
	createThingTable(t, frozen.DB)
	frozen.a = accesstest.AddTenant(t, frozen.DB, "a")
	frozen.newDoor()
	g := newGate(frozen.batchFixture)
	id := frozen.post(frozen.a, records(150, "{}"))
	frozen.run()
	for range 16 {
		<-g.arrived
	}
	stop := other.run()
	other.clock.Advance(2 * time.Minute)
	if f := other.wait(id); f.Successful != 150 || f.Owner != frozen.a.In(schema.Live) {
		t.Errorf("finished: %+v", f)
	}
	for range 16 {
		g.release("")
	}
	stop()
	frozen.wantDoneOnce(id, 150, 0)
}

// A lease is renewed while its records are processed. If another instance has it, no more
// of its records begin.
func TestLeasesAreRenewedAndLost(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		g := newGate(s)
		s.SetLease(30 * time.Millisecond)
		id := s.post(s.a, records(150, "{}"))
		s.run()
		<-g.arrived
		due := func() int64 {
			return sqlstoretest.Value[int64](t, s.DB, "SELECT due_at FROM batch_chunk WHERE batch_id = $1 AND first = 0", id)
		}
		for before := due(); before == due(); {
			runtime.Gosched()
		}
		if got := s.metric("vayu_batch_waiting_chunks", "kind", "recharge"); got != 2 {
			t.Errorf("%v chunks wait, want 2", got)
		}
		sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
			_, err := tx.Exec("UPDATE batch_chunk SET due_at = $2, token = 'another' WHERE batch_id = $1", id, s.clock.Now().Add(time.Hour).UnixMicro())
			return err
		})
		s.waitLogged("lease had expired")
		if got := s.metric("vayu_batch_failures_total", "kind", "recharge"); got == 0 {
			t.Error("it is not counted")
		}
		s.post(s.b, "[{}]")
		g.release("")
		if item := <-g.arrived; item.Owner.Account != s.b.ID {
			t.Errorf("record %d of a lost chunk was begun", item.Index)
		}
	})
}

// A stopping instance releases records that have not begun at once, and finishes those in
// flight.
func TestStopReleasesChunks(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, cfg sqlstore.Config) {
		now := time.Now()
		first := newInstance(t, cfg, now)
		createThingTable(t, first.DB)
		first.a = accesstest.AddTenant(t, first.DB, "a")
		first.newDoor()
		id := first.post(first.a, records(250, "{}"))
		arrived := make(chan struct{}, 100)
		first.before = func(ctx context.Context, item item.Item) error {
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
		if leased := sqlstoretest.Value[int](t, first.DB, "SELECT COUNT(*) FROM batch_chunk WHERE token <> ''"); leased > 0 {
			t.Errorf("%d chunks are kept", leased)
		}
		if begun := sqlstoretest.Value[int](t, first.DB, "SELECT COUNT(*) FROM batch_item WHERE outcome = 'successful'"); begun != 10 {
			t.Errorf("%d are done, want 10", begun)
		}
		first.kill()
		second := newInstance(t, cfg, now.Add(time.Second))
		second.run()
		if f := second.wait(id); f.Successful != 250 {
			t.Errorf("finished: %+v", f)
		}
		for i := range 10 {
			if second.callCount(id, i) > 0 {
				t.Errorf("record %d was tried again", i)
			}
		}
		if got := second.metric("vayu_batch_records_total", "outcome", "passed"); got != 10 {
			t.Errorf("%v were passed over", got)
		}
	})
}
