package schema

import (
	"fmt"
	"math"
	"strconv"
)

// Figure is a value in hundredths of its unit, the precision of concentrations in the
// API. In JSON it is a decimal number, or null if it is [Unknown].
type Figure int32

// Unknown is the Figure of a missing value.
const Unknown Figure = math.MinInt32

// Known reports whether the figure has a value.
func (f Figure) Known() bool { return f != Unknown }

// Append appends the figure as JSON: a number without trailing zeros, or null.
func (f Figure) Append(b []byte) []byte {
	if !f.Known() {
		return append(b, "null"...)
	}
	n := int64(f)
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendInt(b, n/100, 10)
	switch n %= 100; {
	case n == 0:
		return b
	case n%10 == 0:
		return append(b, '.', byte('0'+n/10))
	default:
		return append(b, '.', byte('0'+n/10), byte('0'+n%10))
	}
}

// MarshalJSON implements json.Marshaler.
func (f Figure) MarshalJSON() ([]byte, error) { return f.Append(nil), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (f *Figure) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*f = Unknown
		return nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("reading figure %q: %w", text, err)
	}
	*f = Figure(math.Round(v * 100))
	return nil
}
