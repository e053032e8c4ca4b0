package ops

import (
	"path/filepath"
	"strings"
	"testing"
)

// A dry run reads files without a store, and continues after a file that it cannot read.
func TestImportDryRun(t *testing.T) {
	t.Parallel()
	cases := filepath.Join("..", "..", "..", "ingest", "source", "file", "testdata")
	cmd := NewImport()
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceUsage = true
	cmd.SetArgs([]string{"--dry-run", filepath.Join(cases, "html", "input.txt"), filepath.Join(cases, "city_day", "input.txt")})
	err := cmd.ExecuteContext(t.Context())
	if err == nil || !strings.Contains(err.Error(), "1 of 2 files could not be imported") {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{"html/input.txt: ", "a web page (HTML)", "city_day/input.txt: city_day CSV", " readings of ", "rejected: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
}
