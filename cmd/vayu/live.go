package main

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/dispatch/delivery"
	"vayu/internal/live"
	"vayu/internal/outbox"
)

// newLive wires what tells clients of changes. Every stage says itself what has
// changed there.
func (s *service) newLive(log *slog.Logger, reg prometheus.Registerer) (err error) {
	s.live, err = live.New(live.Config{
		Access: s.access,
		Feeds:  []live.Feed{delivery.Feed{DB: s.state}, outbox.Feed{DB: s.state}, s.money.batches.Live(), s.query.Live()},
		Log:    log, Metrics: reg,
	})
	return err
}
