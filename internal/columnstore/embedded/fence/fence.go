// Package fence restricts the process of the embedded engine to its own files and port, with Landlock.
//
// A ruleset applies to a thread, and to the threads and processes that it starts. All threads of the engine must be
// restricted. So the process restricts one thread, and executes its program again on that thread.
package fence

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
)

// Rules list what a fenced process may use, besides the system's libraries and its own program.
type Rules struct {
	Writable []string // directories
	Files    []string // files that may be read and written
	Readable []string // files and directories
	Ports    []int    // TCP ports on which the process may listen; 0 for any free port
	Network  bool     // the process may connect to other hosts
}

// Exec replaces this process by its own program, restricted by `rules`, with the same arguments and the environment
// `env`. Open files without FD_CLOEXEC stay open. An old version of Landlock restricts less, and a kernel without
// Landlock restricts nothing. Exec returns only if it fails.
func Exec(rules Rules, env []string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this executable: %w", err)
	}
	runtime.LockOSThread() // never unlocked: a thread that stays restricted must run nothing else
	if err := restrict(rules, self); err != nil {
		return fmt.Errorf("fencing the engine in: %w", err)
	}
	if err := syscall.Exec(self, os.Args, env); err != nil { //nolint:gosec // the program is this one
		return fmt.Errorf("executing %q: %w", self, err)
	}
	return nil
}

// Whole is the version of Landlock from which a fence also covers the network.
const Whole = 4

// State describes what a fence restricts on a kernel with the given version of Landlock; 0 means none. `disks` is true
// if ClickHouse has a configuration file, which may define disks in other folders and in buckets.
func State(version int, disks bool) string {
	switch {
	case version == 0:
		return "not fenced in: the kernel has no Landlock (a kernel from 5.13 has, with landlock in its list of security modules)"
	case version < Whole:
		return fmt.Sprintf("fenced in from files, but not from the network, which needs a kernel from 6.7 (Landlock %d)", version)
	case disks:
		return fmt.Sprintf("fenced in from files, except folders of engine.config, but not from the network (Landlock %d)", version)
	}
	return fmt.Sprintf("fenced in from files and the network (Landlock %d)", version)
}

// Parts returns the paths that ClickHouse reads for a configuration file: the file itself, and the folders whose files
// ClickHouse merges. It omits the file's own folder, which can have secrets of other programs.
func Parts(file string) []string {
	dir, name := filepath.Split(file)
	own := strings.TrimSuffix(name, filepath.Ext(name)) + ".d"
	return []string{file, filepath.Join(dir, own), filepath.Join(dir, "config.d"), filepath.Join(dir, "conf.d")}
}

var pathElement = regexp.MustCompile(`<(?:metadata_)?path>\s*(/[^<\s][^<]*?)\s*</`)

// Disks returns the folders that a ClickHouse configuration file (XML) names, such as those of disks. It fails if it
// cannot read the file.
func Disks(file string) (folders []string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the engine's configuration: %w", err)
	}
	for _, match := range pathElement.FindAllSubmatch(text, -1) {
		folders = append(folders, string(match[1]))
	}
	return folders, nil
}
