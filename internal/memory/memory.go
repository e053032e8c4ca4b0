// Package memory returns memory to the kernel that a process does not need at present.
//
// The start of a process touches most pages of its program, and of the engine's library: more than 200 MB. Afterwards
// the process uses a third of them. The kernel keeps all of them mapped, so they count as resident memory.
package memory

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"vayu/internal/sleep"
)

// interval is the time between two releases. The page faults after a release take a few milliseconds.
const interval = time.Minute

// KeepReleased returns the free heap of Go, and the pages of mapped files, each minute until ctx ends.
func KeepReleased(ctx context.Context) {
	for sleep.For(ctx, interval) {
		debug.FreeOSMemory()
		if err := ReleaseFiles(); err != nil {
			slog.DebugContext(ctx, "releasing mapped files", "error", err)
		}
	}
}
