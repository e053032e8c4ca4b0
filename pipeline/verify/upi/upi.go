// Package upi parses UPI addresses (virtual payment addresses), finds the banks of their handles,
// and masks the addresses. It does no I/O.
package upi

import (
	_ "embed" // handles.csv
	"regexp"
	"strings"
	"sync"
)

// address matches a UPI address. The handle cannot contain a dot, so an e-mail address does not match.
var address = regexp.MustCompile(`^[A-Za-z0-9._-]{2,256}@[A-Za-z][A-Za-z0-9]{1,64}$`)

// Parse reads a UPI address: 2 to 256 ASCII letters, digits, dots, hyphens and underscores, an @,
// and the handle. The handle is a letter followed by 1 to 64 letters and digits. Parse drops
// surrounding blanks and tabs. Case is insignificant, so the result is in lower case. For any other text, `ok` is
// false. Only a bank can confirm that the address exists.
func Parse(text string) (vpa string, ok bool) {
	text = strings.Trim(text, " \t")
	if !address.MatchString(text) {
		return "", false
	}
	return strings.ToLower(text), true
}

const (
	// hidden replaces the characters that Mask removes. It does not show how many characters were removed.
	hidden = "****"
	// numberDigits is the minimum number of digits in a local part that Mask treats as a mobile or
	// account number. There may be other characters between the digits.
	numberDigits = 6
)

// Mask returns a masked address for lists, logs and stored rows. It keeps the handle. Of the local part (the text
// before the @) it keeps
//
//	the last two characters if it has at least six digits: "****10" of 9876543210
//	else the first and last two of at least eight characters: "ra****ma" of rajsharma
//	else the first and last one of five to seven characters: "r****j" of rajraj
//	else nothing
//
// This hides eight digits of a mobile number. Mobile numbers begin with 6 to 9, so 40 million of them share the last
// two digits. The stars do not show the length. A text that is no address is hidden entirely.
func Mask(vpa string) string {
	local, handle, found := strings.Cut(vpa, "@")
	if !found {
		return hidden
	}
	digits := 0
	for _, c := range local {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	first, last := 0, 0
	switch n := len(local); {
	case digits >= numberDigits:
		last = 2
	case n >= 8:
		first, last = 2, 2
	case n >= 5:
		first, last = 1, 1
	}
	return local[:first] + hidden + local[len(local)-last:] + "@" + handle
}

//go:embed handles.csv
var handlesCSV string

// handles returns the bank of each handle. A handle is the part of a UPI address after the @.
var handles = sync.OnceValue(func() map[string]string {
	table := map[string]string{}
	for line := range strings.Lines(handlesCSV) {
		bank, all, ok := strings.Cut(strings.TrimSpace(line), ",")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for handle := range strings.FieldsSeq(all) {
			table[handle] = bank
		}
	}
	return table
})

// Bank returns the bank to which NPCI assigned the handle of an address that Parse has returned.
// The account may be with another bank, which only a lookup of the address shows. `ok` is false if
// the table (handles.csv) does not have the handle. New handles appear every month.
func Bank(vpa string) (bank string, ok bool) {
	_, handle, _ := strings.Cut(vpa, "@")
	bank, ok = handles()[handle]
	return bank, ok
}
