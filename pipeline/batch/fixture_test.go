package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/pipeline/batch"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// path is the path of recharge batches, whose replies the contract describes.
const path = "/v1/recharge/batch"

// fakeKind is a kind that creates things. Each record becomes a row of a test table in the
// transaction of Begin, and is finished in another one. A record may request that its
// thing fails, or that it is rejected. A record that is no object is rejected.
type fakeKind struct {
	db  *sqlstore.DB
	now func() time.Time
	// before and between are optional hooks: before a record begins, and before it is
	// finished. Do returns their error.
	before, between func(ctx context.Context, item item.Item) error
	// lies reports whether Do returns nil for a record without processing it.
	lies func(item item.Item) bool
	// whole begins and finishes records in one transaction.
	whole    bool
	finished chan item.Finished

	mu    sync.Mutex
	calls map[string]int // of Do, by batch and index
}

func newFakeKind(db *sqlstore.DB, now func() time.Time) *fakeKind {
	return &fakeKind{db: db, now: now, finished: make(chan item.Finished, 100), calls: map[string]int{}}
}

// createThingTable creates the table of a new store.
func createThingTable(tb testing.TB, db *sqlstore.DB) {
	tb.Helper()
	sqlstoretest.Update(tb, db, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("CREATE TABLE thing (id TEXT PRIMARY KEY, batch_id TEXT NOT NULL, place BIGINT NOT NULL, record BYTEA NOT NULL, state TEXT NOT NULL)")
		return err
	})
}

func (s *fakeKind) kind(room int) item.Kind {
	return item.Kind{
		Name: "recharge", Prefix: "rbt_", Array: "recharges", Path: path, Write: schema.RechargeWrite, Read: schema.RechargeRead,
		Do: s.do, Render: s.show, Concurrency: room,
		Completed: func(tx *sqlstore.Tx, done *item.Finished) error {
			tx.OnCommit(func() { s.finished <- *done })
			return nil
		},
	}
}

// callCount returns how often Do was called for a record.
func (s *fakeKind) callCount(id string, index int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[fmt.Sprint(id, index)]
}

func (s *fakeKind) do(ctx context.Context, one item.Item) error {
	s.mu.Lock()
	s.calls[fmt.Sprint(one.Batch, one.Index)]++
	s.mu.Unlock()
	if s.lies != nil && s.lies(one) {
		return nil
	}
	if s.before != nil {
		if err := s.before(ctx, one); err != nil {
			return err
		}
	}
	var wanted struct {
		Do string `json:"do"`
	}
	if err := json.Unmarshal(one.Record, &wanted); err != nil || wanted.Do == "refuse" {
		return s.updateAndComplete(ctx, func(tx *sqlstore.Tx, _ onComplete) (*item.Finished, error) {
			return item.Reject(tx, s.now(), one, refusal)
		})
	}
	id := "txn_" + ulid.Make().String()
	if s.whole {
		return s.updateAndComplete(ctx, func(tx *sqlstore.Tx, complete onComplete) (*item.Finished, error) {
			if ok, err := item.Begin(tx, one, id); err != nil || !ok {
				return nil, err
			}
			return nil, item.Finish(tx, s.now(), one.Batch, one.Index, true, complete)
		})
	}
	made := false
	err := s.db.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		if made, err = item.Begin(tx, one, id); err != nil || !made {
			return err
		}
		_, err = tx.Exec("INSERT INTO thing (id, batch_id, place, record, state) VALUES ($1, $2, $3, $4, 'pending')", id, one.Batch, one.Index, one.Record)
		return err
	})
	if err != nil || !made {
		return err
	}
	if s.between != nil {
		if err := s.between(ctx, one); err != nil {
			return nil //nolint:nilerr // it is begun; it is finished later
		}
	}
	return s.finishThing(ctx, id, one.Batch, one.Index, wanted.Do != "fail")
}

// finishThing finishes a thing; it is idempotent.
func (s *fakeKind) finishThing(ctx context.Context, id, batchID string, index int, ok bool) error {
	return s.updateAndComplete(ctx, func(tx *sqlstore.Tx, complete onComplete) (*item.Finished, error) {
		stands := "failed"
		if ok {
			stands = "success"
		}
		n, err := tx.Exec("UPDATE thing SET state = $2 WHERE id = $1 AND state = 'pending'", id, stands)
		if err != nil || n == 0 {
			return nil, err
		}
		return nil, item.Finish(tx, s.now(), batchID, index, ok, complete)
	})
}

// onComplete is called with a completed batch in the transaction that completes it.
type onComplete func(*sqlstore.Tx, *item.Finished) error

// updateAndComplete runs a transaction, and reports the batch that it completed.
func (s *fakeKind) updateAndComplete(ctx context.Context, do func(*sqlstore.Tx, onComplete) (*item.Finished, error)) error {
	var done *item.Finished
	err := s.db.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		done, err = do(tx, func(_ *sqlstore.Tx, finished *item.Finished) error { done = finished; return nil })
		return err
	})
	if err == nil && done != nil {
		s.finished <- *done
	}
	return err
}

const selectThings = "SELECT id, batch_id, state FROM thing WHERE id IN (SELECT subject FROM batch_item WHERE batch_id = $1 AND place >= $2 AND place < $3)"

