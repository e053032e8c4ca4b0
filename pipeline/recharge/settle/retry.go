package settle

import (
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// postpone schedules the next poll, and appends the pending event of a pending recharge once. If
// the lease is lost, it changes nothing.
func (st *transitionTx) postpone() error {
	if st.result.notCalled() {
		return st.requeue()
	}
	r := &st.out.Record
	was := *r
	due := nextPollTime(r, st.result, st.resendAfter(), st.now)
	st.copyReferences()
	st.setSentAt()
	r.Tries++
	return st.storePostponed(&was, due)
}

// requeue schedules a call again that the circuit breaker prevented. If it was the first submit call, the order counts
// as not sent.
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

// storePostponed stores a recharge with a later due time. If the lease is lost, nothing is
// changed.
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

// sendPendingEvent appends the event recharge.pending once. A concurrent request for the same
// recharge may have appended the event after this transaction read the record.
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

// renewLease renews the lease, to resend an order or for another call about a requested
// refund. If the lease is lost, nothing changes.
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

const redirectRow = `UPDATE recharge SET first_provider = provider, operator = $3, circle = $4, detection = 'lookup', provider = $5, reference = $6, provider_ref = '',
		sent = $7, sent_at = $8, due_at = $9, token = $10, tries = 0
	WHERE id = $1 AND reference = $2 AND state = 'pending'`

// redirect replaces the order by an order to the operator that has the number. The new order
// has another reference.
func (st *transitionTx) redirect() (bool, error) {
	r, onto := &st.out.Record, st.result.Reroute
	was, due, sentAt := *r, st.now, time.Time{}
	if onto.Lease.Token != "" {
		due, sentAt = onto.Lease.Until, onto.LatestStart(onto.Lease)
	}
	r.Operator, r.Circle, r.Detection = onto.Subscriber.Operator, onto.Subscriber.Circle, record.SourceLookup
	r.Provider, r.Reference, r.ProviderRef = onto.Name, r.ID+record.SecondOrder, ""
	r.Sent, r.SentAt, r.Tries = !sentAt.IsZero(), sentAt, 0
	n, err := st.tx.Exec(redirectRow, r.ID, was.Reference, r.Operator, r.Circle, r.Provider, r.Reference,
		sqlstore.BoolToInt(r.Sent), sqlstore.Micros(sentAt), sqlstore.Micros(due), onto.Lease.Token)
	if err != nil || n == 0 {
		*r = was
		return false, err
	}
	st.out.Due = due
	if err := st.recordStep(schema.AnswerRedirected); err != nil {
		return false, err
	}
	return true, st.audit("recharge.redirected", map[string]any{"from": was.Operator})
}

// releaseLease releases the lease. If the provider requested another enquiry, releaseLease schedules the enquiry, even
// if a callback has ended the lease before. For a requested refund, it schedules the next poll instead. If there is
// neither a lease nor a requested enquiry, it records a callback.
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

// Values of the column "alarm". The alarm is open while the column "resolved_at" is empty.
const (
	// AlarmLateSuccess means that the order of a failed recharge, or a replaced or unsent order, was carried out. The
	// alarm is raised once. A failed recharge then has a posting of kind "suspend", and a replaced or unsent order sets
	// the column "stray_at".
	AlarmLateSuccess = "late_success"
	// AlarmLateFailure means that a charged recharge was not carried out. The alarm is raised once, because the column
	// "alarm" keeps the value.
	AlarmLateFailure = "late_failure"
)

// AlarmOf returns the alarm that the transition LateSuccess or LateFailure raises.
func AlarmOf(v Transition) string {
	if v == LateSuccess {
		return AlarmLateSuccess
	}
	return AlarmLateFailure
}

// raiseAlarm raises the alarm of the transition LateSuccess or LateFailure, and does not change
// the state. It returns false if it raised no alarm.
func (st *transitionTx) raiseAlarm() (bool, error) {
	r := &st.out.Record
	raise := st.raiseLateFailure
	switch {
	case st.out.Transition == LateSuccess && r.Reference != st.result.Reference:
		raise = st.raiseStray
	case st.out.Transition == LateSuccess:
		raise = st.raiseLateSuccess
	}
	alarm, err := raise()
	if err != nil || alarm == "" {
		return false, err
	}
	r.Alarm, r.ResolvedAt = alarm, time.Time{}
	if err := st.recordStep(st.alarmAnswer()); err != nil {
		return false, err
	}
	if err := st.releaseLease(); err != nil {
		return false, err
	}
	return true, st.audit("recharge."+AlarmOf(st.out.Transition), map[string]any{"said": st.result.Outcome.String(), "reference": st.result.Reference})
}

// raiseLateSuccess posts the amount of a late success from the ledger "suspense". It returns the alarm of the recharge;
// "" if it raised none. raiseStray and raiseLateFailure return the same.
func (st *transitionTx) raiseLateSuccess() (alarm string, err error) {
	r := &st.out.Record
	// Lock the row before searching the posting. Otherwise two concurrent transactions on
	// PostgreSQL could both miss the posting, and one of them would fail.
	n, err := st.tx.Exec("UPDATE recharge SET tries = tries WHERE id = $1 AND reference = $2 AND state = $3", r.ID, r.Reference, string(schema.RechargeFailed))
	if err != nil || n == 0 {
		return "", err
	}
	var booked int
	if err := st.tx.QueryRow("SELECT count(*) FROM posting WHERE subject = $1 AND kind = 'suspend'", r.ID).Scan(&booked); err != nil || booked > 0 {
		return "", err
	}
	if err := wallet.Suspend(st.tx, st.now, r.Owner, r.ID, r.Operator, r.Amount); err != nil {
		return "", err
	}
	_, err = st.tx.Exec("UPDATE recharge SET alarm = $2, resolved_at = NULL WHERE id = $1", r.ID, AlarmLateSuccess)
	return AlarmLateSuccess, err
}

// raiseStray records that a replaced or unsent order was carried out. Nothing is reserved for that order, so nothing is
// posted. An earlier alarm stays in the column "alarm", so that it is not raised again.
func (st *transitionTx) raiseStray() (alarm string, err error) {
	alarm, _, err = sqlstore.One(st.tx, sqlstore.Scalar[string], `UPDATE recharge SET stray_at = $2, resolved_at = NULL,
			alarm = CASE WHEN alarm = '' THEN $3 ELSE alarm END
		WHERE id = $1 AND stray_at IS NULL RETURNING alarm`, st.out.ID, st.now.UnixMicro(), AlarmLateSuccess)
	return alarm, err
}

// raiseLateFailure records that the provider did not carry out a charged recharge.
func (st *transitionTx) raiseLateFailure() (alarm string, err error) {
	r := &st.out.Record
	n, err := st.tx.Exec("UPDATE recharge SET alarm = $2, resolved_at = NULL WHERE id = $1 AND reference = $3 AND state = $4 AND alarm <> $2",
		r.ID, AlarmLateFailure, r.Reference, string(schema.RechargeSuccess))
	if err != nil || n == 0 {
		return "", err
	}
	return AlarmLateFailure, nil
}
