package transaction

import (
	"context"
	"errors"
	"time"

	"vayu/internal/panics"
	"vayu/internal/tracing"
	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
	"vayu/schema"
)

var (
	// ErrOutcome means that an answer has an undefined outcome, or one that its call cannot
	// have.
	ErrOutcome = errors.New("undefined outcome")
	// ErrPanic means that the code of a provider panicked.
	ErrPanic = errors.New("the provider's code panicked")
)

// Call describes one call to a provider.
type Call struct {
	Name     string // in metrics and logs: "submit"
	Provider string
	World    schema.World
	Subject  string // id of the transaction
	Timeout  time.Duration
}

// Call makes a call to a provider by the function do, which returns the name of the outcome.
// It adds the call to metrics and trace, and logs an error. If do panics, the error is ErrPanic.
func (c *Core[R, P]) Call(ctx context.Context, call Call, do func(context.Context) (outcome string, err error)) error {
	limit, done := context.WithTimeout(ctx, call.Timeout)
	defer done()
	began := time.Now()
	limit, span := c.o.Trace.Start(limit, c.kind.Actor+" call", tracing.Client)
	var outcome string
	err := panics.Catch(func() (err error) {
		outcome, err = do(limit)
		return err
	})
	if p, ok := errors.AsType[*panics.Error](err); ok {
		c.o.Log.Error("a provider's code panicked", "provider", call.Provider, "call", call.Name, "panic", p)
		err = ErrPanic
	}
	if err != nil {
		outcome = ErrorLabel(err)
	}
	c.Metrics.ObserveCall(call.Provider, call.Name, outcome, time.Since(began))
	if span.Recording() {
		span.EndCall(tracing.ProviderCall{
			Provider: call.Provider, World: call.World.String(), Call: call.Name, Result: outcome, Subject: call.Subject,
		}, err)
	}
	if err != nil && !errors.Is(err, httpconnector.ErrNotCalled) {
		c.o.Log.Warn("calling a provider failed", "provider", call.Provider, "world", call.World.String(), "call", call.Name,
			c.kind.Name, call.Subject, "error", err)
	}
	return err
}

// ErrorLabel returns the label of a failed call in metrics.
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

// MissingAnswer returns the answer that the timeline step of a failed call shows.
func MissingAnswer(err error) schema.StepAnswer {
	switch {
	case errors.Is(err, httpconnector.ErrNotCalled):
		return schema.AnswerNotSent
	case errors.Is(err, httpconnector.ErrNotSent):
		return schema.AnswerNotConnected
	case errors.Is(err, ErrOutcome), errors.Is(err, ErrPanic), httpconnector.IsUnreadable(err):
		return schema.AnswerUnreadable
	}
	return schema.AnswerNone
}

// Record calls settle to record the result of a call, even if ctx has ended. It returns false if
// settle fails or panics. Then the lease expires, and the transaction is claimed again.
func (c *Core[R, P]) Record(ctx context.Context, settle func(context.Context) error) bool {
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), workqueue.RecordTimeout)
	defer done()
	err := panics.Catch(func() error { return settle(limit) })
	c.Metrics.Records.Observe(ctx, err)
	return err == nil
}
