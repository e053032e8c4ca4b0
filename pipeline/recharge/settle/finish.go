package settle

import (
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

const (
	// FinishRow applies a provider's outcome to a pending row. It needs no lease: the outcome may come in a callback.
	FinishRow = `UPDATE recharge SET state = $3, provider_ref = $4, circle = $5, error_code = $6, error_message = $7, due_at = $8, token = '', finished_at = $9,
		sent_at = COALESCE($10, sent_at)
	WHERE id = $1 AND reference = $2 AND state = 'pending'`
	// finishOwnRow applies the failure of a call. It requires the lease, because without the lease another instance
	// may have sent the order.
	finishOwnRow = FinishRow + " AND token = $11"
)

// finish sets a pending recharge to success or failed, and charges or releases its amount; false if nothing changed.
func (st *transitionTx) finish(to schema.RechargeState, code schema.Code, text string) (bool, error) {
	r, due := &st.out.Record, st.result.nextEnquiry(st.now)
	was := *r
	st.copyReferences()
	query, args := FinishRow, []any{r.ID, r.Reference, string(to), r.ProviderRef, r.Circle, string(code), text, sqlstore.Micros(due), st.now.UnixMicro(),
		sqlstore.Micros(st.sentAt())}
	if st.result.Err != nil {
		query, args = finishOwnRow, append(args, st.lease.Token)
	}
	pending, err := st.tx.Expect(1, query, args...)
	if err != nil || !pending {
		*r = was
		return false, err
	}
	at, err := st.recordFinalStep(&was, CallSubmit, sqlstore.TruncateMicros(st.now), "finished_at")
	if err != nil {
		return false, err
	}
	st.out.Due = due
	st.setSentAt()
	r.State, r.ErrorCode, r.ErrorMessage, r.FinishedAt = to, code, text, at
	if to == schema.RechargeSuccess {
		err = wallet.Commit(st.tx, st.now, r.Owner, r.ID, r.Operator, r.Amount)
	} else {
		err = wallet.Release(st.tx, st.now, r.Owner, r.ID, r.Amount)
	}
	if err != nil {
		return false, err
	}
	if err := record.AppendEvent(st.tx, st.Events, r); err != nil {
		return false, err
	}
	if err := st.audit("recharge."+string(to), nil); err != nil {
		return false, err
	}
	return true, FinishItem(st.tx, st.now, r)
}

// sentAt returns the start of the submit call whose result is applied; zero for any other result. Until the result is
// stored, the column sent_at has the latest possible start of the call. The actual start replaces that value.
func (st *transitionTx) sentAt() time.Time {
	if st.result.Call != CallSubmit {
		return time.Time{}
	}
	return sqlstore.TruncateMicros(st.result.CalledAt)
}

func (st *transitionTx) setSentAt() {
	if at := st.sentAt(); !at.IsZero() {
		st.out.SentAt = at
	}
}

// copyReferences copies the provider's reference and circle from the result.
func (st *transitionTx) copyReferences() {
	if st.result.Err != nil {
		return
	}
	if ref := CleanText(st.result.ProviderRef); ref != "" {
		st.out.ProviderRef = ref
	}
	if circle := CleanText(st.result.Circle); circle != "" {
		st.out.Circle = circle
	}
}

// FinishItem counts the batch item of a final recharge, if it has one, as successful or failed.
func FinishItem(tx *sqlstore.Tx, now time.Time, r *record.Record) error {
	if r.Batch.Batch == "" {
		return nil
	}
	return item.Finish(tx, now, r.Batch.Batch, r.Batch.Index, r.State == schema.RechargeSuccess, nil)
}
