package account

import (
	"fmt"

	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
)

// erasedPrefix, followed by the account's id, is the name of an erased account.
const erasedPrefix = "erased-"

// Erase renames an account to erased-ID and empties its allow-list. The caller must first erase the
// account's data in other tables. The parameter `detail` becomes the detail of the audit entry.
func Erase(tx *sqlstore.Tx, id string, detail map[string]any) (audit.Entry, error) {
	revision, err := NextRevision(tx)
	if err != nil {
		return audit.Entry{}, err
	}
	if _, err := tx.Exec("UPDATE account SET name = $2, allow_list = '', revision = $3 WHERE id = $1", id, erasedPrefix+id, revision); err != nil {
		return audit.Entry{}, fmt.Errorf("erasing the name of an account: %w", err)
	}
	return audit.Entry{Account: id, Action: "account.erase", Subject: id, Detail: detail}, nil
}
