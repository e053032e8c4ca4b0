package filelock_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"vayu/internal/filelock"
)

func TestLockHasOneHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.lock")
	if h, ok := filelock.Find(path); ok {
		t.Fatalf("before Acquire the holder is %s", h)
	}
	first, err := filelock.Acquire(t.Context(), path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.WriteHolder(filelock.Holder{Owner: "vayu serve", Parent: os.Getppid()}); err != nil {
		t.Fatal(err)
	}
	switch h, ok := filelock.Find(path); {
	case !ok || h.PID != os.Getpid():
		t.Errorf("held by %s, %v, want this process", h, ok)
	case h.Owner != "vayu serve":
		t.Errorf("h.Owner = %q, want \"vayu serve\"", h.Owner)
	case !h.ParentAlive():
		t.Errorf("held by %s, %v, want this process", h, ok)
	}
	var held *filelock.HeldError
	if _, err := filelock.Acquire(t.Context(), path, 0); !errors.As(err, &held) {
		t.Errorf("a second Acquire gave %v, want a HeldError", err)
	} else if want := filepath.Dir(path); held.Holder.Owner != "vayu serve" || held.Data != want {
		t.Errorf("%s is held by %q, want %s by vayu serve", held.Data, held.Holder.Owner, want)
	}
	first.Release()
	second, err := filelock.Acquire(t.Context(), path, time.Second)
	if err != nil {
		t.Fatalf("after the first had ended: %v", err)
	}
	second.Release()
}

func TestCancelledAcquire(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.lock")
	lock, err := filelock.Acquire(t.Context(), path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := filelock.Acquire(ctx, path, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled caller got %v, want %v", err, context.Canceled)
	}
}

// Between Acquire and WriteHolder, the file names the process that was killed.
func TestStaleHolderIsIgnored(t *testing.T) {
	t.Parallel()
	gone := exec.CommandContext(t.Context(), "true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.lock")
	text, err := json.Marshal(filelock.Holder{PID: gone.Process.Pid, Owner: "killed"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if h, ok := filelock.Find(path); ok {
		t.Errorf("an unlocked file has the holder %s", h)
	}
	lock, err := filelock.Acquire(t.Context(), path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if h, ok := filelock.Find(path); !ok || h.PID != 0 || h.ParentAlive() {
		t.Errorf("before WriteHolder the holder is %s, %v, want an unknown one", h, ok)
	}
}
