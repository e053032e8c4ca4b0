package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"vayu/internal/failpoint"
	"vayu/internal/workqueue"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

// call is a method of [bank.Bank], or callNone for a callback.
type call int

const (
	callNone    call = iota // no call: the result came in a callback
	callDeposit             // makes a penny drop
	callEnquire             // reads the state of a penny drop
	callResolve             // looks up the holder of an address
)

// String returns the name used in metrics and logs.
func (c call) String() string { return [...]string{"callback", "deposit", "enquire", "resolve"}[c] }

// firstCall returns the call that starts a verification.
func firstCall(r *Record) call {
	if r.Method == schema.VerifyUPI {
		return callResolve
	}
	return callDeposit
}

// nextCall returns the call that a due verification needs. `first` means that nothing was sent to the bank before the
// current lease. After a possible deposit, the call is an enquiry. The lookup of a UPI address is simply repeated.
func nextCall(r *Record, first bool) call {
	if first || r.Method == schema.VerifyUPI {
		return firstCall(r)
	}
	return callEnquire
}

// job is a verification and its next call. It holds a slot of the bank's pool (one concurrent call).
type job struct {
	*bank.Connection

	rec        Record
	private    request.Private
	call       call
	resent     bool  // the deposit may have been sent before
	decryptErr error // error of decrypting the private fields; then the bank is not called
	lease      workqueue.Lease
	calls      context.Context // context of the calls, with the creating request's trace; nil for the queue's context
}

// resume starts the next call of a claimed verification.
func (s *Service) resume(conn *bank.Connection, claim workqueue.Claim[Record]) {
	j := job{Connection: conn, rec: claim.Record, call: nextCall(&claim.Record, claim.First), lease: claim.Lease}
	if j.private, j.decryptErr = s.decryptPrivate(&claim.Record); j.decryptErr != nil {
		s.metrics.undecryptable.Inc()
		s.Log.Error("a pending verification cannot be decrypted; restore the encryption key", "verification", claim.Record.ID, "error", j.decryptErr)
	}
	go s.runJob(j)
}

// runJob makes the calls of a job and releases its slot. Service.Run waits until runJob returns.
func (s *Service) runJob(j job) {
	ctx := cmp.Or(j.calls, s.Queue.CallContext())
	for s.callAndSettle(ctx, &j) {
	}
	j.Pool.Release(j.rec.InBatch())
}

// callAndSettle makes one call and records its result. It returns true if another call follows immediately.
func (s *Service) callAndSettle(ctx context.Context, j *job) bool {
	if j.call == callDeposit && !s.Now().Before(j.lease.Until.Add(-j.Timeout)) {
		// Do not call, because the call could outlast the lease. The instance with the next lease makes an enquiry.
		s.metrics.Overdue.Inc()
		return false
	}
	res := s.callBank(ctx, j)
	var out result
	recorded := s.Core.RecordResult(ctx, func(limit context.Context) (err error) {
		out, err = s.settle(limit, &j.rec, &res, j.lease, &j.private)
		return err
	})
	if !recorded {
		return false
	}
	j.rec = out.Record
	if out.transition == resend {
		j.call, j.resent, j.lease.Until = callDeposit, true, out.due
		return true
	}
	if !out.due.IsZero() {
		j.Pool.WakeAt(out.due)
	}
	return false
}

// providerResult is the result of a call, or of a callback.
type providerResult struct {
	bank.Answer

	err      error // error of the call; then Answer is ignored
	call     call
	resent   bool
	calledAt time.Time // start of the call, or arrival of the callback
	by       string    // source of the result, for the audit log
}

// actor is the source of call results in the audit log.
const actor = "bank"

// callBank makes the call of a job, with metrics, trace and log. If j.decryptErr is set, it only returns that error.
func (s *Service) callBank(ctx context.Context, j *job) providerResult {
	res := providerResult{call: j.call, resent: j.resent, calledAt: s.Now(), by: actor}
	if j.decryptErr != nil {
		res.call, res.err = callEnquire, j.decryptErr // callEnquire and not callDeposit, because no deposit was sent
		return res
	}
	if j.call == callDeposit {
		failpoint.Point(failpoint.VerifySending)
	}
	res.err = s.Core.Call(ctx, &j.Link, j.call.String(), j.rec.ID, func(ctx context.Context) (outcome string, err error) {
		if res.Answer, err = callConnection(ctx, j); err == nil {
			err = checkAnswer(&res)
		}
		return res.Outcome.String(), err
	})
	if j.call == callEnquire {
		failpoint.Point(failpoint.VerifyEnquired)
	} else {
		failpoint.Point(failpoint.VerifyAnswered)
	}
	return res
}

// checkAnswer returns an error for an undefined outcome or account status, and for the outcome Unknown of a lookup.
func checkAnswer(res *providerResult) error {
	switch {
	case !res.Outcome.IsDefined():
		return fmt.Errorf("%w: %d", transaction.ErrOutcome, res.Outcome)
	case res.call == callResolve && res.Outcome == bank.Unknown:
		return fmt.Errorf("%w: unknown, for an address", transaction.ErrOutcome)
	case res.Outcome == bank.Found && !slices.Contains(schema.AccountStatuses, res.Account.Status):
		return fmt.Errorf("%w: account status %q", transaction.ErrOutcome, res.Account.Status)
	}
	return nil
}

func callConnection(ctx context.Context, j *job) (bank.Answer, error) {
	o := bank.Order{
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

// notCalled reports whether the bank's circuit breaker prevented the call.
func (res *providerResult) notCalled() bool { return errors.Is(res.err, httpconnector.ErrNotCalled) }
