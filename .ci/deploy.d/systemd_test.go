package deploy

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exposure is the limit of systemd's exposure score, times ten. 0 is fully sandboxed, 100 is unrestricted. Vayu needs
// the network and its folder.
const exposure = "15"

// unit returns a copy of the unit with the built binary, because systemd-analyze verify requires that the binary
// exists.
func unit(tb testing.TB) string {
	tb.Helper()
	content := text(tb, operations, "systemd/vayu@.service")
	installed := "/opt/vayu/vayu"
	if !strings.Contains(content, "ExecStart="+installed+" serve\n") {
		tb.Fatalf("the unit does not start %s", installed)
	}
	path := filepath.Join(tb.TempDir(), "vayu@.service")
	content = strings.ReplaceAll(content, installed, filepath.Join(root(tb), "bin/vayu"))
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestSystemdUnit(t *testing.T) {
	t.Parallel()
	if output := run(t, "systemd-analyze", "verify", "--recursive-errors=one", unit(t)); strings.TrimSpace(output) != "" {
		t.Errorf("systemd-analyze verify: %s", output)
	}
}

func TestSystemdHardening(t *testing.T) {
	t.Parallel()
	run(t, "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold="+exposure, unit(t))
}

// Each role's environment file is valid for the binary together with the shared one.
func TestSystemdSettings(t *testing.T) {
	t.Parallel()
	shared := variables(t, text(t, operations, "systemd/vayu.env"))
	for _, role := range []string{"api", "ingest", "pipeline", "dispatch"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			environment := variables(t, text(t, operations, "systemd", role+".env"))
			maps.Copy(environment, shared)
			environment["VAYU_DATA"] = "/var/lib/vayu/" + role
			if environment["VAYU_ROLES"] != role {
				t.Errorf("VAYU_ROLES=%s", environment["VAYU_ROLES"])
			}
			accepted(t, environment)
		})
	}
}
