package schema

// LiveKind is the kind of a notice in the SSE stream of GET /v1/live, such as a notice of a delivery. The field
// `event` of an SSE message has the kind.
type LiveKind string

// The kinds of notices.
const (
	LiveDelivery LiveKind = "delivery" // see LiveDeliveryNotice
	LiveEvent    LiveKind = "event"    // see LiveEventNotice
	LiveBatch    LiveKind = "batch"    // see LiveBatchNotice
	LiveAir      LiveKind = "air"      // see LiveAirNotice
)

// Names of the messages of GET /v1/live that are not notices of changes.
const (
	LiveHello = "hello" // first message, see LiveGreeting
	LiveReset = "reset" // notices were dropped, see LiveResetNotice
)

// LiveGreeting is the data of the message "hello", which is the first message of a stream.
type LiveGreeting struct {
	Mode    string     `json:"mode"`
	Account string     `json:"account"` // id of the account
	Kinds   []LiveKind `json:"kinds"`   // kinds of the notices that follow
	At      string     `json:"at"`      // RFC 3339 in UTC
}

// LiveResetNotice is the data of the message "reset". This message means that the service dropped notices of the listed
// kinds. The client must reload the data of these kinds.
type LiveResetNotice struct {
	Kinds []LiveKind `json:"kinds"`
}

// LiveDeliveryNotice reports a new or changed delivery.
type LiveDeliveryNotice struct {
	ID        string        `json:"id"`
	WebhookID string        `json:"webhook_id"`
	EventID   string        `json:"event_id"`
	State     DeliveryState `json:"state"`
	Attempts  int           `json:"attempts"` // number of recorded attempts
}

// LiveEventNotice reports a new event.
type LiveEventNotice struct {
	ID      string    `json:"id"`
	Type    EventType `json:"type"`
	Subject string    `json:"subject,omitempty"` // id of what the event is about, such as a recharge
	Created int64     `json:"created"`           // Unix seconds
}

// LiveBatchNotice reports the progress of a batch.
type LiveBatchNotice struct {
	ID         string     `json:"batch_id"`
	Kind       string     `json:"kind"` // recharge or verification
	State      BatchState `json:"state"`
	Total      int        `json:"total"`
	Successful int        `json:"successful"`
	Failed     int        `json:"failed"`
}

// LiveAirNotice reports new air quality values.
type LiveAirNotice struct {
	Updated string `json:"updated"` // end of the newest hour of any city, RFC 3339 in UTC
	Cities  int    `json:"cities"`  // number of known cities
	Built   string `json:"built"`   // publication time of these values, RFC 3339 in UTC
}
