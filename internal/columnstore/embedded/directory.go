package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vayu/internal/filelock"
)

// Names inside a data directory.
const (
	storeName    = "engine"          // ClickHouse's own files
	lockName     = "engine.lock"     // held by the engine process; tells who
	passwordName = "engine.password" // 0600, made at the first start
	portName     = "engine.port"     // host:port while an engine listens
)

// Holder is the process that has a data directory; its parent is the process that the engine belongs to.
type Holder = filelock.Holder

// HeldError is the error of a start in a data directory that another process has; its Holder says which, from the
// directory's lock file.
type HeldError = filelock.HeldError

// FindHolder says which process has the data directory now, as its lock file tells; ok is false when none has, which is
// also the answer for a directory that is not there. A holder that has not written the file yet has the process id 0.
func FindHolder(data string) (h Holder, ok bool) { return filelock.Find(filepath.Join(data, lockName)) }

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

// take takes the directory's lock, removes what tells how to reach an engine that was killed, and writes down who has
// the lock. In this order a reader that meets a living holder's record meets no address but that holder's.
func take(ctx context.Context, data, owner string, parent int) (*filelock.Lock, error) {
	if err := os.MkdirAll(data, 0o750); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	lock, err := filelock.Take(ctx, filepath.Join(data, lockName), lockPatience)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(data, portName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		lock.Release()
		return nil, fmt.Errorf("removing the port file of an engine that was killed: %w", err)
	}
	if err := lock.Sign(owner, parent); err != nil {
		lock.Release()
		return nil, err
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
