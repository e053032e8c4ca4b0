package memory

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ReleaseFiles unmaps the pages of the mapped files of this process that it cannot write and has not changed. The pages stay
// in the kernel's cache. The next access maps them again.
func ReleaseFiles() error {
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer file.Close()
	var begin, end uintptr // of the mapping whose lines follow
	var released bool      // the mapping is one of a file, and read-only
	for lines := bufio.NewScanner(file); ; {
		if !lines.Scan() {
			return lines.Err()
		}
		f := strings.Fields(lines.Text())
		if !strings.HasSuffix(f[0], ":") { // the first line of a mapping: addresses, permissions, offset, device, inode, path
			if _, err := fmt.Sscanf(f[0], "%x-%x", &begin, &end); err != nil {
				return fmt.Errorf("reading %q of the mappings: %w", f[0], err)
			}
			released = len(f) > 5 && strings.HasPrefix(f[5], "/") && !strings.Contains(f[1], "w")
			continue
		}
		// Anonymous pages are changed copies, for example the relocated addresses of a library. They would be lost.
		if released && f[0] == "Anonymous:" && f[1] == "0" {
			if _, _, errno := unix.Syscall(unix.SYS_MADVISE, begin, end-begin, unix.MADV_DONTNEED); errno != 0 {
				return fmt.Errorf("releasing the mapping at %x: %w", begin, errno)
			}
		}
	}
}
