package query_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/access/account"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	testfixture "vayu/internal/testing/fixture"
	"vayu/schema"
)

// serveWithAccess serves the routes as the program does: with keys, rate limits and
// quotas. No test reaches the limits.
func (w *fixture) serveWithAccess(t testing.TB) {
	t.Helper()
	w.serveWithQuota(t, 1_000_000_000)
}

// serveWithQuota is serveWithAccess with a plan of so many calls a month.
func (w *fixture) serveWithQuota(t testing.TB, calls int64) {
	t.Helper()
	db := sqlstoretest.SQLite(t)
	const plenty = 1_000_000_000
	plans := map[string]int64{"plenty": calls}
	service := access.New(access.Config{
		DB: db, Cipher: accesstest.ClaimedCipher(t, db), Metrics: prometheus.NewRegistry(),
		Settings: access.Settings{Rate: plenty, Burst: plenty, MoneyRate: plenty, MoneyBurst: plenty, Plans: plans},
	})
	of := schema.Owner{World: schema.Live}
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
		holder, _, err := account.Create(tx, plans, "bench", "plenty", time.Now())
		of.Account = holder.ID
		return err
	})
	w.key = accesstest.AddKey(t, db, of)
	testfixture.Run(t, service.Run)
	if err := service.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.url = listen(t, w.routes(t, service))
}

// routes returns the API behind an access check.
func (w *fixture) routes(t testing.TB, access httpapi.Access) http.Handler {
	t.Helper()
	_, measured := t.(*testing.B)
	routes := slices.Concat(w.service.Routes(), w.service.PublicRoutes(w.public, func() string { return "https://air.example" }, !measured))
	h, err := httpapi.New(httpapi.Config{
		Routes: routes, Access: access, Metrics: prometheus.NewRegistry(), Origins: map[string][]string{"acc": {"https://app.example"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A query for n cities counts as n calls, whatever the result of each.
func TestBulkQueryCountsOneCallPerCity(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.serveWithAccess(t)
	for _, q := range []struct{ path, used string }{
		{"/v1/aqi?city=Delhi", "1"},
		{"/v1/aqi?cities=Delhi,Pune,Delhi,Atlantis", "5"},
		{"/v1/aqi?cities=Delhi,,Pune", "6"},
		{"/v1/cities", "7"},
	} {
		if _, header, text := w.get(t, q.path); header.Get("X-Quota-Used") != q.used {
			t.Errorf("after %s %q calls are used, want %s: %s", q.path, header.Get("X-Quota-Used"), q.used, text)
		}
	}
}

// A query for n cities needs a quota of n calls.
func TestBulkQueryNeedsQuotaForEveryCity(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.serveWithQuota(t, 5)
	for _, q := range []struct {
		path   string
		status int
		used   string
	}{
		{"/v1/aqi?cities=Delhi,Pune,Delhi", 200, "3"},
		{"/v1/aqi?cities=Delhi,Pune,Delhi", 429, "3"},
		{"/v1/aqi?cities=Delhi,Pune", 200, "5"},
		{"/v1/aqi?city=Delhi", 429, "5"},
	} {
		if status, header, text := w.get(t, q.path); status != q.status || header.Get("X-Quota-Used") != q.used {
			t.Errorf("%s: %d and %q used, want %d and %s: %s", q.path, status, header.Get("X-Quota-Used"), q.status, q.used, text)
		}
	}
}
