// Package deploy checks the deployment files with the programs and libraries that read them. .ci/deploy runs it.
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

// operations is the folder of deployment files outside the root.
const operations = "docs/operations"

// root returns the project's folder. Without it the tests are skipped with a hint; .ci/deploy sets it.
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

// accepted checks that the built binary would start with these variables. Every name must be a setting, every value
// valid, and the combination consistent.
func accepted(tb testing.TB, environment map[string]string) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), filepath.Join(root(tb), "bin/vayu"), "config")
	cmd.Dir = tb.TempDir() // without a vayu.yaml
	for name, value := range environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var output bytes.Buffer
	cmd.Stderr = &output
	out, err := cmd.Output()
	if err != nil || output.Len() > 0 {
		tb.Errorf("vayu config: %v\n%s", err, &output)
	}
	for name := range environment {
		if strings.HasPrefix(name, "VAYU_") && environment[name] != "" && !strings.Contains(string(out), "environment "+name) {
			tb.Errorf("%s has no effect on the configuration:\n%s", name, out)
		}
	}
}

// run runs a program, and fails with its output.
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
