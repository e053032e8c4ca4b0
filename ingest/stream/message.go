package stream

import (
	"time"

	"vayu/ingest"
)

// Message is a message as a broker delivered it.
type Message struct {
	Topic   string
	Key     string // key of a Kafka message; "" for MQTT
	Payload []byte
	// At is the time at which the message was received, or at which Kafka stored it.
	At time.Time
	// Retained marks an MQTT message that the broker stored for new subscribers.
	Retained bool
}

// Decoder turns messages into readings. It may keep state, such as the time of a station's last reading. It is not safe
// for concurrent use.
type Decoder interface {
	// Decode returns the readings of messages in batches, which the caller releases, and the number of messages of each
	// outcome. An unreadable message becomes a rejected value. Until the next Commit, the caller may call Decode again
	// with the same messages.
	Decode(messages []Message) (batches []*ingest.Batch, outcomes map[Outcome]int, err error)
	// Commit is called when the readings of the last Decode are stored. The decoder then updates its state.
	Commit()
}

// Outcome is the result of processing a message. It is a label of vayu_stream_messages_total.
type Outcome string

// The outcomes of a message.
const (
	Read         Outcome = "read"         // its values are readings or rejected values
	Availability Outcome = "availability" // it states whether a device is available
	Retained     Outcome = "retained"     // the broker had stored it: an old state, no new reading
	Offline      Outcome = "offline"      // it comes from a device that is not available
	Unreadable   Outcome = "unreadable"   // it is not JSON, or differs from the source description (YAML)
	Repeated     Outcome = "repeated"     // it was delivered again after it was stored
	Unmatched    Outcome = "unmatched"    // its topic matches no pattern, or it lacks the needed fields
)

// outcomes lists every outcome of a message.
var outcomes = []Outcome{Read, Availability, Retained, Offline, Unreadable, Repeated, Unmatched}
