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

// claimName is the name of a row in the table "setting". The row, called the claim, has the id of the store's key.
const claimName = "encryption_key"

const selectClaim = "SELECT value FROM setting WHERE name = $1"

// Claim makes sure that the cipher has the store's key. If the store has no key id yet, Claim records the id of
// the cipher's key. If the cipher has no key either, Claim first creates a key file. If the ids differ, Claim
// fails, because the cipher could not decrypt the store's values. Claim also installs the new key of a rotation
// that was killed after its commit. Call Claim before any other use of the cipher.
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

// StoreKeyID returns the id of the key with which the store is encrypted, or "" if the store has no key yet.
func StoreKeyID(q sqlstore.Querier) (string, error) {
	var owner string
	err := q.QueryRow(selectClaim, claimName).Scan(&owner)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading the id of the encryption key from the store: %w", err)
	}
	return owner, nil
}

// Find returns an error unless the cipher has the store's key. The parameter `owner` is the id of that key, as
// StoreKeyID returns it. Find reloads the key file if necessary. Processes that only read the store call Find.
// Other processes call Claim, which calls Find.
func (b *Cipher) Find(owner string) error {
	if b.dir != "" && (b.cipher == nil || b.KeyID() != owner) {
		if err := b.adopt(owner); err != nil {
			return err
		}
	}
	return b.checkOwner(owner)
}

// Confirm returns an error if the cipher's key is no longer the store's key. It blocks rotations until tx ends. A
// rotation detects running services, but not commands. So a command calls Confirm before it encrypts anything in tx.
func (b *Cipher) Confirm(tx *sqlstore.Tx) error {
	var owner string
	if err := tx.QueryRow("UPDATE setting SET value = value WHERE name = $1 RETURNING value", claimName).Scan(&owner); err != nil {
		return fmt.Errorf("checking the encryption key of the store: %w", err)
	}
	return b.checkOwner(owner)
}

// takeDigestKey reads the key of Digest from the store, or creates it there. It makes db use Digest for its digests.
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

// claimFirst does the work of Claim for a store without a key. It fails if another instance has meanwhile
// claimed the store with another key.
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
	if err != nil && made { // an unused key file must not be mistaken for the store's key
		err = errors.Join(err, os.Remove(filepath.Join(b.dir, keyName)))
	}
	return err
}

// checkOwner returns an error unless `owner`, the id of the store's key, is the id of the cipher's key.
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
