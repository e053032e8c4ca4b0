package recharge

import (
	"context"
	"sync"
	"time"

	"vayu/internal/pause"
)

const (
	// lookEvery is how long a loop sleeps at most: other instances and commands make
	// things due without telling it.
	lookEvery = 5 * time.Second
	// awayPause is the pause before the next look at a connection that is not
	// available, or a store that does not answer.
	awayPause = time.Second
	// countEvery is the time between two counts of what is pending.
	countEvery = time.Minute
)

// Run sends what is due, enquires about what is pending, and asks for refunds that
// were wanted, until ctx ends; then it waits for the calls that are under way. What
// is not recorded by then is leased in the store, and asked about later.
func (s *Service) Run(ctx context.Context) error {
	if err := s.DB.Ready(ctx); err != nil {
		return nil //nolint:nilerr // it ended before there was anything to do
	}
	for {
		err := s.freeLeases(ctx)
		s.metrics.claims.Tell(ctx, err)
		if err == nil || !pause.For(ctx, awayPause) {
			break
		}
	}
	s.metrics.counts.Tell(ctx, s.warnOfStranded(ctx))
	var loops sync.WaitGroup
	for _, l := range s.lines {
		loops.Go(func() { s.serve(ctx, l) })
	}
	loops.Go(func() { s.watchPending(ctx) })
	loops.Wait()
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.attempts.Wait() // each ends by its time-out
	return nil
}

// serve is the loop of a connection.
func (s *Service) serve(ctx context.Context, l *line) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-l.wake:
		}
		timer.Reset(s.look(ctx, l))
	}
}

// look makes the calls of a connection that are due and have a slot, and returns how
// long nothing else is due.
func (s *Service) look(ctx context.Context, l *line) time.Duration {
	if !l.available() {
		return awayPause
	}
	now := s.Now()
	s.mu.Lock()
	l.next = time.Time{} // whatever becomes due from here on nudges
	free := l.Concurrency - l.busy
	batch := min(free, l.batchMost-l.batches)
	s.mu.Unlock()
	next, err := s.begin(ctx, l, now, free, batch)
	s.metrics.claims.Tell(ctx, err)
	if err != nil {
		return awayPause
	}
	pause := max(0, min(lookEvery, next.Sub(s.Now())))
	if next.IsZero() {
		pause = lookEvery
	}
	s.mu.Lock()
	l.next = s.Now().Add(pause)
	s.mu.Unlock()
	return pause
}

// begin claims what is due, for at most as many slots as are free, has the calls
// made, and returns when something is due that is not yet.
func (s *Service) begin(ctx context.Context, l *line, now time.Time, free, batch int) (next time.Time, err error) {
	singles, err := s.find(ctx, l, dueSingle, now, free)
	if err != nil {
		return next, err
	}
	batches, err := s.find(ctx, l, dueBatch, now, min(batch, free-singles.size()))
	if err != nil {
		return next, err
	}
	s.mu.Lock()
	slots := [2]int{s.grabSome(l, singles.size(), false), s.grabSome(l, batches.size(), true)}
	l.hungry = [2]bool{singles.most || slots[0] < singles.size(), batches.most || slots[1] < batches.size()}
	s.mu.Unlock()
	all := []found{singles.first(slots[0]), batches.first(slots[1])}
	if slots[0]+slots[1] > 0 {
		if err := s.send(ctx, l, all, slots, now); err != nil {
			return next, err
		}
	}
	return s.nextDue(ctx, l, now)
}

// grabSome takes so many slots, or as many as there are. The caller holds mu.
func (s *Service) grabSome(l *line, most int, batch bool) (n int) {
	for n < most && s.grab(l, batch) {
		n++
	}
	return n
}

// first is the first so many of what was found.
func (f *found) first(n int) found {
	out := found{ids: f.ids}
	for sent := range out.ids {
		out.ids[sent] = f.ids[sent][:min(n, len(f.ids[sent]))]
		n -= len(out.ids[sent])
	}
	return out
}

// send claims what was found and has its calls made, with slots for all of it.
func (s *Service) send(ctx context.Context, l *line, all []found, slots [2]int, now time.Time) error {
	jobs, err := s.claim(ctx, l, all, s.newLease(l), now)
	for _, j := range jobs {
		slots[flag(j.rec.Batch.Batch != "")]--
		s.start(j)
	}
	for range slots[0] {
		s.give(l, false)
	}
	for range slots[1] {
		s.give(l, true)
	}
	return err
}
