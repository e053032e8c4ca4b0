package fileset

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"sync"

	"vayu/ingest"
	"vayu/ingest/source/described/storage"
	"vayu/ingest/source/file/table"
)

// each reads the files of the tasks in order. It yields their readings each time that storeAfter readings or files are
// complete. The caller yields the rest.
func (f *fetching) each(ctx context.Context, tasks []task) error {
	opening, cancel := context.WithCancel(ctx)
	next, stop := f.ahead(opening, tasks)
	defer stop()
	defer cancel()
	for i := range tasks {
		local, err := next()
		if err := f.one(ctx, &tasks[i], local, err); err != nil {
			return err
		}
		if f.readings < storeAfter && len(f.done) < storeAfter {
			continue
		}
		if err := f.pass(ctx); err != nil {
			return err
		}
	}
	return nil
}

// result is an opened file, or the error of opening it.
type result struct {
	local *storage.Local
	err   error
}

// ahead opens files concurrently before they are read, because opening a remote file takes long. The function `next`
// returns the opened files in the order of the tasks. The function `stop` waits for the goroutines, and closes the
// files that `next` has not returned. The caller must cancel ctx before it calls `stop`.
func (f *fetching) ahead(ctx context.Context, tasks []task) (next func() (*storage.Local, error), stop func()) {
	queue := make(chan chan result, f.c.parallel)
	slots := make(chan struct{}, f.c.parallel)
	var all sync.WaitGroup
	all.Go(func() {
		defer close(queue)
		for i := range tasks {
			slots <- struct{}{}
			one := make(chan result, 1)
			all.Go(func() {
				local, err := f.storage.Open(ctx, tasks[i].Object, tasks[i].known)
				<-slots
				one <- result{local, err}
			})
			if queue <- one; ctx.Err() != nil {
				return
			}
		}
	})
	next = func() (*storage.Local, error) {
		one, more := <-queue
		if !more {
			return nil, context.Cause(ctx)
		}
		r := <-one
		return r.local, r.err
	}
	stop = func() {
		for one := range queue {
			if r := <-one; r.local != nil {
				r.local.Close()
			}
		}
		all.Wait()
	}
	return next, stop
}

// one reads and closes the opened file `local`. If the file could not be opened, `err` is the reason, such as
// [storage.ErrUnchanged]. The method returns an error only if the fetch must end.
func (f *fetching) one(ctx context.Context, t *task, local *storage.Local, err error) error {
	switch {
	case errors.Is(err, storage.ErrMissing):
		f.absent++
		return nil
	case errors.Is(err, storage.ErrUnchanged):
		f.good++
		return nil
	case ctx.Err() != nil:
		if local != nil {
			local.Close()
		}
		return context.Cause(ctx)
	}
	version := t.Version
	if err == nil {
		defer local.Close()
		version = local.Version
		err = f.read(ctx, t, local.Path)
		if f.yieldErr != nil || ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), err)
		}
	} else if _, refused := errors.AsType[*ingest.BatchError](err); !refused {
		return f.unopenable(t, err)
	}
	f.consecutive = 0
	f.done = append(f.done, mark{t.Path, version})
	if err != nil {
		f.refuse(t.Path, err)
		return nil
	}
	f.good++
	return nil
}

// unopenable records a file that could not be opened, so that the next fetch tries again. After maxConsecutive such
// files in a row it returns the error of the last one, because the storage has probably failed.
func (f *fetching) unopenable(t *task, err error) error {
	if t.failed.IsZero() {
		t.failed = f.now
	}
	if len(f.again) < mostAgain {
		f.again[t.Path] = *t
	}
	f.consecutive++
	if f.consecutive == maxConsecutive {
		return fmt.Errorf("%d files in a row cannot be opened, the last one: %w", maxConsecutive, err)
	}
	f.refuse(t.Path, err)
	return nil
}

