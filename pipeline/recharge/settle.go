package recharge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"vayu/internal/access"
	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch"
	"vayu/pipeline/upstream"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// settled is what a word has made of a recharge.
type settled struct {
	Record

	verdict verdict
	due     time.Time // when it is looked at next; zero for never, or not by this
	told    bool      // recharge.pending was appended
	from    string    // the provider before it was redirected
}

// settling is one word on its way into the store.
type settling struct {
	*Service

	tx    *sqlstore.Tx
	now   time.Time
	word  *word
	lease upstream.Lease
	out   settled
}

// settle does what a word calls for, in one transaction, to a recharge as it was
// last seen. Whether it still stands so decides each change by compare-and-set; when
// it does not, the row is locked and the word decided upon again.
func (s *Service) settle(ctx context.Context, r *Record, w *word, own upstream.Lease) (settled, error) {
	st := settling{Service: s, word: w, lease: own}
	err := s.DB.Update(sqlstore.InWorld(ctx, r.Owner.World), func(tx *sqlstore.Tx) error {
		st.tx, st.now, st.out = tx, s.Now(), settled{Record: *r}
		return st.decide()
	})
	if err != nil {
		return settled{}, fmt.Errorf("settling %s: %w", r.ID, err)
	}
	failpoint.Point(failpoint.RechargeSettled)
	s.count(&st.out, w)
	s.tell(&st.out)
	return st.out, nil
}

// decide does what is decided about the recharge as it was last seen and, when that
// was too long ago, about the recharge as it is.
func (st *settling) decide() error {
	id := st.out.ID
	for locked := false; ; locked = true {
		st.out.verdict = decide(&st.out.Record, st.word, st.resendAfter())
		if st.out.Reference != st.word.reference { // it goes on with another operator since
			st.out.verdict = replaced(st.word)
		}
		hit, err := st.do()
		if err != nil || hit {
			return err
		}
		if locked { // it has been said before
			st.out.verdict = rest
			return st.leave()
		}
		// Setting a column locks the row until the transaction ends, on PostgreSQL too.
		r, found, err := one(st.tx, "UPDATE recharge SET tries = tries WHERE id = $1 RETURNING "+columns, id)
		if err != nil || !found {
			return errors.Join(err, errGone(found))
		}
		st.out.Record = r
	}
}

// errGone is for a row that cannot have gone.
func errGone(found bool) error {
	if found {
		return nil
	}
	return errors.New("it is not in the store any more")
}

// replaced decides about a word on an order in whose place there is another: only
// that it was carried out after all is of interest.
func replaced(w *word) verdict {
	if w.err == nil && w.Outcome == Succeeded {
		return lateSuccess
	}
	return rest
}

func (st *settling) resendAfter() time.Duration {
	if l := st.lineOf(st.out.Owner.World, st.out.Provider); l != nil {
		return l.ResendAfter
	}
	return 0
}

// do does what was decided; false when the recharge does not stand as it was seen.
func (st *settling) do() (bool, error) {
	switch st.out.verdict {
	case succeed:
		return st.finish(schema.RechargeSuccess, "", "")
	case fail:
		code := failureOf(st.word)
		return st.finish(schema.RechargeFailed, code, failureText(code))
	case again:
		return true, st.postpone()
	case resend:
		return true, st.renew()
	case doubt, retell:
		return true, st.extend()
	case redirect:
		return st.redirect()
	case refund:
		return st.refund()
	case refuse:
		return st.refuse()
	case lateSuccess, lateFailure:
		return st.alarm()
	default:
		return true, st.leave()
	}
}

// A provider's word is true whoever hears it. That an order was not sent is true only
// while nobody else can have sent it since.
const (
	finishRow = `UPDATE recharge SET state = $3, provider_ref = $4, circle = $5, error_code = $6, error_message = $7, due_at = $8, token = '', finished_at = $9,
		sent_at = COALESCE($10, sent_at)
	WHERE id = $1 AND reference = $2 AND state = 'pending'`
	finishOwnRow = finishRow + " AND token = $11"
	finishLate   = "UPDATE recharge SET finished_at = $2 WHERE id = $1"
)

// finish brings a recharge from pending to success or failed.
func (st *settling) finish(to schema.RechargeState, code schema.Code, text string) (bool, error) {
	r, due := &st.out.Record, st.word.after(st.now)
	was := *r
	st.learn()
	query, args := finishRow, []any{r.ID, r.Reference, string(to), r.ProviderRef, r.Circle, string(code), text, sqlstore.Micros(due), st.now.UnixMicro(),
		sqlstore.Micros(st.began())}
	if st.word.err != nil {
		query, args = finishOwnRow, append(args, st.lease.Token)
	}
	n, err := st.tx.Exec(query, args...)
	if err != nil || n == 0 {
		*r = was
		return false, err
	}
	at, err := st.noteFinal(&was, submit, sqlstore.Whole(st.now), finishLate)
	if err != nil {
		return false, err
	}
	st.out.due = due
	st.timed()
	r.State, r.ErrorCode, r.ErrorMessage, r.FinishedAt = to, code, text, at
	if to == schema.RechargeSuccess {
		err = wallet.Commit(st.tx, st.now, r.Owner, r.ID, r.Operator, r.Amount)
	} else {
		err = wallet.Release(st.tx, st.now, r.Owner, r.ID, r.Amount)
	}
	if err != nil {
		return false, err
	}
	if err := st.append(st.tx, r); err != nil {
		return false, err
	}
	if err := st.audit("recharge."+string(to), nil); err != nil {
		return false, err
	}
	return true, finishItem(st.tx, st.now, r)
}

