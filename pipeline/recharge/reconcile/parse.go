package reconcile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"vayu/pipeline/csvfile"
	"vayu/schema"
)

// Line is one transaction of an operator's file.
type Line struct {
	Number    int    // line number in the file, from 1; of the first line if a row has several
	Reference string // our reference, as the operator wrote it
	ID        string // the operator's id of the transaction; empty if the file has none
	Status    Status
	Amount    schema.Paise
}

// Parse reads an operator's file: CSV with a header, in UTF-8, or in UTF-16 with a byte order mark. It yields
// every non-empty line, or a *csvfile.LineError for an unreadable one, and continues. Any other error ends the
// sequence: a *csvfile.HeaderError for an unusable header, or a read error.
func Parse(r io.Reader, l Layout) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		rows := csvfile.New(r)
		at, err := header(rows, l)
		if err != nil {
			yield(Line{}, err)
			return
		}
		for {
			cells, number, err := rows.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			line := Line{Number: number}
			if err == nil {
				if err = at.read(cells, l, &line); err != nil {
					line, err = Line{Number: number}, &csvfile.LineError{Number: number, Text: err.Error()}
				}
			}
			_, isLine := errors.AsType[*csvfile.LineError](err)
			if !yield(line, err) || err != nil && !isLine {
				return
			}
		}
	}
}

func header(rows *csvfile.Reader, l Layout) (columns, error) {
	names, err := rows.Header(',', ';', '\t')
	if err != nil {
		return columns{}, err
	}
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return l.find(names)
}

// read fills a line from the cells of its row.
func (c columns) read(cells []string, l Layout, line *Line) error {
	if len(cells) != c.count {
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
		return fmt.Errorf("the status %q is unknown; add it with --statuses", short(status))
	}
	var err error
	if line.Amount, err = parseAmount(cells[c.amount]); err != nil {
		return err
	}
	if c.id >= 0 {
		if line.ID = cleanCell(cells[c.id]); !isPrintable(line.ID) {
			line.ID = ""
		}
	}
	return nil
}

// groupedNumber is a number with commas between thousands, or between lakhs and crores:
// 1,234.50 and 12,34,567. Other commas are not removed, because they may be decimal commas.
var groupedNumber = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{2,3})*,[0-9]{3}(\.[0-9]*)?$`)

// currencyMark matches the currency that can precede an amount, and the blanks after it.
var currencyMark = regexp.MustCompile(`^(?i)(₹|rs\.?|inr)\s*`)

// parseAmount parses an amount in rupees exactly. Even the amount of a refund must be positive, because the status of
// the line already shows the direction.
func parseAmount(cell string) (schema.Paise, error) {
	cell = strings.TrimSpace(cell)
	text := cell[len(currencyMark.FindString(cell)):]
	if groupedNumber.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	amount, err := schema.ParsePaise(text)
	switch {
	case errors.Is(err, schema.ErrAmountPrecision):
		return 0, fmt.Errorf("its amount %q has more than two decimals", short(cell))
	case errors.Is(err, schema.ErrAmountRange), err == nil && amount <= 0:
		return 0, fmt.Errorf("its amount %q is out of range", short(cell))
	case cell == "":
		return 0, errors.New("it has no amount")
	case err != nil:
		return 0, fmt.Errorf("its amount %q is not an amount in rupees, such as 1234.50 or 1,234.50", short(cell))
	}
	return amount, nil
}

// cleanCell returns a reference or id without blanks around it. It also removes a leading apostrophe, by which
// spreadsheets mark a cell as text.
func cleanCell(cell string) string {
	cell = strings.TrimSpace(cell)
	if len(cell) > 1 && cell[0] == '\'' {
		cell = cell[1:]
	}
	return strings.Clone(cell) // releases the memory of the row
}

// maxNameLength limits references and ids in a file, in bytes. Those in the store are shorter.
const maxNameLength = 128

// isPrintable reports whether a text is printable and not longer than maxNameLength.
func isPrintable(text string) bool {
	return len(text) <= maxNameLength && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
