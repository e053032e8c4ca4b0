package verify

import (
	"context"
	"fmt"
	"time"

	"vayu/internal/access"
	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/upstream"
	"vayu/pipeline/verify/branch"
	"vayu/pipeline/verify/ifsc"
	"vayu/pipeline/verify/upi"
	"vayu/schema"
)

// settled is what a word has made of a verification.
type settled struct {
	Record

	verdict verdict
	due     time.Time // when it is looked at next; zero for never, or not by this
}

// settling is one word on its way into the store.
type settling struct {
	*Service

	tx      *sqlstore.Tx
	now     time.Time
	word    *word
	lease   upstream.Lease
	private *Private
	out     settled
}

// settle does what a word calls for, in one transaction, to a verification as it was
// last seen. Whether it is still pending decides each change by compare-and-set; what
// was decided before stays.
func (s *Service) settle(ctx context.Context, r *Record, w *word, own upstream.Lease, p *Private) (settled, error) {
	st := settling{Service: s, word: w, lease: own, private: p}
	err := s.DB.Update(sqlstore.InWorld(ctx, r.Owner.World), func(tx *sqlstore.Tx) error {
		st.tx, st.now, st.out = tx, s.Now(), settled{Record: *r}
		return st.do()
	})
	if err != nil {
		return settled{}, fmt.Errorf("settling %s: %w", r.ID, err)
	}
	failpoint.Point(failpoint.VerifySettled)
	s.count(&st.out)
	switch {
	case st.out.verdict != rest:
		s.waits.Tell(st.out.ID, st.out)
	case st.out.State != schema.VerificationPending: // somebody was faster
		s.contradicted(&st.out.Record, w)
	}
	return st.out, nil
}

// do does what is decided.
func (st *settling) do() error {
	r := &st.out.Record
	var resendAfter time.Duration
	if l := st.lineOf(r.Owner.World, r.Provider); l != nil {
		resendAfter = l.ResendAfter
	}
	st.out.verdict = decide(r, st.word, resendAfter)
	if v := st.out.verdict; (v == again || v == anew || v == putBack) && st.now.Sub(r.CreatedAt) >= st.Settings.GiveUp {
		st.out.verdict = fail
	}
	switch st.out.verdict {
	case succeed, fail:
		return st.finish()
	case again, anew, putBack:
		return st.postpone(resendAfter)
	case resend:
		return st.renew()
	default:
		return st.heard()
	}
}

const finishRow = `UPDATE verification SET state = $2, private = NULL, provider_ref = $3, due_at = NULL, token = '', trouble = '', account_status = $4, name_match = $5, score = $6,
		verified = $7, beneficiary = $8, bank = $9, branch = $10, reasons = $11, utr = $12, error_code = $13, finished_at = $14
	WHERE id = $1 AND state = 'pending'`

// finish gives a verification its verdict. A bank's word is true whoever hears it;
// that nobody could say anything is up to whoever has the lease.
func (st *settling) finish() error {
	r := &st.out.Record
	st.learn()
	r.State, r.FinishedAt, r.Sealed = schema.VerificationFailed, sqlstore.Whole(st.now), nil
	query, args := finishRow, []any(nil)
	switch {
	case st.out.verdict == succeed:
		if err := st.judge(); err != nil {
			return err
		}
	case st.word.err == nil && st.word.Outcome == NotFound:
		r.ErrorCode = notFound(r.Method)
	default:
		r.ErrorCode = givenUp(r, st.word)
		query, args = finishRow+" AND token = $15", []any{st.lease.Token}
	}
	r.Trouble = ""
	f := &r.Found
	reasons, err := reasonsText(f.SuspiciousReasons)
	if err != nil {
		return err
	}
	n, err := st.tx.Exec(query, append([]any{r.ID, string(r.State), r.ProviderRef, string(f.AccountStatus), string(f.NameMatch), f.NameMatchScore, sqlstore.Flag(r.Verified),
		f.BeneficiaryName, f.Bank, f.Branch, reasons, r.UTR, string(r.ErrorCode), st.now.UnixMicro()}, args...)...)
	if err != nil {
		return err
	}
	if n == 0 { // it has its verdict, or it is somebody else's turn to give it up
		st.out.verdict = rest
		st.out.Record, _, err = one(st.tx, selectByID, r.ID)
		return err
	}
	if err := st.noteFinal(); err != nil {
		return err
	}
	return st.accompany(st.tx, st.now, r, st.word.by)
}

// judge takes what the bank says of an account that exists.
func (st *settling) judge() error {
	r, a := &st.out.Record, st.word.Account
	if a.Bank == "" {
		if r.Method == schema.VerifyUPI {
			a.Bank, _ = upi.Bank(st.private.VPA)
		} else {
			a.Bank, _ = ifsc.Find(r.IFSC)
		}
	}
	if a.Branch == "" && r.IFSC != "" {
		var err error
		if a.Branch, _, err = branch.Find(st.tx, r.IFSC); err != nil {
			return err
		}
	}
	a.Name, a.Bank, a.Branch = clean(a.Name), clean(a.Bank), clean(a.Branch)
	r.State = schema.VerificationSuccess
	r.Found, r.Verified = judge(st.private, r.Threshold, &a)
	return nil
}

