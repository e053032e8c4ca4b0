package chaos

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Both scripts are run, and the error includes the output of one that fails.
func TestInstallRunsBothScripts(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	script(t, root, "postgres", `echo "postgres $*" >> "$0.args"`)
	script(t, root, "kafka", `echo "kafka $*" >> "$0.args"; echo no network >&2; exit 1`)
	err := Install(t.Context(), root)
	if err == nil || !strings.Contains(err.Error(), ".ci/kafka install") || !strings.Contains(err.Error(), "no network") {
		t.Errorf("got %v, want the output of the script", err)
	}
	for name, want := range map[string]string{"postgres": "postgres install\n", "kafka": "kafka install\n"} {
		if args, err := os.ReadFile(filepath.Join(root, ".ci", name+".args")); string(args) != want {
			t.Errorf("%s was run with %q (%v), want %q", name, args, err, want)
		}
	}
}
