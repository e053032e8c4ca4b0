package console_test

import (
	"os"
	"path/filepath"
	"testing"

	"vayu/query/console"
)

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestFileHasItsNameOnceComplete(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pune.csv")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config(t, console.Config{Format: "CSV"})
	if err := c.Script(t.Context(), console.Input{Args: []string{"SELECT throwIf(number = 900000) FROM numbers(1000000)"}}, path); err == nil {
		t.Error("a failed query has no error")
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("a failed query left %q, %v; want the old file", got, err)
	}
	if err := c.Script(t.Context(), console.Input{Args: []string{"SELECT 1"}}, path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got the mode %v, %v; want that of the old file, 0600", info.Mode(), err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "1\n" {
		t.Errorf("got %q, %v; want the result", got, err)
	}
	if all := names(t, filepath.Dir(path)); len(all) != 1 {
		t.Errorf("the folder has %q, want only the result", all)
	}
	if err := c.Script(t.Context(), console.Input{Args: []string{"SELECT 1"}}, os.DevNull); err != nil {
		t.Errorf("writing to a device: %v", err)
	}
	if err := c.Script(t.Context(), console.Input{Args: []string{"SELECT 1"}}, filepath.Join(path, "x")); err == nil {
		t.Error("a file in a folder that does not exist has no error")
	}
}

func TestFormatOfFile(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a.parquet": "Parquet", "a.b.CSV": "csv", "a": "", "a.txt": ""} {
		if got := console.FormatOf(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
