// Package batch processes batches of up to 10,000 records. The service stores a batch in one transaction, split into
// chunks. Workers lease chunks and process their records. Accounts get fair shares of the capacity. Each record takes
// effect once, even if processes are killed. The package does not depend on what a record means.
package batch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
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
	DB     *sqlstore.DB
	Cipher *encryption.Cipher // encrypts records; makes fingerprints of bodies
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

// New returns a Service that processes nothing until Run is called. It fails if a kind is configured twice, or if the
// concurrency of a kind is less than 1.
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

// Run processes batches until ctx ends. Then the records in flight have a few seconds to finish. The leases of chunks
// without records in flight are released.
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

// Routes returns the endpoints of each kind of batch.
func (s *Service) Routes() []httpapi.Route {
	var all []httpapi.Route
	for _, w := range s.workers {
		read, one := string(w.kind.Read), w.kind.Path+"/{id}"
		all = append(all,
			httpapi.Route{Method: http.MethodPost, Path: w.kind.Path, Scope: string(w.kind.Write), Limit: httpapi.Money, Body: httpapi.BatchBody, Handler: w.accept},
			httpapi.Route{Method: http.MethodGet, Path: w.kind.Path, Scope: read, Params: []string{"state", "ref_id", "from", "to", "limit", "cursor"}, Handler: w.list},
			httpapi.Route{Method: http.MethodGet, Path: one, Scope: read, Handler: w.get},
			httpapi.Route{Method: http.MethodGet, Path: one + "/results", Scope: read, Type: lines, Params: []string{"limit", "cursor"}, Handler: w.results},
		)
	}
	return all
}

// Personal returns how to erase the personal data of an account: the items of its batches, and
// their ref_ids, fingerprints and client IP addresses.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{
			Table: "batch_item", Key: []string{"batch_id", "place"},
			From: "batch_item t JOIN batch b ON b.id = t.batch_id WHERE b.account_id = $1",
		},
		{
			Table: "batch", Key: []string{"id"}, Set: "ref_id = NULL, client = '', fingerprint = ''",
			From: "batch t WHERE t.account_id = $1 AND (t.ref_id IS NOT NULL OR t.client <> '' OR t.fingerprint <> '')",
		},
	}
}

// encryptedRecords is the column with the records of chunks. Records contain phone numbers and bank account numbers.
var encryptedRecords = encryption.Column{
	Table: "batch_chunk", Name: "records", Key: []string{"batch_id", "CAST(first AS TEXT)"},
	AssociatedData: func(key ...string) string { return "batch_chunk/" + key[0] + "/" + key[1] + "/records" },
}

// EncryptedColumns returns the columns of this package that a key rotation must re-encrypt.
func EncryptedColumns() []encryption.Column { return []encryption.Column{encryptedRecords} }

// encryptChunk encrypts the records of a chunk. `first` is the index of its first record.
func encryptChunk(cipher *encryption.Cipher, batch string, first int, records []byte) []byte {
	return encryptedRecords.Encrypt(cipher, records, batch, strconv.Itoa(first))
}
