package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"vayu/internal/failpoint"
	"vayu/internal/tracing"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

// call is what a bank is asked.
type call int

const (
	callNone    call = iota // nothing: it speaks by itself
	callDeposit             // to make a penny drop
	callEnquire             // what has become of one
	callResolve             // whose an address is
)

// String is what metrics and logs call it.
func (c call) String() string { return [...]string{"told", "deposit", "enquire", "resolve"}[c] }

// firstCall is what a verification needs of which no bank has heard.
func firstCall(r *Record) call {
	if r.Method == schema.VerifyUPI {
		return callResolve
	}
	return callDeposit
}

// nextCall is what a verification that is due needs. First says that it was not sent
// findByRef the lease under which it is now. A deposit that may have been made is asked
// about; a question about an address is asked again.
func nextCall(r *Record, first bool) call {
	if first || r.Method == schema.VerifyUPI {
		return firstCall(r)
	}
	return callEnquire
}

// job is a verification whose next call is to be made. It has a slot of the line.
type job struct {
	*connection

	rec     Record
	private Private
	call    call
	resent  bool  // of deposit: it may have been asked for before
	decryptErr  error // why what is private cannot be read; nobody is asked then
	lease   upstream.Lease
	calls   context.Context // in the trace of the request that has made it; nil for none
}

// resume carries on with a verification that was leased.
func (s *Service) resume(l *connection, claim upstream.Claim[Record]) {
	j := job{connection: l, rec: claim.Record, call: nextCall(&claim.Record, claim.First), lease: claim.Lease}
	if j.private, j.decryptErr = s.decryptPrivate(&claim.Record); j.decryptErr != nil {
		s.metrics.undecryptable.Inc()
		s.Log.Error("a verification cannot be read that waits for the bank", "verification", claim.Record.ID, "error", j.decryptErr)
	}
	s.startJob(j)
}

// startJob has a job carried on by a goroutine, for which Run waits at its end.
func (s *Service) startJob(j job) { go s.runJob(j) }

// runJob makes the call of a job, and the one that follows from it at once, and gives
// its slot back.
func (s *Service) runJob(j job) {
	ctx := cmp.Or(j.calls, s.queue.Calls())
	for s.step(ctx, &j) {
	}
	j.Give(j.rec.Batch.Batch != "")
}

// step makes one call and records what came of it. It is true when the job goes
// on with another.
func (s *Service) step(ctx context.Context, j *job) bool {
	if j.call == callDeposit && !s.Now().Before(j.lease.Until.Add(-j.Timeout)) {
		// The call could end after the lease: whoever has the next one asks first.
		s.metrics.overdue.Inc()
		return false
	}
	w := s.callBank(ctx, j)
	limit, done := context.WithTimeout(context.WithoutCancel(ctx), upstream.Recording)
	var out result
	err := upstream.Rescue(func() (err error) {
		out, err = s.settle(limit, &j.rec, &w, j.lease, &j.private)
		return err
	})
	done()
	s.metrics.records.Tell(ctx, err)
	if err != nil { // the lease ends, and then it is looked at again
		return false
	}
	j.rec = out.Record
	if out.transition == resend {
		j.call, j.resent, j.lease.Until = callDeposit, true, out.due
		return true
	}
	if !out.due.IsZero() {
		j.Due(out.due)
	}
	return false
}

// providerResult is what is known after a call, or without one.
type providerResult struct {
	Answer

	err    error // of the call: then there is no answer
	call   call
	resent bool
	calledAt  time.Time // when the call began
	by     string    // who says so, for the audit log
}

// actor is who tells an outcome, for the audit log.
const actor = "bank"

// errOutcome is for an answer that is none of those that there are.
var errOutcome = errors.New("the bank's answer is none that there is")

// callBank makes the call of a job.
func (s *Service) callBank(ctx context.Context, j *job) providerResult {
	w := providerResult{call: j.call, resent: j.resent, calledAt: s.Now(), by: actor}
	limit, done := context.WithTimeout(ctx, j.Timeout)
	defer done()
	if j.decryptErr != nil {
		w.call, w.err = callEnquire, j.decryptErr // of a deposit it is not to be said that it was asked for
		return w
	}
	if j.call == callDeposit {
		failpoint.Point(failpoint.VerifySending)
	}
	began := time.Now()
	limit, span := s.Trace.Start(limit, "bank call", tracing.Asks)
	w.Answer, w.err = s.callRecovering(limit, j)
	if w.err == nil {
		w.err = checkAnswer(&w)
	}
	s.metrics.called(j.connection, j.call.String(), resultOf(&w), time.Since(began))
	j.traceCall(span, &w)
	if w.err != nil && !w.notCalled() {
		s.Log.Warn("a bank gave no answer", "provider", j.Name, "world", j.World.String(), "call", j.call.String(),
			"verification", j.rec.ID, "error", w.err)
	}
	if j.call == callEnquire {
		failpoint.Point(failpoint.VerifyEnquired)
	} else {
		failpoint.Point(failpoint.VerifyAnswered)
	}
	return w
}

// checkAnswer says what is wrong with an answer; nil when nothing is.
func checkAnswer(w *providerResult) error {
	switch {
	case w.Outcome < Pending || w.Outcome > NotMade:
		return fmt.Errorf("%w: %d", errOutcome, w.Outcome)
	case w.call == callResolve && w.Outcome == Unknown:
		return fmt.Errorf("%w: an address has no reference to be unknown", errOutcome)
	case w.Outcome == Found && !isKnownStatus(w.Account.Status):
		return fmt.Errorf("%w: an account that is %q", errOutcome, w.Account.Status)
	}
	return nil
}

func isKnownStatus(status schema.AccountStatus) bool { return slices.Contains(schema.AccountStatuses, status) }

// errPanic is for a bank's code that panicked.
var errPanic = errors.New("the bank's code panicked")

// callRecovering makes a call, and takes a panic in it for an answer that did not come.
func (s *Service) callRecovering(ctx context.Context, j *job) (a Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("a bank's code panicked", "provider", j.Name, "call", j.call.String(), "panic", p, "stack", string(debug.Stack()))
			a, err = Answer{}, errPanic
		}
	}()
	o := Order{
		Reference: j.rec.ID, Method: j.rec.Method, Account: j.private.Account, IFSC: j.rec.IFSC, VPA: j.private.VPA, Expected: j.private.Name,
		CreatedAt: j.rec.CreatedAt, ProviderRef: j.rec.ProviderRef,
	}
	switch j.call {
	case callDeposit:
		return j.Bank.Deposit(ctx, o)
	case callEnquire:
		return j.Bank.Enquire(ctx, o)
	default:
		return j.Bank.Resolve(ctx, o)
	}
}

// notCalled reports whether a call was put off, and not made.
func (w *providerResult) notCalled() bool { return errors.Is(w.err, ErrNotAsked) }

// traceCall tells of a call in its step.
func (j *job) traceCall(span tracing.Span, w *providerResult) {
	if !span.Kept() {
		return
	}
	span.Exchanged(tracing.Exchange{Provider: j.Name, World: j.World.String(), Call: j.call.String(), Result: resultOf(w), Subject: j.rec.ID}, w.err)
}
