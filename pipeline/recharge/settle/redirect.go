package settle

import (
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge/record"
	"vayu/schema"
)

const redirectRow = `UPDATE recharge SET first_provider = provider, operator = $3, circle = $4, detection = 'lookup', provider = $5, reference = $6, provider_ref = '',
		sent = $7, sent_at = $8, due_at = $9, token = $10, tries = 0
	WHERE id = $1 AND reference = $2 AND state = 'pending'`

// redirect replaces the order by one to the operator of the number. The new order has another reference.
func (st *transitionTx) redirect() (bool, error) {
	r, onto := &st.out.Record, st.result.Reroute
	was, due, sentAt := *r, st.now, time.Time{}
	if onto.Lease.Token != "" {
		due, sentAt = onto.Lease.Until, onto.Pool.LatestStart(onto.Lease)
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
