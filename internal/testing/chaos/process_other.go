//go:build !linux

package chaos

import "syscall"

// attributes put a process into a group of its own, so that Ctrl-C is meant for the
// cluster alone, which stops it in order. No other kernel than Linux ends the children
// of a process that was killed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
