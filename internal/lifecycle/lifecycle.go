// Package lifecycle starts the parts of the service in order and stops them in
// reverse.
//
// A part that others lean on stands earlier in the list: it is ready before
// they start, and it is still there while they drain.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// DefaultDrain is how long a part may take to stop when it names no time of its
// own. Ten seconds is five times the slowest answer the API may give and leaves
// room for several parts inside the 30 s that service managers allow before
// they kill.
const DefaultDrain = 10 * time.Second

// ErrEnded is the error of a part that returned nil before it was asked to
// stop. A part works until its context ends; one that leaves early would leave
// a service that looks alive and does nothing.
var ErrEnded = errors.New("ended without being asked to")

// ErrDrain is the error of a part that did not stop within its drain time.
var ErrDrain = errors.New("did not stop in time")

// Part is one long-lived piece of the service.
type Part struct {
	// Name is what errors and log lines call the part.
	Name string
	// Run works until ctx ends and then returns nil or ctx's error. Every
	// other return, and a panic, stops the whole service.
	Run func(ctx context.Context) error
	// Ready blocks until the part can be used by those after it. Its ctx ends
	// when the part fails or the service is stopped. Nil means ready at once.
	Ready func(ctx context.Context) error
	// Drain bounds the time between the end of Run's ctx and its return;
	// zero means DefaultDrain.
	Drain time.Duration
}

// Parts starts each part after the one before it is ready, waits until ctx ends
// or a part fails, and stops the started ones in reverse order, each within
// its drain time. It returns nil when ctx ended and all parts stopped cleanly;
// otherwise every failure, joined, each with the name of its part. A part that
// outlives its drain time is left behind and reported as ErrDrain.
func Parts(ctx context.Context, log *slog.Logger, parts ...Part) error {
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

// group is the parts started so far, in order.
type group struct {
	log     *slog.Logger
	started []*running
	failed  chan struct{}
}

// start starts the parts in order. It returns early, with nil, when ctx ends or
// a started part fails: stop then reports what there is to report.
func (g *group) start(ctx context.Context, parts []Part) error {
	for _, part := range parts {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // an end before the last start is an end, not a failure
		}
		begun := time.Now()
		r := launch(ctx, part, g.log, g.failed)
		g.started = append(g.started, r)
		ready := r.awaitReady()
		select {
		case <-ctx.Done():
			return nil
		case <-g.failed:
			g.failed <- struct{}{} // Parts waits for it too
			return nil
		case err := <-ready:
			if err != nil && len(g.failed) > 0 {
				return nil // a part failed first, which ended this Ready
			}
			if err != nil {
				return fmt.Errorf("starting %s: %w", part.Name, err)
			}
		}
		g.log.DebugContext(ctx, "part ready", "part", part.Name, "after", time.Since(begun))
	}
	return nil
}

// stop stops the started parts, the last one first, and returns their failures
// in the order in which the parts were stopped.
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
