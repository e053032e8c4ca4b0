package transaction

import (
	"context"
	"errors"
	"time"

	"vayu/internal/panics"
	"vayu/internal/tracing"
	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
)

var (
	// ErrOutcome means that the outcome of an answer is undefined, or impossible for the call.
	ErrOutcome = errors.New("undefined outcome")
	// ErrPanic means that this program's code for a provider panicked.
	ErrPanic = errors.New("the provider's code panicked")
)

// Call calls a provider through the function `do`, which returns the name of the outcome. `name` identifies the call in
// metrics and logs, such as "submit", and `subject` is the id of the transaction. Call limits the call to l.Timeout,
// adds it to metrics and trace, and logs any error but httpconnector.ErrNotCalled. If `do` panics, it returns ErrPanic.
func (c *Core[R, P]) Call(ctx context.Context, l *Link, name, subject string, do func(context.Context) (outcome string, err error)) error {
	limit, done := context.WithTimeout(ctx, l.Timeout)
	defer done()
	began := time.Now()
	limit, span := c.Trace.Start(limit, c.kind.Actor+" call", tracing.Client)
	var outcome string
	err := panics.Catch(func() (err error) {
		outcome, err = do(limit)
		return err
	})
	if p, ok := errors.AsType[*panics.Error](err); ok {
		c.Log.Error("a provider's code panicked", "provider", l.Name, "call", name, "panic", p)
		err = ErrPanic
	}
	if err != nil {
		outcome = ErrorLabel(err)
	}
	c.Metrics.ObserveCall(l.Name, name, outcome, time.Since(began))
	if span.Recording() {
		span.EndCall(tracing.ProviderCall{Provider: l.Name, World: l.World.String(), Call: name, Result: outcome, Subject: subject}, err)
	}
	if err != nil && !errors.Is(err, httpconnector.ErrNotCalled) {
		c.Log.Warn("calling a provider failed", "provider", l.Name, "world", l.World.String(), "call", name, c.kind.Name, subject, "error", err)
	}
	return err
}

// ErrorLabel returns the value of the metric label that states why a call failed.
func ErrorLabel(err error) string {
	switch {
	case errors.Is(err, httpconnector.ErrNotCalled):
		return "not_asked"
	case errors.Is(err, httpconnector.ErrNotSent):
		return "not_sent"
	case errors.Is(err, ErrPanic):
		return "panic"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "error"
}

// RecordResult calls `settle` to record the result of a call, even if ctx has ended. It returns false if `settle`
// fails or panics. Then the lease expires, and an instance claims the transaction again.
func (c *Core[R, P]) RecordResult(ctx context.Context, settle func(context.Context) error) bool {
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), workqueue.RecordTimeout)
	defer done()
	err := panics.Catch(func() error { return settle(limit) })
	c.Metrics.Records.Observe(ctx, err)
	return err == nil
}
