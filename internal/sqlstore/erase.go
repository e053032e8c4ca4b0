package sqlstore

import (
	"context"
	"fmt"
	"strings"
)

// Erasure declares which data of an account is erased in one table. The package that writes the table declares
// the Erasure; EraseAll runs it.
type Erasure struct {
	Table string
	Key   []string // columns of the primary key
	// From is the text after FROM in a query for the rows of account $1 that have personal data. It must give
	// the table the alias t.
	From string
	// Set is the text after SET in an UPDATE. From must not match updated rows. If Set is empty, the rows are deleted.
	Set string
	// Before is a statement without parameters, which runs at the start of each transaction. It may be empty.
	Before string
}

// Erased is the result of EraseAll in one table.
type Erased struct {
	Table string
	Rows  int64 // number of rows deleted or changed
	Left  int64 // number of rows still to erase; 0 unless rows were written meanwhile
}

// eraseGroup is the largest number of rows that a transaction erases. On SQLite other changes wait until the
// transaction ends, which takes a few milliseconds.
const eraseGroup = 500

// statements returns the statement that erases a group of rows, and the query that counts the rows left.
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

// EraseAll runs the erasures for an account in order, in transactions of at most 500 rows. Then it counts the rows left
// in each table. If a statement fails, rows that are erased already stay erased, and the call can be repeated.
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
			return nil, fmt.Errorf("counting the rows left in %s: %w", e.Table, err)
		}
	}
	return done, nil
}
