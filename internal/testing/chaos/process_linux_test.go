package chaos

import "syscall"

// attributes put a process into a group of its own, so that Ctrl-C reaches only the cluster, which
// stops it in order. The kernel kills the process when the cluster dies without doing so.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
