// Package file reads saved data: one file, or a folder that is watched. What a
// file holds is recognised from its content. Its name matters only where the
// table does not say which station or sensor it is from.
package file

import (
	"errors"
	"fmt"
	"time"

	"vayu/ingest"
)

// Config is a watched folder: the source `file`.
type Config struct {
	// Folder is where files appear, at any depth.
	Folder string `koanf:"folder"`
	// Settle is how long a file must have been left alone before it is read,
	// because it may still be growing.
	Settle time.Duration `koanf:"settle"`
}

// DefaultConfig has no folder yet.
func DefaultConfig() Config { return Config{Settle: 10 * time.Second} }

// New builds the source under the name that its readings carry.
func (c Config) New(name string, clock func() time.Time) (ingest.Source, error) {
	if c.Folder == "" {
		return nil, fmt.Errorf("source %q: folder is missing", name)
	}
	if c.Settle < 0 {
		return nil, errors.New("source \"" + name + "\": settle must not be negative")
	}
	return &Folder{name: name, config: c, clock: clock, seen: make(map[string]entry)}, nil
}
