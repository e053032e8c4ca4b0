package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vayu/ingest"
)

// ErrOtherRequests means that a source sent requests for which the case has no replies.
var ErrOtherRequests = errors.New("the source cannot repeat the fetch")

// Write creates the folder `dir` with a new case and the content of `files`. It builds the source with `open`, fetches,
// and stores the result as the expected result. It also sets c.Error, c.Reason and c.Rejected from the fetch. If `open`
// is nil, the case has no expected result until [Case.Accept]. After an error, no part of the case remains.
func Write(ctx context.Context, dir string, c *Case, files map[string][]byte, open Opener) (*Fetched, error) {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("writing the case %s: the folder exists", dir)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return nil, fmt.Errorf("writing the case %s: %w", dir, err)
	}
	partial, err := os.MkdirTemp(filepath.Dir(dir), ".case-")
	if err != nil {
		return nil, fmt.Errorf("writing the case %s: %w", dir, err)
	}
	defer func() { _ = os.RemoveAll(partial) }()
	c.dir = partial
	got, err := c.write(ctx, files, open)
	if err == nil {
		err = os.Rename(partial, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("writing the case %s: %w", dir, err)
	}
	c.dir = dir
	return got, nil
}

func (c *Case) write(ctx context.Context, files map[string][]byte, open Opener) (*Fetched, error) {
	for name, content := range files {
		if err := c.save(name, content); err != nil {
			return nil, err
		}
	}
	if open == nil {
		return nil, c.saveCase()
	}
	if c.Input != "" {
		c.Path = filepath.Join(c.dir, c.Input)
	}
	got, err := c.expect(ctx, open)
	if err != nil {
		return nil, err
	}
	return got, c.saveExpected(got)
}

func (c *Case) saveCase() error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return c.save(caseFile, append(text, '\n'))
}

func (c *Case) save(name string, content []byte) error {
	return os.WriteFile(filepath.Join(c.dir, name), content, 0o600)
}

// expect builds the source with the function `open`, and runs a fetch that gets the recorded replies of the case. It
// sets the expected error and rejections in c.
func (c *Case) expect(ctx context.Context, open Opener) (*Fetched, error) {
	var (
		got    *Fetched
		failed error // error of the fetch
	)
	fetch := func() error {
		src, err := open(c)
		if err != nil {
			return err
		}
		got, failed = Fetch(ctx, src, c.Window(), c.Now)
		return ctx.Err()
	}
	faults, err := c.Serve(ctx, fetch)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrOtherRequests, strings.Join(faults, "; "))
	}
	c.Error, c.Reason, c.Rejected = "", "", got.Rejected
	if failed != nil {
		c.Error = failed.Error()
		if batch, ok := errors.AsType[*ingest.BatchError](failed); ok {
			c.Reason = batch.Reason
		}
	}
	return got, nil
}
