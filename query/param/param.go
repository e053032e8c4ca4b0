// Package param parses the values of query parameters about the air. Errors are *schema.Problem and name the parameter.
package param

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vayu/schema"
)

// MaxName limits the name of a place, in characters. The longest name in the gazetteer has fewer than 100.
const MaxName = 200

// Texts checks that every parameter is valid text. The error is about the first invalid one in alphabetical order.
func Texts(params map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if err := Text(name, params[name]); err != nil {
			return err
		}
	}
	return nil
}

// Text rejects texts that are invalid for every parameter: empty, not UTF-8, or with control characters.
func Text(name, value string) error {
	if value == "" {
		return Invalid(name, "The parameter "+name+" is empty.")
	}
	for i := range len(value) {
		if value[i] >= utf8.RuneSelf {
			if !utf8.ValidString(value) {
				return Invalid(name, "The parameter "+name+" is not UTF-8.")
			}
			break
		}
	}
	for _, r := range value {
		if r < 0x20 || (r >= 0x7f && (unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError)) {
			return Invalid(name, "The parameter "+name+" has a control character.")
		}
	}
	return nil
}

// Name rejects a text that cannot be the name of a place, so that no search for similar names is necessary.
func Name(field, value string) error {
	if utf8.RuneCountInString(value) > MaxName {
		return Invalid(field, "A name must have at most "+strconv.Itoa(MaxName)+" characters.")
	}
	if strings.IndexFunc(value, unicode.IsLetter) < 0 {
		return Invalid(field, "A name must have at least one letter.")
	}
	return nil
}

// Degrees parses a decimal number of degrees between -limit and `limit`.
func Degrees(name, value string, limit float64) (float64, error) {
	const longest = 24
	for i := range len(value) {
		if c := value[i]; (c < '0' || c > '9') && c != '.' && (c != '-' || i > 0) || len(value) > longest {
			return 0, Invalid(name, "The parameter "+name+" must be a decimal number of degrees.")
		}
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || math.Abs(v) > limit {
		return 0, Invalid(name, "The parameter "+name+" must be between -"+strconv.Itoa(int(limit))+" and "+strconv.Itoa(int(limit))+".")
	}
	return v, nil
}

// Day parses a date, YYYY-MM-DD, that exists in the calendar.
func Day(name, value string) (schema.Day, error) {
	if len(value) == len(time.DateOnly) {
		if day, err := schema.ParseDay(value); err == nil {
			return day, nil
		}
	}
	return 0, Invalid(name, "The parameter "+name+" must be an existing date, as YYYY-MM-DD.")
}

// Seconds parses a whole number of seconds. The number has at most 31 bits, so that it fits into the integer type of
// every programming language of clients.
func Seconds(name, value string) (int64, error) {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return 0, Invalid(name, "The parameter "+name+" must be a whole number of seconds, at least 0.")
	}
	return int64(n), nil
}

// Count parses a whole number from 1 to `most`, without signs and leading zeros.
func Count(name, value string, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most || value != strconv.Itoa(n) {
		return 0, Invalid(name, fmt.Sprintf("The parameter %s is a whole number from 1 to %d.", name, most))
	}
	return n, nil
}

// Invalid returns the problem of an invalid value.
func Invalid(field, message string) error {
	return schema.NewProblem(schema.InvalidRequest, field, message)
}

// Conflict returns the problem of a parameter that cannot be combined with another one.
func Conflict(field, message string) error {
	return schema.NewProblem(schema.ConflictingParameters, field, message)
}
