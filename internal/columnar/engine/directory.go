package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Names inside a data directory.
const (
	storeName    = "engine"          // ClickHouse's own files
	lockName     = "engine.lock"     // held by the engine process; tells who
	passwordName = "engine.password" // 0600, made at the first start
	portName     = "engine.port"     // host:port while an engine listens
)

// Holder is the process that has a data directory.
type Holder struct {
	PID     int       `json:"pid"`     // of the engine process
	Parent  int       `json:"parent"`  // of the process that it belongs to
	Owner   string    `json:"owner"`   // the command that started it
	Started time.Time `json:"started"` // UTC
}

// String is "pid 42 (vayu serve) since 2026-01-02T03:04:05Z".
func (h Holder) String() string {
	return fmt.Sprintf("pid %d (%s) since %s", h.PID, h.Owner, h.Started.Format(time.RFC3339))
}

// Stays reports whether the holder's parent lives. Without it an engine is on its way out.
func (h Holder) Stays() bool {
	return h.PID > 0 && h.Parent > 0 && !errors.Is(syscall.Kill(h.Parent, 0), syscall.ESRCH)
}

// HeldError says that another process has the data directory.
type HeldError struct {
	Data   string
	Holder Holder
}

// Error names the holder.
func (e *HeldError) Error() string {
	return fmt.Sprintf("data directory %s is held by %s", e.Data, e.Holder)
}

// FindHolder says which process has the data directory now; ok is false when none has.
func FindHolder(data string) (h Holder, ok bool) {
	path := filepath.Join(data, lockName)
	if _, err := os.Stat(path); err != nil {
		return Holder{}, false
	}
	lock := flock.New(path)
	defer lock.Close()
	free, err := lock.TryRLock()
	if err != nil || free {
		return Holder{}, false
	}
	return readHolder(path), true
}

// readHolder reads the record in a lock that is held. A record of a process that has ended was left there by a kill, and
// who holds the lock now has not written its own yet: it stays unknown, with the process id 0.
func readHolder(path string) Holder {
	var h Holder
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil || h.PID <= 0 || errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) {
		return Holder{Owner: "unknown"}
	}
	return h
}

// Access reads how to reach the engine that runs in data: its address, host:port, and password. It fails when the
// engine never ran there. Only while [FindHolder] names a process is the address that of an engine; afterwards anybody may
// have taken the port.
func Access(data string) (address, password string, err error) {
	port, err := os.ReadFile(filepath.Join(data, portName))
	if err != nil {
		return "", "", fmt.Errorf("finding the engine's address: %w", err)
	}
	secret, err := os.ReadFile(filepath.Join(data, passwordName))
	if err != nil {
		return "", "", fmt.Errorf("finding the engine's password: %w", err)
	}
	return strings.TrimSpace(string(port)), strings.TrimSpace(string(secret)), nil
}

// lockPatience is how long a start waits for a holder that is on its way out. That one waits stopTime for its queries
// and stopTime for their cancellation, and leaves the hard way after 3*stopTime (see Child); a second is for the system.
const lockPatience = 3*stopTime + time.Second

// hold takes the directory's lock, removes what tells how to reach an engine that was killed, and writes down who has
// the lock. In this order a reader that meets a living holder's record meets no address but that holder's.
func hold(ctx context.Context, data, owner string) (*flock.Flock, error) {
	if err := os.MkdirAll(data, 0o750); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	path := filepath.Join(data, lockName)
	lock := flock.New(path, flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	ok, err := lock.TryLockContext(ctx, 50*time.Millisecond)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &HeldError{Data: data, Holder: readHolder(path)}
	}
	if err != nil || !ok {
		return nil, fmt.Errorf("locking the data directory %q: %w", data, err)
	}
	if err := os.Remove(filepath.Join(data, portName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		_ = lock.Close()
		return nil, fmt.Errorf("removing the port file of an engine that was killed: %w", err)
	}
	text, err := json.Marshal(Holder{PID: os.Getpid(), Parent: os.Getppid(), Owner: owner, Started: time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("writing the lock of %q: %w", data, err)
	}
	return lock, nil
}

// password reads the directory's password, making it at the first start: 26 letters, 130 random bits.
func password(data string) (string, error) {
	path := filepath.Join(data, passwordName)
	text, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(text))) > 0 {
		return strings.TrimSpace(string(text)), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("reading the engine's password: %w", err)
	}
	secret := rand.Text()
	if err := replace(path, secret+"\n"); err != nil {
		return "", fmt.Errorf("making the engine's password: %w", err)
	}
	return secret, nil
}

// replace writes a small private file at once or not at all.
func replace(path, text string) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
