package memory

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ReleaseFiles unmaps read-only, unchanged pages of the program and of `libraries`, a list of file names. The pages
// stay in the kernel's cache, and the next access maps them again. ReleaseFiles does not unmap pages of other files:
// another thread could unload such a file and reuse its addresses for other memory, whose content would be lost.
func ReleaseFiles(libraries ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer file.Close()
	var begin, end uintptr // of the mapping whose lines follow
	var unchanged bool     // the mapping is read-only, of one of the files, and has no changed pages so far
	var failed error
	for lines := bufio.NewScanner(file); ; {
		if !lines.Scan() {
			return errors.Join(failed, lines.Err())
		}
		f := strings.Fields(lines.Text())
		switch {
		case !strings.HasSuffix(f[0], ":"): // the first line of a mapping: addresses, permissions, offset, device, inode, path
			if _, err := fmt.Sscanf(f[0], "%x-%x", &begin, &end); err != nil {
				return fmt.Errorf("reading %q of the mappings: %w", f[0], err)
			}
			unchanged = len(f) > 5 && !strings.Contains(f[1], "w") && (f[5] == program || slices.Contains(libraries, filepath.Base(f[5])))
		// Changed pages, such as relocated addresses, would be lost. The kernel lists them as Anonymous or as Swap.
		case f[0] == "Anonymous:" && f[1] != "0":
			unchanged = false
		case f[0] == "Swap:" && f[1] == "0" && unchanged: // Swap follows Anonymous
			if _, _, errno := unix.Syscall(unix.SYS_MADVISE, begin, end-begin, unix.MADV_DONTNEED); errno != 0 {
				failed = fmt.Errorf("releasing the mapping at %x: %w", begin, errno)
			}
		}
	}
}
