package transaction

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
	"vayu/schema"
)

// ServeOne answers GET of one transaction. With the parameter view=detail, the reply has its timeline, too.
func (c *Core[R, P]) ServeOne(call *httpapi.Call) (httpapi.Response, error) {
	detailed, err := detailRequested(call)
	if err != nil {
		return httpapi.Response{}, err
	}
	id := mux.Vars(call.Request)["id"]
	if detailed {
		r, calls, err := c.Timeline(call.Context(), call.Owner(), id)
		if err != nil {
			return httpapi.Response{}, err
		}
		return httpapi.Response{Value: c.kind.Detail(&r, calls)}, nil
	}
	r, err := c.Find(call.Context(), call.Owner(), id)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Response{Value: c.kind.Reply(&r)}, nil
}

// detailRequested reports whether a GET of one object has the parameter view=detail. Any
// other parameter or value is an error.
func detailRequested(c *httpapi.Call) (bool, error) {
	view, found := c.Params["view"]
	if found && view != "detail" {
		return false, schema.NewProblem(schema.InvalidRequest, "view", "The view must be detail.")
	}
	return found, nil
}

// Timeline returns a transaction of an owner, with the steps of its calls. The error is
// not_found if the owner has no such transaction.
func (c *Core[R, P]) Timeline(ctx context.Context, o schema.Owner, id string) (r R, calls schema.ProviderCalls, err error) {
	if !schema.IsID(id) {
		return r, calls, c.kind.Missing
	}
	view := c.DB.View(ctx)
	r, steps, err := readWithSteps(view, id, func() (R, error) { return c.Find(ctx, o, id) },
		func(r *R) bool { return !P(r).Shared().FinishedAt.IsZero() })
	if err != nil {
		return r, calls, err
	}
	b := P(&r).Shared()
	calls = schema.ProviderCalls{
		Provider: b.Provider, ProviderRef: b.ProviderRef, Enquiries: b.Tries,
		Steps: Timeline(c.kind.Summary(&r, len(steps) > 0), steps),
	}
	if P(&r).Status() == pendingState {
		calls.NextEnquiryAt, err = c.kind.nextPoll(view, id)
	}
	return r, calls, err
}

// Summary is the part of a timeline that the row of a recharge or verification holds.
type Summary struct {
	Created time.Time
	// Sent is the time of the last call of the kind Act; zero if there was none. While the call
	// lasts, Sent is the latest time at which the call can start.
	Sent time.Time
	Act  schema.StepAct
	// Answer is the provider's answer that finished the transaction. It is "" if there is none, if it is unknown, or
	// if it cannot be the answer to the call Act. While the transaction is pending, Answer has no effect.
	Answer   schema.StepAnswer
	Finished time.Time         // zero while pending
	Outcome  schema.StepAnswer // success or failed; ignored while Finished is zero
	Refunded time.Time         // zero unless refunded
}

// Timeline returns all steps in their order: the stored steps, and the steps that follow from the row. For example, a
// final answer to the first call is in the row, and has no stored step.
func Timeline(o *Summary, steps []Step) []schema.Step {
	before, after := split(steps, o.Finished)
	out := []schema.Step{singleStep(o.Created, schema.ActCreated, schema.AnswerRecorded)}
	switch {
	case o.Sent.IsZero():
		out = appendSteps(out, before)
	case !o.Finished.IsZero() && o.Answer != "" && !slices.ContainsFunc(before, o.finishes):
		out = append(appendSteps(out, before), singleStep(o.sentAt(o.Finished), o.Act, o.Answer))
	case !slices.ContainsFunc(steps, func(s Step) bool { return s.Act == o.Act }):
		latest := o.Finished
		if len(before) > 0 {
			latest = before[0].First
		}
		out = appendSteps(append(out, singleStep(o.sentAt(latest), o.Act, schema.AnswerAwaited)), before)
	default:
		out = appendSteps(out, before)
	}
	if o.Finished.IsZero() {
		return out
	}
	out = append(out, singleStep(o.Finished, schema.ActSettled, o.Outcome))
	if o.Refunded.IsZero() {
		return appendSteps(out, after)
	}
	before, after = split(after, o.Refunded)
	return appendSteps(append(appendSteps(out, before), singleStep(o.Refunded, schema.ActSettled, schema.AnswerRefunded)), after)
}

// split splits steps at the time `at`. `before` has the steps up to and including `at`, or all steps if `at` is zero.
func split(steps []Step, at time.Time) (before, after []Step) {
	i := len(steps)
	if !at.IsZero() {
		i = slices.IndexFunc(steps, func(s Step) bool { return s.First.After(at) })
	}
	if i < 0 {
		i = len(steps)
	}
	return steps[:i], steps[i:]
}

func (o *Summary) finishes(s Step) bool {
	switch s.Answer {
	case schema.AnswerPending, schema.AnswerUnknown, schema.AnswerNotSent, schema.AnswerRedirected, schema.AnswerNotMade:
		return false
	default:
		return s.Last.Equal(o.Finished)
	}
}

// sentAt returns the time of the last call, but no time before Created. `latest` is a time by which the call had
// begun; zero if unknown. If `latest` is zero or before Sent, Sent is only the latest possible start of the call.
// Then sentAt returns the time at which the lease was claimed: LeaseMargin before Sent.
func (o *Summary) sentAt(latest time.Time) time.Time {
	at := o.Sent
	if latest.IsZero() || at.After(latest) {
		at = at.Add(-workqueue.LeaseMargin)
	}
	if at.Before(o.Created) {
		return o.Created
	}
	return at
}

func singleStep(at time.Time, act schema.StepAct, answer schema.StepAnswer) schema.Step {
	return schema.Step{At: schema.FormatExact(at), Until: schema.FormatExact(at), Times: 1, Act: act, Answer: answer}
}

