package transaction

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/schema"
)

// Summary is the part of a timeline that the row of a recharge or verification holds.
type Summary struct {
	Created time.Time
	// Sent is the time of the last call of kind Act; zero if there was none. During that call,
	// Sent is the latest time at which the call can start.
	Sent time.Time
	Act  schema.StepAct
	// Answer is the answer that finished the subject, if Act may have got it. Unused while pending.
	Answer   schema.StepAnswer
	Finished time.Time         // zero while pending
	Outcome  schema.StepAnswer // success or failed; ignored while Finished is zero
	Refunded time.Time         // zero unless refunded
}

// Timeline returns all steps in their order. They are the stored steps, and the steps that
// follow from the row. For example, a final answer to the first call has no stored step.
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

// split splits steps at a time. Steps of exactly that time are in the result before. If the
// time is zero, all steps are in before.
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

// finishes reports whether a step is the one that finished the subject.
func (o *Summary) finishes(s Step) bool {
	switch s.Answer {
	case schema.AnswerPending, schema.AnswerUnknown, schema.AnswerNotSent, schema.AnswerRedirected, schema.AnswerNotMade:
		return false
	default:
		return s.Last.Equal(o.Finished)
	}
}

// sentAt returns the time of the last call, but never a time before Created. The parameter latest
// is a time by which the call had begun; zero if unknown. If Sent is later than latest, or latest
// is zero, Sent is LeaseMargin after the claim. Then sentAt returns the time of the claim.
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
	return schema.Step{At: formatTime(at), Until: formatTime(at), Times: 1, Act: act, Answer: answer}
}

func appendSteps(out []schema.Step, steps []Step) []schema.Step {
	for _, s := range steps {
		out = append(out, schema.Step{At: formatTime(s.First), Until: formatTime(s.Last), Times: s.Times, Act: s.Act, Answer: s.Answer})
	}
	return out
}

// nextPoll returns the due time of a row, in the format of replies. It is "" in three cases:
// the row has a lease, the row has no due time, or its state is final.
func (t *Table[R, P]) nextPoll(q sqlstore.Querier, id string) (string, error) {
	var due int64
	err := q.QueryRow("SELECT due_at FROM "+t.Name+" WHERE id = $1 AND token = '' AND due_at IS NOT NULL AND state = 'pending'", id).Scan(&due)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading the due time of %s: %w", id, err)
	}
	return formatTime(time.UnixMicro(due)), nil
}

func formatTime(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }
