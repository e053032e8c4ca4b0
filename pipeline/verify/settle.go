package verify

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/branch"
	"vayu/pipeline/verify/ifsc"
	"vayu/pipeline/verify/namematch"
	"vayu/pipeline/verify/request"
	"vayu/pipeline/verify/upi"
	"vayu/schema"
)

// result is a verification after a transition.
type result struct {
	Record

	transition transition
	due        time.Time // next call, or the end of the lease for resend; else zero
}

// transitionTx applies one provider result in a transaction.
type transitionTx struct {
	*Service

	tx      *sqlstore.Tx
	now     time.Time
	result  *providerResult
	lease   workqueue.Lease
	private *request.Private
	branch  string // of the IFSC, in the directory; "" if unknown or not needed
	out     result
}

// settle applies a provider result to a verification in one transaction. Each change requires
// the pending state, so a verification that has ended keeps its first outcome.
func (s *Service) settle(ctx context.Context, r *Record, res *providerResult, own workqueue.Lease, p *request.Private) (result, error) {
	st := transitionTx{Service: s, result: res, lease: own, private: p}
	var err error
	if res.Account.Branch == "" && r.IFSC != "" { // read before the transaction, which then needs no query
		if st.branch, _, err = branch.Find(s.DB.View(ctx), r.IFSC); err != nil {
			return result{}, err
		}
	}
	err = s.DB.Update(sqlstore.WithGroup(ctx, verifications.Name, r.Owner), func(tx *sqlstore.Tx) error {
		st.tx, st.now, st.out = tx, s.Now(), result{Record: *r}
		return st.apply()
	})
	if err != nil {
		return result{}, fmt.Errorf("applying a result to %s: %w", r.ID, err)
	}
	failpoint.Point(failpoint.VerifySettled)
	s.count(&st.out)
	switch {
	case st.out.transition != noop:
		s.Waiters.Notify(st.out.ID, transaction.Update[Record]{Record: st.out.Record})
	case st.out.State != schema.VerificationPending: // another result was faster
		s.reportContradiction(&st.out.Record, res)
	}
	return st.out, nil
}

// apply decides on the transition and executes it. A verification that is older than GiveUp fails instead of a retry.
func (st *transitionTx) apply() error {
	r := &st.out.Record
	var resendAfter time.Duration
	if l := st.Link(r.Owner.World, r.Provider); l != nil {
		resendAfter = l.ResendAfter
	}
	st.out.transition = decide(r, st.result, resendAfter)
	if v := st.out.transition; (v == retryLater || v == retryAsNew || v == requeue) && st.now.Sub(r.CreatedAt) >= st.settings.GiveUp {
		st.out.transition = fail
	}
	switch st.out.transition {
	case succeed, fail:
		return st.finish()
	case retryLater, retryAsNew, requeue:
		return st.postpone(resendAfter)
	case resend:
		return st.renewLease()
	default:
		return st.recordCallback()
	}
}

const finishRow = `UPDATE verification SET state = $2, private = NULL, provider_ref = $3, due_at = NULL, token = '', trouble = '', account_status = $4, name_match = $5, score = $6,
		verified = $7, beneficiary = $8, bank = $9, branch = $10, reasons = $11, utr = $12, error_code = $13, finished_at = $14
	WHERE id = $1 AND state = 'pending'`

// finish ends a verification. It stores an outcome even if this instance has no lease, because the
// outcome may come in a callback. It stores a failure without an outcome only with the lease.
func (st *transitionTx) finish() error {
	r := &st.out.Record
	st.copyReferences()
	r.State, r.FinishedAt, r.Encrypted = schema.VerificationFailed, sqlstore.TruncateMicros(st.now), nil
	query, args := finishRow, []any(nil)
	switch {
	case st.out.transition == succeed:
		st.fillBeneficiary()
	case st.result.err == nil && st.result.Outcome == bank.NotFound:
		r.ErrorCode = notFound(r.Method)
	default:
		r.ErrorCode = giveUpCode(r, st.result)
		query, args = finishRow+" AND token = $15", []any{st.lease.Token}
	}
	r.DelayCode = ""
	f := &r.Beneficiary
	reasons, err := reasonsText(f.SuspiciousReasons)
	if err != nil {
		return err
	}
	pending, err := st.tx.Expect(1, query, append([]any{r.ID, string(r.State), r.ProviderRef, string(f.AccountStatus), string(f.NameMatch), f.NameMatchScore, sqlstore.BoolToInt(r.Verified),
		f.BeneficiaryName, f.Bank, f.Branch, reasons, r.UTR, string(r.ErrorCode), st.now.UnixMicro()}, args...)...)
	if err != nil {
		return err
	}
	if !pending { // the verification has ended already, or another instance has the lease
		st.out.transition = noop
		st.out.Record, _, err = verifications.Get(st.tx, r.ID)
		return err
	}
	if err := st.recordFinalStep(); err != nil {
		return err
	}
	return st.writeAuditAndEvent(st.tx, st.now, r, st.result.by)
}

