package dispatch

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/scheduler"
	"vayu/dispatch/sender"
	"vayu/dispatch/subscription"
	"vayu/dispatch/webhook"
	"vayu/schema"
)

// Headers of a delivery, beside the signature (CONTRACT 6). They are written as
// they stand here.
const (
	headerEvent    = "X-SERVICE-Event-Id"
	headerDelivery = "X-SERVICE-Delivery-Id"
	headerAttempt  = "X-SERVICE-Attempt"
	headerMode     = "X-SERVICE-Mode"
)

var (
	contentType = []string{"application/json"}
	userAgent   = []string{"Vayu-Webhooks/1"}
	sandboxMode = []string{schema.Sandbox.String()}
)

// attemptAll makes an attempt and then others, as long as there are: who has
// just sent something is the one who knows that there is room.
func (s *Service) attemptAll(ctx context.Context, id string, w *work) {
	for ok := true; ok; id, w, ok = s.next() {
		s.attempt(ctx, id, w)
	}
}

// attempt makes one attempt. It goes on to its end when ctx ends: what the
// receiver has got must be recorded.
func (s *Service) attempt(ctx context.Context, id string, w *work) {
	sub, ok := s.recipient(ctx, w)
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
		s.metrics.claims.Tell(ctx, s.giveUp(ctx, []*work{w}))
		return
	}
	s.outcomes <- &delivery.Outcome{
		Row: &w.Row, Token: w.token, Result: result, Verdict: delivery.Judge(w.Attempts+1, result.OK(), result.SentAt),
	}
	s.metrics.attempted(&result)
	s.mu.Lock()
	s.queue.Done(id, scheduler.Ended{At: s.Now(), Took: result.Duration, OK: result.OK(), TimedOut: result.Slow})
	s.mu.Unlock()
	if s.wantsClaim() {
		nudge(s.hungry)
	}
}

// recipient is the subscription that an attempt goes to, as it is now; false when
// there must be none.
func (s *Service) recipient(ctx context.Context, w *work) (*subscription.Subscription, bool) {
	if err := s.Subscriptions.Fresh(ctx); err != nil {
		return nil, false // the book's own counter tells
	}
	return s.recipientNow(w.Webhook)
}

// recipientNow is a subscription that is to be sent to. What is paused stays in
// the store, where discovery finds it when it is resumed; what is deleted is
// cancelled there; and what cannot be signed waits until its secret can be read.
func (s *Service) recipientNow(id string) (*subscription.Subscription, bool) {
	sub := s.Subscriptions.Get(id)
	return sub, sub != nil && sub.Active && !sub.Deleted && len(sub.Secrets(s.Now())) > 0
}

// errNoRecipient ends an attempt before anything is sent.
var errNoRecipient = errors.New("there is nobody to sign for")

// post is the request of an attempt.
func (s *Service) post(ctx context.Context, w *work, sub *subscription.Subscription, body []byte) sender.Post {
	// One array for the values: headers are most of what an attempt allocates.
	values := [...]string{w.EventID, w.ID, strconv.Itoa(w.Attempts + 1)}
	header := http.Header{
		"Content-Type": contentType, "User-Agent": userAgent,
		headerEvent: values[0:1:1], headerDelivery: values[1:2:2], headerAttempt: values[2:3:3],
	}
	if w.World == schema.Sandbox {
		header[headerMode] = sandboxMode
	}
	return sender.Post{URL: sub.URL, Header: header, Body: body, Sign: func(now time.Time) (string, error) {
		// The newest secrets, not those of the moment at which the attempt began: a
		// connection can take seconds, and the subscription may be gone by then.
		newest, ok := s.recipient(ctx, w)
		if !ok || newest.ClearNumbers != sub.ClearNumbers {
			return "", errNoRecipient
		}
		return webhook.Sign(body, now, newest.Secrets(now)...), nil
	}}
}

// wantsClaim says that there is something to claim or to give back at once.
func (s *Service) wantsClaim() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.HasExpired() {
		return true
	}
	at := s.queue.Wake()
	return !at.IsZero() && !at.After(s.Now())
}
