package panics_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"vayu/internal/panics"
)

func TestCatch(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	if err := panics.Catch(func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("Catch of an error = %v, want it", err)
	}
	if err := panics.Catch(func() error { return nil }); err != nil {
		t.Errorf("Catch of a success = %v, want nil", err)
	}
	err := panics.Catch(func() error { panic("oh") })
	if err == nil || err.Error() != "panic: oh" {
		t.Errorf("Catch of a panic = %v, want panic: oh", err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Error("failed", "error", err)
	if !strings.Contains(log.String(), "panics_test.go") {
		t.Errorf("the log has no stack: %s", &log)
	}
}
