// Package branch stores a directory of bank branches that the operator imports. Sources are
// the list of the Reserve Bank of India (rbi.org.in, "IFSC/MICR codes for NEFT") and the
// project razorpay/ifsc. The directory supplies branch names that a bank's answer lacks.
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

// Summary is the result of an import.
type Summary struct {
	// Read is the number of rows below the header. Imported is the number of branches from these
	// rows that are in the directory now. Changed is the number of these branches that were new or
	// different.
	Read, Imported, Changed int
	// Rejected lists the reasons of rejected rows, the most frequent first.
	Rejected []Rejection
}

// Rejection is one reason of rejected rows.
type Rejection struct {
	Reason string
	Rows   int
	// Lines are the numbers of the first lines that were rejected for this reason, at most
	// [FirstLines]. They count from 1.
	Lines []int
}

// FirstLines is the number of lines that a [Rejection] lists.
const FirstLines = 5

// refuse adds a rejected row to the Summary.
func (s *Summary) refuse(reason string, line int) {
	i := slices.IndexFunc(s.Rejected, func(r Rejection) bool { return r.Reason == reason })
	if i < 0 {
		i = len(s.Rejected)
		s.Rejected = append(s.Rejected, Rejection{Reason: reason})
	}
	r := &s.Rejected[i]
	r.Rows++
	if len(r.Lines) < FirstLines {
		r.Lines = append(r.Lines, line)
	}
}

// upsert writes branches and skips unchanged ones, so a repeated import writes nothing.
var upsert = sqlstore.NewBatchStatement(0, `INSERT INTO ifsc_branch (ifsc, bank, branch, address, city, district, state) VALUES `,
	`(?, ?, ?, ?, ?, ?, ?)`, ` ON CONFLICT (ifsc) DO UPDATE SET
	bank = excluded.bank, branch = excluded.branch, address = excluded.address,
	city = excluded.city, district = excluded.district, state = excluded.state
WHERE ifsc_branch.bank <> excluded.bank OR ifsc_branch.branch <> excluded.branch OR ifsc_branch.address <> excluded.address
	OR ifsc_branch.city <> excluded.city OR ifsc_branch.district <> excluded.district OR ifsc_branch.state <> excluded.state`)

// Import reads a directory of branches into the store. Branches that the file lacks remain. The
// file is CSV in UTF-8 or UTF-16. Its header has the column names of one of the two lists (see columns). IFSC
// and BRANCH are required. The Summary counts rejected rows by reason; all other rows are imported.
// For a file without such a header the error is a *csvfile.HeaderError. Other errors come from the reader
// or the store.
//
// The whole file is read before one transaction writes it, so the import is atomic. On SQLite,
// other changes wait for this transaction. For the 180,000 branches of India it takes some 2 s,
// even if nothing changes (BenchmarkImport).
func Import(ctx context.Context, db *sqlstore.DB, r io.Reader) (Summary, error) {
	rows, s, err := read(r)
	if err != nil {
		return Summary{}, err
	}
	// A fixed row order prevents a deadlock of concurrent imports on PostgreSQL.
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
	s.Imported = len(rows)
	slices.SortStableFunc(s.Rejected, func(a, b Rejection) int { return b.Rows - a.Rows })
	return s, nil
}

// Find returns the branch name of a code, which must be as ifsc.Parse returns it. found is false if
// the directory does not have the code.
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
