package recharge

import "vayu/internal/config"

// Settings say who carries recharges out, as an operator of the service sets them.
type Settings struct {
	Operators []string `koanf:"operators" help:"files that describe operators or aggregators; without any no live recharge is taken"`
	BatchRoom int      `koanf:"batch-room" help:"records of batches under way at once"`
}

// DefaultSettings know no operator. A record under way holds a goroutine, so 256 of
// them are some megabytes; what limits batches is how many calls an operator takes at
// once.
func DefaultSettings() Settings { return Settings{BatchRoom: 256} }

const mostBatchRoom = 10_000

// Validate reports every fault at once, each naming its key.
func (s Settings) Validate() []error {
	if s.BatchRoom < 1 || s.BatchRoom > mostBatchRoom {
		return []error{config.Invalid("batch-room", "must be 1 to %d", mostBatchRoom)}
	}
	return nil
}
