package dispatch

import (
	"context"
	"errors"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/scheduler"
	"vayu/dispatch/sender"
	"vayu/dispatch/subscription"
	"vayu/dispatch/webhook"
	"vayu/internal/tracing"
)

// attempt makes one attempt. If no request was sent, for example to a paused webhook, it releases the delivery's lease.
// A cancellation of ctx does not abort the request, because the outcome of a sent request must be recorded.
func (s *Service) attempt(ctx context.Context, id string, w *work) {
	sub, ok := s.freshRecipient(ctx, w)
	ctx = context.WithoutCancel(ctx)
	var result sender.Result
	if ok {
		var body []byte
		if body, ok = s.body(ctx, w, sub); ok {
			result = s.deliver(ctx, w, s.post(ctx, w, sub, body))
		}
	}
	if !ok || result.Unsent {
		s.mu.Lock()
		s.queue.Abandon(id)
		s.mu.Unlock()
		s.metrics.claims.Observe(ctx, s.releaseAll(ctx, []*work{w}))
		return
	}
	s.outcomes <- &delivery.Outcome{
		Row: &w.Row, Token: w.token, Result: result, Transition: delivery.AfterAttempt(w.Attempts+1, result.OK(), result.SentAt),
	}
	s.metrics.attempted(&result)
	s.mu.Lock()
	s.queue.Done(id, scheduler.Result{At: s.Now(), Took: result.Duration, OK: result.OK(), TimedOut: result.Slow})
	s.mu.Unlock()
	if s.hasClaim() {
		signal(s.claimSignal)
	}
}

// freshRecipient refreshes the cache of subscriptions if the cache is too old, and returns the subscription of an
// attempt. It returns false if the attempt must not be sent.
func (s *Service) freshRecipient(ctx context.Context, w *work) (*subscription.Subscription, bool) {
	if err := s.Subscriptions.Fresh(ctx); err != nil {
		return nil, false // the cache counts the failure
	}
	return s.cachedRecipient(w.Webhook)
}

// cachedRecipient returns a subscription from the cache, or nil if it is unknown, and whether deliveries may be sent to
// it. While the subscription is paused, or its secret cannot be decrypted, its deliveries wait in the store. The
// deletion of a subscription cancels its deliveries in the store.
func (s *Service) cachedRecipient(id string) (*subscription.Subscription, bool) {
	sub := s.Subscriptions.Get(id)
	return sub, sub != nil && sub.Active && len(sub.Secrets(s.Now())) > 0
}

// hostOf returns the host and port of a subscription's endpoint; "" for an unknown subscription.
func (c Config) hostOf(webhook string) string {
	if sub := c.Subscriptions.Get(webhook); sub != nil {
		return sub.Host
	}
	return ""
}

// errNoRecipient stops an attempt before the request is sent.
var errNoRecipient = errors.New("webhook deleted, paused or without a secret")

func (s *Service) post(ctx context.Context, w *work, sub *subscription.Subscription, body []byte) sender.Post {
	header := delivery.Header(w.EventID, w.ID, w.Attempts+1, w.World)
	return sender.Post{URL: sub.URL, Header: header, Body: body, Sign: func(now time.Time) (string, error) {
		// The subscription may have changed while the sender connected, which can take seconds.
		newest, ok := s.freshRecipient(ctx, w)
		if !ok || newest.ClearNumbers != sub.ClearNumbers {
			return "", errNoRecipient
		}
		return webhook.Sign(body, now, newest.Secrets(now)...), nil
	}}
}

// deliver sends the request, and records the attempt as a span in the trace of the event.
func (s *Service) deliver(ctx context.Context, w *work, post sender.Post) sender.Result {
	if s.Trace == nil {
		return s.Sender.Send(ctx, post)
	}
	ctx, span := s.Trace.Resume(ctx, w.Trace, w.Happened, s.Now(), "delivery attempt", tracing.Client)
	result := s.Sender.Send(ctx, post)
	if !span.Recording() || result.Unsent { // an unsent attempt has no span
		return result
	}
	span.Set(tracing.Event, w.EventID)
	span.Set(tracing.EventType, string(w.Type))
	span.Set(tracing.Delivery, w.ID)
	span.SetInt(tracing.Number, w.Attempts+1)
	span.Set(tracing.Stage, string(result.Stage))
	span.SetInt(tracing.Status, result.Status)
	if !result.OK() {
		span.Fail()
	}
	span.End()
	return result
}
