package wiring

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/cmd/vayu/settings"
	"vayu/dispatch"
	"vayu/dispatch/delivery"
	"vayu/dispatch/deliveryapi"
	"vayu/dispatch/devreceiver"
	"vayu/dispatch/kafka"
	"vayu/dispatch/outbox"
	"vayu/dispatch/sender"
	"vayu/dispatch/ssrf"
	"vayu/dispatch/subscription"
	"vayu/internal/httpapi"
	"vayu/internal/lifecycle"
	"vayu/internal/sqlstore"
	"vayu/internal/topic"
	"vayu/schema"
)

type webhooks struct {
	outbox        *outbox.Outbox
	log           *kafka.Log // nil without Kafka; the outbox relay then calls the dispatcher directly
	subscriptions *subscription.Cache
	deliveries    *delivery.Service
	deliveryAPI   deliveryapi.API
	dispatch      *dispatch.Service
	copier        *delivery.Copier
}

// newWebhooks creates the services that deliver events. It does not create the outbox (table of unpublished events),
// because access control needs the outbox earlier.
func (s *Service) newWebhooks(cfg settings.Config, log *slog.Logger, reg prometheus.Registerer) error {
	w := &s.webhooks
	allow, err := cfg.Webhook.Networks()
	if err != nil {
		return err
	}
	roots, err := webhookRoots(cfg)
	if err != nil {
		return fmt.Errorf("webhook-ca: %w", err)
	}
	fence := ssrf.New(allow, cfg.Webhook.Ports)
	w.subscriptions = subscription.New(subscription.Config{
		DB: s.state, Cipher: s.cipher, Change: s.access.Change, Check: fence.Check, Test: w.test, Limits: cfg.Webhook.Limits(), Log: log, Metrics: reg,
	})
	w.dispatch = dispatch.New(dispatch.Config{
		Settings: cfg.Webhook, DB: s.state, Subscriptions: w.subscriptions, Log: log, Trace: s.trace, Metrics: reg,
		Number: func(ctx context.Context, of schema.Owner, transaction string) (string, error) {
			return s.money.recharges.ClearNumber(ctx, of, transaction) // money is created later, but before the dispatcher runs
		},
		Sender: sender.New(sender.Config{Control: fence.Control, Roots: roots, PerHost: cfg.Webhook.InFlight, Idle: cfg.Webhook.InFlight}),
	})
	w.deliveries = delivery.New(delivery.Config{
		DB: s.state, Wake: w.dispatch.Wake, Backlog: cfg.Webhook.Backlog, Events: w.outbox, Log: log, Metrics: reg,
	})
	w.deliveryAPI = deliveryapi.API{Deliveries: w.deliveries, Change: s.access.Change}
	if len(cfg.Kafka) == 0 {
		return nil
	}
	w.log, err = kafka.New(topic.Config{Settings: cfg.EventLog, Brokers: cfg.Kafka, Log: log, Metrics: reg})
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	return nil
}

// webhookRoots returns the certificate authorities that the service trusts in connections to webhook receivers.
func webhookRoots(c settings.Config) (*x509.CertPool, error) {
	var files []string
	if c.Webhook.CA != "" {
		files = append(files, c.Webhook.CA)
	}
	if c.Webhook.Local {
		file, err := devreceiver.Certificate(c.Data)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return dispatch.Roots(files...)
}

// test stores a test event, and one delivery of the event to the given subscription.
func (w *webhooks) test(tx *sqlstore.Tx, s *subscription.Subscription, event schema.EventType) (eventID, deliveryID string, err error) {
	stored, err := w.outbox.Store(tx, s.Account, s.World, event, schema.TestEventData(event))
	if err != nil {
		return "", "", err
	}
	deliveryID, err = w.deliveries.Test(tx, &stored, s.ID)
	return stored.ID, deliveryID, err
}

// dispatchDrain is the time that deliveries have to finish when the service stops. It is enough for attempts in flight
// (5 s), storing their results (4 s) and releasing leases (2 s), with a margin.
const dispatchDrain = 15 * time.Second

// parts returns the parts of the webhook services that this instance's roles need, in the order of their start. The
// outbox relay starts last, because the other parts receive its events. An instance with the role api but without
// dispatch needs only the cache of subscriptions.
func (w *webhooks) parts(c settings.Config) []lifecycle.Part {
	if !c.Has(settings.RoleAPI, settings.RoleDispatch) {
		return nil
	}
	parts := []lifecycle.Part{{Name: "subscriptions", Run: w.subscriptions.Run, Ready: w.subscriptions.Ready}}
	if !c.Has(settings.RoleDispatch) {
		return parts
	}
	parts = append(parts, []lifecycle.Part{
		{Name: "deliveries", Run: w.deliveries.Run},
		{Name: "webhooks", Run: w.dispatch.Run, Drain: dispatchDrain},
	}...)
	if w.log == nil {
		return append(parts, lifecycle.Part{Name: "outbox", Run: func(ctx context.Context) error { return w.outbox.Run(ctx, w.dispatch) }})
	}
	return append(parts,
		lifecycle.Part{Name: "event log", Run: func(ctx context.Context) error { return w.log.Consume(ctx, w.dispatch.AcceptIDs) }},
		lifecycle.Part{Name: "outbox", Run: func(ctx context.Context) error {
			return errors.Join(w.outbox.Run(ctx, w.log), w.log.Close())
		}})
}

func (w *webhooks) routes() []httpapi.Route {
	return slices.Concat(w.subscriptions.Routes(), w.deliveryAPI.Routes(), w.outbox.Routes())
}

func (w *webhooks) backlog(ctx context.Context) map[string]any {
	waiting, oldest := w.outbox.Backlog(ctx)
	return map[string]any{"waiting": waiting, "oldest_seconds": int64(oldest.Seconds())}
}
