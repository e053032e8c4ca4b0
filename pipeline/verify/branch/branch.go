// Package branch stores a directory of bank branches that the operator imports. Sources are
// the list of the Reserve Bank of India (rbi.org.in, "IFSC/MICR codes for NEFT") and the
// project razorpay/ifsc. The directory supplies branch names that a bank's answer lacks.
package branch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vayu/internal/sqlstore"
	"vayu/pipeline/csvfile"
	"vayu/pipeline/verify/ifsc"
)

// Summary is the result of an import.
type Summary struct {
	// Read is the number of rows below the header. Imported is the number of branches from these rows that are in the
	// directory now. Changed is the number of imported branches that were new or different.
	Read, Imported, Changed int
	// Rejected lists the reasons of rejected rows, the most frequent first.
	Rejected []Rejection
}

// Rejection is a reason to reject rows, with the rejected rows.
type Rejection struct {
	Reason string
	Rows   int
	// Lines are the line numbers, from 1, of the rejected rows, at most the first [FirstLines] of them.
	Lines []int
}

// FirstLines is the maximum number of lines that a [Rejection] lists.
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

// Import reads a directory of branches into the store. Branches that the file lacks remain. The file is CSV in UTF-8 or
// UTF-16. Its header has the column names of one of the two lists (see columns). IFSC and BRANCH are required. The
// Summary counts rejected rows by reason; all other rows are imported. If the header is missing or unusable, the error
// is a *csvfile.HeaderError. Other errors come from the reader or the store.
//
// The whole file is read before one transaction writes it, so the import is atomic. On SQLite, other changes wait for
// this transaction. For the 180,000 branches of India it takes about 2 s, even if nothing changes (BenchmarkImport).
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

// Find returns the branch name of an IFSC that ifsc.Parse has returned. `found` is false if the
// directory does not have the code.
func Find(q sqlstore.Querier, code string) (branch string, found bool, err error) {
	branch, found, err = sqlstore.One(q, sqlstore.Scalar[string], `SELECT branch FROM ifsc_branch WHERE ifsc = $1`, code)
	if err != nil {
		err = fmt.Errorf("looking for the branch of %q: %w", code, err)
	}
	return branch, found, err
}

// row holds the cells of a branch. The constants below are its indexes.
type row [columnCount]string

// These are the indexes of a row, in the order of the columns of the table ifsc_branch.
const (
	ifscColumn = iota
	bankColumn
	branchColumn
	addressColumn
	cityColumn
	districtColumn
	stateColumn
	columnCount
)

// column describes a column of a file: its possible names in the header, the preferred name first.
// The list of the Reserve Bank has BANK, IFSC, BRANCH, ADDRESS, CITY1, CITY2, STATE. The list of
// razorpay/ifsc has BANK, IFSC, BRANCH, CENTRE, DISTRICT, STATE, ADDRESS, CITY and more.
type column struct {
	names  []string
	needed bool
}

var columns = [columnCount]column{
	ifscColumn:     {names: []string{"IFSC", "IFSC CODE", "IFSCODE"}, needed: true},
	bankColumn:     {names: []string{"BANK", "BANK NAME", "NAME OF BANK"}},
	branchColumn:   {names: []string{"BRANCH", "BRANCH NAME"}, needed: true},
	addressColumn:  {names: []string{"ADDRESS"}},
	cityColumn:     {names: []string{"CITY", "CITY1", "CENTRE", "CENTER", "CITY2"}},
	districtColumn: {names: []string{"DISTRICT", "CITY2"}},
	stateColumn:    {names: []string{"STATE"}},
}

// longest is the maximum size of a cell in bytes. The longest addresses have 300 bytes.
const longest = 1000

