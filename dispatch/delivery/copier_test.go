package delivery_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/delivery"
	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// archive is a ClickHouse database for each world, with a copier into it.
type archive struct {
	t      *testing.T
	engine *columnstore.DB
	names  map[schema.World]string
	config delivery.CopierConfig
	now    time.Time
}

func newArchive(t *testing.T, db *sqlstore.DB) *archive {
	t.Helper()
	a := &archive{t: t, engine: columnstoretest.New(t), names: map[schema.World]string{}, now: start}
	for _, world := range schema.Worlds {
		a.names[world] = columnstoretest.Migrated(t, a.engine)
	}
	a.config = delivery.CopierConfig{
		DB: db, Conn: a.engine.Conn(), Database: func(w schema.World) string { return a.names[w] },
		Now: func() time.Time { return a.now },
	}
	return a
}

// copier returns a new copier.
func (a *archive) copier() *delivery.Copier {
	a.t.Helper()
	c := delivery.NewCopier(a.config)
	return c
}

func (a *archive) copy(c *delivery.Copier) {
	a.t.Helper()
	if err := c.CopyDue(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
}

// rows reads columns of a world's attempts as text.
func (a *archive) rows(world schema.World, columns string) (all []string) {
	a.t.Helper()
	rows, err := a.engine.Conn().Query(a.t.Context(), "SELECT concat_ws(' ', "+columns+") FROM "+a.names[world]+".attempt FINAL ORDER BY recorded_at, delivery_id, number")
	if err != nil {
		a.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			a.t.Fatal(err)
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		a.t.Fatal(err)
	}
	return all
}

func TestAttemptsAreCopiedWithoutBodies(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		a := newArchive(t, db)
		addWebhook(t, db, "acc_1", schema.Sandbox, "wh_sandbox")
		rows := leased(t, db, 4)
		sandbox := insert(t, db, []delivery.Draft{{Event: addEvent(t, db, "acc_1", schema.Sandbox, "evt_sandbox"), Webhook: "wh_sandbox", Lease: true}}, lease("mine", start.Add(time.Hour)), start)
		sqlstoretest.Exec(t, db, "UPDATE delivery SET attempts = 7, retry_of = 'dlv_before' WHERE id = $1", rows[2].ID)
		rows[2].Attempts = 7
		nothing := outcome(&rows[3], "mine", 0, start)
		nothing.Result.Stage, nothing.Result.Body = "", nil
		record(t, db, start.Add(time.Second), outcome(&rows[0], "mine", 200, start), outcome(&rows[1], "mine", 503, start), outcome(&rows[2], "mine", 500, start), nothing,
			outcome(&sandbox[0], "mine", 204, start))
		c := a.copier()
		a.now = start.Add(41*time.Second - time.Microsecond)
		a.copy(c)
		if got := a.rows(schema.Live, "delivery_id"); got != nil {
			t.Errorf("too young were %v", got)
		}
		a.now = a.now.Add(time.Microsecond)
		a.copy(c)
		const columns = "delivery_id, number, event_id, event_type, webhook_id, account_id, retry_of, at, duration, stage, http_status, error, body_bytes, state, recorded_at"
		const at, recorded = "2026-11-21 06:00:00.123456", "2026-11-21 06:00:01.123456"
		line := func(id string, number int, event, webhook, retryOf, stage string, status int, fault string, bytes int, state string) string {
			return strings.Join([]string{id, fmt.Sprint(number), event, "payment.succeeded", webhook, "acc_1", retryOf, at, "12345", stage, fmt.Sprint(status), fault, fmt.Sprint(bytes), state, recorded}, " ")
		}
		if diff := cmp.Diff([]string{
			line(rows[0].ID, 1, "evt_000", "wh_1", "", "status", 200, "", 2, "delivered"),
			line(rows[1].ID, 1, "evt_001", "wh_1", "", "status", 503, "the answer was 503", 2, "waiting"),
			line(rows[2].ID, 8, "evt_002", "wh_1", "dlv_before", "status", 500, "the answer was 500", 2, "failed"),
			line(rows[3].ID, 1, "evt_003", "wh_1", "", "none", 0, "the answer was 0", 0, "waiting"),
		}, a.rows(schema.Live, columns)); diff != "" {
			t.Errorf("live (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{line(sandbox[0].ID, 1, "evt_sandbox", "wh_sandbox", "", "status", 204, "", 2, "delivered")}, a.rows(schema.Sandbox, columns)); diff != "" {
			t.Errorf("sandbox (-want +got):\n%s", diff)
		}
	})
}

