// Package simulator invents air for the sandbox: about 270 stations in over 90
// Indian cities whose hourly concentrations look like those of their regions.
// Any hour gives the same values whoever asks for it and whenever. It is never
// a live source.
package simulator

import (
	"time"

	"vayu/ingest"
)

// Name is the name of the source.
const Name = "simulator"

// Config is what the source needs to know: nothing yet.
type Config struct{}

// DefaultConfig is the only configuration.
func DefaultConfig() Config { return Config{} }

// New builds the source under the name that its readings carry.
func (c Config) New(name string, _ func() time.Time) (ingest.Source, error) {
	return &Source{name: name}, nil
}
