package config

import (
	"fmt"
	"slices"
	"strings"

	"vayu/schema/spelling"
)

// Origin is the source of a value: a file with the line, a flag or an environment variable.
type Origin struct {
	Source string
	Line   int // 0 for none
}

// String is "vayu.yaml line 3" or "flag --listen".
func (o Origin) String() string {
	if o.Line == 0 {
		return o.Source
	}
	return fmt.Sprintf("%s line %d", o.Source, o.Line)
}

// Problem is one error of the configuration.
type Problem struct {
	// Key is the dotted key of the setting.
	Key string
	// Origin is the source of the value.
	Origin Origin
	// Err is the error. It never contains the value of a secret.
	Err error
}

// Invalid returns an error about one setting. Validate methods use it. The parameter `key` is relative to the struct
// that has the Validate method.
func Invalid(key, format string, args ...any) error {
	return Problem{Key: key, Err: fmt.Errorf(format, args...)}
}

// Faults collects errors about settings. Validate methods use it.
type Faults []error

// Check adds the error that [Invalid] returns for the other arguments, if `ok` is false.
func (f *Faults) Check(ok bool, key, format string, args ...any) {
	if !ok {
		*f = append(*f, Invalid(key, format, args...))
	}
}

// CheckError adds an error about one setting, unless err is nil.
func (f *Faults) CheckError(err error, key string) {
	if err != nil {
		*f = append(*f, Invalid(key, "%w", err))
	}
}

// Error is "key: error (origin)".
func (p Problem) Error() string {
	text := p.Err.Error()
	if p.Key != "" {
		text = p.Key + ": " + text
	}
	if p.Origin.Source != "" {
		text += " (" + p.Origin.String() + ")"
	}
	return text
}

// Unwrap returns the cause, so that errors.Is and errors.As see it.
func (p Problem) Unwrap() error { return p.Err }

// Problems are all errors of the configuration in order of detection. Errors in files, flags and environment
// variables come before errors of the Validate methods.
type Problems []Problem

// Error returns a text with one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, 0, len(ps)+1)
	lines = append(lines, "the configuration is wrong:")
	for _, p := range ps {
		lines = append(lines, "  "+p.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single problems, so that errors.Is and errors.As see them.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// UnknownKey describes an unknown key. It suggests the most similar known key, or lists all known keys.
func UnknownKey(key string, known []string) error {
	if similar := spelling.Similar(key, known, 1); len(similar) > 0 {
		return fmt.Errorf("is unknown, did you mean %q?", similar[0])
	}
	return fmt.Errorf("is unknown; known here: %s", strings.Join(slices.Sorted(slices.Values(known)), ", "))
}

// JoinKey adds a name to a dotted key.
func JoinKey(key, name string) string {
	if key == "" || name == "" {
		return key + name
	}
	return key + "." + name
}
