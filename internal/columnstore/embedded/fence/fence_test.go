package fence

import (
	"strings"
	"testing"
)

func TestStateNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		version int
		disks   bool
		want    string
	}{
		"no Landlock": {0, false, "the kernel has no Landlock"},
		"files":       {3, false, "needs a kernel from 6.7"},
		"disks":       {6, true, "except folders of engine.config, but not from the network"},
		"all":         {4, false, "fenced in from files and the network (Landlock 4)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := State(c.version, c.disks); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q in it", got, c.want)
			}
		})
	}
}

// A configuration file makes readable what ClickHouse reads for it, and nothing else of its folder.
func TestPartsOfConfiguration(t *testing.T) {
	t.Parallel()
	got := strings.Join(Parts("/etc/vayu/engine.xml"), " ")
	if want := "/etc/vayu/engine.xml /etc/vayu/engine.d /etc/vayu/config.d /etc/vayu/conf.d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
