package reconcile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	textencoding "golang.org/x/text/encoding"
	encoding "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"vayu/schema"
)

// maxNameLength limits references and ids in a file, in bytes. Those in the store are shorter.
const maxNameLength = 128

// separators are the possible separators of cells.
var separators = []rune{',', ';', '\t'}

// LineError is the error of an unreadable line.
type LineError struct {
	Number int // from 1
	Text   string
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Number, e.Text) }

// Parse reads an operator's file: CSV with a header, in UTF-8, or in UTF-16 with a byte order mark.
// It yields every non-empty line, or a *LineError for an unreadable one, and continues. Any other
// error ends the sequence: a *HeaderError for an unusable header, or a read error.
func Parse(r io.Reader, l Layout) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		rows := newRowReader(transform.NewReader(r, encoding.BOMOverride(textencoding.Nop.NewDecoder())), separators[0])
		at, err := header(rows, l)
		if err != nil {
			yield(Line{}, err)
			return
		}
		for {
			cells, number, err := rows.next(at.fits)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil && number == 0 {
				yield(Line{}, fmt.Errorf("reading the file: %w", err))
				return
			}
			line := Line{Number: number}
			if err == nil {
				err = at.read(cells, l, &line)
			}
			if err != nil {
				line, err = Line{Number: number}, &LineError{number, err.Error()}
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// header reads the first non-empty row and finds the columns in it. It sets the separator to the
// one that yields most cells.
func header(rows *rowReader, l Layout) (columns, error) {
	first, err := rows.first()
	if err != nil {
		return columns{}, err
	}
	var names []string
	separator := separators[0]
	for _, by := range separators {
		rows.setSeparator(by)
		if cells, ok := rows.cut(first); ok && len(cells) > len(names) {
			separator, names = by, slices.Clone(cells)
		}
	}
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	rows.setSeparator(separator)
	return l.find(names)
}

// fits reports whether a row with this number of cells has the width of the header.
func (c columns) fits(cells int) bool { return cells == c.count }

// read fills a line from the cells of its row.
func (c columns) read(cells []string, l Layout, line *Line) error {
	for len(cells) > c.count && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1] // the empty cell after a separator at the end of the row
	}
	if !c.fits(len(cells)) {
		return fmt.Errorf("the header has %d columns, and it has %d", c.count, len(cells))
	}
	line.Reference = cleanCell(cells[c.reference])
	if line.Reference == "" {
		return errors.New("it has no reference")
	}
	if !isPrintable(line.Reference) {
		return fmt.Errorf("its reference %q is not a valid reference", short(line.Reference))
	}
	status := strings.TrimSpace(cells[c.status])
	var ok bool
	if line.Status, ok = l.status(status); !ok && status == "" {
		return errors.New("it has no status")
	} else if !ok {
		return fmt.Errorf("nothing is known of the status %q; say with --statuses what it means", short(status))
	}
	text := cells[c.amount]
	amount, err := parseAmount(text)
	if err != nil {
		return amountFault(text, err)
	}
	line.Amount = amount
	if c.id >= 0 {
		if line.ID = cleanCell(cells[c.id]); !isPrintable(line.ID) {
			line.ID = ""
		}
	}
	return nil
}

func amountFault(text string, err error) error {
	text = short(strings.TrimSpace(text))
	switch {
	case errors.Is(err, schema.ErrAmountPrecision):
		return fmt.Errorf("its amount %q has more than two decimals", text)
	case errors.Is(err, schema.ErrAmountRange):
		return fmt.Errorf("its amount %q is out of range", text)
	}
	if text == "" {
		return errors.New("it has no amount")
	}
	return fmt.Errorf("its amount %q is no number of rupees, such as 1234.50 or 1,234.50", text)
}

// cleanCell returns a reference or id without blanks around it, and without the apostrophe by which
// spreadsheets mark text.
func cleanCell(cell string) string {
	cell = strings.TrimSpace(cell)
	if len(cell) > 1 && cell[0] == '\'' {
		cell = cell[1:]
	}
	return strings.Clone(cell) // releases the memory of the row
}

// isPrintable reports whether a text is printable and not longer than maxNameLength.
func isPrintable(text string) bool {
	return len(text) <= maxNameLength && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
