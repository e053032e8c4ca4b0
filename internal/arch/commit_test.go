package arch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommitMessageHook runs the hook on messages. Want is part of its error; empty if it accepts the
// message.
func TestCommitMessageHook(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ message, want string }{
		"subject alone":   {"dispatch: sign each attempt afresh\n", ""},
		"with body":       {"dispatch: sign each attempt afresh\n\nThe time was old; receivers refused it.\n", ""},
		"72 characters":   {"a: " + strings.Repeat("ü", 69) + "\n", ""},
		"73 characters":   {"a: " + strings.Repeat("ü", 70) + "\n", "has 73 characters"},
		"empty":           {"\n# a comment\n", "the subject is empty"},
		"folder alone":    {"dispatch: \n", "nothing follows the folder"},
		"period":          {"dispatch: sign each attempt.\n", "ends with a period"},
		"two topics":      {"dispatch: sign; query: cache\n", "joins topics"},
		"no empty line":   {"dispatch: sign\nThe time was old.\n", "the second line is not empty"},
		"clause":          {"dispatch: a slow endpoint waits\n", "no imperative verb"},
		"past tense":      {"dispatch: added a lane\n", "no imperative verb"},
		"comments":        {"# one\ndispatch: sign\n# two\n", ""},
		"diff of verbose": {"dispatch: sign\n# ---- >8 ----\ndiff; --git\n", ""},
		"merge":           {"Merge branch 'a'; and 'b'.\n", ""},
		"revert":          {"Revert \"" + strings.Repeat("x", 80) + "\"\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "message")
			if err := os.WriteFile(file, []byte(c.message), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("bash", "../../.ci/hooks/commit-msg", file).CombinedOutput()
			if got := err == nil; got != (c.want == "") {
				t.Errorf("accepted: %t, want %t; output:\n%s", got, c.want == "", out)
			}
			if !strings.Contains(string(out), c.want) {
				t.Errorf("output %q, want %q in it", out, c.want)
			}
		})
	}
}
