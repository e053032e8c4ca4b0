package encryption

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"vayu/internal/sqlstore"
)

// claimName is the row of table setting with the id of the store's key.
const claimName = "encryption_key"

const selectClaim = "SELECT value FROM setting WHERE name = $1"

// Claim binds the cipher's key to the store. If the store has no key yet, it makes the key in the
// data directory if needed, and claims the store. Otherwise the keys must match: an instance with
// another key could not decrypt the store's values. Claim also installs the key of a rotation that
// was killed after its commit. It must be called before the cipher is used.
func (b *Cipher) Claim(ctx context.Context, db *sqlstore.DB) error {
	owner, err := StoreKeyID(db.View(ctx))
	switch {
	case err != nil:
		return err
	case owner == "":
		err = b.claimFirst(ctx, db)
	default:
		err = b.Find(owner)
	}
	if err != nil {
		return err
	}
	return b.takeDigestKey(ctx, db)
}

// StoreKeyID returns the id of the store's key; empty if it has none yet.
func StoreKeyID(q sqlstore.Querier) (string, error) {
	var owner string
	err := q.QueryRow(selectClaim, claimName).Scan(&owner)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading the id of the encryption key from the store: %w", err)
	}
	return owner, nil
}

// Find checks that the cipher has the key named by the store (StoreKeyID), after it reloads the key
// file if needed. It is for processes that change nothing; others call Claim, which includes it.
func (b *Cipher) Find(owner string) error {
	if b.dir != "" && (b.cipher == nil || b.KeyID() != owner) {
		if err := b.adopt(owner); err != nil {
			return err
		}
	}
	return b.checkOwner(owner)
}

// Confirm checks that the cipher's key is still the store's, and blocks rotations until the
// transaction ends. Processes that a rotation cannot detect, such as commands, call it first in a
// change that encrypts.
func (b *Cipher) Confirm(tx *sqlstore.Tx) error {
	var owner string
	if err := tx.QueryRow("UPDATE setting SET value = value WHERE name = $1 RETURNING value", claimName).Scan(&owner); err != nil {
		return fmt.Errorf("checking the encryption key of the store: %w", err)
	}
	return b.checkOwner(owner)
}

// takeDigestKey decrypts the digest key. It creates the key if the store has none.
func (b *Cipher) takeDigestKey(ctx context.Context, db *sqlstore.DB) error {
	fresh := make([]byte, keySize)
	_, _ = rand.Read(fresh) // never fails
	var text string
	err := db.Update(ctx, func(tx *sqlstore.Tx) error {
		if err := b.Confirm(tx); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", digestName, b.encryptDigestKey(fresh)); err != nil {
			return err
		}
		return tx.QueryRow(selectClaim, digestName).Scan(&text)
	})
	if err != nil {
		return fmt.Errorf("reading the digest key: %w", err)
	}
	if b.digestKey, err = b.decryptDigestKey(text); err != nil {
		return err
	}
	db.UseDigest(b.Digest)
	return nil
}

// claimFirst is Claim for a store without a key, unless another instance claims it first.
func (b *Cipher) claimFirst(ctx context.Context, db *sqlstore.DB) error {
	made := false
	if b.cipher == nil {
		var err error
		if made, err = makeKey(b.dir); err != nil {
			return fmt.Errorf("creating the encryption key: %w", err)
		}
		if err := b.readFile(); err != nil {
			return err
		}
	}
	var owner string
	err := db.Update(ctx, func(tx *sqlstore.Tx) error {
		if _, err := tx.Exec("INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", claimName, b.KeyID()); err != nil {
			return err
		}
		return tx.QueryRow(selectClaim, claimName).Scan(&owner)
	})
	if err != nil {
		return fmt.Errorf("recording the encryption key in the store: %w", err)
	}
	err = b.checkOwner(owner)
	if err != nil && made { // a key that has encrypted nothing must not be mistaken for the right one
		err = errors.Join(err, os.Remove(filepath.Join(b.dir, keyName)))
	}
	return err
}

// checkOwner returns an error unless the cipher has the key of the store.
func (b *Cipher) checkOwner(owner string) error {
	has := b.KeyID()
	switch {
	case b.cipher == nil:
		has = "none"
	case owner == has:
		return nil
	}
	return fmt.Errorf("this store is encrypted with the key %s, and this instance has %s: give it the same key, "+
		"by the setting encryption-key (VAYU_ENCRYPTION_KEY) or as the file %s in its data directory", owner, has, keyName)
}
