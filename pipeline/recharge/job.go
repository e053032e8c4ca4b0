package recharge

import (
	"cmp"
	"context"
	"fmt"

	"vayu/internal/failpoint"
	"vayu/internal/workqueue"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// job is the next call of a recharge. It has a slot of the connection.
type job struct {
	*connection

	rec  Record
	call call

	resent  bool // of submit and reverse: the reference may have been sent before
	refused bool // of enquire: a refund was refused just now

	lease workqueue.Lease
	calls context.Context // context with the trace of the request; nil for none
	done  chan<- result   // receives the result; may be nil
}

// runJob makes the call of a job and the immediate follow-up calls, and releases the slot. Run
// waits for it at the end.
func (s *Service) runJob(j job) {
	ctx := cmp.Or(j.calls, s.Queue.CallContext())
	var out result
	for going := true; going; {
		out, going = s.step(ctx, &j)
	}
	j.Release(j.rec.Batch.Batch != "")
	if j.done != nil {
		j.done <- out
	}
}

// step makes one call and records its result. It returns true if the job continues with
// another call.
func (s *Service) step(ctx context.Context, j *job) (out result, going bool) {
	if j.call != callEnquire && !s.Now().Before(j.lease.Until.Add(-j.Timeout)) {
		// The call could outlast the lease. The instance with the next lease enquires first.
		s.metrics.Overdue.Inc()
		return result{Record: j.rec}, false
	}
	res := s.callProvider(ctx, j)
	if res.err == nil && res.Outcome == NotSubscriber && j.rec.redetects() {
		res.reroute, res.err = s.redetect(ctx, &j.rec, j.connection)
	}
	recorded := s.Record(ctx, func(limit context.Context) (err error) {
		out, err = s.settle(limit, &j.rec, &res, j.lease)
		return err
	})
	if !recorded {
		s.releaseUnusedSlot(j, &res, false)
		return result{Record: j.rec}, false
	}
	s.releaseUnusedSlot(j, &res, out.transition == redirect)
	j.rec = out.Record
	switch {
	case out.transition == resend:
		j.call, j.resent, j.lease.Until = callSubmit, true, out.due
		return out, true
	case out.transition == confirmRefund:
		j.call, j.refused, j.lease.Until = callEnquire, true, out.due
		return out, true
	case out.transition == retryRefund:
		j.call, j.resent, j.lease.Until = callReverse, true, out.due
		return out, true
	case out.transition == redirect && res.reroute.lease.Token != "":
		j.connection, j.call, j.resent, j.lease = res.reroute.connection, callSubmit, false, res.reroute.lease
		return out, true
	case out.transition == redirect:
		res.reroute.WakeAt(out.due)
	case !out.due.IsZero():
		j.WakeAt(out.due)
	}
	return out, false
}

// releaseUnusedSlot releases the slot that a redirect leaves unused. That is the old one if
// the job continues with the other operator, else the new one.
func (s *Service) releaseUnusedSlot(j *job, res *providerResult, redirected bool) {
	if res.reroute == nil || res.reroute.lease.Token == "" || res.reroute.connection == j.connection {
		return
	}
	unneeded := res.reroute.connection
	if redirected {
		unneeded = j.connection
	}
	unneeded.Release(j.rec.Batch.Batch != "")
}

// callProvider submits, enquires or reverses, and returns the result with its context.
func (s *Service) callProvider(ctx context.Context, j *job) providerResult {
	res := providerResult{call: j.call, resent: j.resent, refused: j.refused, reference: j.rec.Reference, calledAt: s.Now(), by: actor}
	if j.call == callSubmit {
		failpoint.Point(failpoint.RechargeSending)
	}
	call := transaction.Call{Name: j.call.String(), Provider: j.Name, World: j.World, Subject: j.rec.ID, Timeout: j.Timeout}
	res.err = s.Call(ctx, call, func(ctx context.Context) (outcome string, err error) {
		res.Answer, err = s.callOperator(ctx, j)
		if err == nil && (res.Outcome < Pending || res.Outcome > Reversed) {
			err = fmt.Errorf("%w: %d", transaction.ErrOutcome, res.Outcome)
		}
		return res.Outcome.String(), err
	})
	failpoint.Point(answeredFailpoints[j.call])
	return res
}

// actor names the source of a call's result in the audit log.
const actor = "operator"

// answeredFailpoints are the failpoints after calls.
var answeredFailpoints = [...]string{callSubmit: failpoint.RechargeAnswered, callEnquire: failpoint.RechargeEnquired, callReverse: failpoint.RefundAnswered}

func (s *Service) callOperator(ctx context.Context, j *job) (Answer, error) {
	o := orderOf(&j.rec)
	switch {
	case j.call == callSubmit:
		return j.Operator.Submit(ctx, o)
	case j.call == callEnquire:
		return j.Operator.Enquire(ctx, o)
	case j.Reverser == nil: // the configuration changed since the refund was requested
		return Answer{Outcome: Failed}, nil
	default:
		return j.Reverser.Reverse(ctx, o)
	}
}

// orderOf returns the order that is sent to the provider.
func orderOf(r *Record) Order {
	return Order{
		Reference: r.Reference, Type: r.Type, Number: r.Number, Operator: r.Operator, Circle: r.Circle, Amount: r.Amount,
		CreatedAt: r.CreatedAt, ProviderRef: r.ProviderRef,
	}
}

// nextCall returns the call that a due recharge needs. First means that its order cannot have
// been sent yet. Any other recharge needs an enquiry, because its order or its reversal may
// have arrived although the answer was lost.
func nextCall(r *Record, first bool) call {
	if r.State == schema.RechargePending && first {
		return callSubmit
	}
	return callEnquire
}
