package seal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vayu/internal/state"
)

// claimName is the row of table setting that names the key of a store.
const claimName = "encryption_key"

const askClaim = "SELECT value FROM setting WHERE name = $1"

// Claim makes the box's key that of the store when the store has none yet, and
// otherwise demands that it is: an instance with another key could read nothing
// that is sealed there, and would seal what the others cannot read. A key is
// made, in the data directory, for a store that has none. Claim is called before
// the box is used.
func (b *Box) Claim(ctx context.Context, db *state.DB) error {
	var owner string
	err := db.View(ctx).QueryRow(askClaim, claimName).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return b.claimFirst(ctx, db)
	}
	if err != nil {
		return fmt.Errorf("comparing the encryption key with that of the store: %w", err)
	}
	if b.cipher == nil { // another process of this directory may have made it meanwhile
		if err := b.readFile(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return b.demand(owner)
}

// claimFirst is Claim for a store that has no key yet, unless another instance
// is faster.
func (b *Box) claimFirst(ctx context.Context, db *state.DB) error {
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
	err := db.Update(ctx, func(tx *state.Tx) error {
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
