package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"vayu/internal/testing/chaos"
	"vayu/internal/testing/chaos/fault"
	"vayu/internal/testing/chaos/load"
)

// errNotHeld means that an invariant was violated during the run.
var errNotHeld = errors.New("something that must hold has not held")

// faults injects faults into a cluster under load and reports the results.
func faults(ctx context.Context, r request) error {
	chosen, err := fault.Select(fault.Faults(), r.only)
	if err != nil {
		return err
	}
	return r.inject(ctx, chosen)
}

// inject starts a cluster and injects the chosen faults.
func (r request) inject(ctx context.Context, chosen []fault.Fault) (err error) {
	inbox := load.NewInbox()
	defer inbox.Close()
	r.CA = inbox.CA
	_, _ = fmt.Fprintf(r.Out, "starting a cluster in %s, on %d processors …\n", r.Dir, runtime.NumCPU())
	c, err := chaos.Start(ctx, r.Config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop(context.WithoutCancel(ctx))) }()
	if err := c.Print(r.Out); err != nil {
		return err
	}
	held, err := (&fault.Run{Cluster: c, Inbox: inbox, Faults: chosen, Out: r.Out}).Do(ctx)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err() // it was interrupted
	}
	if err == nil && !held {
		err = errNotHeld
	}
	return err
}
