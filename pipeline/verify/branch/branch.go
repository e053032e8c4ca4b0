// Package branch keeps a directory of bank branches that the operator of the service
// imports, such as the list of the Reserve Bank of India (rbi.org.in, "IFSC/MICR codes
// for NEFT") or the one that the project razorpay/ifsc makes of it. It tells what a
// branch is called when the bank's answer does not.
package branch

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"vayu/internal/sqlstore"
)

// Summary is what became of a file.
type Summary struct {
	// Read is how many rows there were below the header; Taken how many of them are in
	// the directory now, Changed how many of those it did not have like that before.
	Read, Taken, Changed int
	// Refused are the reasons for which rows were not taken, the most frequent first.
	Refused []Refusal
}

// Refusal is one reason why rows were not taken.
type Refusal struct {
	Reason string
	Rows   int
	// Lines are the first lines of those rows, [FirstLines] at most, from 1.
	Lines []int
}

// FirstLines is how many lines a [Refusal] names.
const FirstLines = 5

// refuse counts a row that is not taken.
func (s *Summary) refuse(reason string, line int) {
	i := slices.IndexFunc(s.Refused, func(r Refusal) bool { return r.Reason == reason })
	if i < 0 {
		i = len(s.Refused)
		s.Refused = append(s.Refused, Refusal{Reason: reason})
	}
	r := &s.Refused[i]
	r.Rows++
	if len(r.Lines) < FirstLines {
		r.Lines = append(r.Lines, line)
	}
}

// upsert writes branches, and touches none that is there already as it should be, so
// that a file that is imported again costs no write.
var upsert = sqlstore.Group(0, `INSERT INTO ifsc_branch (ifsc, bank, branch, address, city, district, state) VALUES `,
	`(?, ?, ?, ?, ?, ?, ?)`, ` ON CONFLICT (ifsc) DO UPDATE SET
	bank = excluded.bank, branch = excluded.branch, address = excluded.address,
	city = excluded.city, district = excluded.district, state = excluded.state
WHERE ifsc_branch.bank <> excluded.bank OR ifsc_branch.branch <> excluded.branch OR ifsc_branch.address <> excluded.address
	OR ifsc_branch.city <> excluded.city OR ifsc_branch.district <> excluded.district OR ifsc_branch.state <> excluded.state`)

// Import reads a directory and puts it into the store; branches that it does not name
// stay. The file is CSV in UTF-8, with a header of the names that the two lists use
// (see columns); IFSC and BRANCH must be there. A row that cannot be taken is counted
// in the Summary with its reason, and the others are taken. A file that is none has a
// *HeaderError; other errors are those of the reader and the store.
//
// The whole file is read before anything is written, and written in one transaction:
// all of it or, with an error, nothing. On SQLite other changes wait meanwhile: some 2 s
// for the 180,000 branches of India, new or not (BenchmarkImport).
func Import(ctx context.Context, db *sqlstore.DB, r io.Reader) (Summary, error) {
	rows, s, err := read(r)
	if err != nil {
		return Summary{}, err
	}
	// Of two imports at once on PostgreSQL none must hold a row that the other waits
	// for the other way round.
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a[ifscColumn], b[ifscColumn]) })
	err = db.Update(ctx, func(tx *sqlstore.Tx) error {
		s.Changed = 0
		args := make([]any, 0, 16*columnCount)
		return upsert.Each(len(rows), func(text string, from, to int) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			args = args[:0]
			for i := range rows[from:to] {
				for _, cell := range rows[from+i] {
					args = append(args, cell)
				}
			}
			n, err := tx.Exec(text, args...)
			s.Changed += int(n)
			return err
		})
	})
	if err != nil {
		return Summary{}, fmt.Errorf("storing the branches: %w", err)
	}
	s.Taken = len(rows)
	slices.SortStableFunc(s.Refused, func(a, b Refusal) int { return b.Rows - a.Rows })
	return s, nil
}

// Find is the name of the branch of a code, as ifsc.Parse returns it, when a directory
// with it has been imported.
func Find(q sqlstore.Querier, code string) (branch string, found bool, err error) {
	err = q.QueryRow(`SELECT branch FROM ifsc_branch WHERE ifsc = $1`, code).Scan(&branch)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("looking for the branch of %q: %w", code, err)
	}
	return branch, true, nil
}
