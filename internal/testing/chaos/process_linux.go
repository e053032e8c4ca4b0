package chaos

import "syscall"

// attributes put a process into a group of its own, so that Ctrl-C is meant for the
// cluster alone, which stops it in order; and have the kernel kill it when the cluster
// dies without doing so.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
