// Package file reads saved data: one file, or a watched folder. It detects the format
// from the content. The file's name only matters if the table does not identify its
// station or sensor. CAAQM is CPCB's portal for data of its stations.
package file

import (
	"errors"
	"fmt"
	"time"

	"vayu/ingest"
)

// Config configures a watched folder: the source `file`.
type Config struct {
	// Folder is the watched folder, including subfolders.
	Folder string `yaml:"folder"`
	// Settle is how long a file must be unchanged before it is read. A younger file
	// may still be growing.
	Settle time.Duration `yaml:"settle"`
}

// DefaultConfig returns a configuration without a folder.
func DefaultConfig() Config { return Config{Settle: 10 * time.Second} }

// Watched is a configured folder with the formats that descriptions define.
type Watched struct {
	Config

	Described []Format
}

// New builds the source. name becomes the field Source of its readings.
func (c Watched) New(name string, clock func() time.Time) (ingest.Source, error) {
	if c.Folder == "" {
		return nil, fmt.Errorf("source %q: folder is missing", name)
	}
	if c.Settle < 0 {
		return nil, errors.New("source \"" + name + "\": settle must not be negative")
	}
	return &Folder{name: name, config: c.Config, described: c.Described, clock: clock, seen: make(map[string]entry)}, nil
}
