package wiring

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/internal/sse"
	"vayu/pipeline/batch/live"
)

// newLive creates the hub, which sends notices of changes over SSE streams. Each feed of the hub reports the changes
// of one kind of data.
func (s *Service) newLive(log *slog.Logger, reg prometheus.Registerer) (err error) {
	s.live, err = sse.New(sse.Config{
		Access: s.access,
		Feeds:  []sse.Feed{delivery.Feed{DB: s.state}, outbox.Feed{DB: s.state}, live.Feed{DB: s.state, Batches: s.money.batches.Kinds}, s.query.Live()},
		Log:    log, Metrics: reg,
	})
	return err
}
