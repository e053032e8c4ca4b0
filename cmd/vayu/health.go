package main

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"sync"
	"time"

	"vayu/query"
	"vayu/schema"
)

// healthy says that the process serves.
func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// readyPatience bounds how long a readiness probe waits for the stores, all together:
// half of the second after which the proxy of docs/operations takes silence for a no,
// which would be the end of current answers whenever a store hangs.
const readyPatience = 500 * time.Millisecond

// glanceFor is how long an answer of the stores is given again: whoever asks for readiness
// is nobody known, and must not be able to make the stores work.
const glanceFor = 200 * time.Millisecond

// glance is the last answer of the stores.
type glance struct {
	mu     sync.Mutex
	at     time.Time
	detail map[string]any
}

// ask returns what is known, or asks anew; a copy, to which more can be added.
func (g *glance) ask(anew func() map[string]any) map[string]any {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.detail == nil || time.Since(g.at) > glanceFor {
		g.detail = anew()
		g.at = time.Now()
	}
	return maps.Clone(g.detail)
}

// readiness says whether requests should be sent here, and what is wrong. An
// engine or a state store that is away does not make the service unready:
// current answers go on.
func (s *service) readiness() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		detail := s.stores.ask(func() map[string]any {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), readyPatience) // others wait for it, too
			defer cancel()
			return s.storesReady(ctx)
		})
		if s.has(roleIngest) {
			detail["sources"] = sourcesOf(s.metrics)
		}
		ready := !s.has(roleAPI) || s.figures(detail)
		status := http.StatusOK
		switch detail["status"] = "ready"; {
		case s.leaving.Load():
			detail["status"], status = "stopping", http.StatusServiceUnavailable
		case !ready:
			detail["status"], status = "starting", http.StatusServiceUnavailable
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(detail) // a probe that hung up needs no answer
	})
}

// storesReady asks every store at once how it is.
func (s *service) storesReady(ctx context.Context) map[string]any {
	detail := map[string]any{"roles": s.Roles, "state": "ok"}
	var engine, store error // which may hold addresses; they are in the log
	var asking sync.WaitGroup
	if s.usesClickHouse() {
		asking.Go(func() { engine = s.db.Conn().Ping(ctx) })
		detail["clickhouse"] = "ok"
	}
	asking.Go(func() { store = s.state.Check(ctx) })
	if s.has(roleDispatch) {
		s.webhooks.ready(ctx, detail)
	}
	asking.Wait()
	if engine != nil {
		detail["clickhouse"] = "does not answer"
	}
	if store != nil {
		detail["state"] = "does not answer, or cannot write" // keys are in memory: answers go on
	}
	return detail
}

// figures says of each world how new its figures are, and whether one has some.
func (s *service) figures(detail map[string]any) (some bool) {
	for _, world := range schema.Worlds {
		newest, ok := s.query.Newest(world)
		if !ok {
			detail[world.String()] = "no figures yet"
			continue
		}
		detail[world.String()] = map[string]any{"newest": newest.Format(time.RFC3339), "stale": time.Since(newest) > query.StaleAfter}
		some = true
	}
	return some
}
