// Package upi knows what UPI addresses (virtual payment addresses) look like, whose
// their handles are, and how they are shown to those who need not know them. It does
// no I/O.
package upi

import "strings"

const (
	// localMost and handleMost bound what stands before and behind the @.
	localLeast, localMost   = 2, 256
	handleLeast, handleMost = 2, 65
)

// Parse reads a UPI address: 2 to 256 ASCII letters, digits, dots, hyphens and
// underscores, an @, and the handle, a letter with 1 to 64 letters and digits behind
// it. Blanks and tabs around it are dropped, and it becomes lower case: addresses are the same
// in any case. A handle has no dot, so that an address for e-mail is refused. That
// the address exists is for a bank to say.
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
	// hidden stands for what Mask leaves out, however long it is.
	hidden = "****"
	// numberDigits is from how many digits on a local part is taken for a number: those
	// of a mobile, an account, a card or a day of birth, with whatever stands between
	// them.
	numberDigits = 6
)

// Mask is an address for lists, logs and rows at rest: the handle, and of what stands
// before it
//
//	the last two characters when it has six digits or more, as "****10" of 9876543210
//	the first and last two of eight characters and more, as "ra****ma" of rajsharma
//	the first and last one of five to seven, as "r****j" of rajraj
//	nothing of fewer
//
// Eight digits of a mobile number are thus unknown, of which ten million numbers
// each begin with 6, 7, 8 and 9. The stars do not say how many characters there are.
// What is no address is hidden as a whole.
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
