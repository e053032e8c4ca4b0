// Package filelock locks a file for one process at a time, and records in the file which process holds the lock.
//
// The kernel releases the lock when the process ends, in whatever way. The content of the file is only information
// about the holder.
package filelock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Holder is the process that has locked a data directory.
type Holder struct {
	PID     int       `json:"pid"`     // of the process itself
	Parent  int       `json:"parent"`  // of the process that started it
	Owner   string    `json:"owner"`   // the command that started the process
	Started time.Time `json:"started"` // UTC
	// Command means that the holder is a command, which ends by itself, and not a service.
	Command bool `json:"command,omitempty"`
}

// String returns, for example, "pid 42 (vayu serve) since 2026-01-02T03:04:05Z".
func (h Holder) String() string {
	return fmt.Sprintf("pid %d (%s) since %s", h.PID, h.Owner, h.Started.Format(time.RFC3339))
}

// ParentAlive reports whether the holder is known and its parent is alive.
func (h Holder) ParentAlive() bool {
	return h.PID > 0 && h.Parent > 0 && alive(h.Parent)
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// HeldError means that another process has locked a file of the data directory.
type HeldError struct {
	Data   string
	Holder Holder
}

// Error names the holder.
func (e *HeldError) Error() string {
	return fmt.Sprintf("data directory %s is held by %s", e.Data, e.Holder)
}

// Find returns the process that has locked the file at path. The result `ok` is false if no process has locked the
// file, or if Find cannot open the file.
func Find(path string) (h Holder, ok bool) {
	if _, err := os.Stat(path); err != nil {
		return Holder{}, false
	}
	lock := flock.New(path)
	defer lock.Close()
	free, err := lock.TryRLock()
	if err != nil || free {
		return Holder{}, false
	}
	return read(path), true
}

// read returns the holder that is recorded in a locked file. A new holder may not have written its record yet. The
// record is then invalid or names a dead process, and read returns a Holder with the Owner "unknown" and PID 0.
func read(path string) Holder {
	var h Holder
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil || h.PID <= 0 || !alive(h.PID) {
		return Holder{Owner: "unknown"}
	}
	return h
}

// retryInterval is the time between two attempts to get a lock.
const retryInterval = 50 * time.Millisecond

// Lock is a file lock of this process. It lasts until Release.
type Lock struct{ file *flock.Flock }

// Acquire locks the file at path, whose folder must exist. If another process has locked the file, Acquire waits at
// most `timeout` and then returns a *HeldError. The timeout must not be 0, even for a free lock, because Find locks the
// file for an instant.
//
// Until the new holder calls [Lock.WriteHolder], the file still names the previous holder. Before that call, the new
// holder can clean up what the previous one has left.
func Acquire(ctx context.Context, path string, timeout time.Duration) (*Lock, error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	limit, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ok, err := lock.TryLockContext(limit, retryInterval)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, &HeldError{Data: filepath.Dir(path), Holder: read(path)}
	}
	if err != nil || !ok {
		return nil, fmt.Errorf("locking %q: %w", path, err)
	}
	return &Lock{lock}, nil
}

// WriteHolder records this process as the holder. It sets h.PID and h.Started. The caller sets
// h.Parent, because os.Getppid changes when the parent is killed.
func (l *Lock) WriteHolder(h Holder) error {
	h.PID, h.Started = os.Getpid(), time.Now().UTC().Truncate(time.Second)
	text, err := json.Marshal(h)
	if err == nil {
		err = os.WriteFile(l.file.Path(), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the lock of %q: %w", filepath.Dir(l.file.Path()), err)
	}
	return nil
}

// Release releases the lock.
func (l *Lock) Release() { _ = l.file.Close() }