func (s *fakeKind) show(q sqlstore.Querier, _ schema.Owner, id string, from, to int) (map[string]any, error) {
	out := map[string]any{}
	return out, sqlstore.Each(q, func(row sqlstore.Scanner) error {
		const at = "2026-11-21T06:00:00.000Z"
		r := schema.Recharge{Operator: "Airtel", Amount: 19900, Message: "Said.", RefID: "ref", Mobile: "9000000001", Type: schema.Prepaid, CreatedAt: at}
		if err := row.Scan(&r.TransactionID, &r.BatchID, &r.Status); err != nil {
			return err
		}
		switch r.Status {
		case schema.RechargeSuccess:
			r.CompletedAt = at
		case schema.RechargeFailed:
			r.Error, r.FailedAt = schema.NewProblem(schema.OperatorNetworkError, "", "No answer."), at
		case schema.RechargePending, schema.RechargeRefunded:
		}
		out[r.TransactionID] = r
		return nil
	}, selectThings, id, from, to)
}

// batchFixture is a service with a fake kind and two accounts.
type batchFixture struct {
	*batch.Service
	*fakeKind

	t     testing.TB
	reg   *prometheus.Registry
	clock fixture.Clock
	log   fixture.Log
	bell  logSignal // signals that something was logged
	door  accesstest.Client
	a, b  accesstest.Tenant
}

// eachStore runs a test on both engines, with the configuration of the store.
func eachStore(t *testing.T, do func(t *testing.T, cfg sqlstore.Config)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		do(t, sqlstore.Config{Data: t.TempDir()})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		do(t, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 8}})
	})
}

// eachBatchFixture runs a test on both engines, with the concurrency room.
func eachBatchFixture(t *testing.T, room int, do func(t *testing.T, s *batchFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		createThingTable(t, db)
		s := newBatchFixture(t, db, room)
		s.a, s.b = accesstest.AddTenant(t, db, "a"), accesstest.AddTenant(t, db, "b")
		s.newDoor()
		do(t, s)
	})
}

// newBatchFixture returns a service that does not run, without accounts.
func newBatchFixture(tb testing.TB, db *sqlstore.DB, room int) *batchFixture {
	tb.Helper()
	s := &batchFixture{t: tb, reg: prometheus.NewRegistry(), bell: make(logSignal, 1)}
	s.fakeKind = newFakeKind(db, s.clock.Now)
	var err error
	access := accesstest.Access(tb, db, s.clock.Now)
	s.Service, err = batch.New(batch.Config{
		DB: db, Cipher: accesstest.ClaimedCipher(tb, db), Change: access.Change, Kinds: []item.Kind{s.kind(room)},
		Log: slog.New(slog.NewTextHandler(io.MultiWriter(&s.log, s.bell), nil)), Metrics: s.reg, Now: s.clock.Now,
	})
	if err != nil {
		tb.Fatal(err)
	}
	s.ShortenPauses()
	return s
}

// logSignal is a log writer that signals each write.
type logSignal chan struct{}

// Write implements io.Writer.
func (b logSignal) Write(p []byte) (int, error) {
	select {
	case b <- struct{}{}:
	default:
	}
	return len(p), nil
}

// waitLogged waits until a text was logged.
func (s *batchFixture) waitLogged(text string) {
	for s.log.Count(text) == 0 {
		<-s.bell
	}
}

// newDoor creates the API for the existing accounts.
func (s *batchFixture) newDoor() {
	s.t.Helper()
	s.door = accesstest.NewClient(s.t, accesstest.Access(s.t, s.DB, s.clock.Now), s.Routes())
}

// run runs the service until stop is called or the test ends.
func (s *batchFixture) run() (stop func()) {
	stop = fixture.Run(s.t, s.Run)
	return stop
}

// records returns an array of n equal records.
func records(n int, record string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(record+",", n), ",") + "]"
}

// post sends a batch of an account in the live world, and returns its id.
func (s *batchFixture) post(of accesstest.Tenant, array string) string {
	s.t.Helper()
	return s.door.Do(of.Keys[schema.Live], "POST", path, `{"recharges":`+array+`}`).Want(s.t, "a batch", 202).TextAt("batch_id")
}

// get sends a GET of the first account in the live world.
func (s *batchFixture) get(target string, header ...string) accesstest.Reply {
	s.t.Helper()
	return s.door.Do(s.a.Keys[schema.Live], "GET", target, "", header...)
}

// wait waits for a batch to complete, and returns it.
func (s *batchFixture) wait(id string) item.Finished {
	s.t.Helper()
	for {
		select {
		case f := <-s.finished:
			if f.ID == id {
				return f
			}
		case <-time.After(5 * time.Minute):
			s.t.Fatalf("%s is not completed: %s", id, s.log.String())
		}
	}
}

// metric returns the value of a metric.
func (s *batchFixture) metric(name string, labels ...string) float64 {
	s.t.Helper()
	return fixture.MetricValue(s.t, s.reg, name, labels...)
}

// errAway is the error of Do for an unavailable provider.
var errAway = errors.New("away")

var refusal = schema.NewProblem(schema.InvalidAmount, "amount", "This amount is none.")
