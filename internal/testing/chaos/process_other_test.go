//go:build !linux

package chaos

import "syscall"

// attributes put a process into a group of its own, so that Ctrl-C reaches only the cluster, which
// stops it in order. Only Linux kills the children of a killed process.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
