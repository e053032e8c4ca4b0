// Package simulator invents readings for the sandbox: about 270 stations in over
// 90 Indian cities with plausible hourly concentrations. The values are
// deterministic: they depend only on the hour. It is never a live source.
package simulator

import (
	"time"

	"vayu/ingest"
)

// Name is the name of the source.
const Name = "simulator"

// Config configures the source; it has no settings yet.
type Config struct{}

// DefaultConfig returns the only configuration.
func DefaultConfig() Config { return Config{} }

// New builds the source. name becomes the field Source of its readings.
func (c Config) New(name string, _ func() time.Time) (ingest.Source, error) {
	return &Source{name: name}, nil
}
