package verify

import (
	"time"

	"vayu/internal/config"
)

// Settings are the operator's settings for banks, caching and retention.
type Settings struct {
	Banks                []string      `yaml:"banks" help:"files that describe banks or aggregators; live verification needs at least one"`
	BatchRoom            int           `yaml:"batch-room" help:"batch records in flight at once"`
	GiveUp               time.Duration `yaml:"give-up" help:"how long a verification is retried until it fails"`
	Cache                time.Duration `yaml:"cache" help:"how long a bank's answer is reused for the same account; 0 for no cache"`
	Retention            time.Duration `yaml:"keep" help:"how long finished verifications are kept; 0 for ever"`
	EnumerationThreshold int           `yaml:"misses" help:"missing accounts that a key may request in an hour before an alarm; 0 for no alarm"`
}

// DefaultSettings returns settings without a bank. The retention of a quarter of a year equals
// the period in which clients enquire about payments. A hundred wrong account numbers in an
// hour are more than typing errors explain.
func DefaultSettings() Settings {
	return Settings{BatchRoom: 256, GiveUp: 24 * time.Hour, Retention: 90 * 24 * time.Hour, EnumerationThreshold: 100}
}

// The limits of settings.
const (
	mostBatchRoom = 10_000
	leastGiveUp   = time.Minute
	mostGiveUp    = 7 * 24 * time.Hour
	mostCache     = 24 * time.Hour // an account can be frozen or closed after the answer
	leastKeep     = time.Hour
)

// Validate returns every fault, each with its key.
func (s Settings) Validate() []error {
	var f config.Faults
	f.Check(s.BatchRoom >= 1 && s.BatchRoom <= mostBatchRoom, "batch-room", "must be 1 to %d", mostBatchRoom)
	f.Check(s.GiveUp >= leastGiveUp && s.GiveUp <= mostGiveUp, "give-up", "must be %s to %s", leastGiveUp, mostGiveUp)
	f.Check(s.Cache >= 0 && s.Cache <= mostCache, "cache", "must be 0 to %s", mostCache)
	f.Check(s.Retention == 0 || s.Retention >= leastKeep, "keep", "must be 0, for ever, or at least %s", leastKeep)
	f.Check(s.EnumerationThreshold >= 0, "misses", "must not be negative")
	return f
}
