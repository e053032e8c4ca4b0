package subscription

import (
	"context"
	"fmt"
	"time"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/schema"
)

// How old a book may be. Rotating a secret is answered rotateHold after its
// commit, and every instance signs with a book that it has compared with the
// store at most freshest before: so each has looked after the commit, and
// 100 ms are left between looking and signing.
const (
	lookEvery  = 250 * time.Millisecond
	freshest   = 200 * time.Millisecond
	rotateHold = 300 * time.Millisecond
	// lookMost ends a question to a store that hangs, so that the next finds it
	// well; and the patience of Refresh and Fresh.
	lookMost = 2 * time.Second
)

// goneKept is how long a deleted subscription is remembered: attempts take 5
// seconds at most, and its deliveries are cancelled within moments.
const goneKept = 5 * time.Minute

// begin reads everything for the first time, and tries again until it can.
func (b *Book) begin(ctx context.Context) {
	away := failurelog.New(b.Log, "webhooks: the state store", "reading subscriptions for the first time", "nothing is delivered", nil)
	for ctx.Err() == nil {
		err := b.counted(ctx, b.look(ctx, b.Now()))
		away.Tell(ctx, err)
		if err == nil {
			close(b.known)
			return
		}
		sleep.For(ctx, lookEvery)
	}
}

// follow keeps the book up to date until ctx ends.
func (b *Book) follow(ctx context.Context) {
	away := failurelog.New(b.Log, "webhooks: the state store", "looking for changed subscriptions", "nothing is signed", nil)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			away.Tell(ctx, b.counted(ctx, b.look(ctx, b.Now())))
		case <-ctx.Done():
			return
		}
	}
}

// Refresh looks at the store now, for two seconds at most. Who has changed a
// subscription in this process calls it after the change, so that it is in force
// at once here; other instances find it when they next look, or sign.
func (b *Book) Refresh(ctx context.Context) error { return b.within(ctx, b.Now()) }

// Fresh makes sure that the book is no older than other instances wait after a
// rotation, and looks at the store when it is, for two seconds at most. An error
// means that nothing must be signed now. What is signed more than 100 ms after
// Fresh has returned needs another.
func (b *Book) Fresh(ctx context.Context) error {
	since := b.Now().Add(-freshest)
	if b.looked(since) {
		return nil
	}
	return b.within(ctx, since)
}

// looked reports whether a look that succeeded began after an instant. One that
// lies in the future is of a clock that was set back, and says nothing.
func (b *Book) looked(since time.Time) bool {
	at := b.lookedAt.Load()
	return at != nil && at.After(since) && !at.After(b.Now())
}

// within is look for somebody who waits.
func (b *Book) within(ctx context.Context, since time.Time) error {
	limit, done := context.WithTimeout(ctx, b.most)
	defer done()
	return b.counted(ctx, b.look(limit, since))
}

// counted counts a look that failed, unless nobody waits for it any more.
func (b *Book) counted(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() == nil {
		b.metrics.lookFailures.Inc()
	}
	return fmt.Errorf("looking at subscriptions: %w", err)
}

// look compares the book with the store, unless somebody has done so after
// since.
func (b *Book) look(ctx context.Context, since time.Time) error {
	select {
	case b.looking <- struct{}{}:
		defer func() { <-b.looking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if b.looked(since) {
		return nil
	}
	began := b.Now() // what is read is no older than this
	if err := b.read(ctx, began); err != nil {
		return err
	}
	b.lookedAt.Store(&began)
	return nil
}

// read reads the rows that are newer than the book, when there are any, and
// forgets what was deleted some time ago.
func (b *Book) read(ctx context.Context, now time.Time) error {
	r := &reading{Book: b, ctx: ctx, now: now, lists: map[string][]schema.EventType{}}
	revision, err := r.revision()
	if err != nil {
		return err
	}
	before := b.Snapshot()
	over := 0
	for over < len(b.gone) && now.Sub(b.gone[over].at) > goneKept {
		over++
	}
	if revision == before.revision && over == 0 {
		return nil
	}
	// A smaller revision is that of another store in the place of the known one.
	whole := revision < before.revision || before.revision == unread || revision-before.revision > partMost
	if whole {
		r.edition = editionOf(nil)
		err = r.all()
	} else {
		r.edition = editionOf(before)
		r.edition.gone = b.gone[over:]
		for _, d := range b.gone[:over] {
			r.edition.byID.remove(d.id)
		}
		err = r.since(before.revision)
	}
	if err != nil {
		return err
	}
	b.gone = r.edition.gone
	b.now.Store(r.edition.finish(revision))
	r.tell()
	return nil
}

// age is how long ago the store was last looked at with success; since the book
// was made when never.
func (b *Book) age() time.Duration {
	at := b.made
	if looked := b.lookedAt.Load(); looked != nil {
		at = *looked
	}
	return b.Now().Sub(at)
}
