package chaos

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Both scripts are asked for what they need, and what one says is in the error.
func TestWhatStoresNeedIsInstalled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	script(t, root, "postgres", `echo "postgres $*" >> "$0.said"`)
	script(t, root, "kafka", `echo "kafka $*" >> "$0.said"; echo no network >&2; exit 1`)
	err := Install(t.Context(), root)
	if err == nil || !strings.Contains(err.Error(), ".ci/kafka install") || !strings.Contains(err.Error(), "no network") {
		t.Errorf("got %v, want what the script has said", err)
	}
	for name, want := range map[string]string{"postgres": "postgres install\n", "kafka": "kafka install\n"} {
		if said, err := os.ReadFile(filepath.Join(root, ".ci", name+".said")); string(said) != want {
			t.Errorf("%s was asked for %q (%v), want %q", name, said, err, want)
		}
	}
}
