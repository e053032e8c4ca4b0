package recharge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"vayu/internal/failpoint"
	"vayu/internal/tracing"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// job is a recharge whose next call is to be made. It has a slot of the line.
type job struct {
	*line

	rec  Record
	call call

	resent  bool // of submit and reverse: it may have been said before under the reference
	refused bool // of enquire: a refund was refused just now

	lease upstream.Lease
	calls context.Context // in the trace of the request that has made it; nil for none
	done  chan<- settled  // gets what came of it; nil for nobody
}

// start has a job carried on by a goroutine, for which Run waits at its end.
func (s *Service) start(j job) { go s.carry(j) }

// carry makes the call of a job, and those that follow from it at once, and gives
// its slot back.
func (s *Service) carry(j job) {
	ctx := cmp.Or(j.calls, s.calls.Calls())
	var out settled
	for going := true; going; {
		out, going = s.advance(ctx, &j)
	}
	j.Give(j.rec.Batch.Batch != "")
	if j.done != nil {
		j.done <- out
	}
}

// advance makes one call and records what came of it. It is true when the job goes
// on with another.
func (s *Service) advance(ctx context.Context, j *job) (out settled, going bool) {
	if j.call != enquire && !s.Now().Before(j.lease.Until.Add(-j.Timeout)) {
		// The call could end after the lease: whoever has the next one asks first.
		s.metrics.overdue.Inc()
		return settled{Record: j.rec}, false
	}
	w := s.ask(ctx, j)
	if w.err == nil && w.Outcome == NotSubscriber && j.rec.redetects() {
		w.onto, w.err = s.redetect(ctx, &j.rec, j.line)
	}
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), upstream.Recording)
	err := upstream.Rescue(func() (err error) {
		out, err = s.settle(limit, &j.rec, &w, j.lease)
		return err
	})
	done()
	s.metrics.records.Tell(ctx, err)
	if err != nil { // the lease ends, and then it is looked at again
		s.release(j, &w, false)
		return settled{Record: j.rec}, false
	}
	s.release(j, &w, out.verdict == redirect)
	j.rec = out.Record
	switch {
	case out.verdict == resend:
		j.call, j.resent, j.lease.Until = submit, true, out.due
		return out, true
	case out.verdict == doubt:
		j.call, j.refused, j.lease.Until = enquire, true, out.due
		return out, true
	case out.verdict == retell:
		j.call, j.resent, j.lease.Until = reverse, true, out.due
		return out, true
	case out.verdict == redirect && w.onto.lease.Token != "":
		j.line, j.call, j.resent, j.lease = w.onto.line, submit, false, w.onto.lease
		return out, true
	case out.verdict == redirect:
		w.onto.Due(out.due)
	case !out.due.IsZero():
		j.Due(out.due)
	}
	return out, false
}

// release gives back the slot that is not needed of the two that a redirection may
// have: the old one when the job goes on with the new one.
func (s *Service) release(j *job, w *word, redirected bool) {
	if w.onto == nil || w.onto.lease.Token == "" || w.onto.line == j.line {
		return
	}
	unneeded := w.onto.line
	if redirected {
		unneeded = j.line
	}
	unneeded.Give(j.rec.Batch.Batch != "")
}

// errOutcome is for an answer that is none of those that there are.
var errOutcome = errors.New("the provider's answer is none that there is")

// ask makes the call of a job.
func (s *Service) ask(ctx context.Context, j *job) word {
	w := word{call: j.call, resent: j.resent, refused: j.refused, reference: j.rec.Reference, asked: s.Now(), by: actor}
	limit, done := context.WithTimeout(ctx, j.Timeout)
	defer done()
	if j.call == submit {
		failpoint.Point(failpoint.RechargeSending)
	}
	began := time.Now()
	limit, span := s.Trace.Start(limit, "operator call", tracing.Asks)
	w.Answer, w.err = s.guarded(limit, j)
	if w.err == nil && (w.Outcome < Pending || w.Outcome > Reversed) {
		w.err = fmt.Errorf("%w: %d", errOutcome, w.Outcome)
	}
	s.metrics.called(j.line, j.call.String(), resultOf(&w), time.Since(began))
	j.traced(span, &w)
	if w.err != nil && !w.notAsked() {
		s.Log.Warn("a provider gave no answer", "provider", j.Name, "world", j.World.String(), "call", j.call.String(),
			"transaction", j.rec.ID, "error", w.err)
	}
	failpoint.Point(answered[j.call])
	return w
}

// actor is who tells an outcome, for the audit log.
const actor = "operator"

// answered are the moments after calls.
var answered = [...]string{submit: failpoint.RechargeAnswered, enquire: failpoint.RechargeEnquired, reverse: failpoint.RefundAnswered}

// guarded makes a call, and takes a panic in it for an answer that did not come.
func (s *Service) guarded(ctx context.Context, j *job) (a Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("a provider's code panicked", "provider", j.Name, "call", j.call.String(), "panic", p, "stack", string(debug.Stack()))
			a, err = Answer{}, errPanic
		}
	}()
	o := orderOf(&j.rec)
	switch {
	case j.call == submit:
		return j.Operator.Submit(ctx, o)
	case j.call == enquire:
		return j.Operator.Enquire(ctx, o)
	case j.Reverser == nil: // it had one when the refund was asked for
		return Answer{Outcome: Failed}, nil
	default:
		return j.Reverser.Reverse(ctx, o)
	}
}

// orderOf is a recharge as its provider is asked for it.
func orderOf(r *Record) Order {
	return Order{
		Reference: r.Reference, Type: r.Type, Number: r.Number, Operator: r.Operator, Circle: r.Circle, Amount: r.Amount,
		CreatedAt: r.CreatedAt, ProviderRef: r.ProviderRef,
	}
}

// nextCall is what a recharge that is due needs. First says that it was not sent
// before the lease under which it is now. Of everything else it is asked how it
// stands: an order may have arrived whose answer has not, and so may a wish to have it
// taken back.
func nextCall(r *Record, first bool) call {
	if r.State == schema.RechargePending && first {
		return submit
	}
	return enquire
}

// traced tells of a call in its step.
func (j *job) traced(span tracing.Span, w *word) {
	if !span.Kept() {
		return
	}
	span.Exchanged(tracing.Exchange{Provider: j.Name, World: j.World.String(), Call: j.call.String(), Result: resultOf(w), Subject: j.rec.ID}, w.err)
}
