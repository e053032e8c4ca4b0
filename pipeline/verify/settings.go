package verify

import (
	"time"

	"vayu/internal/config"
)

// Settings say who verifies accounts, and what is kept, as an operator of the service
// sets them.
type Settings struct {
	Banks     []string      `koanf:"banks" help:"files that describe banks or aggregators; without any no live account is verified"`
	BatchRoom int           `koanf:"batch-room" help:"records of batches under way at once"`
	GiveUp    time.Duration `koanf:"give-up" help:"how long a bank is asked for a verdict"`
	Cache     time.Duration `koanf:"cache" help:"how long a bank's answer serves the account that asks about the same again; 0 for not at all"`
	Keep      time.Duration `koanf:"keep" help:"how long finished verifications are kept; 0 for ever"`
	Misses    int           `koanf:"misses" help:"accounts that do not exist which a key may ask about in an hour before there is an alarm; 0 for none"`
}

// DefaultSettings know no bank. What is finished is kept for a quarter of a year, as
// long as clients ask about payments. A hundred wrong account numbers in an hour are
// more than typing errors.
func DefaultSettings() Settings {
	return Settings{BatchRoom: 256, GiveUp: 24 * time.Hour, Keep: 90 * 24 * time.Hour, Misses: 100}
}

// The limits of settings. The answer of a bank is good for a day at most: accounts are
// frozen and closed.
const (
	mostBatchRoom = 10_000
	leastGiveUp   = time.Minute
	mostGiveUp    = 7 * 24 * time.Hour
	mostCache     = 24 * time.Hour
	leastKeep     = time.Hour
)

// Validate reports every fault at once, each naming its key.
func (s Settings) Validate() (faults []error) {
	if s.BatchRoom < 1 || s.BatchRoom > mostBatchRoom {
		faults = append(faults, config.Invalid("batch-room", "must be 1 to %d", mostBatchRoom))
	}
	if s.GiveUp < leastGiveUp || s.GiveUp > mostGiveUp {
		faults = append(faults, config.Invalid("give-up", "must be %s to %s", leastGiveUp, mostGiveUp))
	}
	if s.Cache < 0 || s.Cache > mostCache {
		faults = append(faults, config.Invalid("cache", "must be 0 to %s", mostCache))
	}
	if s.Keep != 0 && s.Keep < leastKeep {
		faults = append(faults, config.Invalid("keep", "must be 0, for ever, or at least %s", leastKeep))
	}
	if s.Misses < 0 {
		faults = append(faults, config.Invalid("misses", "must not be negative"))
	}
	return faults
}
