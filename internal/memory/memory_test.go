//go:build linux

package memory_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"vayu/internal/memory"
)

// mapped maps a new file of 16 pages that each contain the byte 'a', and reads all of them.
func mapped(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pages")
	if err := os.WriteFile(path, bytes.Repeat([]byte("a"), 16*os.Getpagesize()), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	pages, err := unix.Mmap(int(file.Fd()), 0, 16*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(pages) })
	if bytes.Count(pages, []byte("a")) != len(pages) {
		t.Fatal("the mapping does not have the bytes of the file")
	}
	return pages
}

// release makes the mapping read-only, releases the files of the process, and returns the resident pages of the mapping.
func release(t *testing.T, pages []byte) (resident int) {
	t.Helper()
	if err := unix.Mprotect(pages, unix.PROT_READ); err != nil {
		t.Fatal(err)
	}
	if err := memory.ReleaseFiles("pages"); err != nil {
		t.Fatal(err)
	}
	return residentPages(t, pages)
}

func TestReleasedPagesAreReadAgain(t *testing.T) {
	pages := mapped(t)
	if n := release(t, pages); n != 0 {
		t.Errorf("%d pages are mapped, want none", n)
	}
	if bytes.Count(pages, []byte("a")) != len(pages) {
		t.Error("the pages have other bytes after the release")
	}
}

func TestChangedPagesStay(t *testing.T) {
	pages := mapped(t)
	pages[0] = 'b'
	release(t, pages)
	if pages[0] != 'b' {
		t.Errorf("the changed byte is %q, want 'b'", pages[0])
	}
}

// residentPages returns how many pages of the mapping the process has in memory, from /proc/self/pagemap.
func residentPages(t *testing.T, pages []byte) (n int) {
	t.Helper()
	file, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	size := os.Getpagesize()
	entries := make([]byte, 8*len(pages)/size)
	if _, err := file.ReadAt(entries, int64(8*(uintptr(unsafe.Pointer(&pages[0]))/uintptr(size)))); err != nil {
		t.Fatal(err)
	}
	for i := 7; i < len(entries); i += 8 { // the highest bit of an entry is set if the page is present
		n += int(entries[i] >> 7)
	}
	return n
}
