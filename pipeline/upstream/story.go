package upstream

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Detailed reads the query of a question about one thing: view=detail is that its story
// is asked for, and nothing else may be there.
func Detailed(c *httpapi.Call) (bool, error) {
	params, err := httpapi.Parameters(c.URL.RawQuery, "view")
	if err != nil {
		return false, err
	}
	view, asked := params["view"]
	if asked && view != "detail" {
		return false, schema.Refuse(schema.InvalidRequest, "view", "The only view there is, is detail.")
	}
	return asked, nil
}

// Outline is what the row of a recharge or verification says of its story.
type Outline struct {
	Created time.Time
	// Sent is when the upstream was asked the last time by Act; zero for never. Until
	// that call has ended it is when it can begin at the latest.
	Sent time.Time
	Act  schema.StepAct
	// Said is what was answered to Act, if the answer to it was final; "" when it
	// certainly was not.
	Said     schema.StepAnswer
	Finished time.Time         // zero while pending
	End      schema.StepAnswer // what it came to: success, failed
	Refunded time.Time         // zero unless refunded
}

// Story is what has happened, in order: the steps, and around them what the row says.
// What was answered at once and finally has no step of its own.
func Story(o *Outline, steps []Step) []schema.Step {
	before, after := split(steps, o.Finished)
	out := []schema.Step{once(o.Created, schema.ActCreated, schema.AnswerRecorded)}
	switch {
	case o.Sent.IsZero():
		out = shown(out, before)
	case !o.Finished.IsZero() && o.Said != "" && !slices.ContainsFunc(before, o.finishes):
		out = append(shown(out, before), once(o.sent(o.Finished), o.Act, o.Said))
	case !slices.ContainsFunc(steps, func(s Step) bool { return s.Act == o.Act }):
		latest := o.Finished
		if len(before) > 0 {
			latest = before[0].First
		}
		out = shown(append(out, once(o.sent(latest), o.Act, schema.AnswerAwaited)), before)
	default:
		out = shown(out, before)
	}
	if o.Finished.IsZero() {
		return out
	}
	out = append(out, once(o.Finished, schema.ActSettled, o.End))
	if o.Refunded.IsZero() {
		return shown(out, after)
	}
	before, after = split(after, o.Refunded)
	return shown(append(shown(out, before), once(o.Refunded, schema.ActSettled, schema.AnswerRefunded)), after)
}

// split parts steps at a moment, of which they are told by the steps that belong to it;
// zero is the end of time.
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

// finishes reports whether a step is the one by which it was finished.
func (o *Outline) finishes(s Step) bool {
	switch s.Answer {
	case schema.AnswerPending, schema.AnswerUnknown, schema.AnswerNotAsked, schema.AnswerRedirected, schema.AnswerNotMade:
		return false
	default:
		return s.Last.Equal(o.Finished)
	}
}

// sent is when the upstream was asked. While the row has when it can be at the latest,
// which is after a moment that came later, it is when that was written.
func (o *Outline) sent(latest time.Time) time.Time {
	at := o.Sent
	if latest.IsZero() || at.After(latest) {
		at = at.Add(-Margin)
	}
	if at.Before(o.Created) {
		return o.Created
	}
	return at
}

func once(at time.Time, act schema.StepAct, answer schema.StepAnswer) schema.Step {
	return schema.Step{At: instant(at), Until: instant(at), Times: 1, Act: act, Answer: answer}
}

func shown(out []schema.Step, steps []Step) []schema.Step {
	for _, s := range steps {
		out = append(out, schema.Step{At: instant(s.First), Until: instant(s.Last), Times: s.Times, Act: s.Act, Answer: s.Answer})
	}
	return out
}

// NextLook is when something that is pending is due, as replies show it; "" while it is
// being asked about, and when there is nothing left to ask.
func (t Table[R]) NextLook(q sqlstore.Querier, id string) (string, error) {
	var due int64
	err := q.QueryRow("SELECT due_at FROM "+t.Name+" WHERE id = $1 AND token = '' AND due_at IS NOT NULL AND state = 'pending'", id).Scan(&due)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading when %s is due: %w", id, err)
	}
	return instant(time.UnixMicro(due)), nil
}

// instant is how moments of steps are shown.
func instant(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }
