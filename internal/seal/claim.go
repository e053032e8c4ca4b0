package seal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"vayu/internal/state"
)

// claimName is the row of table setting that names the key of a store.
const claimName = "encryption_key"

// Claim makes the box's key that of the store when the store has none yet, and
// otherwise demands that it is: an instance with another key could read nothing
// that is sealed there, and would seal what the others cannot read.
func (b *Box) Claim(ctx context.Context, db *state.DB) error {
	const ask = "SELECT value FROM setting WHERE name = $1"
	var owner string
	err := db.View(ctx).QueryRow(ask, claimName).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		err = db.Update(ctx, func(tx *state.Tx) error {
			if _, err := tx.Exec("INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", claimName, b.KeyID()); err != nil {
				return err
			}
			return tx.QueryRow(ask, claimName).Scan(&owner)
		})
	}
	if err != nil {
		return fmt.Errorf("comparing the encryption key with that of the store: %w", err)
	}
	if owner != b.KeyID() {
		return fmt.Errorf("this store was sealed with the encryption key %s, and this instance has %s: give it the same key, by the setting encryption-key or as the file %s in its data directory",
			owner, b.KeyID(), keyName)
	}
	return nil
}
