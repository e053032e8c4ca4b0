// Package simulator generates readings for the sandbox: about 270 stations in over 90 Indian cities with plausible
// hourly concentrations. The values are deterministic: a station has the same value for an hour in every fetch. The
// live world never uses this source.
package simulator

import (
	"time"

	"vayu/ingest"
	"vayu/internal/config"
)

// Name is the name of the simulator as a source.
const Name = "simulator"

// Config configures the source.
type Config struct {
	History time.Duration `yaml:"history" help:"age of the oldest simulated readings, at most 1440h"`
}

// DefaultConfig returns the default settings: 60 days of readings.
func DefaultConfig() Config { return Config{History: mostHistory} }

const (
	leastHistory = 36 * time.Hour // a new source fetches these hours first, because current answers need them
	mostHistory  = 60 * 24 * time.Hour
)

// Validate checks the range of the history. It implements config.Validator.
func (c Config) Validate() []error {
	var f config.Faults
	f.Check(c.History >= leastHistory && c.History <= mostHistory, "history", "%s must be between %s and %s", c.History, leastHistory, mostHistory)
	return f
}

// New builds the source. `name` becomes the field Source of its readings. The simulator ignores the clock.
func (c Config) New(name string, _ func() time.Time) (ingest.Source, error) {
	return &Source{name: name}, nil
}
