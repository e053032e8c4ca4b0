package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"vayu/internal/panics"
)

// errExited is the error of a part whose Run or Ready called runtime.Goexit.
var errExited = errors.New("its goroutine exited")

// runningPart is a part of the service that is running.
type runningPart struct {
	part    Part
	log     *slog.Logger
	ctx     context.Context //nolint:containedctx // the life of the part, ended by cancel; Ready waits on it as well
	cancel  context.CancelFunc
	done    chan struct{} // closed when Run returned; err and stopped may be read then
	err     error
	stopped bool // the context ended before the part returned
}

// launch calls Run of a part in a goroutine. The part's context has the values of ctx, but does not end with ctx: parts
// are stopped in order. If Run returns before stop is called, launch sends to `failed`, which has room for every part.
func launch(ctx context.Context, part Part, log *slog.Logger, failed chan<- struct{}) *runningPart {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &runningPart{part: part, log: log, ctx: life, cancel: cancel, done: make(chan struct{})}
	go func() {
		r.err = errExited // the error if runtime.Goexit ends the goroutine
		defer func() {
			if r.stopped = life.Err() != nil; !r.stopped {
				failed <- struct{}{}
				cancel() // a blocked Ready returns
			}
			close(r.done)
		}()
		r.err = guard(life, log, part.Name, part.Run)
	}()
	return r
}

// awaitReady calls the part's Ready in a goroutine. The returned channel receives the error of
// Ready, or nil if the part is ready.
func (r *runningPart) awaitReady() <-chan error {
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

// stop ends the part's context and waits until Run returns, at most for the drain time. It returns ErrDrain if Run
// takes longer, ErrEnded if Run had returned nil early, nil for a clean stop, and otherwise the error of Run.
func (r *runningPart) stop() error {
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
	case r.err == nil && !r.stopped:
		return ErrEnded
	case r.stopped && errors.Is(r.err, context.Canceled):
		return nil
	default:
		return r.err
	}
}

// guard calls `work` and turns a panic into an error; the stack goes to the log, not into the error.
func guard(ctx context.Context, log *slog.Logger, name string, work func(context.Context) error) error {
	err := panics.Catch(func() error { return work(ctx) })
	if p, ok := errors.AsType[*panics.Error](err); ok {
		log.ErrorContext(ctx, "panic", "part", name, "panic", p)
	}
	return err
}
