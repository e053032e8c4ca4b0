// Package filelock lets one process at a time have something on disk, and tells the
// others which one it is.
//
// The lock is the kernel's, on a file: it ends with the process, however that
// ends. What stands in the file is only for reading: who has it.
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

// Holder is the process that has a data directory.
type Holder struct {
	PID     int       `json:"pid"`     // of the process itself
	Parent  int       `json:"parent"`  // of the process that it belongs to
	Owner   string    `json:"owner"`   // the command that started it
	Started time.Time `json:"started"` // UTC
}

// String is "pid 42 (vayu serve) since 2026-01-02T03:04:05Z".
func (h Holder) String() string {
	return fmt.Sprintf("pid %d (%s) since %s", h.PID, h.Owner, h.Started.Format(time.RFC3339))
}

// Stays reports whether the holder's parent lives. Without it a child is on its way out.
func (h Holder) Stays() bool {
	return h.PID > 0 && h.Parent > 0 && alive(h.Parent)
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// HeldError says that another process has the data directory.
type HeldError struct {
	Data   string
	Holder Holder
}

// Error names the holder.
func (e *HeldError) Error() string {
	return fmt.Sprintf("data directory %s is held by %s", e.Data, e.Holder)
}

// Find says which process holds the lock file path now; ok is false when none does.
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

// read reads the record in a lock that is held. A record of a process that has ended was left there by a kill, and
// who holds the lock now has not written its own yet: it stays unknown, with the process id 0.
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

// pause is the time between two tries to get a lock.
const pause = 50 * time.Millisecond

// Lock is held by this process until Release.
type Lock struct{ file *flock.Flock }

// Take takes the lock file path, in a folder that exists, and waits at most patience for a holder that is on its way out;
// then it returns a *HeldError. Even a free lock needs some patience: Find has it for an instant.
//
// The holder is told to others after [Lock.Sign] only, so that what its predecessor left can be removed before.
func Take(ctx context.Context, path string, patience time.Duration) (*Lock, error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ok, err := lock.TryLockContext(limit, pause)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, &HeldError{Data: filepath.Dir(path), Holder: read(path)}
	}
	if err != nil || !ok {
		return nil, fmt.Errorf("locking %q: %w", path, err)
	}
	return &Lock{lock}, nil
}

// Sign writes down that this process, which runs the command owner, has the lock. A child says whose it is: its parent
// may have been killed already, and then the system would name another.
func (l *Lock) Sign(owner string, parent int) error {
	text, err := json.Marshal(Holder{PID: os.Getpid(), Parent: parent, Owner: owner, Started: time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		err = os.WriteFile(l.file.Path(), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the lock of %q: %w", filepath.Dir(l.file.Path()), err)
	}
	return nil
}

// Release gives the lock back.
func (l *Lock) Release() { _ = l.file.Close() }
