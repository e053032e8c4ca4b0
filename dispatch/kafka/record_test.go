package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"
)

// Other consumers of the topic rely on the key, the value and the headers.
func TestMessageOfAnEvent(t *testing.T) {
	t.Parallel()
	e := testEvent(t, 1, "acc_1")
	e.Trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	m := encode(e)
	want := map[string]string{
		"event-id": e.ID, "event-type": "payment.succeeded", "mode": "sandbox", "created": "1793514600124456",
		"content-type": "application/json", "traceparent": e.Trace,
	}
	if diff := cmp.Diff(want, headersOf(m)); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if got, want := string(m.Key), e.Account; got != want {
		t.Errorf("got the key %q, want %q", got, want)
	}
	if got, want := string(m.Value), string(e.Envelope); got != want {
		t.Errorf("got the value %s, want %s", got, want)
	}
	got, err := eventID(m)
	if err != nil {
		t.Fatal(err)
	}
	if got != e.ID {
		t.Errorf("got the id %q, want %q", got, e.ID)
	}
}

func TestInvalidIDsAreRejected(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]kafka.Header{
		"none":     nil,
		"another":  {{Key: headerType, Value: []byte("evt_1")}},
		"empty":    {{Key: headerID}},
		"not a id": {{Key: headerID, Value: []byte("evt_<script>")}},
		"not text": {{Key: headerID, Value: []byte("evt_\x00")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := eventID(kafka.Message{Headers: headers}); err == nil {
				t.Errorf("got %q, want an error", got)
			}
		})
	}
}
