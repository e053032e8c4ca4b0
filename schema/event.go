package schema

import (
	"bytes"
	"embed"
	"encoding/json"
	"strings"
)

// EventType names what happened (spec 6.1).
type EventType string

// The types of events.
const (
	EventRechargeCompleted         EventType = "recharge.completed"
	EventRechargeFailed            EventType = "recharge.failed"
	EventRechargePending           EventType = "recharge.pending"
	EventRechargeRefunded          EventType = "recharge.refunded"
	EventVerificationCompleted     EventType = "verification.completed"
	EventVerificationBulkCompleted EventType = "verification.bulk.completed"
	EventVerificationFailed        EventType = "verification.failed"
	EventQuotaWarning              EventType = "quota.warning"
	EventQuotaExceeded             EventType = "quota.exceeded"
	EventPaymentSucceeded          EventType = "payment.succeeded"
	EventPaymentFailed             EventType = "payment.failed"
)

// EventTypes is every type of event, in the order of spec 6.1.
var EventTypes = []EventType{
	EventRechargeCompleted, EventRechargeFailed, EventRechargePending, EventRechargeRefunded,
	EventVerificationCompleted, EventVerificationBulkCompleted, EventVerificationFailed,
	EventQuotaWarning, EventQuotaExceeded, EventPaymentSucceeded, EventPaymentFailed,
}

// Scope is the scope that a key needs to read events of a type: the read scope of
// what the event is about (CONTRACT 6). It is empty for an unknown type, which no
// key may read.
func (t EventType) Scope() Scope {
	switch family, _, _ := strings.Cut(string(t), "."); family {
	case "recharge", "payment":
		return RechargeRead
	case "verification":
		return VerifyRead
	case "quota":
		return AccountRead
	}
	return ""
}

// Readable returns the types of events that a key with these scopes may read, in
// the order of EventTypes.
func (s ScopeSet) Readable() []EventType {
	all := make([]EventType, 0, len(EventTypes))
	for _, t := range EventTypes {
		if s.Has(t.Scope()) {
			all = append(all, t)
		}
	}
	return all
}

// UnreadableEvent refuses a key that may not read events of a type. Field names
// what asked for them; it may be empty.
func UnreadableEvent(field string, t EventType) *Problem {
	return Refuse(InsufficientScope, field, "The API key lacks the scope "+string(t.Scope())+", which events of the type "+string(t)+" need.")
}

// EventVersion is the api_version of envelopes that are made now.
const EventVersion = "2026-11-01"

// Envelope is what a receiver gets (spec 2.6). Its bytes are made once, when the
// event happens, and sent and shown as they are ever after.
type Envelope struct {
	ID         string          `json:"id"` // evt_ + ULID
	Type       EventType       `json:"type"`
	Created    int64           `json:"created"` // Unix seconds
	APIVersion string          `json:"api_version"`
	Data       json.RawMessage `json:"data"`
}

// EventShown is the reply to a question about one event.
type EventShown struct {
	Status string          `json:"status"`
	Data   json.RawMessage `json:"data"` // an Envelope as it was stored
}

// examples are the documented examples of what happened, a file for each type.
//
//go:embed example/*.json
var examples embed.FS

// EventExample is the documented example of the data of a type, a JSON object
// without white space; nil for a type that does not exist.
func EventExample(t EventType) json.RawMessage {
	text, err := examples.ReadFile("example/" + string(t) + ".json")
	if err != nil {
		return nil
	}
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return nil
	}
	return out.Bytes()
}

// TestEventData is the data of a test event: the documented example of a type,
// with "test": true at its end. It is nil for a type that does not exist.
func TestEventData(t EventType) json.RawMessage {
	object, ok := bytes.CutSuffix(EventExample(t), []byte("}"))
	if !ok {
		return nil
	}
	return append(object, `,"test":true}`...)
}