// read adds the readings in a file, or in the files of a ZIP archive.
func (f *fetching) read(ctx context.Context, t *task, local string) error {
	archive, err := f.note(ctx, local)
	if err != nil {
		return err
	}
	if !archive {
		in := &table.Input{Path: local, Unpacked: f.c.unpacked, Open: func() (io.ReadCloser, error) { return open(ctx, local) }}
		return f.add(in, t, t.file)
	}
	if err := checkDirectory(local); err != nil {
		return err
	}
	members, err := zip.OpenReader(local)
	if err != nil {
		return ingest.BadReplyf("the ZIP archive is damaged: %v", err)
	}
	defer members.Close()
	left, found := f.c.unpacked, false
	for _, m := range members.File {
		if !f.wanted(m) {
			continue
		}
		found = true
		if left -= int64(min(m.UncompressedSize64, 1<<62)); left < 0 { // in.Unpacked limits the true size
			return ingest.BadReplyf("the files of the ZIP archive exceed %d bytes", f.c.unpacked)
		}
		fields := maps.Clone(t.file)
		fields["member"] = m.Name
		in := &table.Input{Path: m.Name, Unpacked: f.c.unpacked, Open: func() (io.ReadCloser, error) { return openMember(ctx, m) }}
		if err := f.add(in, t, fields); err != nil {
			return fmt.Errorf("member %q: %w", m.Name, err)
		}
	}
	if !found {
		return ingest.BadReplyf("no file of the ZIP archive matches files.within")
	}
	return nil
}

// mostDirectory is the largest size in bytes of a ZIP archive's directory. Such a directory lists about 80,000 files.
const mostDirectory = 4 << 20

// checkDirectory returns an error if the directory of a ZIP archive is too large, because the package zip reads the
// whole directory into memory.
func checkDirectory(local string) error {
	f, err := os.Open(local)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	// A ZIP archive ends with a record of 22 bytes and a comment of at most 65,535 bytes, which `tail` includes.
	tail := make([]byte, min(info.Size(), 22+65_535))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return err
	}
	at := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if at < 0 || len(tail)-at < 22 {
		return ingest.BadReplyf("the ZIP archive is damaged or cut off")
	}
	size, offset := int64(binary.LittleEndian.Uint32(tail[at+12:])), int64(binary.LittleEndian.Uint32(tail[at+16:]))
	if size > mostDirectory || info.Size()-offset > mostDirectory {
		return ingest.BadReplyf("the ZIP archive has too many files, or is larger than 4 GiB")
	}
	return nil
}

// wanted reports whether a file in a ZIP archive is regular, is not hidden, and matches the pattern files.within.
func (f *fetching) wanted(m *zip.File) bool {
	if !m.Mode().IsRegular() || path.Base(m.Name)[0] == '.' {
		return false
	}
	if f.c.within == nil {
		return true
	}
	_, ok := f.c.within.Match(m.Name)
	return ok
}

// add adds the readings in one file, which may be a part of an archive.
func (f *fetching) add(in *table.Input, t *task, fields map[string]string) error {
	n, err := f.reader(in, fields, t.part, f.builder)
	f.readings += n
	return err
}

// note passes the bytes of a file to the recorder of the fetch, if there is one. It reports whether the file is a ZIP
// archive.
func (f *fetching) note(ctx context.Context, local string) (archive bool, err error) {
	in, err := open(ctx, local)
	if err != nil {
		return false, err
	}
	defer in.Close()
	magic := []byte("PK\x03\x04")
	head := make([]byte, len(magic))
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	if recorder := ingest.RecorderOf(ctx); recorder != nil {
		if _, err := io.Copy(recorder, io.MultiReader(bytes.NewReader(head[:n]), in)); err != nil {
			return false, err
		}
	}
	return bytes.Equal(head, magic), nil
}

// open opens a file. Reading it fails once ctx has ended.
func open(ctx context.Context, local string) (io.ReadCloser, error) {
	f, err := os.Open(local)
	if err != nil {
		return nil, err
	}
	return &ending{ctx, f}, nil
}

func openMember(ctx context.Context, m *zip.File) (io.ReadCloser, error) {
	r, err := m.Open()
	if err != nil {
		return nil, ingest.BadReplyf("%v", err)
	}
	return &ending{ctx, r}, nil
}

// ending is a reader whose Read fails once its context has ended.
type ending struct {
	ctx context.Context
	io.ReadCloser
}

func (e *ending) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.ReadCloser.Read(p)
}
