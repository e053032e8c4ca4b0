package schema

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Paise is an amount of money in hundredths of a rupee. All arithmetic is in whole paise.
type Paise int64

// The errors of [ParsePaise].
var (
	ErrAmountForm      = errors.New("not a number")
	ErrAmountPrecision = errors.New("more than two decimals")
	ErrAmountRange     = errors.New("out of range")
)

// maxAmountDigits is the number of digits of the largest amount in paise.
const maxAmountDigits = len("9223372036854775807")

// ParsePaise parses a JSON number of rupees exactly, such as 199, 199.5 or 1.995e2. The error is ErrAmountForm,
// ErrAmountPrecision or ErrAmountRange. The run time is linear in the length of the text, however large its exponent.
func ParsePaise(text string) (Paise, error) {
	n, ok := scanNumber(text)
	if !ok {
		return 0, ErrAmountForm
	}
	digits := strings.TrimLeft(n.whole+n.fraction, "0")
	if digits == "" {
		return 0, nil
	}
	// The amount in paise is the integer `digits`, multiplied by 10 to the power of `scale`.
	scale, far := n.scale()
	trimmed := strings.TrimRight(digits, "0")
	scale += len(digits) - len(trimmed)
	switch {
	case far > 0 || far == 0 && len(trimmed)+scale > maxAmountDigits:
		return 0, ErrAmountRange
	case far < 0 || scale < 0:
		return 0, ErrAmountPrecision
	}
	text = trimmed + strings.Repeat("0", scale)
	if n.negative {
		text = "-" + text
	}
	paise, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, ErrAmountRange
	}
	return Paise(paise), nil
}

// number has the parts of a JSON number. `shrinks` is true if the exponent is negative.
type number struct {
	negative, shrinks         bool
	whole, fraction, exponent string
}

// scanNumber splits a JSON number (RFC 8259, section 6). `ok` is false if the text is not a JSON number.
func scanNumber(text string) (n number, ok bool) {
	text, n.negative = strings.CutPrefix(text, "-")
	n.whole, text = leadingDigits(text)
	if n.whole == "" || len(n.whole) > 1 && n.whole[0] == '0' {
		return n, false
	}
	if rest, found := strings.CutPrefix(text, "."); found {
		if n.fraction, text = leadingDigits(rest); n.fraction == "" {
			return n, false
		}
	}
	if text == "" {
		return n, true
	}
	if text[0] != 'e' && text[0] != 'E' {
		return n, false
	}
	text = text[1:]
	if text != "" && (text[0] == '+' || text[0] == '-') {
		n.shrinks, text = text[0] == '-', text[1:]
	}
	n.exponent, text = leadingDigits(text)
	return n, n.exponent != "" && text == ""
}

// leadingDigits splits a text after its leading digits.
func leadingDigits(text string) (digits, rest string) {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// scale returns the exponent `scale` of ten: the digits of n, multiplied by 10 to this power, are the amount in paise.
// If the absolute value of n's exponent exceeds math.MaxInt32, `scale` is 0 and `far` is the sign of the exponent, 1 or
// -1. Otherwise `far` is 0.
func (n number) scale() (scale, far int) {
	exponent, err := strconv.Atoi("0" + n.exponent)
	if err != nil || exponent > math.MaxInt32 {
		if n.shrinks {
			return 0, -1
		}
		return 0, 1
	}
	if n.shrinks {
		exponent = -exponent
	}
	return exponent + len("00") - len(n.fraction), 0
}

// String returns the amount in rupees as a JSON number, without trailing zeros: 199.5.
func (p Paise) String() string {
	text := make([]byte, 0, maxAmountDigits+len("-.00"))
	rest := uint64(p)
	if p < 0 {
		text, rest = append(text, '-'), -rest
	}
	text = strconv.AppendUint(text, rest/100, 10)
	if tens, ones := rest/10%10, rest%10; tens+ones > 0 {
		text = append(text, '.', '0'+byte(tens))
		if ones > 0 {
			text = append(text, '0'+byte(ones))
		}
	}
	return string(text)
}

// MarshalJSON returns the amount in rupees as a JSON number.
func (p Paise) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON parses rupees exactly. A null leaves the amount unchanged.
func (p *Paise) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	amount, err := ParsePaise(string(text))
	if err == nil {
		*p = amount
	}
	return err
}

// Rupees returns the amount in rupees as text for people, with Indian grouping: ₹199, ₹199.50, ₹12,34,567.
func (p Paise) Rupees() string {
	sign, rest := "", uint64(p)
	if p < 0 {
		sign, rest = "-", -rest
	}
	whole := strconv.FormatUint(rest/100, 10)
	const last = 3 // the last three digits are a group, the others are grouped in pairs
	for at := len(whole) - last; at > 0; at -= 2 {
		whole = whole[:at] + "," + whole[at:]
	}
	if cents := rest % 100; cents > 0 {
		whole += "." + strconv.FormatUint(100+cents, 10)[1:]
	}
	return sign + "₹" + whole
}
