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

// claimName is the row of table setting that names the key of a store.
const claimName = "encryption_key"

const askClaim = "SELECT value FROM setting WHERE name = $1"

// Claim makes the box's key that of the store when the store has none yet, and
// otherwise demands that it is: an instance with another key could read nothing
// that is sealed there, and would seal what the others cannot read. A key is
// made, in the data directory, for a store that has none; and the key of a
// rotation that was killed after its commit gets its place. Claim is called
// before the box is used.
func (b *Box) Claim(ctx context.Context, db *sqlstore.DB) error {
	owner, err := Owner(db.View(ctx))
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

// Owner is the id of the store's key; empty when it has none yet.
func Owner(q sqlstore.Querier) (string, error) {
	var owner string
	err := q.QueryRow(askClaim, claimName).Scan(&owner)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("asking the store for its encryption key: %w", err)
	}
	return owner, nil
}

// Find demands that the box has the key that the store names (Owner), after a look
// whether the data directory has it by now. It is for who reads the key and
// changes nothing; others call Claim, which does it too.
func (b *Box) Find(owner string) error {
	if b.dir != "" && (b.cipher == nil || b.KeyID() != owner) {
		if err := b.adopt(owner); err != nil {
			return err
		}
	}
	return b.demand(owner)
}

// Confirm demands that the box's key is still that of the store, and lets no
// rotation begin before the transaction ends. A change that seals in a process
// that no rotation can see, such as a command, begins with it.
func (b *Box) Confirm(tx *sqlstore.Tx) error {
	var owner string
	if err := tx.QueryRow("UPDATE setting SET value = value WHERE name = $1 RETURNING value", claimName).Scan(&owner); err != nil {
		return fmt.Errorf("comparing the encryption key with that of the store: %w", err)
	}
	return b.demand(owner)
}

// takeDigestKey opens the key of digests, and makes it when the store has none.
func (b *Box) takeDigestKey(ctx context.Context, db *sqlstore.DB) error {
	fresh := make([]byte, keySize)
	_, _ = rand.Read(fresh) // never fails
	var text string
	err := db.Update(ctx, func(tx *sqlstore.Tx) error {
		if err := b.Confirm(tx); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", digestName, b.sealDigestKey(fresh)); err != nil {
			return err
		}
		return tx.QueryRow(askClaim, digestName).Scan(&text)
	})
	if err != nil {
		return fmt.Errorf("taking the key of digests: %w", err)
	}
	if b.digestKey, err = b.openDigestKey(text); err != nil {
		return err
	}
	db.UseDigest(b.Digest)
	return nil
}

// claimFirst is Claim for a store that has no key yet, unless another instance
// is faster.
func (b *Box) claimFirst(ctx context.Context, db *sqlstore.DB) error {
	made := false
	if b.cipher == nil {
		var err error
		if made, err = makeKey(b.dir); err != nil {
			return fmt.Errorf("making the encryption key: %w", err)
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
		return tx.QueryRow(askClaim, claimName).Scan(&owner)
	})
	if err != nil {
		return fmt.Errorf("noting the encryption key in the store: %w", err)
	}
	err = b.demand(owner)
	if err != nil && made { // a key that has sealed nothing would only be taken for the right one
		err = errors.Join(err, os.Remove(filepath.Join(b.dir, keyName)))
	}
	return err
}

// demand fails unless the box has the key of the store.
func (b *Box) demand(owner string) error {
	has := b.KeyID()
	switch {
	case b.cipher == nil:
		has = "none"
	case owner == has:
		return nil
	}
	return fmt.Errorf("this store was sealed with the encryption key %s, and this instance has %s: give it the same key, "+
		"by the setting encryption-key (VAYU_ENCRYPTION_KEY) or as the file %s in its data directory", owner, has, keyName)
}