func appendSteps(out []schema.Step, steps []Step) []schema.Step {
	for _, s := range steps {
		out = append(out, schema.Step{At: schema.FormatExact(s.First), Until: schema.FormatExact(s.Last), Times: s.Times, Act: s.Act, Answer: s.Answer})
	}
	return out
}

// nextPoll returns the due time of a row, in the format of replies. It is "" in three cases:
// the row has a lease, the row has no due time, or its state is final.
func (t *Table[R, P]) nextPoll(q sqlstore.Querier, id string) (string, error) {
	query := "SELECT due_at FROM " + t.Name + " WHERE id = $1 AND token = '' AND due_at IS NOT NULL AND state = 'pending'"
	due, found, err := sqlstore.One(q, sqlstore.Scalar[int64], query, id)
	if err != nil || !found {
		return "", err
	}
	return schema.FormatExact(time.UnixMicro(due)), nil
}

// Step has an act of a timeline, such as a call or a callback, and the kind of the answer. Consecutive acts of the same
// kind with the same answer are one Step, and `Times` is their number.
type Step struct {
	Act         schema.StepAct
	Answer      schema.StepAnswer
	First, Last time.Time // times at which the answers were recorded
	Times       int
}

// maxSteps bounds the stored steps of one subject (a recharge or verification). An enquiry every
// ten minutes, with alternating answers, would add 144 steps a day. At the limit, a new step
// replaces the last one. So the table keeps the first steps and the newest one.
const maxSteps = 100

const (
	repeatStep = `UPDATE upstream_step SET times = times + 1, last_at = CASE WHEN last_at > $4 THEN last_at ELSE $4 END
	WHERE subject = $1 AND number = (SELECT max(number) FROM upstream_step WHERE subject = $1) AND act = $2 AND answer = $3
	RETURNING last_at`
	// Steps keep their order despite clock skew between instances: no step is earlier than the one before it.
	insertStep = `INSERT INTO upstream_step (subject, number, act, answer, first_at, last_at, times)
	SELECT CAST($1 AS TEXT), COALESCE(max(number), 0) + 1, CAST($2 AS TEXT), CAST($3 AS TEXT), CASE WHEN max(last_at) > $4 THEN max(last_at) ELSE CAST($4 AS BIGINT) END,
		CASE WHEN max(last_at) > $4 THEN max(last_at) ELSE CAST($4 AS BIGINT) END, 1
	FROM upstream_step WHERE subject = $1 HAVING COALESCE(max(number), 0) < $5 RETURNING last_at`
	replaceStep = `UPDATE upstream_step SET act = $2, answer = $3, times = 1, first_at = CASE WHEN last_at > $4 THEN last_at ELSE $4 END,
		last_at = CASE WHEN last_at > $4 THEN last_at ELSE $4 END WHERE subject = $1 AND number = $5
	RETURNING last_at`
)

// RecordStep stores a call to a provider and the kind of its answer, in the transaction that records the result. The
// caller must update the subject's row first, to lock out concurrent writers. If the first answer is final, the
// caller need not record a step, because the subject's row has the answer. RecordStep returns the time of the step:
// `at`, or the time of the previous step if that is later.
func RecordStep(tx *sqlstore.Tx, subject string, act schema.StepAct, answer schema.StepAnswer, at time.Time) (time.Time, error) {
	args := []any{subject, string(act), string(answer), at.UnixMicro()}
	var last int64
	err := tx.QueryRow(repeatStep, args...).Scan(&last)
	for _, text := range [...]string{insertStep, replaceStep} {
		if !errors.Is(err, sql.ErrNoRows) {
			break
		}
		err = tx.QueryRow(text, append(args, maxSteps)...).Scan(&last)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("recording a step of %s: %w", subject, err)
	}
	return time.UnixMicro(last).UTC(), nil
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

const selectSteps = "SELECT act, answer, first_at, last_at, times FROM upstream_step WHERE subject = $1 ORDER BY number"

// Steps returns the steps of a subject in their order.
func Steps(q sqlstore.Querier, subject string) ([]Step, error) {
	all, err := sqlstore.All(q, func(row sqlstore.Scanner) (s Step, err error) {
		var first, last int64
		err = row.Scan(&s.Act, &s.Answer, &first, &last, &s.Times)
		s.First, s.Last = time.UnixMicro(first).UTC(), time.UnixMicro(last).UTC()
		return s, err
	}, selectSteps, subject)
	if err != nil {
		return nil, fmt.Errorf("reading the steps of %s: %w", subject, err)
	}
	return all, nil
}

// readWithSteps reads the steps of a subject, and then its row with `find`. So the steps of a pending row are never
// newer than the row. If `ended` reports that the row is finished, readWithSteps reads the steps again, to include
// the last one.
func readWithSteps[R any](q sqlstore.Querier, subject string, find func() (R, error), ended func(*R) bool) (r R, steps []Step, err error) {
	if steps, err = Steps(q, subject); err != nil {
		return r, nil, err
	}
	if r, err = find(); err == nil && ended(&r) {
		steps, err = Steps(q, subject)
	}
	return r, steps, err
}

// DeleteSteps deletes the steps of the recharges or verifications with the ids `subjects`. The caller deletes these
// recharges or verifications in the same transaction tx.
func DeleteSteps(tx *sqlstore.Tx, subjects []string) error {
	many := sqlstore.NewBatchStatement(0, "DELETE FROM upstream_step WHERE subject IN (", "?", ")")
	return many.Each(len(subjects), func(text string, from, to int) error {
		args := make([]any, 0, to-from)
		for _, subject := range subjects[from:to] {
			args = append(args, subject)
		}
		_, err := tx.Exec(text, args...)
		return err
	})
}
