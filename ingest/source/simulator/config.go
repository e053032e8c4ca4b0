// Package simulator generates readings for the sandbox: about 270 stations in over 90 Indian cities with plausible
// hourly concentrations. The values are deterministic: a station has the same value for an hour in every fetch. The
// live world never uses this source.
package simulator

import (
	"time"

	"vayu/ingest"
)

// Name is the name of the simulator as a source.
const Name = "simulator"

// Config configures the source. It has no settings.
type Config struct{}

// DefaultConfig returns the empty configuration.
func DefaultConfig() Config { return Config{} }

// New builds the source. name is the source name of its readings. The simulator ignores the clock.
func (c Config) New(name string, _ func() time.Time) (ingest.Source, error) {
	return &Source{name: name}, nil
}
