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
	cmd.Flags().String("config", "", "of the root command")
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceUsage = true
	cmd.SetArgs([]string{"--dry-run", filepath.Join(cases, "html", "input.txt"), filepath.Join(cases, "..", "..", "described", "shipped", "city-day", "table", "input.txt")})
	err := cmd.ExecuteContext(t.Context())
	if err == nil || !strings.Contains(err.Error(), "1 of 2 files could not be imported") {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{"html/input.txt: ", "a web page (HTML)", "table/input.txt: city_day CSV", " readings of ", "rejected: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
}
