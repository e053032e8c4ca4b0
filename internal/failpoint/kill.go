//go:build crash

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// variable is the environment variable that selects a failpoint, with the value NAME:N. The process
// is killed when it passes the failpoint NAME for the Nth time.
const variable = "VAYU_TEST_CRASH"

var passed atomic.Int64

// Point kills this process, as kill -9 does, when it passes the failpoint as often as the environment variable states.
func Point(name string) {
	at, count, _ := strings.Cut(os.Getenv(variable), ":")
	if at != name {
		return
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || passed.Add(1) < max(n, 1) {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the signal arrives
}
