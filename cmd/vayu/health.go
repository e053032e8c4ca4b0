package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"vayu/query"
	"vayu/schema"
)

// healthy says that the process serves.
func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// readyPatience bounds how long a readiness probe waits for the stores.
const readyPatience = time.Second

// readiness says whether requests should be sent here, and what is wrong. An
// engine or a state store that is away does not make the service unready:
// current answers go on.
func (s *service) readiness() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyPatience)
		defer cancel()
		detail := map[string]any{"clickhouse": "ok", "state": "ok"}
		if err := s.db.Conn().Ping(ctx); err != nil {
			detail["clickhouse"] = "does not answer" // the error may hold addresses; it is in the log
		}
		if err := s.state.Check(ctx); err != nil {
			detail["state"] = "does not answer, or cannot write" // keys are in memory: answers go on
		}
		s.webhooks.ready(ctx, detail)
		status := http.StatusServiceUnavailable
		for _, world := range schema.Worlds {
			newest, ok := s.query.Newest(world)
			if !ok {
				detail[world.String()] = "no figures yet"
				continue
			}
			detail[world.String()] = map[string]any{"newest": newest.Format(time.RFC3339), "stale": time.Since(newest) > query.StaleAfter}
			status = http.StatusOK
		}
		detail["status"] = "ready"
		if status != http.StatusOK {
			detail["status"] = "starting"
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(detail) // a probe that hung up needs no answer
	})
}
