package recharge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"vayu/dispatch/outbox"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// BenchmarkLatency measures the time from the due time of a request to its reply. It sends
// 200 POST /v1/recharge a second over HTTP, whether or not earlier ones are done. Keys,
// limits and audit are enabled, on SQLite, and the provider answers at once. Its floor is
// GET /v1/operators, which does not read the store.
func BenchmarkLatency(b *testing.B) {
	const perSecond = 200
	db := sqlstoretest.SQLite(b)
	events := outbox.New(outbox.Config{DB: db})
	a := accesstest.AddTenant(b, db, "shop")
	sqlstoretest.Exec(b, db, "INSERT INTO wallet (account_id, mode, available, held) VALUES ($1, 'live', 1000000000000, 0)", a.ID)
	s, err := New(Config{Options: transaction.Options{DB: db, Events: events}, Connections: []order.Connection{{
		Link: transaction.Link{Name: "prompt", Timeout: 10 * time.Second, Concurrency: 64}, Operator: prompt{},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	url := accesstest.Serve(b, accesstest.Access(b, db, nil), s.Routes())
	ask := func(method, path, body string, want int) {
		req, err := http.NewRequestWithContext(b.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			b.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer "+a.Keys[schema.Live])
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Error(err)
			return
		}
		defer resp.Body.Close()
		if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != want {
			b.Errorf("%s %s: %d %s, %v", method, path, resp.StatusCode, text, err)
		}
	}
	floor := fixture.OpenLoop(b.N, perSecond, func(int) { ask(http.MethodGet, "/v1/operators", "", http.StatusOK) })
	b.ResetTimer()
	took := fixture.OpenLoop(b.N, perSecond, func(i int) {
		ask(http.MethodPost, "/v1/recharge", fmt.Sprintf(`{"mobile":"98%08d","operator":"Airtel","amount":199,"type":"prepaid","ref_id":"ref-%d"}`, i, i), http.StatusOK)
	})
	b.StopTimer()
	for name, all := range map[string][]time.Duration{"floor-": floor, "": took} {
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, name+"p50-ms")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, name+"p99-ms")
	}
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
}
