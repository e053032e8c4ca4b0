package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestMissingFiles(t *testing.T) {
	t.Parallel()
	reply, wrong := "", error(nil)
	f := &Feed{
		Folder: t.TempDir(),
		Air:    func(at time.Time) string { return fmt.Sprint("air of ", at.Unix()) },
		Query:  func(context.Context, string) (string, error) { return reply, wrong },
		given:  map[int64]bool{}, stored: map[int64]Stored{},
	}
	f.give(second(1))
	f.give(second(4))
	name := filepath.Join(f.Folder, fmt.Sprint(second(4).Unix(), ".xml"))
	if text, err := os.ReadFile(name); err != nil || string(text) != fmt.Sprint("air of ", second(4).Unix()) {
		t.Errorf("the file holds %q: %v", text, err)
	}
	reply = fmt.Sprintf("%d\t%d\t0\n", second(1).Unix(), second(2).UnixMilli())
	if missing, given, err := f.Missing(t.Context(), 0); missing != 1 || given != 2 || err != nil {
		t.Errorf("%d of %d are missing: %v", missing, given, err)
	}
	reply = fmt.Sprintf("%d\t%d\t%d\n%d\t%d\t0\n", second(1).Unix(), second(60).UnixMilli(), second(3).UnixMilli(), second(4).Unix(), second(5).UnixMilli())
	if missing, given, err := f.Missing(t.Context(), 0); missing != 0 || given != 2 || err != nil {
		t.Errorf("%d of %d are missing: %v", missing, given, err)
	}
	for at, want := range map[time.Time]Stored{second(1): {second(2), second(3)}, second(4): {Began: second(5)}} {
		if got, ok := f.Stored(at); !ok || !got.Began.Equal(want.Began) || !got.RolledUp.Equal(want.RolledUp) {
			t.Errorf("of %v %+v is known, want %+v, though it was stored again", at, got, want)
		}
	}
	wrong = errors.New("ClickHouse is away")
	if _, _, err := f.Missing(t.Context(), 0); !errors.Is(err, wrong) {
		t.Errorf("without ClickHouse the error is %v", err)
	}
}

func TestFeedReportsWriteError(t *testing.T) {
	t.Parallel()
	f := &Feed{
		Folder: filepath.Join(t.TempDir(), "none"), Air: func(time.Time) string { return "" },
		Query: func(context.Context, string) (string, error) { return "", nil },
		given: map[int64]bool{}, stored: map[int64]Stored{},
	}
	f.give(second(1))
	if _, _, err := f.Missing(t.Context(), 0); err == nil {
		t.Error("no file was written, and there is no error")
	}
}
