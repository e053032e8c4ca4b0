package recharge

import (
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/upstream"
	"vayu/schema"
)

const postponeRow = `UPDATE recharge SET tries = tries + 1, due_at = $4, token = '', provider_ref = $5, sent_at = COALESCE($6, sent_at)
	WHERE id = $1 AND token = $2 AND state = $3`

// postpone has a recharge looked at again later, and tells once that it is pending.
// Who has lost his lease leaves that to whoever has it.
func (st *settling) postpone() error {
	if st.word.notAsked() {
		return st.putBack()
	}
	r := &st.out.Record
	due := nextLook(r, st.word, st.resendAfter(), st.now)
	st.learn()
	n, err := st.tx.Exec(postponeRow, r.ID, st.lease.Token, string(r.State), sqlstore.Micros(due), r.ProviderRef, sqlstore.Micros(st.began()))
	if err != nil || n == 0 {
		return err
	}
	r.Tries++
	st.timed()
	st.out.due = due
	if err := st.note(st.word.said()); err != nil {
		return err
	}
	return st.tellOnce()
}

const putBackRow = "UPDATE recharge SET due_at = $4, token = '', sent = $5, sent_at = $6 WHERE id = $1 AND token = $2 AND state = $3"

// putBack has a call made soon that was not made, as if it had never been begun: an
// order that was not sent before is not sent now either.
func (st *settling) putBack() error {
	r, due := &st.out.Record, st.now.Add(upstream.AwayPause)
	sent, at := r.Sent, r.SentAt
	switch submitted := r.State == schema.RechargePending && st.word.call == submit; {
	case submitted && st.word.resent:
		at = st.began()
	case submitted:
		sent, at = false, time.Time{}
	}
	n, err := st.tx.Exec(putBackRow, r.ID, st.lease.Token, string(r.State), sqlstore.Micros(due), sqlstore.Flag(sent), sqlstore.Micros(at))
	if err != nil || n == 0 {
		return err
	}
	r.Sent, r.SentAt, st.out.due = sent, at, due
	if err := st.note(st.word.said()); err != nil {
		return err
	}
	return st.tellOnce()
}

// tellOnce tells of what is pending that it is, once.
func (st *settling) tellOnce() error {
	r := &st.out.Record
	if r.State != schema.RechargePending || r.ToldPending {
		return nil
	}
	n, err := st.tx.Exec("UPDATE recharge SET told_pending = 1 WHERE id = $1 AND told_pending = 0", r.ID)
	if err != nil || n == 0 {
		return err
	}
	r.ToldPending, st.out.told = true, true
	return st.append(st.tx, r)
}

// renew begins a lease anew, for sending an order again. Who has lost his does not.
func (st *settling) renew() error {
	r := &st.out.Record
	st.out.verdict = rest
	l := st.lineOf(r.Owner.World, r.Provider)
	if l == nil {
		return nil
	}
	until := st.now.Add(l.Timeout + upstream.Margin)
	sentAt := sqlstore.Whole(l.Latest(upstream.Lease{Until: until}))
	n, err := st.tx.Exec("UPDATE recharge SET sent_at = $3, due_at = $4 WHERE id = $1 AND token = $2 AND state = 'pending'",
		r.ID, st.lease.Token, sentAt.UnixMicro(), until.UnixMicro())
	if err != nil || n == 0 {
		return err
	}
	r.SentAt, st.out.due, st.out.verdict = sentAt, until, resend
	return st.note(st.word.said())
}

// extend begins a lease anew, for another call about a refund that is wanted. Who has
// lost his does not.
func (st *settling) extend() error {
	r, next := &st.out.Record, st.out.verdict
	st.out.verdict = rest
	l := st.lineOf(r.Owner.World, r.Provider)
	if l == nil {
		return nil
	}
	until := st.now.Add(l.Timeout + upstream.Margin)
	n, err := st.tx.Exec("UPDATE recharge SET due_at = $4 WHERE id = $1 AND token = $2 AND state = 'success' AND refund_id = $3",
		r.ID, st.lease.Token, r.RefundID, until.UnixMicro())
	if err != nil || n == 0 {
		return err
	}
	st.out.due, st.out.verdict = until, next
	return st.note(st.word.said())
}

const redirectRow = `UPDATE recharge SET first_provider = provider, operator = $3, circle = $4, detection = 'lookup', provider = $5, reference = $6, provider_ref = '',
		sent = $7, sent_at = $8, due_at = $9, token = $10, tries = 0
	WHERE id = $1 AND reference = $2 AND state = 'pending'`

// redirect goes on with the operator that the number belongs to, under another
// reference: it is another order.
func (st *settling) redirect() (bool, error) {
	r, onto := &st.out.Record, st.word.onto
	was, due, sentAt := *r, st.now, time.Time{}
	if onto.lease.Token != "" {
		due, sentAt = onto.lease.Until, onto.Latest(onto.lease)
	}
	r.Operator, r.Circle, r.Detection = onto.subscriber.Operator, onto.subscriber.Circle, sourceLookup
	r.Provider, r.Reference, r.ProviderRef = onto.Name, r.ID+secondOrder, ""
	r.Sent, r.SentAt, r.Tries = !sentAt.IsZero(), sentAt, 0
	n, err := st.tx.Exec(redirectRow, r.ID, was.Reference, r.Operator, r.Circle, r.Provider, r.Reference,
		sqlstore.Flag(r.Sent), sqlstore.Micros(sentAt), sqlstore.Micros(due), onto.lease.Token)
	if err != nil || n == 0 {
		*r = was
		return false, err
	}
	st.out.due, st.out.from = due, was.Provider
	if err := st.note(schema.AnswerRedirected); err != nil {
		return false, err
	}
	return true, st.audit("recharge.redirected", map[string]any{"from": was.Operator})
}

// leave gives a lease up. A provider that wants to be asked again is, also when the
// lease was over because it has spoken by itself meanwhile. A refund that is wanted
// stays so.
func (st *settling) leave() error {
	if r := &st.out.Record; st.lease.Token != "" && r.State == schema.RechargeSuccess && r.RefundID != "" {
		return st.postpone()
	}
	token, due := st.lease.Token, st.word.after(st.now)
	if token == "" {
		if due.IsZero() {
			return st.heard()
		}
		token = "-" // nobody's
	}
	n, err := st.tx.Exec("UPDATE recharge SET due_at = $3, token = '' WHERE id = $1 AND state <> 'pending' AND (token = $2 OR due_at IS NULL)",
		st.out.ID, token, sqlstore.Micros(due))
	if n == 1 {
		st.out.due = due
	}
	return err
}
