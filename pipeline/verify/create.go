package verify

import (
	"bytes"
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/internal/tracing"
	"vayu/internal/workqueue"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

// Do creates a verification and waits until it ends, at most for the duration `wait`. The returned record may be
// pending. Do returns early after a failed call to the bank, unless `patient` is set.
//
// `replayed` reports that the ref_id or the Idempotency-Key was used before for the same request. If either was used
// for another request, the error is duplicate_ref_id or idempotency_conflict. A batch item gets duplicate_ref_id even
// for the same request, unless that item itself made the request. After a *schema.Problem, nothing is recorded.
func (s *Service) Do(ctx context.Context, r request.Request, wait time.Duration, patient bool) (rec Record, replayed bool, err error) {
	enough := func(u transaction.Update[Record]) bool { return !patient && u.Record.DelayCode != "" }
	rec, replayed, err = transaction.CreateOnce(
		func() (Record, bool, error) { return s.findByRef(ctx, &r) },
		func() (Record, error) {
			d, err := s.draft(ctx, &r)
			if err != nil {
				return Record{}, err
			}
			updates, remove := s.Waiters.Add(d.ID)
			defer remove()
			made, err := s.create(context.WithoutCancel(ctx), &r, d) // a disconnected client does not cancel the verification
			if err != nil {
				return Record{}, err
			}
			return s.Core.Await(ctx, made, updates, wait, enough), nil
		})
	if replayed {
		rec = s.Core.AwaitReplayed(ctx, rec, wait, enough)
	}
	return rec, replayed, err
}

// findByRef returns the verification that an earlier request with the same Idempotency-Key or ref_id created. If the
// ref_id was used for another request, the error is duplicate_ref_id.
func (s *Service) findByRef(ctx context.Context, r *request.Request) (Record, bool, error) {
	made, err := r.Once.CreatedPath(s.DB.View(ctx), s.Now())
	if err != nil {
		return Record{}, false, err
	}
	if made != "" {
		rec, err := s.Core.Find(ctx, r.Owner, strings.TrimPrefix(made, path+"/"))
		return rec, err == nil, err
	}
	if r.RefID == "" {
		return Record{}, false, nil
	}
	rec, found, err := verifications.One(s.DB.View(ctx), selectByRef, r.Owner.Account, r.Owner.World.String(), r.RefID)
	if err != nil || !found {
		return Record{}, false, err
	}
	return s.Core.Repeated(rec, r.Item, bytes.Equal(rec.Digest, r.Digest(s.Cipher)))
}

// draft is a verification before it is stored.
type draft struct {
	Record

	connection *bank.Connection // nil if a cached answer is used
	lease      workqueue.Lease  // lease of the acquired slot; empty if the verification is queued
}

// draft prepares the record of a request, and acquires a slot if one is free. A *schema.Problem rejects the request.
func (s *Service) draft(ctx context.Context, r *request.Request) (*draft, error) {
	now := sqlstore.TruncateMicros(s.Now())
	d := &draft{Record: Record{
		Base: transaction.Base{ID: idPrefix + ulid.MustNewDefault(now).String(), Owner: r.Owner, RefID: r.RefID, CreatedAt: now}, Digest: r.Digest(s.Cipher), CacheKey: r.CacheKey(s.Cipher),
		State: schema.VerificationPending, Method: r.Method, Target: r.Target(), IFSC: r.IFSC, Named: r.Name != "", Key: r.Caller.Key,
	}}
	d.Beneficiary.NameMatch = schema.NameNone
	if r.Item != nil {
		d.Batch = *r.Item
	}
	var err error
	if d.Threshold, err = s.threshold(ctx, r); err != nil {
		return nil, err
	}
	if answered, err := s.useCachedAnswer(ctx, r, d); answered || err != nil {
		return d, err
	}
	if d.connection, err = s.route(r.Owner.World, r.Method); err != nil {
		return nil, err
	}
	d.Provider = d.connection.Name
	if d.Encrypted, err = s.encryptPrivate(d.ID, &r.Private); err != nil {
		return nil, err
	}
	d.lease = s.Core.Acquire(ctx, &d.connection.Link, &d.Record, itemWait)
	return d, nil
}

// threshold returns the minimum passing score of a request: its own tolerance, if it has one. Otherwise, for a request
// with a name, it returns the account's default, if the account has one. In all other cases it is request.Standard.
func (s *Service) threshold(ctx context.Context, r *request.Request) (int, error) {
	if r.Tolerance >= 0 {
		return r.Tolerance, nil
	}
	if r.Name == "" {
		return request.Standard, nil
	}
	var set sql.NullInt64
	err := s.DB.View(ctx).QueryRow("SELECT name_tolerance FROM account WHERE id = $1", r.Owner.Account).Scan(&set)
	if err != nil || !set.Valid {
		return request.Standard, err
	}
	return int(set.Int64), nil
}

// selectCached reads a bank's last answer about the same account or address: that it exists, or that it does not. It
// ignores verifications that reused an earlier answer.
const selectCached = "SELECT " + columns + ` FROM verification
	WHERE account_id = $1 AND mode = $2 AND same = $3 AND finished_at >= $4 AND answered_by = '' AND (state = 'success' OR error_code = 'account_not_found' OR error_code = 'vpa_not_found')
	ORDER BY finished_at DESC LIMIT 1`

// useCachedAnswer fills the draft with the bank's answer of a recent verification that has the same owner and CacheKey.
// It returns false if there is no such verification, if caching is disabled, or in the sandbox.
func (s *Service) useCachedAnswer(ctx context.Context, r *request.Request, d *draft) (bool, error) {
	if s.settings.Cache <= 0 || r.Owner.World == schema.Sandbox { // sandbox answers depend on the expected name
		return false, nil
	}
	was, found, err := verifications.One(s.DB.View(ctx), selectCached, r.Owner.Account, r.Owner.World.String(), d.CacheKey, d.CreatedAt.Add(-s.settings.Cache).UnixMicro())
	if err != nil || !found {
		return false, err
	}
	d.State, d.ErrorCode, d.AnsweredBy, d.Provider, d.UTR, d.FinishedAt = was.State, was.ErrorCode, was.ID, was.Provider, was.UTR, d.CreatedAt
	if was.State == schema.VerificationSuccess {
		b := was.Beneficiary
		d.Beneficiary, d.Verified = beneficiaryOf(&r.Private, d.Threshold, &bank.Account{
			Name: b.BeneficiaryName, Bank: b.Bank, Branch: b.Branch, Status: b.AccountStatus, Reasons: b.SuspiciousReasons,
		})
	}
	return true, nil
}

// create stores a verification. If the verification has a slot, create starts its first call.
func (s *Service) create(ctx context.Context, r *request.Request, d *draft) (Record, error) {
	err := s.DB.Update(sqlstore.WithGroup(ctx, verifications.Name, r.Owner), func(tx *sqlstore.Tx) error { return s.insert(tx, r, d) })
	if s.Core.Inserted(&d.Record, s.Core.Link(d.Owner.World, d.Provider), d.lease, err) {
		go s.runJob(job{Connection: d.connection, rec: d.Record, private: r.Private, call: firstCall(&d.Record), lease: d.lease, calls: tracing.WithSpanFrom(s.Queue.CallContext(), ctx)})
	}
	return d.Record, err
}

const insertRow = `INSERT INTO verification (id, account_id, mode, ref_id, digest, same, state, method, target, ifsc, private, named, threshold, provider, provider_ref,
		sent, sent_at, tries, due_at, token, trouble, account_status, name_match, score, verified, beneficiary, bank, branch, reasons, utr, error_code, answered_by,
		key_id, batch_id, batch_index, created_at, finished_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, '', $15, $16, 0, $17, $18, '', $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29,
		$30, $31, $32, $33, $34)
	ON CONFLICT (account_id, mode, ref_id) DO NOTHING`

// insert stores a verification, its idempotency key and an audit row about its creation, and begins its batch item. If
// a cached answer has ended the verification already, insert also calls writeAuditAndEvent.
func (s *Service) insert(tx *sqlstore.Tx, r *request.Request, d *draft) error {
	if err := transaction.BeginItem(tx, &d.Base); err != nil {
		return err
	}
	claimed, err := r.Once.Claim(tx, d.CreatedAt, path+"/"+d.ID)
	if err != nil {
		return err
	}
	if !claimed {
		return transaction.ErrExists
	}
	f := &d.Beneficiary
	reasons, err := reasonsText(f.SuspiciousReasons)
	if err != nil {
		return err
	}
	inserted, err := tx.Expect(1, insertRow, d.ID, d.Owner.Account, d.Owner.World.String(), sql.NullString{String: d.RefID, Valid: d.RefID != ""}, d.Digest, d.CacheKey,
		string(d.State), string(d.Method), d.Target, d.IFSC, d.Encrypted, sqlstore.BoolToInt(d.Named), d.Threshold, d.Provider, sqlstore.BoolToInt(d.Sent), sqlstore.Micros(d.SentAt),
		sqlstore.Micros(transaction.FirstDue(&d.Base, d.lease)), d.lease.Token,
		string(f.AccountStatus), string(f.NameMatch), f.NameMatchScore, sqlstore.BoolToInt(d.Verified), f.BeneficiaryName, f.Bank, f.Branch, reasons, d.UTR, string(d.ErrorCode),
		d.AnsweredBy, d.Key, d.Batch.Batch, d.Batch.Index, d.CreatedAt.UnixMicro(), sqlstore.Micros(d.FinishedAt))
	if err != nil {
		return err
	}
	if !inserted {
		return transaction.ErrExists
	}
	detail := map[string]any{"method": d.Method, "target": d.Target}
	if d.RefID != "" {
		detail["ref_id"] = d.RefID
	}
	if r.Name != "" {
		detail["name_hash"] = r.NameDigest(s.Cipher)
	}
	err = audit.Append(tx, d.CreatedAt, r.Audit(&d.Base, "verification.create", detail))
	if err != nil || d.State == schema.VerificationPending {
		return err
	}
	return s.writeAuditAndEvent(tx, d.CreatedAt, &d.Record, "cache")
}
