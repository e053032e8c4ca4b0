package upstream

import (
	"fmt"
	"runtime/debug"
)

// RecoverToError calls do, and returns a panic of it as an error with its stack. Data of a
// provider must not crash the service, which would crash again after each restart.
func RecoverToError(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}
