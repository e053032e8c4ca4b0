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

// errNotHeld is the end of a run in which something that must hold has not.
var errNotHeld = errors.New("something that must hold has not held")

// faults breaks a cluster under load and says what came of it.
func faults(ctx context.Context, r request) error {
	chosen, err := fault.Chosen(fault.Faults(), r.only)
	if err != nil {
		return err
	}
	return r.broken(ctx, chosen)
}

// broken starts a cluster and has faults happen to it.
func (r request) broken(ctx context.Context, chosen []fault.Fault) (err error) {
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
		err = ctx.Err() // it ended before its time
	}
	if err == nil && !held {
		err = errNotHeld
	}
	return err
}
