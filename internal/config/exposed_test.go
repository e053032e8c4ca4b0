package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vayu/internal/config"
)

func TestExposedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "vayu.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if reason := config.UnsafeReason(file); reason != "" {
		t.Errorf("a file of one's own: %s", reason)
	}
	chmod := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod(file, 0o666)
	if reason := config.UnsafeReason(file); !strings.Contains(reason, "vayu.yaml can be written by every user") {
		t.Errorf("a file that everybody may write: %q", reason)
	}
	chmod(file, 0o600)
	chmod(dir, 0o777)
	if reason := config.UnsafeReason(file); !strings.Contains(reason, "can be written by every user") {
		t.Errorf("a folder that everybody may write: %q", reason)
	}
	chmod(dir, 0o700)
	if os.Geteuid() != 0 {
		return // only root gives files away
	}
	if err := os.Chown(file, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if reason := config.UnsafeReason(file); !strings.Contains(reason, "belongs to another user (id 12345)") {
		t.Errorf("a file of another user: %q", reason)
	}
}