// accompany stores what goes with a verdict: the row of the audit log, and the event
// or, for a record of a batch, its place there, which comes last.
func (s *Service) accompany(tx *sqlstore.Tx, now time.Time, r *Record, by string) error {
	if r.Batch.Batch == "" {
		typ, data := eventOf(r)
		if _, err := s.Events.Append(tx, r.Owner.Account, r.Owner.World, typ, data); err != nil {
			return fmt.Errorf("telling of %s: %w", r.ID, err)
		}
	}
	detail := map[string]any{"method": r.Method, "target": r.Target, "provider": r.Provider}
	if r.State == schema.VerificationSuccess {
		detail["verified"], detail["name_match"] = r.Verified, r.Found.NameMatch
	} else {
		detail["code"] = r.ErrorCode
	}
	err := access.Audit(tx, now, access.Entry{
		Account: r.Owner.Account, World: r.Owner.World, Actor: by, Action: "verification." + string(r.State), Subject: r.ID, Detail: detail,
	})
	if err != nil || r.Batch.Batch == "" {
		return err
	}
	done, err := batch.Finish(tx, now, r.Batch.Batch, r.Batch.Index, reached(r))
	if err != nil || done == nil {
		return err
	}
	return s.bulkCompleted(tx, done)
}

// reached reports whether there was a verdict: that an account does not exist is one.
func reached(r *Record) bool {
	return r.State == schema.VerificationSuccess || r.ErrorCode == notFound(r.Method)
}

const postponeRow = `UPDATE verification SET tries = $4, due_at = $3, token = '', provider_ref = $5, sent = $6, sent_at = $7, trouble = $8
	WHERE id = $1 AND token = $2 AND state = 'pending'`

// postpone has a verification looked at again later. Who has lost his lease leaves
// that to whoever has it.
func (st *settling) postpone(resendAfter time.Duration) error {
	r := &st.out.Record
	var due time.Time
	was := *r
	switch st.out.verdict {
	case putBack: // as if the call had never been begun
		due = st.now.Add(upstream.AwayPause)
		if st.word.call != enquire && !st.word.resent {
			r.Sent, r.SentAt = false, time.Time{}
		}
	default:
		st.learn()
		if st.word.call == deposit {
			r.SentAt = sqlstore.Whole(st.word.asked)
		}
		due = nextLook(r, st.word, resendAfter, st.now)
		r.Tries++
		r.Trouble = troubleOf(st.word)
		if st.out.verdict == anew {
			r.Sent, r.SentAt = false, time.Time{}
		}
	}
	n, err := st.tx.Exec(postponeRow, r.ID, st.lease.Token, due.UnixMicro(), r.Tries, r.ProviderRef, sqlstore.Flag(r.Sent), sqlstore.Micros(r.SentAt), string(r.Trouble))
	if err != nil {
		return err
	}
	if n == 0 {
		st.out = settled{Record: was, verdict: rest}
		return nil
	}
	st.out.due = due
	return st.note()
}

// renew begins a lease anew, for asking for a deposit again. Who has lost his does
// not.
func (st *settling) renew() error {
	r := &st.out.Record
	st.out.verdict = rest
	l := st.lineOf(r.Owner.World, r.Provider)
	if l == nil {
		return nil
	}
	until := st.now.Add(l.Timeout + upstream.Margin)
	sentAt := l.Latest(upstream.Lease{Until: until})
	n, err := st.tx.Exec("UPDATE verification SET sent_at = $3, due_at = $4 WHERE id = $1 AND token = $2 AND state = 'pending'",
		r.ID, st.lease.Token, sentAt.UnixMicro(), until.UnixMicro())
	if err != nil || n == 0 {
		return err
	}
	r.SentAt, st.out.due, st.out.verdict = sentAt, until, resend
	return st.note()
}

// learn takes what the bank says beside the outcome.
func (st *settling) learn() {
	if st.word.err != nil {
		return
	}
	if ref := clean(st.word.ProviderRef); ref != "" {
		st.out.ProviderRef = ref
	}
	if utr := clean(st.word.UTR); utr != "" {
		st.out.UTR = utr
	}
}

// longestForeign bounds what is kept of a bank's text, in characters.
const longestForeign = 200

// clean makes a bank's text one that every store takes, and that can be shown.
func clean(text string) string { return httpconnector.Line(text, longestForeign) }

// Settle acts on a bank's word on a verification that came by itself: by
// compare-and-set, so that repeating it changes nothing. By is who says so, for the
// audit log. It is not_found for a reference that nobody has.
func (s *Service) Settle(ctx context.Context, world schema.World, provider, reference string, a Answer, by string) (Record, error) {
	if !schema.IsID(reference) {
		return Record{}, errNoVerification
	}
	r, found, err := one(s.DB.View(ctx), selectByID, reference)
	switch {
	case err != nil:
		return Record{}, err
	case !found || r.Owner.World != world || r.Provider != provider:
		return Record{}, errNoVerification
	}
	w := word{Answer: a, call: told, asked: s.Now(), by: by}
	if err := faultOf(&w); err != nil {
		return Record{}, fmt.Errorf("settling %s: %w", reference, err)
	}
	if r.State != schema.VerificationPending {
		s.contradicted(&r, &w)
		return r, nil
	}
	p, err := s.open(&r)
	if err != nil && a.Outcome == Found { // else nobody needs it
		return Record{}, err
	}
	out, err := s.settle(ctx, &r, &w, upstream.Lease{}, &p)
	return out.Record, err
}

// contradicted says so when a bank contradicts its verdict: that one stays.
func (s *Service) contradicted(r *Record, w *word) {
	if w.err != nil || w.Outcome != Found && w.Outcome != NotFound || (w.Outcome == Found) == (r.State == schema.VerificationSuccess) {
		return
	}
	s.metrics.contradictions.WithLabelValues(r.Provider).Inc()
	s.Log.Error("a bank contradicts its verdict, which stays", "verification", r.ID, "provider", r.Provider, "state", string(r.State))
}
