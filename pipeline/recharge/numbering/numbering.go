// Package numbering validates mobile numbers and ids of DTH (satellite television) subscribers. It
// has tables of the operators and of the circles (licensed service areas). It finds the operator of
// a mobile number by the series of the national numbering plan. It does no I/O and has no state.
package numbering

import (
	_ "embed" // series.csv
	"encoding/csv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxTextLength is the maximum length of a number as a client writes it, in bytes, with blanks and hyphens.
const maxTextLength = 32

// Mobile reads an Indian mobile number: [6-9] and nine more ASCII digits. The prefix +91, 91 or 0 is optional; so are
// blanks and hyphens between digits. Mobile returns the ten digits; ok is false for any other text. By the National
// Numbering Plan 2003, mobile numbers have ten digits, and none begins with 0 to 5. Mobile rejects a leading hyphen,
// which looks like the sign of a negative number. It rejects digits of other scripts, because operators do not accept
// them.
func Mobile(text string) (digits string, ok bool) {
	text = strings.TrimLeft(text, " ")
	text, plus := strings.CutPrefix(text, "+")
	digits, ok = onlyDigits(text)
	if !ok {
		return "", false
	}
	switch {
	case len(digits) == 12 && strings.HasPrefix(digits, "91"):
		digits = digits[2:]
	case plus:
		return "", false
	case len(digits) == 11 && digits[0] == '0':
		digits = digits[1:]
	}
	if len(digits) != 10 || digits[0] < '6' {
		return "", false
	}
	return digits, true
}

// SubscriberID reads the id of a DTH subscriber: 8 to 12 ASCII digits. Blanks are ignored; so are
// hyphens after the first digit. ok is false for any other text. Leading zeros stay. Operators
// print ten digits (Airtel Digital TV, Tata Play) or eleven (the card number of Dish TV and Sun
// Direct). d2h prints fewer digits. Only the operator can decide whether the id exists.
func SubscriberID(text string) (id string, ok bool) {
	id, ok = onlyDigits(text)
	if !ok || len(id) < 8 || len(id) > 12 {
		return "", false
	}
	return id, true
}

// onlyDigits removes blanks and hyphens. It returns false if anything but ASCII digits is left, if
// a hyphen comes before the digits, or if text is longer than maxTextLength.
func onlyDigits(text string) (string, bool) {
	if len(text) > maxTextLength || strings.HasPrefix(strings.TrimLeft(text, " "), "-") {
		return "", false
	}
	digits := separators.Replace(text)
	return digits, strings.Trim(digits, "0123456789") == ""
}

// separators removes what may stand between digits.
var separators = strings.NewReplacer(" ", "", "-", "")

// key returns the comparison key of a name: lower case, without blanks, punctuation and
// symbols. It is empty for invalid UTF-8, and for more than 128 bytes.
func key(text string) string {
	if len(text) > 4*maxTextLength || !utf8.ValidString(text) {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

//go:embed series.csv
var seriesCSV string

type subscriber struct{ operator, circle string }

// seriesTable has the operator (or its successor) and the circle to which each series was assigned. A series is the
// first four digits of its numbers, or the first five where four are ambiguous.
var seriesTable = sync.OnceValue(func() map[string]subscriber {
	names := make(map[string]string, len(circles))
	for _, c := range circles {
		names[c.code] = c.name
	}
	table := make(map[string]subscriber)
	for _, row := range rows(seriesCSV) {
		for series := range strings.FieldsSeq(row[2]) {
			table[series] = subscriber{operator: row[0], circle: names[row[1]]}
		}
	}
	return table
})

// rows returns the rows of a table of this package. Lines that begin with # are comments.
func rows(table string) [][]string {
	r := csv.NewReader(strings.NewReader(table))
	r.Comment = '#'
	all, _ := r.ReadAll() // the tables are part of the program, and tested
	return all
}

// Series returns the operator and circle to which the series of a ten-digit mobile number was assigned. The names are
// canonical. For a merged operator it returns the successor. The circle is "" if it is unknown.
//
// The result has a low confidence. Numbers have been portable within a circle since 2011 and across India since 2015,
// and series have been reassigned. The table is collected from publications of the Department of Telecommunications
// (see series.csv). ok is false for an unassigned series, and for a series of an operator that closed without a
// successor.
func Series(mobile string) (operator, circle string, ok bool) {
	if len(mobile) != 10 {
		return "", "", false
	}
	table := seriesTable()
	for _, n := range []int{5, 4} {
		if s, found := table[mobile[:n]]; found {
			return s.operator, s.circle, s.operator != ""
		}
	}
	return "", "", false
}
