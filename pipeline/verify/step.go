package verify

import (
	"context"
	"errors"

	"vayu/internal/sqlstore"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// recordStep records what was asked and what kind of answer came.
func (st *transitionTx) recordStep() error {
	_, err := upstream.Note(st.tx, st.out.ID, st.result.stepAct(), st.result.stepAnswer(), sqlstore.Whole(st.now))
	return err
}

const finishLate = "UPDATE verification SET finished_at = $2 WHERE id = $1"

// recordFinalStep is note for the word that ends a verification, unless it is the answer to
// the first call: then the row says it, and nothing more is written. When a step was
// recorded by a clock that is ahead, the end is not before it.
func (st *transitionTx) recordFinalStep() error {
	r, w := &st.out.Record, st.result
	if w.err == nil && w.call == firstCall(r) && !w.resent && r.Tries == 0 && (w.Outcome == Found || w.Outcome == NotFound) {
		return nil
	}
	noted, err := upstream.Note(st.tx, r.ID, w.stepAct(), w.stepAnswer(), r.FinishedAt)
	if err == nil && noted.After(r.FinishedAt) {
		r.FinishedAt = noted
		_, err = st.tx.Exec(finishLate, r.ID, noted.UnixMicro())
	}
	return err
}

// recordCallback records what a bank has told by itself of what is pending and stays so.
func (st *transitionTx) recordCallback() error {
	if st.result.call != callNone {
		return nil
	}
	// Setting a column has others wait who record about the same.
	n, err := st.tx.Exec("UPDATE verification SET tries = tries WHERE id = $1 AND state = 'pending'", st.out.ID)
	if err != nil || n == 0 {
		return err
	}
	return st.recordStep()
}

// stepAct is what a step calls that from which a word comes.
func (w *providerResult) stepAct() schema.StepAct {
	return [...]schema.StepAct{callNone: schema.ActCallback, callDeposit: schema.ActDeposit, callEnquire: schema.ActEnquire, callResolve: schema.ActResolve}[w.call]
}

// stepAnswer is what a step calls an answer, or that none came.
func (w *providerResult) stepAnswer() schema.StepAnswer {
	switch {
	case w.err == nil:
		return [...]schema.StepAnswer{
			schema.AnswerPending, schema.AnswerFound, schema.AnswerNotFound, schema.AnswerUnknown, schema.AnswerNotMade,
		}[w.Outcome]
	case errors.Is(w.err, ErrNotAsked):
		return schema.AnswerNotAsked
	case errors.Is(w.err, ErrNotSent):
		return schema.AnswerNotConnected
	case errors.Is(w.err, errOutcome), errors.Is(w.err, errPanic), httpconnector.Misunderstood(w.err):
		return schema.AnswerUnreadable
	}
	return schema.AnswerNone
}

// Story returns a verification of an owner by its id with what banks were asked about
// it; not_found when there is none.
func (s *Service) Story(ctx context.Context, o schema.Owner, id string) (r Record, asked schema.Asked, err error) {
	if !schema.IsID(id) {
		return Record{}, schema.Asked{}, errNoVerification
	}
	view := s.DB.View(ctx)
	r, steps, err := upstream.Told(view, id, func() (Record, error) { return s.Find(ctx, o, id) }, func(r *Record) bool { return !r.FinishedAt.IsZero() })
	if err != nil {
		return Record{}, schema.Asked{}, err
	}
	asked = schema.Asked{Provider: r.Provider, ProviderRef: r.ProviderRef, Tries: r.Tries, Steps: upstream.Story(summaryOf(&r, len(steps) > 0), steps)}
	if r.State == schema.VerificationPending {
		asked.NextLookAt, err = queueTable.NextLook(view, id)
	}
	return r, asked, err
}

// summaryOf is what the row of a verification says of its story; noted is that it has
// steps.
func summaryOf(r *Record, noted bool) *upstream.Outline {
	o := &upstream.Outline{Created: r.CreatedAt, Sent: r.SentAt, Act: (&providerResult{call: firstCall(r)}).stepAct(), Finished: r.FinishedAt, End: schema.AnswerSuccess}
	said := schema.AnswerFound
	if r.State == schema.VerificationFailed {
		o.End, said = schema.AnswerFailed, schema.AnswerNotFound
	}
	// Without steps, and looked at again, it is from before there were any; and who has
	// given it up has said nothing.
	if (noted || r.Tries == 0) && reached(r) {
		o.Said = said
	}
	return o
}
