package recharge

import (
	"cmp"
	"context"
	"fmt"

	"vayu/internal/failpoint"
	"vayu/internal/workqueue"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// job is the next call of a recharge. It occupies a slot of the connection.
type job struct {
	*connection

	rec  record.Record
	call settle.Call

	resent  bool // for submit and reverse: the reference may have been sent before
	refused bool // for enquire: the provider has just refused a refund

	lease workqueue.Lease
	calls context.Context      // context with the trace of the request; nil for none
	done  chan<- settle.Effect // receives the result; may be nil
}

// runJob makes the call of a job and the immediate follow-up calls, and releases the slot.
// When the service stops, Run waits for runJob.
func (s *Service) runJob(j job) {
	ctx := cmp.Or(j.calls, s.Queue.CallContext())
	var out settle.Effect
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
func (s *Service) step(ctx context.Context, j *job) (out settle.Effect, going bool) {
	if j.call != settle.CallEnquire && !s.Now().Before(j.lease.Until.Add(-j.Timeout)) {
		// The call could outlast the lease. The instance that claims the next lease enquires first.
		s.metrics.Overdue.Inc()
		return settle.Effect{Record: j.rec}, false
	}
	res := s.callProvider(ctx, j)
	if res.Err == nil && res.Outcome == order.NotSubscriber && j.rec.Redetects() {
		res.Reroute, res.Err = s.redetect(ctx, &j.rec, j.connection)
	}
	recorded := s.Record(ctx, func(limit context.Context) (err error) {
		out, err = s.settler.Settle(limit, &j.rec, &res, j.lease)
		return err
	})
	if !recorded {
		s.releaseUnusedSlot(j, &res, false)
		return settle.Effect{Record: j.rec}, false
	}
	s.releaseUnusedSlot(j, &res, out.Transition == settle.Redirect)
	j.rec = out.Record
	switch {
	case out.Transition == settle.Resend:
		j.call, j.resent, j.lease.Until = settle.CallSubmit, true, out.Due
		return out, true
	case out.Transition == settle.ConfirmRefund:
		j.call, j.refused, j.lease.Until = settle.CallEnquire, true, out.Due
		return out, true
	case out.Transition == settle.RetryRefund:
		j.call, j.resent, j.lease.Until = settle.CallReverse, true, out.Due
		return out, true
	case out.Transition == settle.Redirect && res.Reroute.Lease.Token != "":
		j.connection, j.call, j.resent, j.lease = s.connectionOf(j.World, res.Reroute.Provider), settle.CallSubmit, false, res.Reroute.Lease
		return out, true
	case out.Transition == settle.Redirect:
		res.Reroute.WakeAt(out.Due)
	case !out.Due.IsZero():
		j.WakeAt(out.Due)
	}
	return out, false
}

// releaseUnusedSlot releases one slot if redetect acquired a second one. It releases the old
// connection's slot if the job continues with the new connection, else the new connection's slot.
func (s *Service) releaseUnusedSlot(j *job, res *settle.Result, redirected bool) {
	if res.Reroute == nil || res.Reroute.Lease.Token == "" || res.Reroute.Pool == j.Pool {
		return
	}
	unneeded := res.Reroute.Pool
	if redirected {
		unneeded = j.Pool
	}
	unneeded.Release(j.rec.Batch.Batch != "")
}

// callProvider makes the call of a job and returns its result.
func (s *Service) callProvider(ctx context.Context, j *job) settle.Result {
	res := settle.Result{Call: j.call, Resent: j.resent, Refused: j.refused, Reference: j.rec.Reference, CalledAt: s.Now(), By: actor}
	if j.call == settle.CallSubmit {
		failpoint.Point(failpoint.RechargeSending)
	}
	call := transaction.Call{Name: j.call.String(), Provider: j.Name, World: j.World, Subject: j.rec.ID, Timeout: j.Timeout}
	res.Err = s.Call(ctx, call, func(ctx context.Context) (outcome string, err error) {
		res.Answer, err = s.callOperator(ctx, j)
		if err == nil && (res.Outcome < order.Pending || res.Outcome > order.Reversed) {
			err = fmt.Errorf("%w: %d", transaction.ErrOutcome, res.Outcome)
		}
		return res.Outcome.String(), err
	})
	failpoint.Point(answeredFailpoints[j.call])
	return res
}

// actor names the source of a call's result in the audit log, and providers in traces.
const actor = "operator"

// answeredFailpoints has the failpoint after each kind of call.
var answeredFailpoints = [...]string{settle.CallSubmit: failpoint.RechargeAnswered, settle.CallEnquire: failpoint.RechargeEnquired, settle.CallReverse: failpoint.RefundAnswered}

func (s *Service) callOperator(ctx context.Context, j *job) (order.Answer, error) {
	o := orderOf(&j.rec)
	switch {
	case j.call == settle.CallSubmit:
		return j.Operator.Submit(ctx, o)
	case j.call == settle.CallEnquire:
		return j.Operator.Enquire(ctx, o)
	case j.Reverser == nil: // the configuration changed since the refund was requested
		return order.Answer{Outcome: order.Failed}, nil
	default:
		return j.Reverser.Reverse(ctx, o)
	}
}

// orderOf returns the order that is sent to the provider.
func orderOf(r *record.Record) order.Order {
	return order.Order{
		Reference: r.Reference, Type: r.Type, Number: r.Number, Operator: r.Operator, Circle: r.Circle, Amount: r.Amount,
		CreatedAt: r.CreatedAt, ProviderRef: r.ProviderRef,
	}
}

// nextCall returns the call that a due recharge needs. first means that the order cannot have
// been sent yet. A pending recharge then needs a submit call. Any other recharge needs an enquiry,
// because the order or a reversal may have arrived although the answer was lost.
func nextCall(r *record.Record, first bool) settle.Call {
	if r.State == schema.RechargePending && first {
		return settle.CallSubmit
	}
	return settle.CallEnquire
}
