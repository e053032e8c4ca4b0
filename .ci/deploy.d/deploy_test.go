// Package deploy checks the files with which Vayu is deployed, by the programs and
// libraries that will read them, or those that these are made of. .ci/deploy runs it.
package deploy

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// operations is where what is not in the root stands.
const operations = "docs/operations"

// root is the project's folder. Without it nothing is checked: `go test` in this
// folder says so, and .ci/deploy gives it.
func root(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("VAYU_TEST_DEPLOY")
	if dir == "" {
		tb.Skip("run by .ci/deploy")
	}
	return dir
}

// text reads a file of the project.
func text(tb testing.TB, path ...string) string {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{root(tb)}, path...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return string(content)
}

// variables reads a file of NAME=value lines.
func variables(tb testing.TB, content string) map[string]string {
	tb.Helper()
	all := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(content)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			tb.Fatalf("%q is no NAME=value", line)
		}
		all[name] = value
	}
	return all
}

// accepted asks the built binary whether it would start with these variables: every
// name is a setting, every value is one that it takes, and all of them together make
// sense.
func accepted(tb testing.TB, environment map[string]string) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), filepath.Join(root(tb), "bin/vayu"), "config")
	cmd.Dir = tb.TempDir() // without a vayu.yaml
	for name, value := range environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		tb.Errorf("vayu config: %v\n%s", err, &said)
	}
	for name := range environment {
		if strings.HasPrefix(name, "VAYU_") && environment[name] != "" && !strings.Contains(string(out), "environment "+name) {
			tb.Errorf("%s has no effect on the configuration:\n%s", name, out)
		}
	}
}

// run runs a program and fails with all that it says.
func run(tb testing.TB, name string, args ...string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path = filepath.Join("/usr/sbin", name)
	}
	out, err := exec.CommandContext(tb.Context(), path, args...).CombinedOutput()
	if err != nil {
		tb.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
