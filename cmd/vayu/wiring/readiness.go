package wiring

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"sync"
	"time"

	"vayu/cmd/vayu/settings"
	"vayu/ingest/runner"
	"vayu/query/aggregate"
	"vayu/schema"
)

func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// readyTimeout limits the store checks of a readiness probe. It is half of the timeout that docs/operations recommends
// for a proxy. If a probe took longer, the proxy would remove instances that can still answer from memory.
const readyTimeout = 500 * time.Millisecond

// readinessTTL is how long the result of the store checks is cached. The probe needs no key. Without the cache, any
// client could therefore put load on the stores.
const readinessTTL = 200 * time.Millisecond

type readinessCache struct {
	mu     sync.Mutex
	at     time.Time
	detail map[string]any
}

// get returns a copy of the cached result. If the result is missing or too old, get first calls `check`.
func (g *readinessCache) get(check func() map[string]any) map[string]any {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.detail == nil || time.Since(g.at) > readinessTTL {
		g.detail = check()
		g.at = time.Now()
	}
	return maps.Clone(g.detail)
}

// readiness serves the readiness probe with details. The service stays ready if ClickHouse or the state store
// is unavailable, because the API answers from memory.
func (s *Service) readiness() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		detail := s.readyCache.get(func() map[string]any {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), readyTimeout) // if this client disconnects, other probes may still wait for the result
			defer cancel()
			return s.storesReady(ctx)
		})
		if s.Has(settings.RoleIngest) {
			detail["sources"] = runner.StatusOf(s.metrics)
		}
		s.writeReadiness(w, detail)
	})
}

// writeReadiness replies 200 if the service is ready, else 503. The body has a status, and `detail` if it is not nil.
func (s *Service) writeReadiness(w http.ResponseWriter, detail map[string]any) {
	shown := detail
	if shown == nil {
		shown, detail = map[string]any{}, map[string]any{}
	}
	ready := !s.Has(settings.RoleAPI) || s.figures(detail)
	status := http.StatusOK
	switch shown["status"] = "ready"; {
	case s.draining.Load():
		shown["status"], status = "stopping", http.StatusServiceUnavailable
	case !ready:
		shown["status"], status = "starting", http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(shown) //nolint:errchkjson // a disconnected probe needs no answer
}

// storesReady returns the status of each store, and the backlog of unpublished events.
func (s *Service) storesReady(ctx context.Context) map[string]any {
	detail := map[string]any{"roles": s.Roles}
	for store, status := range s.checkStores(ctx) {
		detail[store] = status
	}
	if s.Has(settings.RoleDispatch) {
		detail["events"] = s.webhooks.backlog(ctx)
	}
	return detail
}

// storeOK is the status of a store that responds.
const storeOK = "ok"

// checkStores returns the status of every store that this instance needs. It checks the stores concurrently, so that a
// slow store does not delay the others. A status omits the error text, which could contain addresses.
func (s *Service) checkStores(ctx context.Context) map[string]string {
	var mu sync.Mutex
	statuses := map[string]string{}
	var checks sync.WaitGroup
	check := func(store string, status func() string) {
		checks.Go(func() {
			status := status()
			mu.Lock()
			defer mu.Unlock()
			statuses[store] = status
		})
	}
	if s.UsesClickHouse() {
		check("clickhouse", func() string { return storeStatus(s.db.Conn().Ping(ctx), "does not answer") })
	}
	check("state", func() string { // without the state store, the API still answers, because keys are cached
		return storeStatus(s.state.Check(ctx), "does not answer, or cannot write")
	})
	if s.Has(settings.RoleDispatch) && s.webhooks.log != nil {
		check("kafka", func() string { return s.webhooks.log.Status(ctx) })
	} else if s.readings != nil && s.Has(settings.RoleIngest) { // the reading log has the same brokers as the event log
		check("kafka", func() string { return s.readings.Status(ctx) })
	}
	checks.Wait()
	return statuses
}

func storeStatus(err error, wrong string) string {
	if err != nil {
		return wrong
	}
	return storeOK
}

// figures adds to `detail` the time of the newest readings of each world (live and sandbox), and whether that time is
// too long ago. It returns true if any world has readings.
func (s *Service) figures(detail map[string]any) (some bool) {
	for _, world := range schema.Worlds {
		newest, ok := s.query.Newest(world)
		if !ok {
			detail[world.String()] = "no figures yet"
			continue
		}
		detail[world.String()] = map[string]any{"newest": newest.Format(time.RFC3339), "stale": time.Since(newest) > aggregate.StaleAfter}
		some = true
	}
	return some
}
