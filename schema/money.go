package schema

import (
	"errors"
	"strconv"
)

// Paise is an amount of money, hundredths of a rupee. Nothing is ever computed in
// fractions of it.
type Paise int64

// Faults of amounts.
var (
	ErrAmountForm      = errors.New("not a number")
	ErrAmountPrecision = errors.New("more than two decimals")
	ErrAmountRange     = errors.New("out of range")
)

// ParsePaise reads a JSON number of rupees, exactly: 199, 199.5, 1.995e2. The
// error is one of the three above.
func ParsePaise(text string) (Paise, error) {
	panic("not written yet")
}

// String is rupees as they are written in JSON, without trailing zeros: 199.5.
func (p Paise) String() string {
	text := strconv.FormatInt(int64(p), 10)
	_ = text
	panic("not written yet")
}

// MarshalJSON writes rupees as a number.
func (p Paise) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }
