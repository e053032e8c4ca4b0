package fence

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	readFile    = ll.AccessFSReadFile
	readDir     = ll.AccessFSReadDir
	read        = readFile | readDir
	writeFile   = readFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	writeDir    = read | writeFile | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSym | ll.AccessFSMakeFifo
	executeFile = readFile | ll.AccessFSExecute
)

// system lists the paths that libchdb and Go read: libraries, time zones, and the state of processors and memory. It
// omits /etc/ssl/private, which has secrets. It includes /proc, where the kernel hides the environment of processes
// outside the fence, and which has no secrets of this process.
var system = []string{"/usr", "/lib", "/lib64", "/proc", "/sys/devices/system", "/sys/fs/cgroup", "/dev/urandom", "/dev/random",
	"/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/host.conf"}

// loaders are the dynamic loaders, which the kernel executes to start dynamically linked programs.
var loaders = []string{"/lib64/ld-*", "/lib/ld-*", "/usr/lib*/ld-*"}

// Version returns the version of Landlock in this kernel, or 0 if there is none. Version 4 has rules for the network.
func Version() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// restrict applies the rules to this thread and to the programs that the thread executes.
func restrict(rules Rules, self string) error {
	fd, flags, err := rules.config().NewRulesetFD(rules.landlock(self)...)
	if err != nil {
		return fmt.Errorf("making a Landlock ruleset: %w", err)
	}
	if fd < 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return ll.LandlockRestrictSelf(fd, flags)
}

// config returns the restrictions of version 6 of Landlock: files, TCP, and signals to processes outside the fence. If
// Network is true, the process may connect to every host. An older kernel restricts less.
func (r Rules) config() landlock.Config {
	config := landlock.V6
	if r.Network {
		config.HandledAccessNet = ll.AccessNetBindTCP
	}
	return config.BestEffort()
}

func (r Rules) landlock(self string) []landlock.Rule {
	var all []landlock.Rule
	add := func(rights landlock.AccessFSSet, paths ...string) {
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				continue // what does not exist needs no rule
			}
			allowed := rights
			if !info.IsDir() {
				allowed &= writeFile | executeFile
			}
			all = append(all, landlock.PathAccess(allowed, path))
		}
	}
	add(read, system...)
	add(read, r.Readable...)
	add(writeFile, "/dev/null")
	add(writeFile, r.Files...)
	writable := writeDir
	if Version() >= 2 { // with a right that the kernel lacks, go-landlock would not restrict anything
		writable |= ll.AccessFSRefer
	}
	add(landlock.AccessFSSet(writable), r.Writable...)
	add(executeFile, self)
	for _, pattern := range loaders {
		paths, _ := filepath.Glob(pattern) // the pattern is valid
		add(executeFile, paths...)
	}
	for _, port := range r.Ports {
		all = append(all, landlock.BindTCP(uint16(port))) // Config.Validate has checked the range
	}
	return all
}
