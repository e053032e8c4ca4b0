package recharge

import (
	"time"

	"vayu/internal/config"
)

// Settings say who carries recharges out, as an operator of the service sets them.
type Settings struct {
	Operators []string      `koanf:"operators" help:"files that describe operators or aggregators; without any no live recharge is taken"`
	BatchRoom int           `koanf:"batch-room" help:"records of batches under way at once"`
	MaskAfter time.Duration `koanf:"mask-after" help:"how long after its last change the number of a settled recharge is masked; 0 for never"`
}

// DefaultSettings know no operator. A record under way holds a goroutine, so 256 of
// them are some megabytes; what limits batches is how many calls an operator takes at
// once. Half a year is longer than operators take to reverse or dispute a recharge.
func DefaultSettings() Settings { return Settings{BatchRoom: 256, MaskAfter: 180 * 24 * time.Hour} }

const (
	mostBatchRoom = 10_000
	// leastMaskAfter is how long a recharge may be pending before it is listed for
	// reconciliation: operators send their files a day later.
	leastMaskAfter = 24 * time.Hour
)

// Validate reports every fault at once, each naming its key.
func (s Settings) Validate() (faults []error) {
	if s.BatchRoom < 1 || s.BatchRoom > mostBatchRoom {
		faults = append(faults, config.Invalid("batch-room", "must be 1 to %d", mostBatchRoom))
	}
	if s.MaskAfter != 0 && s.MaskAfter < leastMaskAfter {
		faults = append(faults, config.Invalid("mask-after", "must be 0, for never, or at least %s", leastMaskAfter))
	}
	return faults
}
