// Package upstream gives calls of upstreams their turns. What is to be asked is a row
// that is due at some time; an upstream has a number of slots, one for each call that
// may be under way; a loop leases what is due while there are slots, and a row is
// anybody's again when its lease ends. A row that is not due costs no goroutine.
package upstream

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// Margin is how much longer a lease is than a call may take: for recording what
	// came of it, and for clocks that differ.
	Margin = 30 * time.Second
	// Recording bounds the recording of what came of a call: it is over before the
	// lease is.
	Recording = Margin - 5*time.Second
	// AwayPause is the pause before the next look at an upstream that is not
	// available, or a store that does not answer.
	AwayPause = time.Second
	// Grace is how long calls that are under way may go on when the service stops.
	Grace = 10 * time.Second
	// lookEvery is how long a loop sleeps at most: other instances and commands make
	// things due without telling it.
	lookEvery = 5 * time.Second
)

// Lease is the right to look at a row until a time: the token stands in the row. The
// zero Lease is none.
type Lease struct {
	Token string
	Until time.Time
}

// Table is where what is due waits. It has the columns id, mode, provider, due_at,
// token, sent, sent_at and batch_id, with the meaning that they have in the table
// recharge, and an index of (mode, provider, due_at) for batches and for the rest.
type Table[R any] struct {
	Name    string
	Columns string
	Scan    func(sqlstore.Scanner) (R, error) // of Columns
}

// Config is what Lines are made of.
type Config[R any] struct {
	DB    *sqlstore.DB
	Table Table[R]
	// Claims is told what becomes of looking for what is due.
	Claims *failurelog.Outage
	// Claimed is called when rows were leased and nobody was asked yet; nil for none.
	Claimed func()
	Log     *slog.Logger
	Now     func() time.Time
}

// Claim is a row that was leased. First says that it was not sent before this lease.
type Claim[R any] struct {
	Record R
	First  bool
	Lease  Lease
	batch  bool
}

// Lines are the upstreams of a service.
type Lines[R any] struct {
	Config[R]

	desk   desk
	lines  []*Line
	begin  []func(Claim[R]) // of lines
	sql    statements
	calls  context.Context // of calls; ends some time after that of Run
	hurry  context.CancelFunc
	token  string // what the tokens of this instance's leases begin with
	leases atomic.Uint64
}

// desk is what lines share.
type desk struct {
	sync.Mutex

	stopped bool           // no call begins any more
	calls   sync.WaitGroup // slots that are taken
}

// New returns lines without an upstream.
func New[R any](c Config[R]) *Lines[R] {
	s := &Lines[R]{Config: c, token: ulid.Make().String(), sql: statementsOf(c.Table.Name, c.Table.Columns)}
	s.calls, s.hurry = context.WithCancel(context.Background()) //nolint:gosec // Run calls it
	return s
}

// Upstream is who is called.
type Upstream struct {
	Name  string // in the column provider
	World schema.World
	// Timeout bounds one call.
	Timeout time.Duration
	// Concurrency is how many calls may be under way at once.
	Concurrency int
	// Available says whether it is worth asking at the moment; nil for always.
	Available func() bool
}

// Add adds an upstream. Begin has the call made for which a row was claimed; it must
// not block, and whatever it starts gives the slot back with [Line.Give]. All are
// added before Run.
func (s *Lines[R]) Add(u Upstream, begin func(Claim[R])) (*Line, error) {
	switch {
	case u.Timeout <= 0:
		return nil, errors.New("its calls have no timeout")
	case u.Concurrency < 1:
		return nil, errors.New("it has no room for a call")
	}
	l := &Line{
		of: u, desk: &s.desk, wake: make(chan struct{}, 1), freed: make(chan struct{}, 1),
		batchMost: max(1, u.Concurrency/2), kept: max(1, u.Concurrency/4),
	}
	s.lines, s.begin = append(s.lines, l), append(s.begin, begin)
	return l, nil
}

// Lease is a new one for one call of a line, with a token that no other has. It ends
// by the wall clock, as in the store: the monotonic one stands still while a machine is
// suspended.
func (s *Lines[R]) Lease(l *Line) Lease {
	return Lease{s.token + "." + strconv.FormatUint(s.leases.Add(1), 36), s.Now().Round(0).Add(l.of.Timeout + Margin)}
}

// Run leases what is due and has the calls made until ctx ends; then it waits for the
// calls that are under way, and breaks them off after Grace. The store is ready.
func (s *Lines[R]) Run(ctx context.Context) {
	for {
		err := s.FreeLeases(ctx)
		s.Claims.Tell(ctx, err)
		if err == nil || !sleep.For(ctx, AwayPause) {
			break
		}
	}
	var loops sync.WaitGroup
	for i := range s.lines {
		loops.Go(func() { s.serve(ctx, i) })
	}
	loops.Wait()
	s.end()
}

