package config

import (
	"fmt"
	"sort"
	"strings"
)

// Problem is one error of the configuration.
type Problem struct {
	// Key is the dotted key of the setting.
	Key string
	// Origin is the source of the value.
	Origin string
	// Err is the error. It never contains the value of a secret.
	Err error
}

// Invalid returns the error of a Validate method for one of its settings; key is relative to the
// struct.
func Invalid(key, format string, args ...any) error {
	return Problem{Key: key, Err: fmt.Errorf(format, args...)}
}

// Error is "key: error (origin)".
func (p Problem) Error() string {
	text := p.Err.Error()
	if p.Key != "" {
		text = p.Key + ": " + text
	}
	if p.Origin != "" {
		text += " (" + p.Origin + ")"
	}
	return text
}

// Unwrap returns Err for errors.Is and errors.As.
func (p Problem) Unwrap() error { return p.Err }

// Problems are all errors of the configuration, in the order of detection: those of the file, of the values,
// and of the Validate methods.
type Problems []Problem

// Error has one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, 0, len(ps)+1)
	lines = append(lines, "the configuration is wrong:")
	for _, p := range ps {
		lines = append(lines, "  "+p.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems for errors.Is and errors.As.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// unknown describes a key that is no setting, and suggests the closest setting.
func unknown(key string, settings []setting) error {
	type candidate struct {
		key  string
		cost int
	}
	candidates := make([]candidate, len(settings))
	for i, s := range settings {
		candidates[i] = candidate{s.Key, distance(key, s.Key)}
	}
	sort.SliceStable(candidates, func(i, j int) bool { return candidates[i].cost < candidates[j].cost })
	// A third of the letters may differ: "clikhouse" suggests "clickhouse", but "colour" does not
	// suggest "data".
	if len(candidates) > 0 && candidates[0].cost <= max(1, len(key)/3) {
		return fmt.Errorf("unknown setting, did you mean %q?", candidates[0].key)
	}
	return errUnknown
}

// distance is the Levenshtein distance of two keys, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