// finishItem counts a record of a batch; it comes last in its transaction.
func finishItem(tx *sqlstore.Tx, now time.Time, r *Record) error {
	if r.Batch.Batch == "" {
		return nil
	}
	_, err := batch.Finish(tx, now, r.Batch.Batch, r.Batch.Index, r.State == schema.RechargeSuccess)
	return err
}

// began is when the order was sent by the call that has ended; zero when the call was
// another. Until it has ended, it is taken for sent when it could be at the latest.
func (st *settling) began() time.Time {
	if st.word.call != submit {
		return time.Time{}
	}
	return sqlstore.Whole(st.word.asked)
}

// timed takes what was stored of that.
func (st *settling) timed() {
	if at := st.began(); !at.IsZero() {
		st.out.SentAt = at
	}
}

// learn takes what the provider says beside the outcome.
func (st *settling) learn() {
	if st.word.err != nil {
		return
	}
	if ref := clean(st.word.ProviderRef); ref != "" {
		st.out.ProviderRef = ref
	}
	if circle := clean(st.word.Circle); circle != "" {
		st.out.Circle = circle
	}
}

// longestForeign bounds what is kept of a provider's text, in bytes.
const longestForeign = 100

// clean makes a provider's text one that every store takes.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
	for len(text) > longestForeign {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

const (
	refundRow = `UPDATE recharge SET state = 'refunded', due_at = NULL, token = '', refunded_at = $3,
		refund_id = CASE WHEN refund_id = '' THEN $4 ELSE refund_id END, refund_reason = CASE WHEN refund_id = '' THEN $5 ELSE refund_reason END
	WHERE id = $1 AND reference = $2 AND state = 'success' RETURNING refund_id, refund_reason`
	refundLate = "UPDATE recharge SET refunded_at = $2 WHERE id = $1"
)

// refund brings a recharge from success to refunded.
func (st *settling) refund() (bool, error) {
	r, at := &st.out.Record, st.at()
	reason := clean(st.word.Reason)
	if reason == "" {
		reason = reversedText
	}
	err := st.tx.QueryRow(refundRow, r.ID, r.Reference, at.UnixMicro(), newRefundID(st.now), reason).Scan(&r.RefundID, &r.RefundReason)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	}
	if r.RefundedAt, err = st.noteFinal(r, reverse, at, refundLate); err != nil {
		return false, err
	}
	r.State = schema.RechargeRefunded
	if err := wallet.Refund(st.tx, st.now, r.Owner, r.ID, r.Operator, r.Amount); err != nil {
		return false, err
	}
	if err := st.append(st.tx, r); err != nil {
		return false, err
	}
	return true, st.audit("recharge.refunded", map[string]any{"refund_id": r.RefundID})
}

// refuse notes that a refund which was asked for is not to be had. It is due at once:
// when to look again may have been forgotten for the sake of the refund. Who has lost
// his lease does not: whoever has it may have been granted the refund.
func (st *settling) refuse() (bool, error) {
	r := &st.out.Record
	n, err := st.tx.Exec(`UPDATE recharge SET refund_id = '', refund_reason = '', due_at = $3, token = '', tries = 0
		WHERE id = $1 AND state = 'success' AND refund_id = $2 AND token = $4`, r.ID, r.RefundID, st.now.UnixMicro(), st.lease.Token)
	if err != nil || n == 0 {
		return false, err
	}
	st.out.due, r.Tries = st.now, 0
	if err := st.note(st.word.said()); err != nil {
		return false, err
	}
	err = st.audit("recharge.refund_refused", map[string]any{"refund_id": r.RefundID})
	r.RefundID, r.RefundReason = "", ""
	return true, err
}

// audit appends what the provider's word has done to the log of the account.
func (st *settling) audit(action string, more map[string]any) error {
	r := &st.out.Record
	detail := map[string]any{"amount": r.Amount, "operator": r.Operator, "provider": r.Provider}
	if r.ProviderRef != "" {
		detail["provider_ref"] = r.ProviderRef
	}
	if r.ErrorCode != "" {
		detail["code"] = r.ErrorCode
	}
	maps.Copy(detail, more)
	return access.Audit(st.tx, st.now, access.Entry{
		Account: r.Owner.Account, World: r.Owner.World, Actor: st.word.by, Action: action, Subject: r.ID, Detail: detail,
	})
}
