package verify

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

// Record is a stored verification.
type Record struct {
	transaction.Base

	Digest      []byte // digest of the request, to detect a repetition
	CacheKey    []byte // digest of the target
	State       schema.VerificationState
	Method      schema.VerificationMethod
	Target      string // masked
	IFSC        string
	Encrypted   []byte             // encrypted Private; nil once the verification has ended
	Named       bool               // the request has an expected name
	Threshold   int                // minimum passing score of a name match
	DelayCode   schema.Code        // why the outcome is delayed; "" for no failure
	Beneficiary schema.Beneficiary // set on success
	Verified    bool
	UTR         string
	AnsweredBy  string // id of the verification whose answer was reused; "" for none
	Key         string // id of the API key
}

// Status returns the state as a string. It is for package transaction.
func (r *Record) Status() string { return string(r.State) }

// idPrefix is the prefix of ids; a ULID follows.
const idPrefix = "ver_"

// verifications describes the table `verification` for package transaction.
var verifications = &transaction.Table[Record, *Record]{
	Name: "verification", Columns: columns, Prefix: idPrefix, Unindexed: string(schema.VerificationSuccess), Scan: scanRecord, Missing: errNoVerification,
}

// narrow reads the parameter "method", which only the list of verifications has. The result `number` is always "".
func narrow(faults *schema.RequestErrors, params map[string]string) (number, where string) {
	switch method, given := params["method"]; schema.VerificationMethod(method) {
	case schema.VerifyPennyDrop, schema.VerifyUPI:
		where = " AND method = '" + method + "'"
	default:
		if given {
			faults.Add("method", "The method must be penny_drop or upi.")
		}
	}
	return "", where
}

// columns lists the columns that scanRecord reads.
const columns = `id, account_id, mode, ref_id, digest, same, state, method, target, ifsc, private, named, threshold, provider, provider_ref, sent, sent_at, tries, trouble,
	account_status, name_match, score, verified, beneficiary, bank, branch, reasons, utr, error_code, answered_by, key_id, batch_id, batch_index, created_at, finished_at`

func scanRecord(row sqlstore.Scanner) (r Record, err error) {
	var mode, reasons string
	var ref sql.NullString
	var named, sent, verified, created int64
	var sentAt, finished sql.NullInt64
	f := &r.Beneficiary
	err = row.Scan(
		&r.ID, &r.Owner.Account, &mode, &ref, &r.Digest, &r.CacheKey, &r.State, &r.Method, &r.Target, &r.IFSC, &r.Encrypted, &named, &r.Threshold,
		&r.Provider, &r.ProviderRef, &sent, &sentAt, &r.Tries, &r.DelayCode,
		&f.AccountStatus, &f.NameMatch, &f.NameMatchScore, &verified, &f.BeneficiaryName, &f.Bank, &f.Branch, &reasons, &r.UTR, &r.ErrorCode, &r.AnsweredBy,
		&r.Key, &r.Batch.Batch, &r.Batch.Index, &created, &finished)
	if err != nil {
		return r, err
	}
	r.Owner.World, r.RefID = schema.WorldOf(mode), ref.String
	r.Named, r.Sent, r.Verified = named != 0, sent != 0, verified != 0
	r.SentAt, r.CreatedAt, r.FinishedAt = sqlstore.FromMicros(sentAt), time.UnixMicro(created).UTC(), sqlstore.FromMicros(finished)
	err = readReasons(&r, reasons)
	return r, err
}

// replyColumns lists the columns of replies, which scanReply reads.
const replyColumns = `id, account_id, mode, ref_id, state, method, target, ifsc, account_status, name_match, score, verified, beneficiary, bank, branch, reasons, utr,
	error_code, answered_by, batch_id, created_at, finished_at`

func scanReply(row sqlstore.Scanner) (r Record, err error) {
	var mode, reasons string
	var ref sql.NullString
	var verified, created int64
	var finished sql.NullInt64
	f := &r.Beneficiary
	err = row.Scan(&r.ID, &r.Owner.Account, &mode, &ref, &r.State, &r.Method, &r.Target, &r.IFSC, &f.AccountStatus, &f.NameMatch, &f.NameMatchScore, &verified,
		&f.BeneficiaryName, &f.Bank, &f.Branch, &reasons, &r.UTR, &r.ErrorCode, &r.AnsweredBy, &r.Batch.Batch, &created, &finished)
	if err != nil {
		return r, err
	}
	r.Owner.World, r.RefID, r.Verified = schema.WorldOf(mode), ref.String, verified != 0
	r.CreatedAt, r.FinishedAt = time.UnixMicro(created).UTC(), sqlstore.FromMicros(finished)
	err = readReasons(&r, reasons)
	return r, err
}

// readReasons parses the stored reasons of a verification, and sets them in r.
func readReasons(r *Record, text string) error {
	r.Beneficiary.SuspiciousReasons = []string{}
	if text == "" {
		return nil
	}
	r.Beneficiary.Suspicious = true
	if err := json.Unmarshal([]byte(text), &r.Beneficiary.SuspiciousReasons); err != nil {
		return fmt.Errorf("reading the reasons of %s: %w", r.ID, err)
	}
	return nil
}

// reasonsText returns the stored form of reasons.
func reasonsText(reasons []string) (string, error) {
	if len(reasons) == 0 {
		return "", nil
	}
	text, err := json.Marshal(reasons)
	return string(text), err
}

const selectByRef = "SELECT " + columns + " FROM verification WHERE account_id = $1 AND mode = $2 AND ref_id = $3"

var errNoVerification = schema.NewProblem(schema.NotFound, "", "There is no such verification.")

func (s *Service) encryptPrivate(id string, p *request.Private) ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encrypting the target of %s: %w", id, err)
	}
	return private.Encrypt(s.Cipher, text, id), nil
}

// decryptPrivate decrypts the private fields of a pending verification.
func (s *Service) decryptPrivate(r *Record) (p request.Private, err error) {
	text, err := private.Decrypt(s.Cipher, r.Encrypted, r.ID)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return request.Private{}, fmt.Errorf("decrypting the target of %s: %w", r.ID, err)
	}
	p.IFSC = r.IFSC
	return p, nil
}

// private is the encrypted column with the private fields of a request. Calls to a bank need these fields.
var private = encryption.Column{
	Table: "verification", Name: "private", Key: []string{"id"},
	AssociatedData: func(key ...string) string { return "verification/" + key[0] + "/private" },
}

// EncryptedColumns returns the columns that this package encrypts.
func EncryptedColumns() []encryption.Column { return []encryption.Column{private} }

// Personal returns how to erase an account's personal data: all its verifications and timelines.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{
			Table: "upstream_step", Key: []string{"subject", "number"},
			From: "upstream_step t JOIN verification v ON v.id = t.subject WHERE v.account_id = $1",
		},
		{Table: "verification", Key: []string{"id"}, From: "verification t WHERE t.account_id = $1"},
	}
}
