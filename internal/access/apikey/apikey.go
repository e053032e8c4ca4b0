// Package apikey creates, rotates and revokes API keys, and limits what a key can delegate.
package apikey

import (
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/internal/access/account"
	"vayu/internal/access/audit"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Spec describes a key to create. A field with the zero value has its default.
type Spec struct {
	Account          string // id
	World            schema.World
	Name             string
	Scopes           []schema.Scope // nil for schema.DefaultScopes
	AllowList        []string       // CIDRs or addresses
	RequireSignature bool
	ExpiresAt        time.Time // zero for never; whole seconds
	// Member is the id of the member whose sessions have the rights of the key. It is empty for a key of no member.
	Member string
	// MaxActive is the largest number of active keys of the account in the world (live or sandbox), including this one.
	// 0 means no limit, which the command line uses.
	MaxActive int
}

// Created is a new key. The store never has the key or its signing secret in plain text.
type Created struct {
	Record        schema.Key
	Key           string
	SigningSecret string // empty unless signatures are required
}

// Record is a key as read from the store, without its hash and secret.
type Record struct {
	schema.Key
	Account string
	World   schema.World
	Member  string // as in Spec

	Expiry time.Time // ExpiresAt with full precision; zero for never
}

// Check returns the scopes and networks to store, and all faults of the specification except an expiry in the past.
func (k *Spec) Check() (scopes []schema.Scope, networks []netip.Prefix, f schema.RequestErrors) {
	checkName(&f, "name", k.Name)
	scopes = checkScopes(&f, "scopes", k.Scopes)
	networks = account.ParseAllowList(&f, "allow_list", k.AllowList)
	return scopes, networks, f
}

// Create creates a key of an existing account, and returns the audit entry about it, which the caller appends. The
// cipher encrypts the signing secret. The error is a *schema.Problem if the specification is invalid, or if the account
// already has MaxActive active keys. Otherwise it is an error of the store.
func Create(tx *sqlstore.Tx, cipher *encryption.Cipher, spec Spec, now time.Time) (Created, audit.Entry, error) {
	scopes, networks, f := spec.Check()
	spec.ExpiresAt = spec.ExpiresAt.Truncate(time.Second)
	CheckExpiry(&f, "expires_at", spec.ExpiresAt, now)
	if err := f.Problem(); err != nil {
		return Created{}, audit.Entry{}, err
	}
	revision, err := account.NextRevision(tx)
	if err != nil {
		return Created{}, audit.Entry{}, err
	}
	k := newKey{Spec: spec, scopes: schema.Join(scopes, " "), networks: account.JoinNetworks(networks), revision: revision}
	made, err := insert(tx, cipher, k, now)
	if err != nil {
		return Created{}, audit.Entry{}, err
	}
	return made, auditEntry("key.create", spec.Account, made.Record), nil
}

// auditEntry returns the audit entry of a new key. The prefix and the last four characters identify a key, and
// do not help to guess the rest.
func auditEntry(action, account string, k schema.Key) audit.Entry {
	detail := map[string]any{
		"name": k.Name, "mode": k.Mode, "prefix": k.Prefix, "last_four": k.LastFour, "scopes": k.Scopes,
		"allow_list": k.AllowList, "require_signature": k.RequireSignature, "expires_at": k.ExpiresAt,
	}
	return audit.Entry{Account: account, World: schema.WorldOf(k.Mode), Action: action, Subject: k.ID, Detail: detail}
}

// newKey is a checked specification, converted to the columns of table api_key.
type newKey struct {
	Spec
	scopes   string
	networks string
	from     string // id of the key that the new key replaces in a rotation
	revision int64
}

// countActive counts the active keys of an account in a world (live or sandbox), without those of members. It adds up
// two SELECTs, each of which finds its rows with the index api_key_active.
const countActive = `SELECT (SELECT COUNT(*) FROM api_key WHERE account_id = $1 AND mode = $2 AND revoked_at IS NULL AND expires_at IS NULL AND member_id IS NULL)
	+ (SELECT COUNT(*) FROM api_key WHERE account_id = $1 AND mode = $2 AND revoked_at IS NULL AND expires_at > $3 AND member_id IS NULL)`

// checkActiveLimit returns an error if the account already has MaxActive active keys. The caller has called
// account.NextRevision, which serializes changes of keys. The count is therefore exact.
func (k *Spec) checkActiveLimit(tx *sqlstore.Tx, now time.Time) error {
	if k.MaxActive == 0 {
		return nil
	}
	var active int
	if err := tx.QueryRow(countActive, k.Account, k.World.String(), now.UnixMicro()).Scan(&active); err != nil {
		return fmt.Errorf("counting the keys of an account: %w", err)
	}
	if active < k.MaxActive {
		return nil
	}
	return schema.NewProblem(schema.TooManyKeys, "", fmt.Sprintf("The account has %d active %s keys, and the limit is %d. Revoke a key first, or rotate one with grace_seconds 0.",
		active, k.World, k.MaxActive))
}

func insert(tx *sqlstore.Tx, cipher *encryption.Cipher, k newKey, now time.Time) (Created, error) {
	if err := k.checkActiveLimit(tx, now); err != nil {
		return Created{}, err
	}
	made := Created{Key: Mint(k.World)}
	id := keyIDPrefix + ulid.MustNewDefault(now).String()
	hash := Hash(made.Key)
	var encrypted []byte
	required := 0
	if k.RequireSignature {
		var raw [32]byte
		_, _ = rand.Read(raw[:]) // never fails
		made.SigningSecret = "sgn_" + base64.RawURLEncoding.EncodeToString(raw[:])
		encrypted = SigningSecret.Encrypt(cipher, []byte(made.SigningSecret), id)
		required = 1
	}
	_, err := tx.Exec(`
		INSERT INTO api_key (id, account_id, mode, name, hash, prefix, last_four, scopes, allow_list,
			require_signature, signing_secret, created_at, expires_at, rotated_from, revision, member_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		id, k.Account, k.World.String(), k.Name, hash[:], made.Key[:prefixLength], made.Key[len(made.Key)-4:], k.scopes, k.networks,
		required, encrypted, now.UnixMicro(), optionalTime(k.ExpiresAt), optionalText(k.from), k.revision, optionalText(k.Member))
	if err != nil {
		return Created{}, fmt.Errorf("creating a key: %w", err)
	}
	record, err := ByID(tx, id, now)
	made.Record = record.Key
	return made, err
}

// prefixLength is the length of the stored prefix of a key: sk_live_ or sk_test_ and 4 of its 33 random characters.
const prefixLength = 12

func optionalTime(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

func optionalText(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

const selectRecord = `SELECT k.id, k.account_id, k.mode, k.name, k.prefix, k.last_four, k.scopes, k.allow_list,
	k.require_signature, k.created_at, k.expires_at, k.revoked_at, u.used_at, k.rotated_from, COALESCE(k.member_id, '')
	FROM api_key k LEFT JOIN api_key_use u ON u.key_id = k.id`

// scanRecord returns a function that reads a row of selectRecord. Active is true if the key is valid at `now`.
func scanRecord(now time.Time) func(sqlstore.Scanner) (Record, error) {
	return func(row sqlstore.Scanner) (Record, error) {
		var k Record
		var scopes, networks string
		var required, created int64
		var expires, revoked, used sql.NullInt64
		var from sql.NullString
		err := row.Scan(&k.ID, &k.Account, &k.Mode, &k.Name, &k.Prefix, &k.LastFour, &scopes, &networks,
			&required, &created, &expires, &revoked, &used, &from, &k.Member)
		if err != nil {
			return k, err
		}
		k.World = schema.WorldOf(k.Mode)
		k.Scopes = []schema.Scope{}
		for scope := range strings.FieldsSeq(scopes) {
			k.Scopes = append(k.Scopes, schema.Scope(scope))
		}
		k.AllowList = strings.Fields(networks)
		k.RequireSignature = required != 0
		k.CreatedAt = *shownTime(sql.NullInt64{Int64: created, Valid: true})
		k.ExpiresAt, k.RevokedAt, k.LastUsedAt = shownTime(expires), shownTime(revoked), shownTime(used)
		if expires.Valid {
			k.Expiry = time.UnixMicro(expires.Int64).UTC()
		}
		if from.Valid {
			k.RotatedFrom = &from.String
		}
		k.Active = !revoked.Valid && (!expires.Valid || expires.Int64 > now.UnixMicro())
		return k, nil
	}
}

// shownTime formats a stored instant for clients. It returns nil for NULL.
func shownTime(micros sql.NullInt64) *string {
	if !micros.Valid {
		return nil
	}
	text := schema.FormatMicros(micros.Int64)
	return &text
}

// ErrNotFound is the error for an id without a key.
var ErrNotFound = schema.NewProblem(schema.NotFound, "", "There is no such key.")

const keyIDPrefix = "key_"

// ByID returns a key of any account. If there is no such key, the error is ErrNotFound.
func ByID(q sqlstore.Querier, id string, now time.Time) (Record, error) {
	if !schema.IsID(id) { // PostgreSQL rejects some texts, such as one with a zero byte
		return Record{}, ErrNotFound
	}
	k, err := scanRecord(now)(q.QueryRow(selectRecord+" WHERE k.id = $1", id))
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, ErrNotFound
	}
	if err != nil {
		return Record{}, fmt.Errorf("reading a key: %w", err)
	}
	return k, nil
}

// List returns at most `limit` keys of an account's world (live or sandbox), newest first, without those of members.
// It starts after the key with the id `after`, or at the newest key if `after` is "".
func List(q sqlstore.Querier, account string, world schema.World, after string, limit int, now time.Time) ([]Record, error) {
	return sqlstore.All(q, scanRecord(now), selectRecord+`
		WHERE k.account_id = $1 AND k.mode = $2 AND k.member_id IS NULL AND ($3 = '' OR k.id < $3) ORDER BY k.id DESC LIMIT $4`,
		account, world.String(), after, limit)
}

// OfMember returns the active keys of a member, the live one first. A member has one key in each world (live and
// sandbox); the result lacks a key that has ended.
func OfMember(q sqlstore.Querier, member string, now time.Time) ([]Record, error) {
	keys, err := sqlstore.All(q, scanRecord(now), selectRecord+" WHERE k.member_id = $1 AND k.revoked_at IS NULL ORDER BY k.mode", member)
	if err != nil {
		return nil, fmt.Errorf("reading the keys of a member: %w", err)
	}
	return slices.DeleteFunc(keys, func(k Record) bool { return !k.Active }), nil
}

// SetScopes changes the scopes of a key. It does not check the scopes.
func SetScopes(tx *sqlstore.Tx, id string, scopes []schema.Scope) error {
	revision, err := account.NextRevision(tx)
	if err == nil {
		_, err = tx.Exec("UPDATE api_key SET scopes = $2, revision = $3 WHERE id = $1", id, schema.Join(scopes, " "), revision)
	}
	if err != nil {
		return fmt.Errorf("changing the scopes of a key: %w", err)
	}
	return nil
}
