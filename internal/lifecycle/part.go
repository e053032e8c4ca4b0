package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// errExited is the error of a part whose goroutine was ended by runtime.Goexit.
var errExited = errors.New("its goroutine exited")

// running is a part that was launched.
type running struct {
	part   Part
	log    *slog.Logger
	ctx    context.Context //nolint:containedctx // the life of the part, ended by cancel; Ready waits on it as well
	cancel context.CancelFunc
	done   chan struct{} // closed when Run returned; err and asked may be read then
	err    error
	asked  bool // the part was told to stop before it returned
}

// launch starts the part's Run. Its context keeps the values of ctx but not
// its end: the order of stopping is stop's to choose. A return that nobody
// asked for is announced on failed, which has room for every part.
func launch(ctx context.Context, part Part, log *slog.Logger, failed chan<- struct{}) *running {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &running{part: part, log: log, ctx: life, cancel: cancel, done: make(chan struct{})}
	go func() {
		r.err = errExited // stays when the goroutine never comes back
		defer func() {
			if r.asked = life.Err() != nil; !r.asked {
				failed <- struct{}{}
				cancel() // ends a Ready that still waits
			}
			close(r.done)
		}()
		r.err = guard(life, log, part.Name, part.Run)
	}()
	return r
}

// awaitReady runs the part's Ready beside the part and sends its outcome.
func (r *running) awaitReady() <-chan error {
	out := make(chan error, 1)
	if r.part.Ready == nil {
		out <- nil
		return out
	}
	go func() {
		err := errExited
		defer func() { out <- err }()
		err = guard(r.ctx, r.log, r.part.Name, r.part.Ready)
	}()
	return out
}

// stop ends the part's context, waits for it within its drain time and returns
// what went wrong with it.
func (r *running) stop() error {
	r.cancel()
	limit := r.part.Drain
	if limit <= 0 {
		limit = DefaultDrain
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-r.done:
	case <-timer.C:
		return fmt.Errorf("%w: %s", ErrDrain, limit)
	}
	switch {
	case r.err == nil && !r.asked:
		return ErrEnded
	case r.asked && errors.Is(r.err, context.Canceled):
		return nil
	default:
		return r.err
	}
}

// guard calls work and turns a panic into an error; the stack goes to the log,
// not into the error.
func guard(ctx context.Context, log *slog.Logger, name string, work func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			log.ErrorContext(ctx, "panic", "part", name, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	return work(ctx)
}