// Attend is Run for an instance that only has the calls made which its own requests
// begin, and leaves what is due later to the others.
func (s *Lines[R]) Attend(ctx context.Context) {
	<-ctx.Done()
	s.end()
}

// end has no call begin any more, and waits for those under way.
func (s *Lines[R]) end() {
	s.desk.Lock()
	s.desk.stopped = true
	s.desk.Unlock()
	// What is broken off is asked about after the next start.
	grace := time.AfterFunc(Grace, s.hurry)
	defer grace.Stop()
	s.Wait()
}

// Calls is the context in which calls are made: no client's, because they go on without
// whoever has asked for them.
func (s *Lines[R]) Calls() context.Context { return s.calls }

// Stopped reports whether no call begins any more.
func (s *Lines[R]) Stopped() bool {
	s.desk.Lock()
	defer s.desk.Unlock()
	return s.desk.stopped
}

// Wait waits until no slot is taken.
func (s *Lines[R]) Wait() { s.desk.calls.Wait() }

// serve is the loop of a line. After a look that failed nothing wakes it before its
// pause is over: the slots that such a look gives back would do so at once, and so would
// every call that ends. Who brings something new waits for no longer than that pause.
func (s *Lines[R]) serve(ctx context.Context, i int) {
	l := s.lines[i]
	wake := l.wake
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-wake:
		}
		pause, err := s.look(ctx, l)
		timer.Reset(pause)
		if wake = l.wake; err != nil {
			wake = nil
		}
	}
}

// Look makes the calls of a line that are due and have a slot, and returns how long
// nothing else is due. It is what Run does again and again.
func (s *Lines[R]) Look(ctx context.Context, l *Line) time.Duration {
	pause, _ := s.look(ctx, l) // who is told of an error has been
	return pause
}

// look is Look, with the error that Claims was told.
func (s *Lines[R]) look(ctx context.Context, l *Line) (time.Duration, error) {
	if !l.Worth() {
		return AwayPause, nil
	}
	s.desk.Lock()
	l.next = time.Time{} // whatever becomes due from here on nudges
	s.desk.Unlock()
	next, err := s.take(ctx, l, s.Now())
	s.Claims.Tell(ctx, err)
	if err != nil {
		return AwayPause, err
	}
	pause := max(0, min(lookEvery, next.Sub(s.Now())))
	if next.IsZero() {
		pause = lookEvery
	}
	s.desk.Lock()
	l.next = s.Now().Add(pause)
	s.desk.Unlock()
	return pause, nil
}

// take claims what is due, for at most as many slots as are free, has the calls made,
// and returns when something is due that is not yet. Single requests come first, but for
// the slot that is owed to records of batches.
func (s *Lines[R]) take(ctx context.Context, l *Line, now time.Time) (next time.Time, err error) {
	s.desk.Lock()
	free, single, batch := l.room()
	s.desk.Unlock()
	singles, err := s.find(ctx, l, s.sql.dueSingle, now, single)
	if err != nil {
		return next, err
	}
	batches, err := s.find(ctx, l, s.sql.dueBatch, now, min(batch, free-singles.size()))
	if err != nil {
		return next, err
	}
	s.desk.Lock()
	slots := [2]int{l.grabSome(singles.size(), false), l.grabSome(batches.size(), true)}
	l.hungry = [2]bool{singles.most || slots[0] < singles.size(), batches.most || slots[1] < batches.size()}
	starved := l.starved()
	s.desk.Unlock()
	if starved { // by a slot that was given back meanwhile, or that nobody has whom it was owed
		l.Nudge()
	}
	l.free() // what has waited longer may have gone
	if slots[0]+slots[1] > 0 {
		if err := s.hand(ctx, l, []found{singles.first(slots[0]), batches.first(slots[1])}, slots, now); err != nil {
			return next, err
		}
	}
	return s.nextDue(ctx, l, now)
}

// hand claims what was found and has its calls made, with slots for all of it.
func (s *Lines[R]) hand(ctx context.Context, l *Line, all []found, slots [2]int, now time.Time) error {
	claims, err := s.claim(ctx, l, all, s.Lease(l), now)
	begin := s.begin[slices.Index(s.lines, l)]
	for _, c := range claims {
		if c.batch {
			slots[1]--
		} else {
			slots[0]--
		}
		begin(c)
	}
	for range slots[0] {
		l.Give(false)
	}
	for range slots[1] {
		l.Give(true)
	}
	return err
}
