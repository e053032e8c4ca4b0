// Package memory returns memory of a process to the kernel while the process does not need it.
//
// At its start, a process touches most pages of its program and of the library libchdb.so: more than 200 MB. Afterwards
// it uses a third of these pages. The kernel keeps all of the pages mapped, so they count as resident memory.
package memory

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
)

// interval is the time between two releases. It is long compared with the few milliseconds of page faults after each.
const interval = time.Minute

// Run returns memory to the operating system each minute, until ctx ends: the free heap of Go, and unchanged pages of
// the program and of `libraries`. These are names of files, such as libchdb.so, that the process never unloads.
func Run(ctx context.Context, log *slog.Logger, libraries ...string) error {
	failures := failurelog.New(log, "memory: /proc/self/smaps", "releasing pages of the program", "they stay mapped", nil)
	for sleep.For(ctx, interval) {
		debug.FreeOSMemory()
		failures.Observe(ctx, ReleaseFiles(libraries...))
	}
	return ctx.Err()
}
