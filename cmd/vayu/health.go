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
		s.writeReadiness(w, detail)
	})
}

// bareReadiness says whether requests should be sent here and nothing else: what is
// wrong is for operators. It asks no store.
func (s *service) bareReadiness() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { s.writeReadiness(w, nil) })
}

// writeReadiness answers with the status, and with detail unless it is nil.
func (s *service) writeReadiness(w http.ResponseWriter, detail map[string]any) {
	shown := detail
	if shown == nil {
		shown, detail = map[string]any{}, map[string]any{}
	}
	ready := !s.has(roleAPI) || s.figures(detail)
	status := http.StatusOK
	switch shown["status"] = "ready"; {
	case s.leaving.Load():
		shown["status"], status = "stopping", http.StatusServiceUnavailable
	case !ready:
		shown["status"], status = "starting", http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(shown) //nolint:errchkjson // a probe that hung up needs no answer
}

// storesReady says how every store is, and the events that wait for them.
func (s *service) storesReady(ctx context.Context) map[string]any {
	detail := map[string]any{"roles": s.Roles}
	for store, word := range s.askStores(ctx) {
		detail[store] = word
	}
	if s.has(roleDispatch) {
		detail["events"] = s.webhooks.backlog()
	}
	return detail
}

// fine is the word of a store that answers.
const fine = "ok"

// askStores asks every store that this instance needs how it is, all at once, so that
// one that hangs takes no time from another. What is wrong it says in words without the
// error, which may hold addresses; it is in the log.
func (s *service) askStores(ctx context.Context) map[string]string {
	var mu sync.Mutex
	words := map[string]string{}
	var asking sync.WaitGroup
	ask := func(store string, how func() string) {
		asking.Go(func() {
			word := how()
			mu.Lock()
			defer mu.Unlock()
			words[store] = word
		})
	}
	if s.usesClickHouse() {
		ask("clickhouse", func() string { return wordOf(s.db.Conn().Ping(ctx), "does not answer") })
	}
	ask("state", func() string { // keys are in memory: answers go on
		return wordOf(s.state.Check(ctx), "does not answer, or cannot write")
	})
	if s.has(roleDispatch) && s.webhooks.log != nil {
		ask("kafka", func() string { return s.webhooks.log.Word(ctx) })
	}
	asking.Wait()
	return words
}

func wordOf(err error, wrong string) string {
	if err != nil {
		return wrong
	}
	return fine
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
