package batch

import (
	"context"
	"crypto/rand"
	"time"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
)

// pace is how long things take that depend on no record.
type pace struct {
	// look is the time between two looks for what others have accepted, or what is
	// due again.
	look time.Duration
	// lease is how long a killed instance keeps others from its chunks, where there
	// are others. It is renewed each third of it.
	lease time.Duration
	// pause is the first after records that could not be begun; each is twice the one
	// before, up to pauseMost.
	pause, pauseMost time.Duration
	// grace is how long records may go on when the instance stops, and leave how long
	// giving back what was not begun may wait for the store.
	grace, leave time.Duration
	// record bounds how long one may be under way: twice the 30 s that a bank may take
	// to answer.
	record time.Duration
	// empty is the time between two looks for results to delete, and linger how long
	// they stay after they have expired: longer than any reply that reads them, and than
	// the clocks of instances differ.
	empty, linger time.Duration
}

// usualPace stops within the 15 s that dispatch has, too.
var usualPace = pace{
	look: time.Second, lease: time.Minute, pause: 100 * time.Millisecond, pauseMost: 30 * time.Second,
	grace: 8 * time.Second, leave: 3 * time.Second, record: time.Minute, empty: time.Minute, linger: time.Hour,
}

// worker works on batches of one kind. Its fields from desk on belong to the
// goroutine of run; others hand it functions.
type worker struct {
	*Service

	kind    *Kind
	metrics kindMetrics
	pace    pace
	store   *failurelog.Outage
	woken   chan struct{} // somebody has accepted a batch
	ended   chan func()   // what follows from what has ended

	desk     *desk
	held     map[*chunk]bool // leased chunks that are not settled
	bytes    int             // of their records
	name     string          // of this run of this instance, which begins the tokens of its leases
	leases   uint64
	jobs     int             // goroutines that will say something to ended
	busy     map[string]bool // what is done once at a time
	lookSoon bool            // somebody has called during a look
	away     bool            // no leases before the next look
	stopping bool
}

func newWorker(s *Service, kind *Kind, m *metrics) *worker {
	w := &worker{
		Service: s, kind: kind, metrics: m.of(kind.Name), pace: usualPace,
		woken: make(chan struct{}, 1), ended: make(chan func(), kind.Room),
	}
	w.store = failurelog.New(s.Log, "batches of "+kind.Name+": the state store", "working on batches", "they wait", w.metrics.failures)
	return w
}

// wake has the worker look for new batches. Any goroutine may call it.
func (w *worker) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// run works until ctx ends, and until what was under way then has ended.
func (w *worker) run(ctx context.Context) {
	w.desk, w.held, w.bytes, w.jobs = newDesk(w.kind.Room), map[*chunk]bool{}, 0, 0
	w.name, w.busy, w.lookSoon, w.away, w.stopping = rand.Text(), map[string]bool{}, false, false, false
	if !w.void(ctx) {
		return
	}
	working, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	look, renew, empty := time.NewTicker(w.pace.look), time.NewTicker(w.pace.lease/3), time.NewTicker(w.pace.empty)
	defer look.Stop()
	defer renew.Stop()
	defer empty.Stop()
	w.look(ctx)
	w.renew(ctx)
	w.empty(ctx)
	for ctx.Err() == nil {
		again := w.begin(working)
		w.refill(ctx)
		select {
		case then := <-w.ended:
			w.jobs--
			then()
		case <-again:
		case <-w.woken:
			w.look(ctx)
		case <-look.C:
			w.away = false
			w.look(ctx)
			w.settleAll(working)
		case <-renew.C:
			w.renew(ctx)
		case <-empty.C:
			w.empty(ctx)
		case <-ctx.Done():
		}
	}
	w.stop(working, giveUp)
}

// stop gives back what was not begun, and waits for the rest.
func (w *worker) stop(working context.Context, giveUp func()) {
	w.stopping = true
	grace := time.AfterFunc(w.pace.grace, giveUp)
	defer grace.Stop()
	for c := range w.held {
		w.desk.drop(c)
	}
	w.settleAll(working)
	for w.jobs > 0 {
		then := <-w.ended
		w.jobs--
		then()
	}
}

// void ends the leases of a process that was killed: on SQLite there can be no other.
// Elsewhere they run out. It is false when ctx has ended.
func (w *worker) void(ctx context.Context) bool {
	if w.DB.Name() != "sqlite" {
		return true
	}
	for {
		err := w.DB.Update(ctx, func(tx *sqlstore.Tx) error {
			_, err := tx.Exec(voidLeases, w.kind.Name, w.Now().UnixMicro())
			return err
		})
		w.store.Tell(ctx, err)
		if err == nil {
			return true
		}
		if !sleep.For(ctx, w.pace.look) {
			return false
		}
	}
}

// job runs do beside the loop, which then does what do returns.
func (w *worker) job(do func() (then func())) {
	w.jobs++
	go func() { w.ended <- do() }()
}

// once is job for what is done once at a time; false when it is being done.
func (w *worker) once(name string, do func() (then func())) bool {
	if w.busy[name] {
		return false
	}
	w.busy[name] = true
	w.job(func() func() {
		then := do()
		return func() {
			w.busy[name] = false
			then()
		}
	})
	return true
}
