// Package failurelog logs the failure of an operation once, even if retries fail too. It logs once more when the
// operation has recovered.
package failurelog

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Log logs the failures of one operation. It is safe for concurrent use.
type Log struct {
	log              *slog.Logger
	what             string
	doing, meanwhile string
	failures         prometheus.Counter
	failing          atomic.Bool
}

// New returns a Log that is not failing. `what` names the dependency, such as "access: the state
// store". `doing` names the operation, and `meanwhile` the effect of a failure. The counter
// `failures` counts the failures that Observe records, and may be nil.
func New(log *slog.Logger, what, doing, meanwhile string, failures prometheus.Counter) *Log {
	return &Log{log: log, what: what, doing: doing, meanwhile: meanwhile, failures: failures}
}

// Observe records the result of an attempt of the operation. It ignores an error after the end of ctx.
func (o *Log) Observe(ctx context.Context, err error) {
	switch {
	case err != nil && ctx.Err() != nil:
	case err != nil:
		if o.failures != nil {
			o.failures.Inc()
		}
		if !o.failing.Swap(true) {
			o.log.WarnContext(ctx, o.what+" does not answer", //nolint:sloglint // one of a few constants
				"doing", o.doing, "meanwhile", o.meanwhile, "error", err)
		}
	case o.failing.Load() && o.failing.Swap(false):
		o.log.InfoContext(ctx, o.what+" answers again", "doing", o.doing) //nolint:sloglint // the same
	}
}

// Failing reports whether the last result that Observe has recorded was an error.
func (o *Log) Failing() bool { return o.failing.Load() }
