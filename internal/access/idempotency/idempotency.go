// Package idempotency replays the stored reply to a repeated call with the same Idempotency-Key.
package idempotency

import (
	"bytes"
	"crypto/subtle"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// Header is the name of the header with the key.
	Header = "Idempotency-Key"
	// longest is the largest length of a key, in bytes.
	longest = 255
	life    = 24 * time.Hour
)

// Key is the Idempotency-Key header of a POST, which makes retries safe. A call without the header has a nil Key, which
// [Key.Perform], [Key.Claim] and [Key.CreatedPath] accept.
type Key struct {
	cipher      *encryption.Cipher
	account     string
	mode        string
	key         string
	fingerprint []byte
}

// Parse reads the Idempotency-Key of a POST. It returns nil if c has no such header or is not a POST. The cipher
// computes a digest of the request. For 24 hours, a request with the same key and a different digest is rejected.
func Parse(cipher *encryption.Cipher, c *httpapi.Call) (*Key, error) {
	values := c.Header[Header]
	if c.Method != http.MethodPost || len(values) == 0 {
		return nil, nil
	}
	if len(values) > 1 || !valid(values[0]) {
		return nil, schema.NewProblem(schema.InvalidRequest, Header,
			"The header Idempotency-Key must occur once, with 1 to 255 printable ASCII characters.")
	}
	o := &Key{cipher: cipher, account: c.Account, mode: c.World.String(), key: values[0]}
	parts := [][]byte{[]byte(c.Method), []byte(c.URL.RequestURI()), c.Body}
	if c.BodyType != "" {
		parts = append(parts, []byte(c.BodyType))
	}
	o.fingerprint = cipher.Digest("idempotency", parts...)
	return o, nil
}

func valid(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return len(text) > 0 && len(text) <= longest
}

// Perform runs `do` and stores the reply. If the store has an unexpired reply to an earlier call with the same key,
// Perform returns that reply instead, and `stored` is true. If o is nil, Perform only runs `do`.
func (o *Key) Perform(tx *sqlstore.Tx, now time.Time, do func() (httpapi.Response, audit.Entry, error)) (resp httpapi.Response, e audit.Entry, stored bool, err error) {
	if o != nil {
		before, err := o.claim(tx, now)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, false, err
		}
		if before != nil {
			return *before, audit.Entry{}, true, nil
		}
	}
	if resp, e, err = do(); err != nil {
		return httpapi.Response{}, audit.Entry{}, false, err
	}
	if resp, err = finished(resp); err == nil && o != nil {
		err = o.keep(tx, resp)
	}
	return resp, e, false, err
}

// claim reserves the key for this call, or returns the reply of the earlier call that has claimed the key. Of
// two simultaneous calls, the second waits in the INSERT until the first commits or rolls back.
func (o *Key) claim(tx *sqlstore.Tx, now time.Time) (*httpapi.Response, error) {
	claimed, err := tx.Expect(1, `
		INSERT INTO idempotent_reply (account_id, mode, key, fingerprint, status, body, expires_at)
		VALUES ($1, $2, $3, $4, 0, $5, $6)
		ON CONFLICT (account_id, mode, key) DO UPDATE
		SET fingerprint = excluded.fingerprint, status = 0, body = excluded.body, expires_at = excluded.expires_at
		WHERE idempotent_reply.expires_at <= $7`,
		o.account, o.mode, o.key, o.fingerprint, []byte{}, now.Add(life).UnixMicro(), now.UnixMicro())
	if err != nil {
		return nil, fmt.Errorf("claiming an Idempotency-Key: %w", err)
	}
	if claimed {
		return nil, nil
	}
	return o.Stored(tx, now)
}

// Stored returns the reply of the call that has claimed the key. It returns nil if no call has claimed the key, or the
// reply has expired. The error is a *schema.Problem if the key was used with another request.
func (o *Key) Stored(q sqlstore.Querier, now time.Time) (*httpapi.Response, error) {
	var fingerprint, encrypted []byte
	resp := &httpapi.Response{Replayed: true}
	err := q.QueryRow("SELECT fingerprint, status, body FROM idempotent_reply WHERE account_id = $1 AND mode = $2 AND key = $3 AND expires_at > $4",
		o.account, o.mode, o.key, now.UnixMicro()).Scan(&fingerprint, &resp.Status, &encrypted)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading a stored reply: %w", err)
	}
	if subtle.ConstantTimeCompare(fingerprint, o.fingerprint) == 0 {
		return nil, schema.NewProblem(schema.IdempotencyConflict, Header,
			"This Idempotency-Key was used with another request within the last 24 hours.")
	}
	text, err := StoredReply.Decrypt(o.cipher, encrypted, o.account, o.mode, o.key)
	if err != nil {
		return nil, fmt.Errorf("decrypting a stored reply: %w", err)
	}
	location, body, _ := bytes.Cut(text, []byte("\n"))
	resp.Location, resp.Body = string(location), body
	return resp, nil
}

// CreatedPath returns the path of the object that an earlier call with the key created, or "" if no earlier call is
// stored. With the path, a handler can answer a repeated call with the current state of the object. The error is a
// *schema.Problem if the key was used with another request.
func (o *Key) CreatedPath(q sqlstore.Querier, now time.Time) (path string, err error) {
	if o == nil {
		return "", nil
	}
	before, err := o.Stored(q, now)
	if err != nil || before == nil {
		return "", err
	}
	return before.Location, nil
}

// Claim reserves the key for a call that creates, in the transaction tx, the object with the path `path`. It returns
// false if another call has claimed the key. [Key.CreatedPath] then returns the path of the other call's object.
func (o *Key) Claim(tx *sqlstore.Tx, now time.Time, path string) (claimed bool, err error) {
	if o == nil {
		return true, nil
	}
	before, err := o.claim(tx, now)
	if err != nil || before != nil {
		return false, err
	}
	return true, o.keep(tx, httpapi.Response{Status: http.StatusAccepted, Location: path})
}

// keep stores the reply of the call that has claimed the key, as one text: the Location, a line feed and the body.
func (o *Key) keep(tx *sqlstore.Tx, resp httpapi.Response) error {
	body := slices.Concat([]byte(resp.Location+"\n"), resp.Body)
	for _, part := range resp.Tail {
		body = append(body, part...)
	}
	_, err := tx.Expect(1, "UPDATE idempotent_reply SET status = $4, body = $5 WHERE account_id = $1 AND mode = $2 AND key = $3",
		o.account, o.mode, o.key, resp.Status, StoredReply.Encrypt(o.cipher, body, o.account, o.mode, o.key))
	if err != nil {
		return fmt.Errorf("storing a reply: %w", err)
	}
	return nil
}

// finished sets a missing status to 200, and encodes the body. The stored reply then equals the sent reply.
func finished(resp httpapi.Response) (httpapi.Response, error) {
	if resp.Status == 0 {
		resp.Status = http.StatusOK
	}
	if resp.Value != nil {
		body, err := json.Marshal(resp.Value)
		if err != nil {
			return resp, fmt.Errorf("writing a reply: %w", err)
		}
		resp.Body, resp.Value = body, nil
	}
	return resp, nil
}