// These are the reasons to reject a row.
const (
	reasonIFSC   = "its IFSC is none: four letters, a zero, six letters or digits"
	reasonNoIFSC = "it has no IFSC"
	reasonBranch = "its branch has no name"
	reasonCells  = "it has fewer cells than the header, or more"
	reasonUTF8   = "it is not in UTF-8"
	reasonSign   = "it has characters that cannot be printed"
	reasonLong   = "a cell is longer than 1,000 bytes"
	reasonAgain  = "its IFSC has stood on an earlier line, with another branch"
)

// read reads the branches of a file, in the order of its rows. It skips a row that equals an earlier row. If a row has
// the code of an earlier row, but other cells, it is rejected.
func read(r io.Reader) ([]row, Summary, error) {
	in := csvfile.New(r)
	at, width, err := header(in)
	if err != nil {
		return nil, Summary{}, err
	}
	var (
		s    Summary
		rows []row
		seen = map[string]int{} // code to index in rows
	)
	for {
		cells, line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return rows, s, nil
		}
		var one row
		var reason string
		bad, isLine := errors.AsType[*csvfile.LineError](err)
		switch {
		case isLine:
			reason = bad.Text
		case err != nil:
			return nil, Summary{}, err
		default:
			one, reason = parseRow(cells, at, width)
		}
		s.Read++
		before, again := seen[one[ifscColumn]]
		switch {
		case reason != "":
			s.refuse(reason, line)
		case !again:
			seen[one[ifscColumn]] = len(rows)
			rows = append(rows, one)
		case rows[before] != one:
			s.refuse(reasonAgain, line)
		}
	}
}

// header reads the header. `at` has the position of each column in the header, or -1 for a missing column. `width` is
// the number of cells of the header.
func header(in *csvfile.Reader) (at [columnCount]int, width int, err error) {
	cells, err := in.Header(',')
	if err != nil {
		return at, 0, err
	}
	names := make([]string, len(cells))
	for i, cell := range cells {
		words := strings.FieldsFunc(strings.ToUpper(cell), func(r rune) bool { return r == '_' || unicode.IsSpace(r) })
		names[i] = strings.Join(words, " ")
	}
	var missing []string
	for i, c := range columns {
		at[i] = -1
		for _, name := range c.names {
			if at[i] = slices.Index(names, name); at[i] >= 0 {
				break
			}
		}
		if c.needed && at[i] < 0 {
			missing = append(missing, c.names[0])
		}
	}
	if len(missing) > 0 {
		return at, 0, &csvfile.HeaderError{Text: fmt.Sprintf("the file is not a list of branches: its first line has no column %s, only %s",
			strings.Join(missing, " and no column "), quoteHeader(cells))}
	}
	if at[cityColumn] == at[districtColumn] {
		at[districtColumn] = -1 // CITY2 is the city if there is no other column for the city
	}
	return at, len(cells), nil
}

// quoteHeader returns the beginning of a header, quoted for an error message.
func quoteHeader(cells []string) string {
	text := strings.ToValidUTF8(strings.Join(cells, ","), "?")
	if len(text) > 100 {
		text = strings.ToValidUTF8(text[:100], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}

// parseRow converts cells to a branch. If the row is invalid, `reason` says why; otherwise it is "".
func parseRow(cells []string, at [columnCount]int, width int) (one row, reason string) {
	if len(cells) != width {
		return row{}, reasonCells
	}
	for i, where := range at {
		if where < 0 {
			continue
		}
		cell := cells[where]
		if !utf8.ValidString(cell) {
			return row{}, reasonUTF8
		}
		cell = strings.Join(strings.Fields(cell), " ") // addresses contain line breaks
		if strings.ContainsFunc(cell, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return row{}, reasonSign
		}
		if len(cell) > longest {
			return row{}, reasonLong
		}
		one[i] = cell
	}
	if one[ifscColumn] == "" {
		return row{}, reasonNoIFSC
	}
	code, ok := ifsc.Parse(one[ifscColumn])
	if !ok {
		return row{}, reasonIFSC
	}
	if one[ifscColumn] = code; one[branchColumn] == "" {
		return row{}, reasonBranch
	}
	return one, ""
}
