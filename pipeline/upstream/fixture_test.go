package upstream

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

// errands is a table that has what Table asks for, and nothing else.
const errands = `CREATE TABLE errand (id TEXT NOT NULL PRIMARY KEY, mode TEXT NOT NULL, provider TEXT NOT NULL, due_at BIGINT, token TEXT NOT NULL,
	sent BIGINT NOT NULL, sent_at BIGINT, batch_id TEXT NOT NULL)`

// noon is when tests begin.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// shop is Lines over a table of errands, of one upstream with four slots. It does not
// run: tests have it look.
type shop struct {
	*Lines[string]

	t      *testing.T
	db     *sqlstore.DB
	clock  *fixture.Clock
	failed prometheus.Counter
	line   *Line
	away   bool

	mu     sync.Mutex
	begun  []Claim[string]
	number int
}

func eachShop(t *testing.T, do func(t *testing.T, s *shop)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		sqlstoretest.Exec(t, db, errands)
		do(t, newShop(t, db))
	})
}

func newShop(t *testing.T, db *sqlstore.DB) *shop {
	t.Helper()
	s := &shop{t: t, db: db, clock: &fixture.Clock{}, failed: prometheus.NewCounter(prometheus.CounterOpts{Name: "failed_total", Help: "Looks that failed."})}
	s.clock.Set(noon)
	s.open()
	return s
}

// open makes Lines anew, as another process does.
func (s *shop) open() {
	s.t.Helper()
	log := (&fixture.Log{}).Logger()
	s.Lines = New(Config[string]{
		DB: s.db, Log: log, Now: s.clock.Now, Claims: failurelog.New(log, "errands", "claim", "they wait", s.failed),
		Table: Table[string]{Name: "errand", Columns: "id", Scan: func(row sqlstore.Scanner) (id string, err error) {
			err = row.Scan(&id)
			return id, err
		}},
	})
	of := Upstream{Name: "baker", World: schema.Live, Timeout: 10 * time.Second, Concurrency: 4, Available: func() bool { return !s.away }}
	var err error
	if s.line, err = s.Add(of, s.begin); err != nil {
		s.t.Fatal(err)
	}
}

// begin keeps what was claimed, whose slot stays taken until end.
func (s *shop) begin(c Claim[string]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = append(s.begun, c)
}

// end ends the calls that were begun, and returns whose they were.
func (s *shop) end() (ids []string) {
	s.mu.Lock()
	begun := s.begun
	s.begun = nil
	s.mu.Unlock()
	for _, c := range begun {
		ids = append(ids, c.Record)
		s.line.Give(c.batch)
	}
	slices.Sort(ids)
	return ids
}

// add stores an errand that is due after so long, and returns its id.
func (s *shop) add(after time.Duration, batch string) (id string) {
	s.t.Helper()
	s.number++
	id = fmt.Sprintf("%s%03d", batch, s.number)
	sqlstoretest.Exec(s.t, s.db, "INSERT INTO errand (id, mode, provider, due_at, token, sent, batch_id) VALUES ($1, 'live', 'baker', $2, '', 0, $3)",
		id, s.clock.Now().Add(after).UnixMicro(), batch)
	return id
}

// row is how an errand stands: whether it was sent, when it is due and when it was
// sent, both as of noon, and whether it is leased.
func (s *shop) row(id string) (text string) {
	s.t.Helper()
	var sent, due, at int64
	var token string
	err := s.db.View(context.Background()).QueryRow("SELECT sent, due_at, COALESCE(sent_at, 0), token FROM errand WHERE id = $1", id).Scan(&sent, &due, &at, &token)
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
