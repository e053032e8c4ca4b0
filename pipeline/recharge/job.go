package recharge

import (
	"cmp"
	"context"

	"vayu/internal/workqueue"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/schema"
)

// job is the next call of a recharge. It occupies a slot of the connection.
type job struct {
	*order.Connection

	rec  record.Record
	call settle.CallKind

	resent  bool // for submit and reverse: the reference may have been sent before
	refused bool // for enquire: the provider has just refused a refund

	lease workqueue.Lease
	calls context.Context      // context with the trace of the request; nil for none
	done  chan<- settle.Effect // receives the result; may be nil
}

// nextCall returns the call that a due recharge needs. `first` means that the order cannot have been sent yet. Then a
// pending recharge needs a submit call. In all other cases it needs an enquiry, because the order or a reversal may
// have arrived although the answer was lost.
func nextCall(r *record.Record, first bool) settle.CallKind {
	if r.State == schema.RechargePending && first {
		return settle.CallSubmit
	}
	return settle.CallEnquire
}

// runJob makes the call of a job and the immediate follow-up calls, and releases the slot.
// When the service stops, Run waits for runJob.
func (s *Service) runJob(j job) {
	ctx := cmp.Or(j.calls, s.Queue.CallContext())
	var out settle.Effect
	for going := true; going; {
		out, going = s.callAndSettle(ctx, &j)
	}
	j.Pool.Release(j.rec.InBatch())
	if j.done != nil {
		j.done <- out
	}
}

// callAndSettle makes one call and records its result. It returns true if the job continues with another call.
func (s *Service) callAndSettle(ctx context.Context, j *job) (out settle.Effect, going bool) {
	if j.call != settle.CallEnquire && !s.Now().Before(j.lease.Until.Add(-j.Timeout)) {
		// The call could outlast the lease. The instance with the next lease sends an enquiry first.
		s.metrics.Overdue.Inc()
		return settle.Effect{Record: j.rec}, false
	}
	res := s.callProvider(ctx, j)
	s.redetect(ctx, &j.rec, &res)
	recorded := s.Core.RecordResult(ctx, func(limit context.Context) (err error) {
		out, err = s.settler.Settle(limit, &j.rec, &res, j.lease)
		return err
	})
	if !recorded {
		out = settle.Effect{Record: j.rec}
	}
	s.reroute(ctx, &res, &out)
	j.rec = out.Record
	switch out.Transition {
	case settle.Redirect:
		return out, false
	case settle.Resend:
		j.call, j.resent = settle.CallSubmit, true
	case settle.ConfirmRefund:
		j.call, j.refused = settle.CallEnquire, true
	case settle.RetryRefund:
		j.call, j.resent = settle.CallReverse, true
	default:
		if !out.Due.IsZero() {
			j.Pool.WakeAt(out.Due)
		}
		return out, false
	}
	j.lease.Until = out.Due
	return out, true
}

// reroute starts the order to another operator if the result redirected the recharge there. Without a lease, the order
// stays queued. If the recharge was not redirected, reroute releases the slot that redetect acquired for the order.
func (s *Service) reroute(calls context.Context, res *settle.Result, out *settle.Effect) {
	to, redirected := res.Reroute, out.Transition == settle.Redirect
	switch {
	case to == nil:
	case to.Lease.Token == "" && redirected:
		to.Pool.WakeAt(out.Due)
	case to.Lease.Token == "":
	case redirected:
		go s.runJob(job{Connection: to.Connection, rec: out.Record, call: settle.CallSubmit, lease: to.Lease, calls: calls})
	default:
		to.Pool.Release(out.InBatch())
	}
}
