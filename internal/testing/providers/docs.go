package providers

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Blocks returns a documentation page, and the code blocks in it of a language, such as "js".
func Blocks(tb testing.TB, page, language string) (text string, all []string) {
	tb.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		tb.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?\n)```\n").FindAllSubmatch(content, -1) {
		all = append(all, string(m[1]))
	}
	return string(content), all
}

// Start runs a program from a documentation page with Node. It returns the URL, which the program
// prints as its first line. Without Node it skips the test, or fails it if CI=true.
func Start(tb testing.TB, program string) string {
	tb.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("node: %v", err)
		}
		tb.Skipf("node: %v", err)
	}
	file := filepath.Join(tb.TempDir(), "program.mjs")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), node, file) //nolint:gosec // a program of our own documentation
	cmd.Env = append(os.Environ(), "PORT=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	in := bufio.NewReader(out)
	line, err := in.ReadString('\n')
	if err != nil {
		tb.Fatalf("it does not start: %v", err)
	}
	go func() { _, _ = in.WriteTo(io.Discard) }() // keep the pipe empty; ends with the program
	return strings.TrimSpace(line)
}

// MissingKeys returns the keys, fields and values of a description file that a page of
// documentation does not mention. It finds them in faults: the errors for unknown keys list the
// known ones. The test fails if faults lists fewer than least.
func MissingKeys(tb testing.TB, page string, faults error, least int) (missing []string) {
	tb.Helper()
	if faults == nil {
		tb.Fatal("the strange file is taken")
	}
	keys := map[string]bool{}
	for line := range strings.Lines(faults.Error()) {
		line, _, _ = strings.Cut(line, " (/")
		if _, known, ok := strings.Cut(line, "known here: "); ok {
			for key := range strings.SplitSeq(strings.TrimSpace(known), ", ") {
				keys[key] = true
			}
		}
		if _, known, ok := strings.Cut(line, "must be "); ok && !strings.Contains(known, " a ") && !strings.Contains(known, "such as") {
			for _, key := range regexp.MustCompile(`[a-z_]{4,}`).FindAllString(known, -1) {
				keys[key] = true
			}
		}
	}
	if len(keys) < least {
		tb.Fatalf("only %d keys are known: %v", len(keys), faults)
	}
	for key := range keys {
		if !strings.Contains(page, "`"+key+"`") && !strings.Contains(page, "`{"+key+"}`") && !strings.Contains(page, "  "+key+": ") {
			missing = append(missing, key)
		}
	}
	return missing
}

// Faults compares the error of check with the faults that a file expects, for the files that match
// a pattern. The expected faults begin the file, one per line after #!. FILE in them is the path.
func Faults(t *testing.T, pattern string, check func(file string) error) {
	t.Helper()
	cases, err := filepath.Glob(pattern)
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range cases {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for line := range strings.Lines(string(text)) {
			if fault, ok := strings.CutPrefix(line, "#! "); ok {
				want = append(want, strings.TrimSpace(fault))
			}
		}
		if err = check(file); err == nil {
			t.Errorf("%s is taken", file)
			continue
		}
		for _, line := range strings.Split(err.Error(), "\n")[1:] {
			got = append(got, strings.ReplaceAll(strings.TrimSpace(line), file, "FILE"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}
