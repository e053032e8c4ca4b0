package workqueue

import (
	"time"

	"vayu/internal/panics"
	"vayu/schema"
)

// Provider describes a provider whose calls are queued.
type Provider struct {
	Name  string // value of the column "provider"
	World schema.World
	// Timeout bounds one call.
	Timeout time.Duration
	// Concurrency is the maximum number of calls in flight.
	Concurrency int
	// Available reports whether the provider can be called now; nil means always.
	Available func() bool
}

// IsAvailable reports whether the provider can be called now. If Available panics, the provider counts as unavailable.
func (p *Pool) IsAvailable() (available bool) {
	if p.provider.Available == nil {
		return true
	}
	err := panics.Catch(func() error {
		available = p.provider.Available()
		return nil
	})
	return available && err == nil
}