// Every attempt is copied once: in small batches, with equal timestamps, after restarts,
// and after a crash between the two databases.
func TestEveryAttemptIsCopiedOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, db *sqlstore.DB) {
		a := newArchive(t, db)
		addWebhook(t, db, "acc_1", schema.Sandbox, "wh_sandbox")
		rng := rand.New(rand.NewPCG(1, 2))
		at := start
		want := map[schema.World][]string{}
		c := a.copier()
		for round := range 6 {
			for range 10 {
				at = at.Add(time.Duration(rng.IntN(3)) * 30 * time.Second) // every third has the timestamp of the previous one
				world, webhook := schema.Live, "wh_1"
				if rng.IntN(3) == 0 {
					world, webhook = schema.Sandbox, "wh_sandbox"
				}
				var orders []delivery.Draft
				for range 1 + rng.IntN(12) {
					orders = append(orders, delivery.Draft{Event: addEvent(t, db, "acc_1", world, fmt.Sprintf("evt_%d_%04d", round, len(want[0])+len(want[1])+len(orders))), Webhook: webhook, Lease: true})
				}
				rows := insert(t, db, orders, lease("mine", at.Add(time.Hour)), at)
				var outcomes []delivery.Outcome
				for i := range rows {
					outcomes = append(outcomes, outcome(&rows[i], "mine", 200, at))
					want[world] = append(want[world], rows[i].ID)
				}
				record(t, db, at, outcomes...)
			}
			switch round {
			case 2:
				c = a.copier()
			case 3: // one world has all rows, the other none
				a.names[schema.Sandbox] += "_away"
				a.now = at.Add(time.Hour)
				c.SetMost(1000)
				if err := c.CopyDue(t.Context()); err == nil {
					t.Error("a database that is away was written to")
				}
				a.names[schema.Sandbox] = strings.TrimSuffix(a.names[schema.Sandbox], "_away")
				c = a.copier()
			}
			c.SetMost(1 + rng.IntN(9))
			a.now = at.Add(time.Hour)
			a.copy(c)
			for _, world := range schema.Worlds {
				got := a.rows(world, "delivery_id")
				slices.Sort(got)
				slices.Sort(want[world])
				if diff := cmp.Diff(want[world], got); diff != "" {
					t.Fatalf("round %d, %s (-want +got):\n%s", round, world, diff)
				}
			}
		}
	})
}

// logBuffer collects log lines of another goroutine.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (q *logBuffer) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.text.Write(p)
}

func (q *logBuffer) count(word string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return strings.Count(q.text.String(), word)
}

func TestClickHouseOutageIsLoggedOnce(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	addAccount(t, db, "acc_1")
	addWebhook(t, db, "acc_1", schema.Live, "wh_1")
	rows := leased(t, db, 1)
	record(t, db, start, outcome(&rows[0], "mine", 200, start))
	a := newArchive(t, db)
	var mu sync.Mutex
	suffix := "_away"
	a.config.Database = func(w schema.World) string {
		mu.Lock()
		defer mu.Unlock()
		return a.names[w] + suffix
	}
	log, reg := &logBuffer{}, prometheus.NewRegistry()
	a.config.Log, a.config.Metrics = slog.New(slog.NewTextHandler(log, nil)), reg
	a.now = start.Add(time.Hour)
	c := a.copier()
	c.SetAgain(time.Millisecond)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	for counter(t, reg, "vayu_attempts_copy_failures_total") < 3 && ctx.Err() == nil {
		a.rows(schema.Live, "1")
	}
	if n := log.count("does not answer"); n != 1 {
		t.Errorf("the failure was logged %d times, want once", n)
	}
	mu.Lock()
	suffix = ""
	mu.Unlock()
	for counter(t, reg, "vayu_attempts_copied_total") < 1 && ctx.Err() == nil {
		a.rows(schema.Live, "1")
	}
	for log.count("answers again") < 1 && ctx.Err() == nil {
		a.rows(schema.Live, "1")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := a.rows(schema.Live, "delivery_id"); !slices.Equal(got, []string{rows[0].ID}) {
		t.Errorf("got %v", got)
	}
}
