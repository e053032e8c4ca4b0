package recharge

import (
	"time"

	"vayu/internal/config"
)

// Settings configure the providers of recharges.
type Settings struct {
	Operators []string      `yaml:"operators" help:"files that describe operators or aggregators; without any no live recharge is taken"`
	BatchRoom int           `yaml:"batch-room" help:"records of batches under way at once"`
	MaskAfter time.Duration `yaml:"mask-after" help:"how long after its last change the number of a settled recharge is masked; 0 for never"`
}

// DefaultSettings returns settings without operators. A batch item in flight occupies a goroutine,
// so 256 items use some megabytes. The concurrency of connections usually limits batches to fewer
// items. Half a year is longer than operators take to reverse or dispute a recharge.
func DefaultSettings() Settings { return Settings{BatchRoom: 256, MaskAfter: 180 * 24 * time.Hour} }

const (
	maxBatchRoom = 10_000
	// minMaskAfter keeps a number until the recharge can be reconciled. Operators send the file of
	// a day on the next day.
	minMaskAfter = 24 * time.Hour
)

// Validate returns every fault, each with its key.
func (s Settings) Validate() []error {
	var f config.Faults
	f.Check(s.BatchRoom >= 1 && s.BatchRoom <= maxBatchRoom, "batch-room", "must be 1 to %d", maxBatchRoom)
	f.Check(s.MaskAfter == 0 || s.MaskAfter >= minMaskAfter, "mask-after", "must be 0, for never, or at least %s", minMaskAfter)
	return f
}
