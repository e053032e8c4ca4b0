package apikey

import (
	"fmt"
	"time"

	"vayu/internal/access/account"
	"vayu/internal/access/audit"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Grace periods of a rotation, during which the old key stays valid.
const (
	DefaultGrace = 24 * time.Hour
	LongestGrace = 7 * 24 * time.Hour
)

// ErrGrace is the error for a grace period that is not allowed.
var ErrGrace = schema.NewProblem(schema.InvalidRequest, "grace_seconds", "The grace period must be between 0 and 604800 seconds (7 days).")

// Rotate creates a key that replaces another. The new key has the same name, scopes, world (live or sandbox),
// allow-list, signature requirement and expiry, and a new secret. The old key expires after the grace period, unless it
// expires sooner. A second rotation never postpones the expiry of the old key. A revoked or expired key cannot be
// rotated. Both keys count as active during the grace period. The parameter `most` limits the number of active keys, as
// [Spec.MaxActive] does. The error is [ErrGrace] for a grace period below 0 or above LongestGrace, and [ErrNotFound]
// for an unknown key. It is another *schema.Problem if the key cannot be rotated, and otherwise an error of the store.
func Rotate(tx *sqlstore.Tx, cipher *encryption.Cipher, id string, grace time.Duration, most int, now time.Time) (Created, audit.Entry, error) {
	if grace < 0 || grace > LongestGrace {
		return Created{}, audit.Entry{}, ErrGrace
	}
	revision, err := account.NextRevision(tx) // serializes changes of keys until the end of tx
	if err != nil {
		return Created{}, audit.Entry{}, err
	}
	old, err := ByID(tx, id, now)
	if err != nil {
		return Created{}, audit.Entry{}, err
	}
	if old.Member != "" {
		return Created{}, audit.Entry{}, schema.NewProblem(schema.InvalidRequest, "id", "The key belongs to a member, who signs in without it.")
	}
	if !old.Active {
		return Created{}, audit.Entry{}, schema.NewProblem(schema.InvalidRequest, "id", "The key is revoked or expired. Create a new key.")
	}
	ends := now.Add(grace)
	_, err = tx.Exec("UPDATE api_key SET expires_at = $2, revision = $3 WHERE id = $1 AND (expires_at IS NULL OR expires_at > $2)",
		id, ends.UnixMicro(), revision)
	if err != nil {
		return Created{}, audit.Entry{}, fmt.Errorf("ending the old key of a rotation: %w", err)
	}
	spec := Spec{
		Account: old.Account, World: old.World, Name: old.Name, Scopes: old.Scopes,
		AllowList: old.AllowList, RequireSignature: old.RequireSignature, ExpiresAt: old.Expiry, MaxActive: most,
	}
	scopes, networks, f := spec.Check()
	if err := f.Problem(); err != nil {
		return Created{}, audit.Entry{}, fmt.Errorf("reading the key %s: %w", id, err)
	}
	made, err := insert(tx, cipher, newKey{spec, schema.Join(scopes, " "), account.JoinNetworks(networks), id, revision}, now)
	if err != nil {
		return Created{}, audit.Entry{}, err
	}
	entry := auditEntry("key.rotate", old.Account, made.Record)
	entry.Detail["rotated_from"] = id
	entry.Detail["grace_seconds"] = int64(grace / time.Second)
	return made, entry, nil
}

// Revoke revokes a key at once and for ever. If the key was revoked before, Revoke does not change the key and
// returns an empty Entry.
func Revoke(tx *sqlstore.Tx, id string, now time.Time) (Record, audit.Entry, error) {
	revision, err := account.NextRevision(tx)
	if err != nil {
		return Record{}, audit.Entry{}, err
	}
	n, err := tx.Exec("UPDATE api_key SET revoked_at = $2, revision = $3 WHERE id = $1 AND revoked_at IS NULL", id, now.UnixMicro(), revision)
	if err != nil {
		return Record{}, audit.Entry{}, fmt.Errorf("revoking a key: %w", err)
	}
	k, err := ByID(tx, id, now)
	if err != nil || n == 0 {
		return k, audit.Entry{}, err
	}
	return k, audit.Entry{
		Account: k.Account, World: k.World, Action: "key.revoke", Subject: id,
		Detail: map[string]any{"name": k.Name, "mode": k.Mode, "prefix": k.Prefix, "last_four": k.LastFour},
	}, nil
}

// RemoveExpiry removes the expiry of an account's keys, except those that are revoked or were replaced in a rotation.
// An expired key becomes valid again.
func RemoveExpiry(tx *sqlstore.Tx, holder string) error {
	revision, err := account.NextRevision(tx)
	if err == nil {
		_, err = tx.Exec(`UPDATE api_key SET expires_at = NULL, revision = $2 WHERE account_id = $1 AND revoked_at IS NULL AND expires_at IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM api_key n WHERE n.account_id = api_key.account_id AND n.rotated_from = api_key.id)`, holder, revision)
	}
	if err != nil {
		return fmt.Errorf("removing the expiry of keys: %w", err)
	}
	return nil
}
