// Package panics turns panics into errors.
package panics

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Error is a recovered panic.
type Error struct {
	Value any
	Stack []byte
}

// Error implements error. It omits the stack, which is only logged.
func (e *Error) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// LogValue implements slog.LogValuer: a log shows the stack as well.
func (e *Error) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("%v\n%s", e, e.Stack))
}

// Catch calls `do` and returns its error, or an *Error if `do` panics. It is for code that handles data from outside,
// such as code for providers and sources, and parsers. Otherwise bad data would crash the service, and crash it again
// after each restart.
func Catch(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Error{Value: value, Stack: debug.Stack()}
		}
	}()
	return do()
}
