package access

import (
	"fmt"
	"time"

	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Grace periods of a rotation, during which the old key stays valid.
const (
	DefaultGrace = 24 * time.Hour
	longestGrace = 7 * 24 * time.Hour
)

var errGrace = schema.NewProblem(schema.InvalidRequest, "grace_seconds", "The grace lies between 0 and 604800 seconds (7 days).")

// RotateKey creates a key that replaces another. It has the same name, scopes, world (live or sandbox),
// allow-list, signature requirement and expiry, and a new secret. The old key expires after the grace period,
// unless it expires sooner. A second rotation never postpones that expiry. A revoked or expired key cannot be
// rotated. Both keys are active during the grace period; most limits active keys like [KeySpec.MaxActive].
func RotateKey(tx *sqlstore.Tx, box *encryption.Cipher, id string, grace time.Duration, most int, now time.Time) (CreatedKey, Entry, error) {
	if grace < 0 || grace > longestGrace {
		return CreatedKey{}, Entry{}, errGrace
	}
	revision, err := raise(tx) // serializes changes of keys until the end of tx
	if err != nil {
		return CreatedKey{}, Entry{}, err
	}
	old, err := keyByID(tx, id, now)
	if err != nil {
		return CreatedKey{}, Entry{}, err
	}
	if !old.Active {
		return CreatedKey{}, Entry{}, schema.NewProblem(schema.InvalidRequest, "id", "The key is revoked or expired; make a new one.")
	}
	ends := now.Add(grace)
	_, err = tx.Exec("UPDATE api_key SET expires_at = $2, revision = $3 WHERE id = $1 AND (expires_at IS NULL OR expires_at > $2)",
		id, ends.UnixMicro(), revision)
	if err != nil {
		return CreatedKey{}, Entry{}, fmt.Errorf("ending the old key of a rotation: %w", err)
	}
	spec := KeySpec{
		Account: old.Account, World: old.World, Name: old.Name, Scopes: old.Scopes,
		AllowList: old.AllowList, RequireSignature: old.RequireSignature, ExpiresAt: old.expiresAt, MaxActive: most,
	}
	scopes, networks, f := spec.check()
	if err := f.Problem(); err != nil {
		return CreatedKey{}, Entry{}, fmt.Errorf("reading the key %s: %w", id, err)
	}
	made, err := insertKey(tx, box, newKey{spec, joinScopes(scopes, " "), joinNetworks(networks), id, revision}, now)
	if err != nil {
		return CreatedKey{}, Entry{}, err
	}
	entry := keyAuditEntry("key.rotate", old.Account, made.Record)
	entry.Detail["rotated_from"] = id
	entry.Detail["grace_seconds"] = int64(grace / time.Second)
	return made, entry, nil
}

// RevokeKey revokes a key at once and for ever. If it was revoked before, RevokeKey does nothing and returns an
// empty Entry.
func RevokeKey(tx *sqlstore.Tx, id string, now time.Time) (KeyRecord, Entry, error) {
	revision, err := raise(tx)
	if err != nil {
		return KeyRecord{}, Entry{}, err
	}
	n, err := tx.Exec("UPDATE api_key SET revoked_at = $2, revision = $3 WHERE id = $1 AND revoked_at IS NULL", id, now.UnixMicro(), revision)
	if err != nil {
		return KeyRecord{}, Entry{}, fmt.Errorf("revoking a key: %w", err)
	}
	k, err := keyByID(tx, id, now)
	if err != nil || n == 0 {
		return k, Entry{}, err
	}
	return k, Entry{
		Account: k.Account, World: k.World, Action: "key.revoke", Subject: id,
		Detail: map[string]any{"name": k.Name, "mode": k.Mode, "prefix": k.Prefix, "last_four": k.LastFour},
	}, nil
}
