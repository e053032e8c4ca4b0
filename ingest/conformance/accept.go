package conformance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Accept builds the source with the function `open`, fetches from the replies of the case, and stores the result as the
// expected result.
func (c *Case) Accept(ctx context.Context, open Opener) (*Fetched, error) {
	got, err := c.expect(ctx, open)
	if err == nil {
		err = c.saveExpected(got)
	}
	if err != nil {
		return nil, fmt.Errorf("accepting the result of the case %s: %w", c.dir, err)
	}
	return got, nil
}

// saveExpected writes the files with the expected results, and case.json. It removes a file that would have no lines.
func (c *Case) saveExpected(got *Fetched) error {
	for name, text := range map[string]string{
		readingsFile: got.readingText(), missingFile: lines(got.Missing), bulletinsFile: lines(got.Bulletins), stationsFile: got.stationText(), rejectedFile: got.rejectedText(),
	} {
		if text != "" {
			if err := c.save(name, []byte(text)); err != nil {
				return err
			}
			continue
		}
		if err := os.Remove(filepath.Join(c.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return c.saveCase()
}
