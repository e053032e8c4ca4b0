package outbox

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/sse"
	"vayu/schema"
)

func TestFeedFindsNewEvents(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		noon := time.Date(2026, 11, 21, 6, 30, 0, 0, time.UTC)
		d.clock.Set(noon)
		d.appendEvent("acc_a")
		d.clock.Advance(10 * time.Second)
		a, b := d.appendEvent("acc_a"), d.appendEvent("acc_b")
		d.appendEvent("acc_c")
		asks := []sse.Query{}
		for i := range 20 { // more than one statement asks for
			asks = append(asks, sse.Query{Owner: schema.Owner{Account: "acc_x", World: schema.World(i % 2)}, Since: noon})
		}
		asks = append(asks,
			sse.Query{Owner: schema.Owner{Account: "acc_a", World: schema.Live}, Since: noon.Add(time.Second)},
			sse.Query{Owner: schema.Owner{Account: "acc_a", World: schema.Sandbox}, Since: noon},
			sse.Query{Owner: schema.Owner{Account: "acc_b", World: schema.Live}, Since: noon.Add(10 * time.Second)})
		found, err := Feed{d.DB}.Changes(t.Context(), asks)
		if err != nil || len(found.Cut) != 0 {
			t.Fatalf("%v, cut: %v", err, found.Cut)
		}
		got := map[string]string{}
		for _, n := range found.Notices {
			data, err := json.Marshal(n.Data)
			if err != nil {
				t.Fatal(err)
			}
			got[n.ID] = n.Owner.Account + string(n.Scope) + string(data)
		}
		line := func(account, id string) string {
			return account + `webhooks:manage{"id":"` + id + `","type":"payment.succeeded","created":1795242610}`
		}
		if diff := cmp.Diff(map[string]string{a: line("acc_a", a), b: line("acc_b", b)}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFeedReportsCutResults(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		before := time.Now()
		if err := d.DB.Update(t.Context(), func(tx *sqlstore.Tx) error {
			for range feedLimit {
				if _, err := d.Store(tx, "acc_a", schema.Live, schema.EventPaymentSucceeded, map[string]any{}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		owner := schema.Owner{Account: "acc_a", World: schema.Live}
		one := d.appendEvent("acc_b")
		asks := []sse.Query{{Owner: owner, Since: before}}
		for i := range 7 { // all in one statement
			asks = append(asks, sse.Query{Owner: schema.Owner{Account: "acc_b", World: schema.World(i % 2)}, Since: before.Add(time.Duration(-i) * time.Hour)})
		}
		found, err := Feed{d.DB}.Changes(t.Context(), asks)
		if diff := cmp.Diff([]schema.Owner{owner}, found.Cut); err != nil || diff != "" {
			t.Errorf("%v, accounts whose list is cut (-want +got):\n%s", err, diff)
		}
		if !slices.ContainsFunc(found.Notices, func(n sse.Notice) bool { return n.ID == one }) {
			t.Error("the event of the other account is missing")
		}
	})
}

// An instance finds the events of another one. Each has its own store handle.
func TestFeedFindsEventsOfOtherInstance(t *testing.T) {
	t.Parallel()
	here := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 4}}
	one, two := sqlstoretest.Open(t, here), sqlstoretest.Open(t, here)
	tenant := accesstest.AddTenant(t, one, "a")
	access := accesstest.Access(t, two, time.Now)
	service, err := sse.New(sse.Config{Access: access, Feeds: []sse.Feed{Feed{two}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	defer func() { stop(); <-ended }()
	url := accesstest.Serve(t, access, service.Routes())
	listen := func(world schema.World) *bufio.Scanner {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/live", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+tenant.Keys[world])
		resp, err := (&http.Transport{}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return bufio.NewScanner(resp.Body)
	}
	mine, other := listen(schema.Sandbox), listen(schema.Live)
	until(t, mine, `data: {"mode":"sandbox"`)
	until(t, other, `data: {"mode":"live"`)
	box := New(Config{DB: one})
	for _, world := range []schema.World{schema.Sandbox, schema.Live} {
		var id string
		if err := one.Update(t.Context(), func(tx *sqlstore.Tx) (err error) {
			id, err = box.Append(tx, tenant.ID, world, schema.EventPaymentSucceeded, map[string]any{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		to := mine
		if world == schema.Live {
			to = other
		}
		// The first event of each reader is its own.
		if line := until(t, to, `data: {"id"`); !strings.Contains(line, id) {
			t.Errorf("%s: got %s, want %s", world, line, id)
		}
	}
}

// until reads lines up to one with the given beginning.
func until(t *testing.T, lines *bufio.Scanner, begin string) string {
	t.Helper()
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), begin) {
			return lines.Text()
		}
	}
	t.Fatalf("waiting for %q: %v", begin, lines.Err())
	return ""
}