// fillBeneficiary copies the bank's description of an account to the record, and sets the state success. If the bank
// omits its own name or the branch, fillBeneficiary takes them from our directories.
func (st *transitionTx) fillBeneficiary() {
	r, a := &st.out.Record, st.result.Account
	if a.Bank == "" {
		if r.Method == schema.VerifyUPI {
			a.Bank, _ = upi.Bank(st.private.VPA)
		} else {
			a.Bank, _ = ifsc.Find(r.IFSC)
		}
	}
	a.Branch = cmp.Or(a.Branch, st.branch)
	a.Name, a.Bank, a.Branch = cleanText(a.Name), cleanText(a.Bank), cleanText(a.Branch)
	r.State = schema.VerificationSuccess
	r.Beneficiary, r.Verified = beneficiaryOf(st.private, r.Threshold, &a)
}

// writeAuditAndEvent stores the audit row and the event of a final state. A batch record has no event of its own,
// so for a batch record the batch is updated instead.
func (s *Service) writeAuditAndEvent(tx *sqlstore.Tx, now time.Time, r *Record, by string) error {
	if r.Batch.Batch == "" {
		typ, data := eventOf(r)
		if _, err := s.Events.Append(tx, r.Owner.Account, r.Owner.World, typ, data); err != nil {
			return fmt.Errorf("recording the end of %s: %w", r.ID, err)
		}
	}
	detail := map[string]any{"method": r.Method, "target": r.Target, "provider": r.Provider}
	if r.State == schema.VerificationSuccess {
		detail["verified"], detail["name_match"] = r.Verified, r.Beneficiary.NameMatch
	} else {
		detail["code"] = r.ErrorCode
	}
	err := audit.Append(tx, now, r.Audit(by, "verification."+string(r.State), detail))
	if err != nil || r.Batch.Batch == "" {
		return err
	}
	return item.Finish(tx, now, r.Batch.Batch, r.Batch.Index, reached(r), s.bulkCompleted)
}

// reached reports whether the bank gave an outcome: the account, or that it does not exist.
func reached(r *Record) bool {
	return r.State == schema.VerificationSuccess || r.ErrorCode == notFound(r.Method)
}

// postpone schedules the next call. If the lease is lost, it does nothing.
func (st *transitionTx) postpone(resendAfter time.Duration) error {
	r := &st.out.Record
	var due time.Time
	was := *r
	switch st.out.transition {
	case requeue: // as if the call had not started
		due = st.now.Add(workqueue.RetryPause)
		if st.result.call != callEnquire && !st.result.resent {
			r.Sent, r.SentAt = false, time.Time{}
		}
	default:
		st.copyReferences()
		if st.result.call == callDeposit {
			r.SentAt = sqlstore.TruncateMicros(st.result.calledAt)
		}
		due = nextLook(r, st.result, resendAfter, st.now)
		r.Tries++
		r.DelayCode = troubleOf(st.result)
		if st.out.transition == retryAsNew {
			r.Sent, r.SentAt = false, time.Time{}
		}
	}
	stored, err := verifications.Postpone(st.tx, r, st.lease, due)
	if err != nil {
		return err
	}
	if !stored {
		st.out = result{Record: was, transition: noop}
		return nil
	}
	if r.DelayCode != was.DelayCode {
		if _, err := st.tx.Exec("UPDATE verification SET trouble = $2 WHERE id = $1", r.ID, string(r.DelayCode)); err != nil {
			return err
		}
	}
	st.out.due = due
	return st.recordStep()
}

