// Package failurelog says once that something has ceased to work, and once that it
// works again, however often it is tried between.
package failurelog

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Outage is one thing that may fail again and again. It can be used by many
// goroutines at once.
type Outage struct {
	log              *slog.Logger
	what             string
	doing, meanwhile string
	failures         prometheus.Counter
	on               atomic.Bool
}

// New returns an Outage that is not there. What is what may cease to work, such
// as "access: the state store"; doing is what needs it, and meanwhile what happens
// without. Failures counts every one; nil counts none.
func New(log *slog.Logger, what, doing, meanwhile string, failures prometheus.Counter) *Outage {
	return &Outage{log: log, what: what, doing: doing, meanwhile: meanwhile, failures: failures}
}

// Tell takes the outcome of a try. An error that comes from the end of ctx is
// none.
func (o *Outage) Tell(ctx context.Context, err error) {
	switch {
	case err != nil && ctx.Err() != nil:
	case err != nil:
		if o.failures != nil {
			o.failures.Inc()
		}
		if !o.on.Swap(true) {
			o.log.WarnContext(ctx, o.what+" does not answer", //nolint:sloglint // one of a few constants
				"doing", o.doing, "meanwhile", o.meanwhile, "error", err)
		}
	case o.on.Load() && o.on.Swap(false):
		o.log.InfoContext(ctx, o.what+" answers again", "doing", o.doing) //nolint:sloglint // the same
	}
}

// On reports whether the last try failed.
func (o *Outage) On() bool { return o.on.Load() }
