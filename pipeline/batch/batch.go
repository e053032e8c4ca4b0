// Package batch works on up to 10,000 records that were accepted in one durable
// write: in pieces that are leased, with fair shares between accounts, each record
// once whatever is killed meanwhile. It knows nothing of what a record is.
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

// Item is one record on its way.
type Item struct {
	Batch  string // id
	Index  int    // of the record, from 0
	Owner  schema.Owner
	Record []byte // JSON value as the client sent it; nobody may change it
	// Who asked, for the audit log.
	Key, Request, Client string
}

// Kind is what a batch is of.
type Kind struct {
	Name   string // in the column kind, in metrics and in the audit log: "recharge"
	Prefix string // of ids: "rbt_"
	Array  string // name of the array in the body: "recharges"
	Path   string // of the endpoints: "/v1/recharge/batch"
	Write  schema.Scope
	Read   schema.Scope
	// Do does one record. It begins with [Begin] in the transaction that makes the
	// record a transaction of its own, or ends with [Refuse]; what it began it must
	// bring to [Finish], in this call or at any time later. An error means that
	// the record could not be begun because something is away: it comes again. Its
	// context ends some seconds after that of [Service.Run], and after a minute in any
	// case: it holds one of the places that Room is of.
	Do func(ctx context.Context, item Item) error
	// Ready says why no record of a world could ever be begun here, such as that no provider
	// is connected: then a batch is refused with that error. Nil for nothing.
	Ready func(w schema.World) error
	// Completed is called in the transaction in which the service itself has refused the
	// last record of a batch; nil for nothing. Do looks after the batches that it completes.
	Completed func(tx *sqlstore.Tx, done *Finished) error
	// Show renders what the subjects of items have become, by subject: JSON objects
	// without a field index.
	Show func(q sqlstore.Querier, o schema.Owner, batch string, from, to int) (map[string]any, error)
	// Room is how many records may be under way at once in an instance.
	Room int
	// Keep is how long after its completion the results of a batch are shown; 0 for
	// ever. Then its state is expired, and somewhat later what is kept of its records is
	// deleted. The batch itself stays, so that a repeated ref_id is known.
	Keep time.Duration
	// ResultsURL is the address of the results of a batch, as replies show it. Without
	// it they show none.
	ResultsURL func(batchID string) string
}

// Config is what a Service is made of.
type Config struct {
	DB  *sqlstore.DB
	Box *encryption.Box // seals cursors
	// Change makes handlers of changes: access.Service.Change.
	Change  func(access.Changer) httpapi.Handler
	Kinds   []Kind
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil for time.Now
}

// Service takes batches on, works on them while it runs, and answers about them.
type Service struct {
	Config

	workers []*worker     // of Kinds
	sandbox chan struct{} // has a place for a batch of the sandbox that is being accepted
}

// New returns a service that works on nothing before Run. It fails when a kind is
// there twice or has no room, or a metric is registered already.
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
	s := &Service{Config: c, sandbox: make(chan struct{}, 1)}
	there := map[string]bool{}
	for i := range c.Kinds {
		kind := &c.Kinds[i]
		if there[kind.Name] {
			return nil, errors.New("batches of " + kind.Name + " are there twice")
		}
		if kind.Room < 1 {
			return nil, fmt.Errorf("batches of %s have room for %d records", kind.Name, kind.Room)
		}
		there[kind.Name] = true
		s.workers = append(s.workers, newWorker(s, kind, m))
	}
	return s, nil
}

// Run works on batches until ctx ends. Records that are under way then have some
// seconds to end by themselves; what was not begun is given back.
func (s *Service) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, w := range s.workers {
		all.Go(func() {
			if s.DB.Ready(ctx) == nil { // else ctx has ended before there was anything to do
				w.run(ctx)
			}
		})
	}
	all.Wait()
	return nil
}
