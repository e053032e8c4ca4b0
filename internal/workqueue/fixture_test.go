package workqueue

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// jobTable creates a table with the columns that Table requires.
const jobTable = `CREATE TABLE job (id TEXT NOT NULL PRIMARY KEY, mode TEXT NOT NULL, provider TEXT NOT NULL, due_at BIGINT, token TEXT NOT NULL,
	sent BIGINT NOT NULL, sent_at BIGINT, batch_id TEXT NOT NULL)`

// noon is the start time of tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// queueFixture is a work queue with one provider that has four slots. It does not run:
// tests poll.
type queueFixture struct {
	*Queue[string]

	t           *testing.T
	db          *sqlstore.DB
	clock       *fixture.Clock
	failed      prometheus.Counter
	pool        *Pool
	unavailable bool

	mu     sync.Mutex
	claims []Claim[string]
	number int
}

func eachQueueFixture(t *testing.T, do func(t *testing.T, s *queueFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		sqlstoretest.Exec(t, db, jobTable)
		do(t, newQueueFixture(t, db))
	})
}

func newQueueFixture(t *testing.T, db *sqlstore.DB) *queueFixture {
	t.Helper()
	s := &queueFixture{t: t, db: db, clock: &fixture.Clock{}, failed: prometheus.NewCounter(prometheus.CounterOpts{Name: "failed_total", Help: "Failed polls."})}
	s.clock.Set(noon)
	s.restart()
	return s
}

// restart creates the Queue again, like another process.
func (s *queueFixture) restart() {
	s.t.Helper()
	log := (&fixture.Log{}).Logger()
	s.Queue = New(Config[string]{
		DB: s.db, Log: log, Now: s.clock.Now, ClaimFailures: failurelog.New(log, "jobs", "claim", "jobs stay queued", s.failed),
		Table: Table[string]{Name: "job", Columns: "id", Scan: func(row sqlstore.Scanner) (id string, err error) {
			err = row.Scan(&id)
			return id, err
		}},
	})
	of := Provider{Name: "bank", World: schema.Live, Timeout: 10 * time.Second, Concurrency: 4, Available: func() bool { return !s.unavailable }}
	var err error
	if s.pool, err = s.Add(of, s.begin); err != nil {
		s.t.Fatal(err)
	}
}

// begin records a claim, whose slot stays acquired until finishCalls.
func (s *queueFixture) begin(c Claim[string]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims = append(s.claims, c)
}

// finishCalls releases the slots of the recorded claims, and returns their ids.
func (s *queueFixture) finishCalls() (ids []string) {
	s.mu.Lock()
	begun := s.claims
	s.claims = nil
	s.mu.Unlock()
	for _, c := range begun {
		ids = append(ids, c.Record)
		s.pool.Release(c.batch)
	}
	slices.Sort(ids)
	return ids
}

// add stores a job that is due after a time, and returns its id.
func (s *queueFixture) add(after time.Duration, batch string) (id string) {
	s.t.Helper()
	s.number++
	id = fmt.Sprintf("%s%03d", batch, s.number)
	sqlstoretest.Exec(s.t, s.db, "INSERT INTO job (id, mode, provider, due_at, token, sent, batch_id) VALUES ($1, 'live', 'bank', $2, '', 0, $3)",
		id, s.clock.Now().Add(after).UnixMicro(), batch)
	return id
}

// row describes a job: whether it was sent, when it is due and was sent (since noon), and
// whether it is leased.
func (s *queueFixture) row(id string) (text string) {
	s.t.Helper()
	var sent, due, at int64
	var token string
	err := s.db.View(context.Background()).QueryRow("SELECT sent, due_at, COALESCE(sent_at, 0), token FROM job WHERE id = $1", id).Scan(&sent, &due, &at, &token)
	if err != nil {
		s.t.Fatal(err)
	}
	text = fmt.Sprintf("sent %d due %s", sent, time.UnixMicro(due).Sub(noon))
	if at != 0 {
		text += fmt.Sprintf(" at %s", time.UnixMicro(at).Sub(noon))
	}
	if token != "" {
		text += " leased"
	}
	return text
}
