// Package file reads saved files of readings: a single file, or the files in a watched folder. It detects the format of
// a file from its content. It uses the name of the file only if the table does not identify its station or sensor.
//
// In this package, "the portal" and "CAAQM" mean the web portal on which CPCB publishes the data of its stations.
package file

import (
	"errors"
	"fmt"
	"time"

	"vayu/ingest"
)

// Config configures the source `file`, which reads a watched folder.
type Config struct {
	// Folder is the watched folder, including subfolders.
	Folder string `yaml:"folder"`
	// Settle is how long a file must be unchanged before it is read. Until then, a program may still be writing to it.
	Settle time.Duration `yaml:"settle"`
}

// DefaultConfig returns a configuration without a folder.
func DefaultConfig() Config { return Config{Settle: 10 * time.Second} }

// Watched is the configuration of a watched folder, with the file formats that descriptions (YAML) define.
type Watched struct {
	Config

	Described []Format
}

// New builds the source. `name` becomes the field Source of its readings.
func (c Watched) New(name string, clock func() time.Time) (ingest.Source, error) {
	if c.Folder == "" {
		return nil, fmt.Errorf("source %q: folder is missing", name)
	}
	if c.Settle < 0 {
		return nil, errors.New("source \"" + name + "\": settle must not be negative")
	}
	return &Folder{name: name, config: c.Config, described: c.Described, clock: clock, seen: make(map[string]entry)}, nil
}
