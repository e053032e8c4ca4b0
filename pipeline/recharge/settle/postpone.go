package settle

import (
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/schema"
)

// postpone schedules the next poll, or calls requeue if the provider was not called. If the recharge is pending and has
// no event recharge.pending yet, postpone appends that event. If the lease is lost, postpone changes nothing.
func (st *transitionTx) postpone() error {
	if st.result.notCalled() {
		return st.requeue()
	}
	r := &st.out.Record
	was := *r
	due := nextPollTime(r, st.result, st.now)
	st.copyReferences()
	st.setSentAt()
	r.Tries++
	return st.storePostponed(&was, due)
}

// nextPollTime returns the time of the next poll after a result that is not final.
func nextPollTime(r *record.Record, res *Result, now time.Time) time.Time {
	if res.Err != nil {
		return r.NextCall(0, false, 0, now)
	}
	unknown := res.Outcome == order.Unknown && res.Call == CallEnquire && r.State == schema.RechargePending
	return r.NextCall(res.RetryAfter, unknown, res.ResendAfter, now)
}

// nextEnquiry returns the time for which the provider requested another enquiry after a final outcome; zero for none.
func (res *Result) nextEnquiry(now time.Time) time.Time {
	if res.Err != nil || res.RetryAfter <= 0 {
		return time.Time{}
	}
	return now.Add(res.RetryAfter)
}

// requeue schedules the next poll after a short pause, because the circuit breaker has prevented a call. If the
// prevented call was the first submit call, the order counts as not sent.
func (st *transitionTx) requeue() error {
	r := &st.out.Record
	was := *r
	switch submitted := r.State == schema.RechargePending && st.result.Call == CallSubmit; {
	case submitted && st.result.Resent:
		st.setSentAt()
	case submitted:
		r.Sent, r.SentAt = false, time.Time{}
	}
	return st.storePostponed(&was, st.now.Add(workqueue.RetryPause))
}

// storePostponed stores a recharge with a later due time. If the lease is lost, storePostponed changes nothing.
func (st *transitionTx) storePostponed(was *record.Record, due time.Time) error {
	stored, err := record.Table.Postpone(st.tx, &st.out.Record, st.lease, due)
	if err != nil || !stored {
		st.out.Record = *was
		return err
	}
	st.out.Due = due
	if err := st.recordStep(st.result.stepAnswer()); err != nil {
		return err
	}
	return st.sendPendingEvent()
}

// sendPendingEvent appends the event recharge.pending once. The UPDATE checks the column told_pending, because a
// concurrent request may have appended the event after this transaction read the record.
func (st *transitionTx) sendPendingEvent() error {
	r := &st.out.Record
	if r.State != schema.RechargePending || r.PendingEventSent {
		return nil
	}
	n, err := st.tx.Exec("UPDATE recharge SET told_pending = 1 WHERE id = $1 AND told_pending = 0", r.ID)
	if err != nil {
		return err
	}
	r.PendingEventSent = true
	if n == 0 {
		return nil
	}
	return record.AppendEvent(st.tx, st.Events, r)
}

// renewLease renews the lease, so that the order can be sent again, or another refund call or enquiry can follow. If
// the lease is lost, renewLease only sets the transition to Noop.
func (st *transitionTx) renewLease() error {
	r, next := &st.out.Record, st.out.Transition
	until, renewed, err := record.Table.Renew(st.tx, r, st.Link(r.Owner.World, r.Provider), st.lease, next == Resend, st.now)
	if err != nil || !renewed {
		st.out.Transition = Noop
		return err
	}
	st.out.Due = until
	return st.recordStep(st.result.stepAnswer())
}

// releaseLease releases the lease of a final recharge. If the provider requested another enquiry, releaseLease
// schedules it, even if a callback has ended the lease. If a refund is in progress, it calls postpone instead. If the
// result has no lease and requests no enquiry, it calls recordCallback instead.
func (st *transitionTx) releaseLease() error {
	if r := &st.out.Record; st.lease.Token != "" && r.State == schema.RechargeSuccess && r.RefundID != "" {
		return st.postpone()
	}
	token, due := st.lease.Token, st.result.nextEnquiry(st.now)
	if token == "" {
		if due.IsZero() {
			return st.recordCallback()
		}
		token = "-" // matches no lease
	}
	n, err := st.tx.Exec("UPDATE recharge SET due_at = $3, token = '' WHERE id = $1 AND state <> 'pending' AND (token = $2 OR due_at IS NULL)",
		st.out.ID, token, sqlstore.Micros(due))
	if n == 1 {
		st.out.Due = due
	}
	return err
}
