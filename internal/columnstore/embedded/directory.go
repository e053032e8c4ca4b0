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

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/filelock"
)

// Names of files and folders in a data directory.
const (
	storeName   = "engine"           // ClickHouse's own files
	runName     = "engine.run"       // files that the engine's process writes itself, and its file of users
	lockName    = "engine.lock"      // locked by the engine process; contains its holder
	adminName   = "engine.password"  // password of the user default; mode 0600, created at the first start
	analystName = "analyst.password" // password of the user analyst, otherwise as adminName
	portName    = "engine.port"      // host:port while an engine listens; in runName, with a symbolic link beside it
	usersName   = "users.xml"        // in runName
)

// TemporaryFolder returns the folder for temporary files of an engine whose data directory is `data`.
func TemporaryFolder(data string) string { return filepath.Join(data, runName) }

// Holder is the engine process that locked a data directory. Its parent, a service or command, uses the engine.
type Holder = filelock.Holder

// HeldError is the error of a start if another engine has locked the data directory. The lock file names the Holder.
type HeldError = filelock.HeldError

// FindHolder returns the process that has locked the data directory. The result `ok` is false if no process has locked
// it, or if the directory does not exist. The process id is 0 if the process has not yet written the lock file.
func FindHolder(data string) (h Holder, ok bool) { return filelock.Find(filepath.Join(data, lockName)) }

// Access returns the address (host:port) and the password of the engine that runs in a data directory. It fails
// before the first start and after a clean stop. The address is valid only while [FindHolder] finds a process.
// Later another program may use the port.
func Access(data string) (address, password string, err error) { return accessOf(data, adminName) }

// AnalystAccess returns the same address as [Access], and the password of the user analyst.
func AnalystAccess(data string) (address, password string, err error) {
	return accessOf(data, analystName)
}

func accessOf(data, passwordName string) (address, password string, err error) {
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

// lockTimeout is how long a start waits for another engine to release the directory. That engine may be stopping. It
// waits stopTime for its queries and stopTime for their cancellation, and exits within 3*stopTime (see Child). One
// second is added for the operating system.
const lockTimeout = 3*stopTime + time.Second

// acquire locks the directory, removes the address of an engine that was killed, and then writes the new holder.
// Because of this order, a reader never finds a running holder together with the address of an earlier engine.
func acquire(ctx context.Context, data string, holder Holder) (*filelock.Lock, error) {
	if err := os.MkdirAll(data, 0o750); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	lock, err := filelock.Acquire(ctx, filepath.Join(data, lockName), lockTimeout)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(data, runName, portName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		lock.Release()
		return nil, fmt.Errorf("removing the port file of an engine that was killed: %w", err)
	}
	if err := lock.WriteHolder(holder); err != nil {
		lock.Release()
		return nil, err
	}
	return lock, nil
}

// secrets are the passwords of the engine's users.
type secrets struct {
	Admin   string `json:"admin"`
	Analyst string `json:"analyst"`
}

// prepare writes the passwords, the file of users and the link to the port file. Call it before Landlock restricts the
// process (see package fence): then it can create files in the data directory only below storeName and runName.
func prepare(ctx context.Context, cfg Config) (secrets, error) {
	lock, err := acquire(ctx, cfg.Data, Holder{Owner: cfg.Owner, Parent: cfg.Parent, Command: cfg.Command})
	if err != nil {
		return secrets{}, err
	}
	defer lock.Release()
	for _, dir := range []string{runName, storeName} {
		if err := os.MkdirAll(filepath.Join(cfg.Data, dir), 0o750); err != nil {
			return secrets{}, fmt.Errorf("making a directory of the engine: %w", err)
		}
	}
	if err := replace(filepath.Join(cfg.Data, runName, usersName), access.Users(cfg.Analysts)); err != nil {
		return secrets{}, fmt.Errorf("writing the engine's users: %w", err)
	}
	if err := linkPort(cfg.Data); err != nil {
		return secrets{}, fmt.Errorf("linking the engine's port file: %w", err)
	}
	var all secrets
	if all.Admin, err = password(filepath.Join(cfg.Data, adminName)); err != nil {
		return secrets{}, err
	}
	if path := filepath.Join(cfg.Data, analystName); cfg.Listen.Password != "" {
		all.Analyst = cfg.Listen.Password
		err = replace(path, all.Analyst+"\n")
	} else {
		all.Analyst, err = password(path)
	}
	return all, err
}

// linkPort makes the link by which clients find the port file. The restricted process can write it only in runName.
func linkPort(data string) error {
	link, target := filepath.Join(data, portName), filepath.Join(runName, portName)
	if now, err := os.Readlink(link); err == nil && now == target {
		return nil
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(target, link)
}

// password returns the password in a file. The first start creates it: 26 letters and digits, 130 random bits.
func password(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(text))) > 0 {
		if err := os.Chmod(path, 0o600); err != nil { // a restored copy can have another mode
			return "", fmt.Errorf("protecting the engine's password: %w", err)
		}
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

// replace writes text to a file atomically. Only the file's owner can read the file.
func replace(path, text string) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
