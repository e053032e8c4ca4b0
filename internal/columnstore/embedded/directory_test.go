package embedded

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
)

// A child has 3*stopTime to end; a later start must then get the directory.
func TestStartWaitsForStoppingHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		old := flock.New(filepath.Join(dir, lockName))
		if ok, err := old.TryLock(); err != nil || !ok {
			t.Fatal(ok, err)
		}
		time.AfterFunc(3*stopTime, func() { _ = old.Close() })
		lock, err := acquire(t.Context(), dir, Holder{Owner: "test", Parent: os.Getppid()})
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Release()
		var held *HeldError
		if _, err := acquire(t.Context(), dir, Holder{Owner: "test", Parent: os.Getppid()}); !errors.As(err, &held) {
			t.Errorf("a second start gave %v, want a HeldError", err)
		} else if held.Holder.PID != os.Getpid() {
			t.Errorf("the directory is held by process %d, want this one, %d", held.Holder.PID, os.Getpid())
		}
	})
}

// A new lock removes the old address, and the old record does not name the new holder.
func TestStaleFilesOfKilledEngineAreIgnored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gone := exec.CommandContext(t.Context(), "true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		lockName: `{"pid":` + strconv.Itoa(gone.Process.Pid) + `,"owner":"killed"}`,
		portName: "127.0.0.1:1\n", adminName: "secret\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if h, ok := FindHolder(dir); ok {
		t.Errorf("an unlocked directory has the holder %s", h)
	}
	if err := linkPort(dir); err != nil {
		t.Fatal(err)
	}
	next := flock.New(filepath.Join(dir, lockName))
	if ok, err := next.TryLock(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if h, ok := FindHolder(dir); !ok || h.PID != 0 {
		t.Errorf("before the next holder has written its record it is %s, %v, want an unknown one", h, ok)
	}
	_ = next.Close()
	lock, err := acquire(t.Context(), dir, Holder{Owner: "next", Parent: os.Getppid()})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if h, ok := FindHolder(dir); !ok || h.PID != os.Getpid() || h.Owner != "next" {
		t.Errorf("held by %s, %v, want this process", h, ok)
	}
	if address, _, err := Access(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the address of the killed engine is still there: %q, %v", address, err)
	}
}

// Other users cannot read a password file, whatever mode a copy of the data has given it.
func TestPasswordFileIsProtected(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), analystName)
	if err := os.WriteFile(path, []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := password(path)
	if err != nil || got != "secret" {
		t.Errorf("got %q, %v", got, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("got mode %o, want 600", got)
	}
}
