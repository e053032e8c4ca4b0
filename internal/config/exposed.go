package config

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// UnsafeReason checks a file that the program has found by itself, without a setting that names the file. It returns
// the reason not to trust the file, or "" if the file is safe. A file is unsafe if every user may change it, or replace
// it in its folder. It is also unsafe if the file or folder cannot be examined, or belongs to a user other than root
// and the current one.
func UnsafeReason(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	for _, p := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(p)
		if err != nil {
			return err.Error()
		}
		if info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 { // in a sticky folder others cannot replace the file
			return p + " can be written by every user"
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 && int(owner.Uid) != os.Geteuid() {
			return fmt.Sprintf("%s belongs to another user (id %d)", p, owner.Uid)
		}
	}
	return ""
}
