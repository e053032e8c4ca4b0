// Package lifecycle starts the parts of the service in order and stops them in reverse.
//
// A part comes after the parts that it depends on. Its dependencies are ready before it starts, and
// still run while it drains.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// DefaultDrain is the time that a part may take to stop if it has no Drain. It leaves
// room for several parts in the 30 s that Kubernetes allows by default before a kill.
const DefaultDrain = 10 * time.Second

// ErrEnded is the error of a part that returned nil before it was stopped. A part that
// returns early would leave a service that looks healthy and does nothing.
var ErrEnded = errors.New("ended before it was stopped")

// ErrDrain is the error of a part that did not stop within its drain time.
var ErrDrain = errors.New("did not stop in time")

// Part is one long-lived piece of the service, such as a server or a worker.
type Part struct {
	// Name is the name of the part in errors and log lines.
	Name string
	// Run works until ctx ends and then returns nil or ctx's error. Every
	// other return, and a panic, stops the whole service.
	Run func(ctx context.Context) error
	// Ready blocks until the parts after this part can use it. The context that Ready gets ends when this part's Run
	// returns or when the part is stopped. A nil Ready means that the part is ready at once.
	Ready func(ctx context.Context) error
	// Drain limits the time from the end of Run's context until Run returns. If it is zero, DefaultDrain applies.
	Drain time.Duration
}

// Run starts the parts in order, each after the previous part is ready. It waits until ctx ends or a part fails.
// Then it stops the started parts in reverse order, each within its drain time.
//
// It returns nil when ctx ended and all parts stopped cleanly. Otherwise it returns all failures, joined, with the
// names of the parts. A part that exceeds its drain time is abandoned and reported as ErrDrain.
func Run(ctx context.Context, log *slog.Logger, parts ...Part) error {
	g := &group{log: log, failed: make(chan struct{}, len(parts))}
	first := g.start(ctx, parts)
	if first == nil {
		select {
		case <-ctx.Done():
		case <-g.failed:
		}
	}
	return errors.Join(append([]error{first}, g.stop()...)...)
}

// group has the parts that were started so far, in order.
type group struct {
	log     *slog.Logger
	started []*runningPart
	failed  chan struct{}
}

// start starts the parts in order, and returns the first error of a Ready. If ctx ends, or the Run of a started part
// returns, start starts no further part and returns nil. The method `stop` later returns the failure of that part.
func (g *group) start(ctx context.Context, parts []Part) error {
	for _, part := range parts {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // a stop before the last start is not a failure
		}
		begun := time.Now()
		r := launch(ctx, part, g.log, g.failed)
		g.started = append(g.started, r)
		ready := r.awaitReady()
		select {
		case <-ctx.Done():
			return nil
		case <-g.failed:
			g.failed <- struct{}{} // puts the signal back, because Run waits for it too
			return nil
		case err := <-ready:
			if err != nil && len(g.failed) > 0 {
				return nil // Ready failed because a Run returned first; stop reports that
			}
			if err != nil {
				return fmt.Errorf("starting %s: %w", part.Name, err)
			}
		}
		g.log.DebugContext(ctx, "part ready", "part", part.Name, "after", time.Since(begun))
	}
	return nil
}

// stop stops the started parts, the last one first, and returns their failures in the order in which the parts were
// stopped.
func (g *group) stop() []error {
	var failures []error
	for _, r := range slices.Backward(g.started) {
		begun := time.Now()
		if err := r.stop(); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", r.part.Name, err))
			g.log.Error("part failed", "part", r.part.Name, "error", err)
			continue
		}
		g.log.Debug("part stopped", "part", r.part.Name, "after", time.Since(begun))
	}
	return failures
}
