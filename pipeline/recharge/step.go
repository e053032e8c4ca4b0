package recharge

import (
	"errors"
	"strings"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// at is when a word comes. What comes after the outcome is later than it, also by a
// clock that is behind.
func (st *settling) at() time.Time {
	at := sqlstore.Whole(st.now)
	if final := st.out.FinishedAt; !final.IsZero() && !at.After(final) {
		return final.Add(time.Microsecond)
	}
	return at
}

// note records what was asked and what kind of answer came.
func (st *settling) note(answer schema.StepAnswer) error {
	_, err := upstream.Note(st.tx, st.out.ID, st.word.act(), answer, st.at())
	return err
}

// noteFinal records the word by which a recharge was finished or refunded, unless it is
// the answer to the first call: then the row says it, and nothing more is written. It
// returns when that was: at, or when a step was recorded by a clock that is ahead; then
// the row gets it by late.
func (st *settling) noteFinal(was *Record, first call, at time.Time, late string) (time.Time, error) {
	w := st.word
	if w.err == nil && w.call == first && !w.resent && was.Tries == 0 && (first == reverse || was.Reference == was.ID) {
		return at, nil
	}
	noted, err := upstream.Note(st.tx, was.ID, w.act(), w.said(), at)
	if err == nil && noted.After(at) {
		_, err = st.tx.Exec(late, was.ID, noted.UnixMicro())
	}
	return noted, err
}

// heard records what a provider has told by itself of what is pending and stays so.
func (st *settling) heard() error {
	r := &st.out.Record
	if st.word.call != told || r.State != schema.RechargePending {
		return nil
	}
	// Setting a column has others wait who record about the same.
	n, err := st.tx.Exec("UPDATE recharge SET tries = tries WHERE id = $1 AND reference = $2 AND state = 'pending'", r.ID, st.word.reference)
	if err != nil || n == 0 {
		return err
	}
	return st.note(st.word.said())
}

// ByFile is who tells what stands in a provider's file, as the audit log names it.
const ByFile = "reconcile"

// byCallback begins the name of a provider that speaks by itself. Whoever tells what a
// provider has said and has another name is a person.
const byCallback = "provider:"

// act is what a step calls that from which a word comes.
func (w *word) act() schema.StepAct {
	switch {
	case w.call != told:
		return [...]schema.StepAct{submit: schema.ActSubmit, enquire: schema.ActEnquire, reverse: schema.ActReverse}[w.call]
	case strings.HasPrefix(w.by, byCallback):
		return schema.ActCallback
	case w.by == ByFile:
		return schema.ActFile
	default:
		return schema.ActManual
	}
}

// said is what a step calls an answer.
func (w *word) said() schema.StepAnswer {
	switch {
	case w.err != nil && w.Outcome != NotSubscriber: // else it is the lookup after it that has failed
		return missing(w.err)
	case w.call == reverse && (w.Outcome == Failed || w.Outcome == NotSubscriber):
		return schema.AnswerRefused
	case w.Outcome < Pending || w.Outcome > Reversed:
		return schema.AnswerUnreadable
	}
	return [...]schema.StepAnswer{
		schema.AnswerPending, schema.AnswerSucceeded, schema.AnswerFailed, schema.AnswerNotSubscriber, schema.AnswerUnknown, schema.AnswerReversed,
	}[w.Outcome]
}

// missing is what a step calls a call without an answer.
func missing(err error) schema.StepAnswer {
	switch {
	case errors.Is(err, ErrNotAsked):
		return schema.AnswerNotAsked
	case errors.Is(err, ErrNotSent):
		return schema.AnswerNotConnected
	case errors.Is(err, errOutcome), errors.Is(err, errPanic), httpconnector.Misunderstood(err):
		return schema.AnswerUnreadable
	}
	return schema.AnswerNone
}

// alarmSaid is what a step calls the word that raises an alarm.
func (st *settling) alarmSaid() schema.StepAnswer {
	switch {
	case st.out.verdict == lateFailure:
		return schema.AnswerLateFailure
	case st.out.Reference != st.word.reference:
		return schema.AnswerStray
	default:
		return schema.AnswerLateSuccess
	}
}