// renewLease extends the lease of the verification before the deposit is sent again. If the lease is lost, it does
// nothing.
func (st *transitionTx) renewLease() error {
	r := &st.out.Record
	until, renewed, err := verifications.Renew(st.tx, r, st.Link(r.Owner.World, r.Provider), st.lease, true, st.now)
	if err != nil || !renewed {
		st.out.transition = noop
		return err
	}
	st.out.due = until
	return st.recordStep()
}

// copyReferences copies the bank's reference and the UTR to the record.
func (st *transitionTx) copyReferences() {
	if st.result.err != nil {
		return
	}
	if ref := cleanText(st.result.ProviderRef); ref != "" {
		st.out.ProviderRef = ref
	}
	if utr := cleanText(st.result.UTR); utr != "" {
		st.out.UTR = utr
	}
}

// longestBankText is the limit of a stored text of a bank, in characters.
const longestBankText = 200

// cleanText returns a bank's text in a form that every store accepts and that can be shown.
func cleanText(text string) string { return httpconnector.CleanText(text, longestBankText) }

// Settle applies an answer from outside the service's own calls, such as a callback. It is idempotent. `by` is the
// actor in the audit log. For an unknown reference the error is not_found.
func (s *Service) Settle(ctx context.Context, world schema.World, provider, reference string, a bank.Answer, by string) (Record, error) {
	if !schema.IsID(reference) {
		return Record{}, errNoVerification
	}
	r, found, err := verifications.Get(s.DB.View(ctx), reference)
	switch {
	case err != nil:
		return Record{}, err
	case !found || r.Owner.World != world || r.Provider != provider:
		return Record{}, errNoVerification
	}
	res := providerResult{Answer: a, call: callNone, calledAt: s.Now(), by: by}
	if err := checkAnswer(&res); err != nil {
		return Record{}, fmt.Errorf("applying a result to %s: %w", reference, err)
	}
	if r.State != schema.VerificationPending {
		s.reportContradiction(&r, &res)
		return r, nil
	}
	p, err := s.decryptPrivate(&r)
	if err != nil && a.Outcome == bank.Found { // only Found needs the private fields
		return Record{}, err
	}
	out, err := s.settle(ctx, &r, &res, workqueue.Lease{}, &p)
	return out.Record, err
}

// reportContradiction counts and logs an answer that contradicts the final state. The final state remains.
func (s *Service) reportContradiction(r *Record, res *providerResult) {
	if res.err != nil || res.Outcome != bank.Found && res.Outcome != bank.NotFound || (res.Outcome == bank.Found) == (r.State == schema.VerificationSuccess) {
		return
	}
	s.metrics.contradictions.WithLabelValues(r.Provider).Inc()
	s.Log.Error("a bank contradicts the final state, which remains", "verification", r.ID, "provider", r.Provider, "state", string(r.State))
}

// compare classifies the similarity of the expected and the registered name at a threshold.
func compare(expected, registered string, threshold int) (schema.NameMatch, int) {
	switch m := namematch.Compare(expected, registered); {
	case m.Exact:
		return schema.NameExact, m.Score
	case m.Score >= threshold:
		return schema.NamePartial, m.Score
	default:
		return schema.NameNone, m.Score
	}
}

// beneficiaryOf returns the bank's description of an account, and whether the account passes the verification.
func beneficiaryOf(p *request.Private, threshold int, a *bank.Account) (found schema.Beneficiary, verified bool) {
	found = schema.Beneficiary{
		NameMatch: schema.NameNone, BeneficiaryName: a.Name, Bank: a.Bank, Branch: a.Branch, AccountStatus: a.Status,
		Suspicious: len(a.Reasons) > 0, SuspiciousReasons: bank.ReasonCodes(a.Reasons),
	}
	if p.Name != "" {
		found.NameMatch, found.NameMatchScore = compare(p.Name, a.Name, threshold)
	}
	return found, a.Status == schema.AccountActive && (p.Name == "" || found.NameMatch != schema.NameNone)
}
