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
	lockName     = "engine.lock"     // locked by the engine process; contains its holder
	passwordName = "engine.password" // 0600, created at the first start
	portName     = "engine.port"     // host:port while an engine listens
)

// Holder is the process that has locked a data directory. Its parent is the process that the engine belongs to.
type Holder = filelock.Holder

// HeldError is the error of a start in a locked data directory. Its Holder comes from the directory's lock file.
type HeldError = filelock.HeldError

// FindHolder returns the process that has locked the data directory; ok is false if none has, or if the directory
// does not exist. A holder that has not written the file yet has the process id 0.
func FindHolder(data string) (h Holder, ok bool) { return filelock.Find(filepath.Join(data, lockName)) }

// Access returns the address, host:port, and password of the engine that runs in data. It fails if the engine never
// ran there. The address is valid only while [FindHolder] finds a process. Afterwards another program may use the
// port.
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

// lockTimeout is how long a start waits for a holder that is stopping. The holder waits stopTime for its queries and
// stopTime for their cancellation, and exits after 3*stopTime at the latest (see Child). One second is added for the
// system.
const lockTimeout = 3*stopTime + time.Second

// acquire locks the directory, removes the address of a killed engine, and writes the new holder. In this order a
// reader that finds a living holder never finds another's address.
func acquire(ctx context.Context, data string, holder Holder) (*filelock.Lock, error) {
	if err := os.MkdirAll(data, 0o750); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	lock, err := filelock.Acquire(ctx, filepath.Join(data, lockName), lockTimeout)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(data, portName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		lock.Release()
		return nil, fmt.Errorf("removing the port file of an engine that was killed: %w", err)
	}
	if err := lock.WriteHolder(holder); err != nil {
		lock.Release()
		return nil, err
	}
	return lock, nil
}

// password reads the directory's password. The first start creates it: 26 letters, 130 random bits.
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

// replace writes a small private file atomically.
func replace(path, text string) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
