package config

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Exposed says why a file that nobody named must not be trusted: another user
// than root or the caller owns it or its folder, or everybody may write there.
// It is empty for a file that is safe.
func Exposed(path string) string {
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
