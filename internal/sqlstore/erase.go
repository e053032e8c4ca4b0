package sqlstore

import (
	"context"
	"fmt"
	"strings"
)

// Erasure declares what is erased of an account in one table. The package that writes the table declares it;
// EraseAll runs it.
type Erasure struct {
	Table string
	Key   []string // columns of the primary key
	// From follows FROM in the query for the rows of account $1 that have personal data. The table has the
	// alias t.
	From string
	// Set follows SET; empty to delete the rows. From must not match rows that Set has changed.
	Set string
	// Before is a statement without parameters that runs first in each transaction; empty for none.
	Before string
}

// Erased is the result of EraseAll in one table.
type Erased struct {
	Table string
	Rows  int64 // deleted or changed
	Left  int64 // still found afterwards; 0 unless others write meanwhile
}

// eraseGroup is how many rows are erased in one transaction. Other changes wait for its few milliseconds.
const eraseGroup = 500

// statements returns the statement that erases a group, and the one that counts the remaining rows.
func (e Erasure) statements() (erase, left string) {
	keys := make([]string, len(e.Key))
	for i, key := range e.Key {
		keys[i] = "t." + key
	}
	erase = "DELETE FROM " + e.Table
	if e.Set != "" {
		erase = "UPDATE " + e.Table + " SET " + e.Set
	}
	erase += " WHERE (" + strings.Join(e.Key, ", ") + ") IN (SELECT " + strings.Join(keys, ", ") + " FROM " + e.From + " LIMIT $2)"
	return erase, "SELECT count(*) FROM " + e.From
}

// EraseAll runs the erasures for an account, in their order and in groups, and then counts the remaining rows.
// After an error some rows are erased; the call can be repeated.
func EraseAll(ctx context.Context, db *DB, account string, erasures []Erasure) ([]Erased, error) {
	done := make([]Erased, len(erasures))
	for i, e := range erasures {
		done[i].Table = e.Table
		erase, _ := e.statements()
		for n := int64(eraseGroup); n == eraseGroup; done[i].Rows += n {
			err := db.Update(ctx, func(tx *Tx) (err error) {
				if e.Before != "" {
					if _, err := tx.Exec(e.Before); err != nil {
						return err
					}
				}
				n, err = tx.Exec(erase, account, eraseGroup)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("erasing %s: %w", e.Table, err)
			}
		}
	}
	for i, e := range erasures {
		_, left := e.statements()
		if err := db.View(ctx).QueryRow(left, account).Scan(&done[i].Left); err != nil {
			return nil, fmt.Errorf("counting what is left in %s: %w", e.Table, err)
		}
	}
	return done, nil
}
