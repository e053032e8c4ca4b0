// Package batch processes batches of up to 10,000 records. The service stores a batch in one
// transaction, split into chunks. Workers lease chunks and process their records. Accounts get fair
// shares of the capacity. Each record takes effect once, even if processes are killed. The package
// does not depend on what a record means.
package batch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
)

// Config configures a [Service].
type Config struct {
	DB  *sqlstore.DB
	Box *encryption.Cipher // encrypts records; makes fingerprints of bodies
	// Change returns a handler that changes data in a transaction. It is access.Service.Change.
	Change  func(access.Changer) httpapi.Handler
	Kinds   []item.Kind
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil for time.Now
}

// Service accepts batches, processes their records, and serves their state and results.
type Service struct {
	Config

	workers     []*worker     // one for each kind
	sandboxSlot chan struct{} // full while a sandbox batch is accepted
}

// New returns a Service that processes nothing before Run. It fails if a kind is configured twice
// or has no concurrency.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	metricsOf := newMetrics(c.Metrics)
	s := &Service{Config: c, sandboxSlot: make(chan struct{}, 1)}
	there := map[string]bool{}
	for i := range c.Kinds {
		kind := &c.Kinds[i]
		if there[kind.Name] {
			return nil, errors.New("the kind of batches " + kind.Name + " is configured twice")
		}
		if kind.Concurrency < 1 {
			return nil, fmt.Errorf("the concurrency of batches of %s is %d, want at least 1", kind.Name, kind.Concurrency)
		}
		there[kind.Name] = true
		s.workers = append(s.workers, newWorker(s, kind, metricsOf(kind.Name)))
	}
	return s, nil
}

// Run processes batches until ctx ends. Then records in flight have some seconds to finish. The
// leases of chunks without records in flight are released.
func (s *Service) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, w := range s.workers {
		all.Go(func() {
			if s.DB.Ready(ctx) == nil { // otherwise ctx has ended
				w.run(ctx)
			}
		})
	}
	all.Wait()
	return nil
}
