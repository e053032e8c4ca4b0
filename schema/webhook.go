package schema

import "time"

// WebhookClockMargin is how far apart the clocks of two instances may be, one of which
// made a subscription and the other an event. Who subscribed before an event happened
// gets it, by clocks as far apart as that; and gets none that is older than the
// subscription by more.
const WebhookClockMargin = time.Minute

// Webhook is what may be told of a subscription. Times are RFC 3339 in UTC, with
// seconds.
type Webhook struct {
	ID          string      `json:"id"` // wh_ + ULID
	URL         string      `json:"url"`
	Events      []EventType `json:"events"`
	Active      bool        `json:"active"` // false: paused, deliveries wait
	APIVersion  string      `json:"api_version"`
	Mode        string      `json:"mode"` // live or sandbox
	CreatedAt   string      `json:"created_at"`
	SecretLast4 string      `json:"secret_last4"`
	// ClearNumbers is there when recharge.* events are sent with numbers in clear.
	ClearNumbers bool `json:"clear_numbers,omitempty"`
	// PreviousSecretUntil is when the secret before a rotation signs no more; null
	// when only one does.
	PreviousSecretUntil *string `json:"previous_secret_until"`
	// Backlog is there when the oldest deliveries failed in the last 30 days, because
	// more waited than may.
	Backlog *WebhookBacklog `json:"backlog,omitempty"`
}

// WebhookBacklog tells an account that more deliveries waited for a webhook than may.
type WebhookBacklog struct {
	Limit     int64  `json:"limit"`  // of waiting deliveries
	Failed    int64  `json:"failed"` // the oldest, which failed because of it
	ReachedAt string `json:"reached_at"`
}

// WebhookShown is a reply about one subscription. Secret is there only in the
// reply to the request that made it, and only when the service chose it.
type WebhookShown struct {
	Status string `json:"status"`
	Webhook

	Secret string `json:"secret,omitempty"`
}

// WebhookDeleted is the reply of DELETE /v1/webhooks/{id}.
type WebhookDeleted struct {
	Status  string `json:"status"`
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

// WebhookTested is the reply of POST /v1/webhooks/{id}/test.
type WebhookTested struct {
	Status     string `json:"status"`
	EventID    string `json:"event_id"`
	DeliveryID string `json:"delivery_id"`
}

// DeliveryState is where the delivery of an event to a subscription stands
// (spec 3.3).
type DeliveryState string

// The states of a delivery. A waiting one has an attempt before it or under
// way; cancelled is what still waited when its subscription was deleted, or when a
// retry by hand took its place.
const (
	DeliveryWaiting   DeliveryState = "waiting"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"
	DeliveryCancelled DeliveryState = "cancelled"
)

// DeliveryStates is every state of a delivery.
var DeliveryStates = []DeliveryState{DeliveryWaiting, DeliveryDelivered, DeliveryFailed, DeliveryCancelled}

// Delivery is one event on its way to one subscription. Times are RFC 3339 in
// UTC, with milliseconds.
type Delivery struct {
	ID        string        `json:"id"` // dlv_ + ULID
	WebhookID string        `json:"webhook_id"`
	EventID   string        `json:"event_id"`
	EventType EventType     `json:"event_type"`
	State     DeliveryState `json:"state"`
	Made      int           `json:"attempts_made"`
	CreatedAt string        `json:"created_at"`
	// NextAttemptAt is null while an attempt is under way or about to be, and when
	// there is none to come.
	NextAttemptAt *string `json:"next_attempt_at"`
	FinishedAt    *string `json:"finished_at"`
	// RetryOf is the delivery for which a manual retry made this one; RetriedAs is
	// the one that a retry made for this.
	RetryOf   *string `json:"retry_of"`
	RetriedAs *string `json:"retried_as"`
	// LastAttempt is null before the first one has ended.
	LastAttempt *LastAttempt `json:"last_attempt"`
}

// LastAttempt is the newest attempt of a delivery, or of a webhook: an Attempt
// without the receiver's answer.
type LastAttempt struct {
	Number     int     `json:"attempt"`
	At         string  `json:"at"`
	DurationMS float64 `json:"duration_ms"`
	Stage      Stage   `json:"stage"`
	HTTPStatus *int    `json:"http_status"`
	Error      string  `json:"error"`
}

// DeliveryShown is the reply to a question about one delivery.
type DeliveryShown struct {
	Status string           `json:"status"`
	Data   DeliveryDetailed `json:"data"`
}

// DeliveryDetailed is a delivery with the address it goes to and its attempts,
// the first first.
type DeliveryDetailed struct {
	Delivery

	URL      string    `json:"url"`
	Attempts []Attempt `json:"attempts"`
}

// Stage is how far an attempt got before it ended.
type Stage string

// The stages of an attempt, in their order. An attempt that was answered ended
// in StageStatus, whatever the answer.
const (
	StageDNS     Stage = "dns"
	StageConnect Stage = "connect"
	StageTLS     Stage = "tls"
	StageWrite   Stage = "write"
	StageWait    Stage = "wait"
	StageStatus  Stage = "status"
)

// Attempt is one POST of a delivery. The HTTP status is null when there was no
// answer; Error says why, and is empty for an answer with 2xx. Body is the
// answer's first KiB, with U+FFFD for what is no UTF-8.
type Attempt struct {
	Number     int     `json:"attempt"`
	At         string  `json:"at"`
	DurationMS float64 `json:"duration_ms"`
	Stage      Stage   `json:"stage"`
	HTTPStatus *int    `json:"http_status"`
	Error      string  `json:"error"`
	Body       string  `json:"response_body"`
}

// NoWebhook refuses a webhook that is not there, or not the caller's; field is
// what has named it.
func NoWebhook(field string) error {
	return Refuse(NotFound, field, "There is no such webhook.")
}

// DeliveriesRetried is the reply of the endpoints that retry by hand. HasMore
// says that more failed ones are left in the range; the same request takes the
// next.
type DeliveriesRetried struct {
	Status  string   `json:"status"`
	Retried int      `json:"retried"`
	IDs     []string `json:"delivery_ids"` // of the new deliveries
	HasMore bool     `json:"has_more"`
}
