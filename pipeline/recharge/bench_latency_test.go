package recharge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vayu/dispatch/outbox"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
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
	ask, _ := benchServer(b, sqlstoretest.SQLite(b))
	floor := fixture.OpenLoop(b.N, perSecond, func(int) { ask(http.MethodGet, "/v1/operators", "") })
	b.ResetTimer()
	took := fixture.OpenLoop(b.N, perSecond, func(i int) { ask(http.MethodPost, "/v1/recharge", rechargeBody(i)) })
	b.StopTimer()
	reportLatency(b, "floor-", floor)
	reportLatency(b, "", took)
}

// BenchmarkHTTP measures POST /v1/recharge of one account over 64 connections, each of which sends its next request
// after a reply. Its floor writes the same rows in two commits each, with as many callers.
func BenchmarkHTTP(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *sqlstore.DB{"sqlite": sqlstoretest.SQLite, "postgres": sqlstoretest.Postgres} {
		b.Run(name, func(b *testing.B) {
			const connections = 64
			db := open(b)
			ask, owner := benchServer(b, db)
			floor := concurrently(b, connections, b.N, func(_, i int) error { return rawRecharge(db, owner, i) })
			took := make([]time.Duration, b.N)
			b.ResetTimer()
			rate := concurrently(b, connections, b.N, func(_, i int) error {
				began := time.Now()
				ask(http.MethodPost, "/v1/recharge", rechargeBody(i))
				took[i] = time.Since(began)
				return nil
			})
			b.StopTimer()
			slices.Sort(took)
			reportLatency(b, "", took)
			b.ReportMetric(rate, "recharges/s")
			b.ReportMetric(floor, "floor/s")
			b.ReportMetric(rate/floor, "x-floor")
		})
	}
}

func rechargeBody(i int) string {
	return fmt.Sprintf(`{"mobile":"98%08d","operator":"Airtel","amount":199,"type":"prepaid","ref_id":"ref-%d"}`, i, i)
}

// reportLatency reports the median and the 99th percentile of sorted times.
func reportLatency(b *testing.B, name string, all []time.Duration) {
	b.Helper()
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, name+"p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, name+"p99-ms")
}

// benchServer serves recharges of an account until the benchmark ends. The function ask sends a request of the account
// and wants 200.
func benchServer(b *testing.B, db *sqlstore.DB) (ask func(method, path, body string), owner schema.Owner) {
	b.Helper()
	events := outbox.New(outbox.Config{DB: db})
	a := accesstest.AddTenant(b, db, "shop")
	sqlstoretest.Exec(b, db, "INSERT INTO wallet (account_id, mode, available, held) VALUES ($1, 'live', 1000000000000, 0)", a.ID)
	s, err := New(Config{Options: transaction.Options{DB: db, Events: events}, Connections: []order.Connection{{
		Link: transaction.Link{Name: "prompt", Timeout: 10 * time.Second, Concurrency: 64}, Operator: prompt{},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	fixture.Run(b, s.Run)
	url := accesstest.Serve(b, accesstest.Access(b, db, nil), s.Routes())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	b.Cleanup(client.CloseIdleConnections)
	return func(method, path, body string) {
		req, err := http.NewRequestWithContext(context.Background(), method, url+path, strings.NewReader(body))
		if err != nil {
			b.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer "+a.Keys[schema.Live])
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		resp, err := client.Do(req)
		if err != nil {
			b.Error(err)
			return
		}
		defer resp.Body.Close()
		if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			b.Errorf("%s %s: %d %s, %v", method, path, resp.StatusCode, text, err)
		}
	}, a.In(schema.Live)
}
