package branch

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vayu/pipeline/csvfile"
	"vayu/pipeline/verify/ifsc"
)

// row holds the cells of a branch. The constants below are its indexes.
type row [columnCount]string

// Indexes of a row, in the order of the columns of the table ifsc_branch.
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

// longest is the limit of a cell in bytes. Addresses have up to 300 bytes.
const longest = 1000

// Reasons to reject a row.
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

// read reads the branches of a file, in the order of its rows. It skips a row that repeats an
// earlier row. It rejects a row with the code of an earlier row but other cells.
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

// header reads the header. at has the index of each column in it, or -1 for a missing column. width is the
// number of cells of the header.
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
		return at, 0, &csvfile.HeaderError{Text: fmt.Sprintf("this is no list of branches: its first line has no column %s, only %s",
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

// parseRow converts cells to a branch. If the row is invalid, reason says why; otherwise it is "".
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
