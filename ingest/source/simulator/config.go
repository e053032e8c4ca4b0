// Package simulator generates readings for the sandbox: about 270 stations in over 90 Indian cities with plausible
// hourly concentrations. The values are deterministic: they depend only on the hour. It is never a source of the live
// world.
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

// New builds the source. name is the source name of its readings.
func (c Config) New(name string, _ func() time.Time) (ingest.Source, error) {
	return &Source{name: name}, nil
}
