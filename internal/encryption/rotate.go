package encryption

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
)

// Rotation configures Rotate.
type Rotation struct {
	Key config.Secret // the old key, if it is a setting; see Open
	Dir string        // folder of the key file; see Open
	// Next is the new key. It must be set if the old key is a setting. It must be unset if the old key is a file,
	// because Rotate then creates the new key. Otherwise Rotate returns an error.
	Next config.Secret
	// Columns are all encrypted columns of the store.
	Columns []Column
	// CheckExclusive fails if another process uses the store; nil skips the check.
	CheckExclusive func(tx *sqlstore.Tx) error

	at func(moment string) // called at each moment below, so that tests can kill the process there
}

// Moments of a rotation at which a test can kill the process.
const (
	atStart        = "start"
	atWritten      = "written"       // the new key is on disk
	atReencrypting = "re-encrypting" // some values are re-encrypted, and the transaction is open
	atCommitted    = "committed"     // the transaction is committed, but the new key file is not installed
	atPlaced       = "placed"        // the new key file, if any, is installed
)

// RotationResult reports what Rotate has done.
type RotationResult struct {
	From, To       string              // ids of keys
	Reencrypted    []ReencryptedColumn // in the order of Rotation.Columns; nil if AlreadyRotated
	AlreadyRotated bool                // an earlier call has rotated to the new key
}

// ReencryptedColumn reports how many values of a column were re-encrypted.
type ReencryptedColumn struct {
	Table, Column string
	Values        int64
}

// Rotate replaces the key of a store. In one transaction it re-encrypts every value and records the id of the
// new key. Then it installs the new key file, unless the key is a setting. Only one rotation may run per
// directory, and no service may use the store.
//
// Rotate is crash-safe: the store can always be opened with the old key or the new one. A new key file is
// durable before the transaction begins, under a name that Claim can find. If the transaction fails, the store
// has the old key, unless the connection broke during the commit. In that case either key may be the store's,
// so Rotate keeps the file of the new key.
func Rotate(ctx context.Context, db *sqlstore.DB, r Rotation) (RotationResult, error) {
	old, err := Open(r.Key, r.Dir)
	if err != nil {
		return RotationResult{}, err
	}
	owner, err := StoreKeyID(db.View(ctx))
	switch {
	case err != nil:
		return RotationResult{}, err
	case owner == "":
		return RotationResult{}, errors.New("nothing is encrypted in this store yet: it has no encryption key to rotate")
	}
	next, err := r.next()
	if err != nil {
		return RotationResult{}, err
	}
	if next.KeyID() == owner && next.KeyID() != old.KeyID() { // an earlier rotation was killed after its commit
		return RotationResult{From: old.KeyID(), To: owner, AlreadyRotated: true}, nil
	}
	if err := old.Claim(ctx, db); err != nil {
		return RotationResult{}, err
	}
	if next.KeyID() == old.KeyID() {
		return RotationResult{}, errors.New("the new encryption key is the present key of the store")
	}
	return r.run(ctx, db, old, next)
}

// next returns a cipher with the new key: Next or, if the old key is a file, a new random key.
func (r *Rotation) next() (*Cipher, error) {
	switch {
	case !r.Key.IsSet() && r.Next.IsSet():
		return nil, fmt.Errorf("the key of this store is the file %s, and so is the new one: do not pass a new key", filepath.Join(r.Dir, keyName))
	case !r.Key.IsSet():
		key := newKey()
		b := &Cipher{dir: r.Dir, file: key}
		err := b.setKey(key)
		return b, err
	case !r.Next.IsSet():
		return nil, errors.New("the key of this store is the setting encryption-key: pass the new key too")
	}
	raw, err := parseKey(r.Next.Reveal())
	if err != nil {
		return nil, fmt.Errorf("reading the new encryption key: %w", err)
	}
	b := &Cipher{}
	err = b.setKey(raw)
	return b, err
}

// run does the rotation. The cipher `old` has the store's current key, and `next` the new key.
func (r *Rotation) run(ctx context.Context, db *sqlstore.DB, old, next *Cipher) (RotationResult, error) {
	done := RotationResult{From: old.KeyID(), To: next.KeyID()}
	file := filepath.Join(r.Dir, nextName(done.To))
	r.reach(atStart)
	if next.file != nil {
		if err := writeKey(next.file, file); err != nil {
			return RotationResult{}, fmt.Errorf("writing the new encryption key: %w", err)
		}
	}
	r.reach(atWritten)
	refused := false // whether the function failed; then nothing was committed
	err := db.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		defer func() { refused = err != nil }()
		done.Reencrypted, err = r.reencrypt(tx, old, next)
		return err
	})
	if err != nil {
		if refused && next.file != nil {
			err = errors.Join(err, os.Remove(file))
		}
		return RotationResult{}, fmt.Errorf("rotating the encryption key: %w", err)
	}
	r.reach(atCommitted)
	if next.file != nil {
		if err := next.adopt(done.To); err != nil {
			return RotationResult{}, fmt.Errorf("the store has the encryption key %s now, but %s could not be installed as %s: %w", done.To, file, keyName, err)
		}
		r.sweep()
	}
	r.reach(atPlaced)
	return done, nil
}

func (r *Rotation) reach(moment string) {
	if r.at != nil {
		r.at(moment)
	}
}

// sweep removes the key files of rotations that were killed before their commit. No committed value is
// encrypted with those keys.
func (r *Rotation) sweep() {
	left, err := filepath.Glob(filepath.Join(r.Dir, nextName(strings.Repeat("?", 2*idSize))))
	if err != nil { // invalid pattern
		return
	}
	for _, path := range left {
		_ = os.Remove(path) // the next rotation retries
	}
}

// reencrypt does the work inside the transaction of a rotation. It first changes the row with the store's key
// id, which blocks other rotations and starting instances. On PostgreSQL it raises the statement timeout, because
// reading a page of a column that is NULL in millions of rows takes longer than the default of ten seconds.
func (r *Rotation) reencrypt(tx *sqlstore.Tx, old, next *Cipher) ([]ReencryptedColumn, error) {
	if tx.Name() == "postgres" {
		for _, limit := range []string{"SET LOCAL lock_timeout = '10s'", "SET LOCAL statement_timeout = '10min'"} {
			if _, err := tx.Exec(limit); err != nil {
				return nil, fmt.Errorf("setting the statement timeout: %w", err)
			}
		}
	}
	n, err := tx.Exec("UPDATE setting SET value = $1 WHERE name = $2 AND value = $3", next.KeyID(), claimName, old.KeyID())
	if err != nil {
		return nil, fmt.Errorf("claiming the store: %w", err)
	}
	if n != 1 {
		return nil, errors.New("another rotation has changed the key of the store meanwhile")
	}
	if r.CheckExclusive != nil {
		if err := r.CheckExclusive(tx); err != nil {
			return nil, err
		}
	}
	if _, err := tx.Exec("UPDATE setting SET value = $1 WHERE name = $2", next.encryptDigestKey(old.digestKey), digestName); err != nil {
		return nil, fmt.Errorf("re-encrypting the digest key: %w", err)
	}
	var all []ReencryptedColumn
	for _, c := range r.Columns {
		values, err := c.reencrypt(tx, old, next, func() { r.reach(atReencrypting) })
		if err != nil {
			return nil, err
		}
		all = append(all, ReencryptedColumn{c.Table, c.Name, values})
	}
	return all, nil
}
