package topic

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go"
)

func TestDeadLetterFitsLimit(t *testing.T) {
	t.Parallel()
	m := kafka.Message{Key: bytes.Repeat([]byte("k"), 5<<20), Value: bytes.Repeat([]byte("v"), 5<<20), Topic: "t", Partition: 3, Offset: 77}
	for range 1000 {
		m.Headers = append(m.Headers, kafka.Header{Key: strings.Repeat("h", 500), Value: make([]byte, 500)})
	}
	got := Dead{Message: m, Reason: "too_long", Err: errors.New(strings.Repeat("e", 5<<20)), Headers: []kafka.Header{{Key: "dead-field", Value: []byte("at")}}}.letter()
	if size(got) > maxBatch || len(got.Value) != keptValue {
		t.Errorf("the dead letter has %d bytes, its value %d, want at most %d and %d", size(got), len(got.Value), maxBatch, keptValue)
	}
	last := got.Headers[len(got.Headers)-1]
	if last.Key != HeaderLength {
		t.Errorf("the last header is %s, want %s", last.Key, HeaderLength)
	}
}
