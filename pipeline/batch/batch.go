// Package batch processes batches of up to 10,000 records. A batch is accepted in one
// durable write and split into chunks, which workers lease. Accounts get fair shares. Each
// record is processed once, even if processes are killed. The package does not depend on
// the meaning of a record.
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
	"vayu/schema"
)

// Item is one record of a batch.
type Item struct {
	Batch  string // id
	Index  int    // of the record, from 0
	Owner  schema.Owner
	Record []byte // JSON value as the client sent it; read-only
	// Ids of the API key and the request, and the client's address, for the audit log.
	Key, Request, Client string
}

// Kind describes the batches of one kind of record.
type Kind struct {
	Name   string // in the column "kind", in metrics and in the audit log: "recharge"
	Prefix string // of ids: "rbt_"
	Array  string // name of the array in the body: "recharges"
	Path   string // of the endpoints: "/v1/recharge/batch"
	Write  schema.Scope
	Read   schema.Scope
	// Do processes one record. It calls [Begin] in the store transaction that creates the
	// subject of the record (its recharge or verification), or ends with [Reject]. After Begin
	// it must bring the record to [Finish], in this call or later. An error means that the
	// record could not begin, for example because a provider is unavailable; the record is
	// retried. The context ends some seconds after that of [Service.Run], and after a minute in
	// any case, because Do occupies one of the Concurrency slots.
	Do func(ctx context.Context, item Item) error
	// Ready returns an error if no record of a world (live or sandbox) can begin, for example
	// without a provider. The batch is rejected with that error. Ready may be nil.
	Ready func(w schema.World) error
	// Completed is called when the service itself rejects the last record of a batch, in the
	// same transaction; it may be nil. Callers of Finish and Reject handle the batches that
	// those complete.
	Completed func(tx *sqlstore.Tx, done *Finished) error
	// Render returns the current state of the subjects of records, by subject. Each value must
	// encode as a JSON object without a field "index".
	Render func(q sqlstore.Querier, o schema.Owner, batch string, from, to int) (map[string]any, error)
	// Concurrency is the maximum number of records in flight in an instance.
	Concurrency int
	// Retention is how long the results of a completed batch are available; 0 means for
	// ever. After it the batch is expired, and its items are deleted somewhat later. The
	// batch itself stays, so that a repeated ref_id is recognized.
	Retention time.Duration
	// ResultsURL returns the address of the results of a batch for replies. If nil,
	// replies have none.
	ResultsURL func(batchID string) string
}

// Config configures a [Service].
type Config struct {
	DB  *sqlstore.DB
	Box *encryption.Cipher // for records, cursors and fingerprints of bodies
	// Change makes a handler that changes data in a transaction: access.Service.Change.
	Change  func(access.Changer) httpapi.Handler
	Kinds   []Kind
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil for time.Now
}

// Service accepts batches, processes them while it runs, and serves their state.
type Service struct {
	Config

	workers     []*worker     // one for each of Kinds
	sandboxSlot chan struct{} // full while a sandbox batch is accepted
}

// New returns a service that is idle until Run. It fails if a kind is configured twice or
// has no concurrency, or if a metric is registered already.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	m, err := newMetrics(c.Metrics)
	if err != nil {
		return nil, err
	}
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
		s.workers = append(s.workers, newWorker(s, kind, m))
	}
	return s, nil
}

// Run processes batches until ctx ends. Records in flight then have some seconds to
// finish; the leases of the others are released.
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
