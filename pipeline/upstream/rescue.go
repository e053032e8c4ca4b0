package upstream

import (
	"fmt"
	"runtime/debug"
)

// Rescue calls do, and takes a panic in it for an error that has its stack: what a
// provider says must not end the service, nor end it again after each start.
func Rescue(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}
