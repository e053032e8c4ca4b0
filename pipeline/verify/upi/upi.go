// Package upi parses UPI addresses (virtual payment addresses), finds the bank of their
// handles and masks them. It does no I/O.
package upi

import "strings"

const (
	localLeast, localMost   = 2, 256 // length of the local part, before the @
	handleLeast, handleMost = 2, 65  // length of the handle, after the @
)

// Parse reads a UPI address: 2 to 256 ASCII letters, digits, dots, hyphens and underscores, an @,
// and the handle. The handle is a letter followed by 1 to 64 letters and digits. Surrounding blanks
// and tabs are dropped. Case is insignificant, so the result is in lower case. For any other text
// ok is false. An e-mail address is refused, because a handle has no dot. Only a bank can confirm
// that the address exists.
func Parse(text string) (vpa string, ok bool) {
	local, handle, found := strings.Cut(strings.Trim(text, " \t"), "@")
	if !found || len(local) < localLeast || len(local) > localMost || len(handle) < handleLeast || len(handle) > handleMost {
		return "", false
	}
	for i := range len(local) {
		if c := local[i]; !letter(c) && !digit(c) && c != '.' && c != '-' && c != '_' {
			return "", false
		}
	}
	for i := range len(handle) {
		if c := handle[i]; !letter(c) && (i == 0 || !digit(c)) {
			return "", false
		}
	}
	return strings.ToLower(local + "@" + handle), true
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }

const (
	// hidden replaces the characters that Mask removes. It does not show how many characters were
	// removed.
	hidden = "****"
	// numberDigits is the minimum number of digits in a local part that Mask treats as a mobile or
	// account number. Other characters may stand between the digits.
	numberDigits = 6
)

// Mask returns a masked address for lists, logs and stored rows. It keeps the handle. Of the local
// part (the text before the @) it keeps
//
//	the last two characters if it has at least six digits: "****10" of 9876543210
//	else the first and last two of at least eight characters: "ra****ma" of rajsharma
//	else the first and last one of five to seven characters: "r****j" of rajraj
//	else nothing
//
// This hides eight digits of a mobile number. Mobile numbers begin with 6 to 9, so 40 million of
// them share the last two digits. The stars do not show the length. A text that is no address is
// hidden entirely.
func Mask(vpa string) string {
	local, handle, found := strings.Cut(vpa, "@")
	if !found {
		return hidden
	}
	first, last := 0, 0
	switch n := len(local); {
	case digits(local) >= numberDigits:
		last = 2
	case n >= 8:
		first, last = 2, 2
	case n >= 5:
		first, last = 1, 1
	}
	return local[:first] + hidden + local[len(local)-last:] + "@" + handle
}

func digits(text string) (n int) {
	for i := range len(text) {
		if digit(text[i]) {
			n++
		}
	}
	return n
}
