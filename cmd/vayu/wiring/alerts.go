package wiring

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/query/alert"
	"vayu/query/alert/evaluation"
	"vayu/schema"
)

// newAlerts creates the API of alerts, and their evaluation.
func (s *Service) newAlerts(log *slog.Logger, reg prometheus.Registerer) {
	air := s.query.Air()
	s.alerts = alert.New(alert.Config{DB: s.state, Change: s.access.Change, Air: air, Events: s.outbox, Subscribed: s.webhooks.subscribed})
	s.evaluator = evaluation.New(evaluation.Config{DB: s.state, Air: air, Events: s.outbox, Log: log, Metrics: reg})
}

// subscribed returns the number of active webhooks of an owner for a type of event.
func (w *webhooks) subscribed(of schema.Owner, event schema.EventType) (n int) {
	for _, one := range w.subscriptions.Snapshot().Matching(of.Account, of.World, event) {
		if one.Active {
			n++
		}
	}
	return n
}
