package kafka

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"

	"vayu/dispatch/outbox"
)

func TestDecodeIsTheInverseOfEncode(t *testing.T) {
	t.Parallel()
	for n := range 2 { // both worlds
		want := testEvent(t, n, "acc_1")
		want.Trace = []string{"", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}[n]
		got, why := decode(encode(want))
		if why != nil {
			t.Fatal(why.err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	}
}

func TestDecodeRejectsInvalidMessages(t *testing.T) {
	t.Parallel()
	good := func() kafka.Message { return encode(testEvent(t, 1, "acc_1")) }
	set := func(name, value string) func(*kafka.Message) {
		return func(r *kafka.Message) {
			for i := range r.Headers {
				if r.Headers[i].Key == name {
					r.Headers[i].Value = []byte(value)
				}
			}
		}
	}
	value := func(old, fresh string) func(*kafka.Message) {
		return func(r *kafka.Message) { r.Value = bytes.Replace(r.Value, []byte(old), []byte(fresh), 1) }
	}
	for name, c := range map[string]struct {
		change func(*kafka.Message)
		reason string // empty for an event
	}{
		"good":                 {func(*kafka.Message) {}, ""},
		"a type of tomorrow":   {func(r *kafka.Message) { set(headerType, "city.moved")(r); value("payment.succeeded", "city.moved")(r) }, ""},
		"more headers":         {func(r *kafka.Message) { r.Headers = append(r.Headers, kafka.Header{Key: "trace"}) }, ""},
		"no content type":      {func(r *kafka.Message) { r.Headers = r.Headers[:4] }, ""},
		"no headers":           {func(r *kafka.Message) { r.Headers = nil }, reasonHeaders},
		"no mode":              {func(r *kafka.Message) { r.Headers = append(r.Headers[:2:2], r.Headers[3:]...) }, reasonHeaders},
		"a header twice":       {func(r *kafka.Message) { r.Headers = append(r.Headers, r.Headers[0]) }, reasonHeaders},
		"id":                   {set(headerID, "evt_<script>"), reasonHeaders},
		"id of something else": {set(headerID, "whk_00000000000000000000000001"), reasonHeaders},
		"type":                 {set(headerType, "payment"), reasonHeaders},
		"mode":                 {set(headerMode, "both"), reasonHeaders},
		"created":              {set(headerCreated, "2026-11-01"), reasonHeaders},
		"created before 1970":  {set(headerCreated, "-1"), reasonHeaders},
		"created too late":     {set(headerCreated, "253402300800000000"), reasonHeaders},
		"no key":               {func(r *kafka.Message) { r.Key = nil }, reasonKey},
		"key with a space":     {func(r *kafka.Message) { r.Key = []byte("acc 1") }, reasonKey},
		"key with a line":      {func(r *kafka.Message) { r.Key = []byte("acc_1\n") }, reasonKey},
		"long key":             {func(r *kafka.Message) { r.Key = bytes.Repeat([]byte("a"), maxKey+1) }, reasonKey},
		"no envelope":          {func(r *kafka.Message) { r.Value = nil }, reasonEnvelope},
		"a list":               {func(r *kafka.Message) { r.Value = []byte("[]") }, reasonEnvelope},
		"null":                 {func(r *kafka.Message) { r.Value = []byte("null") }, reasonEnvelope},
		"cut off":              {func(r *kafka.Message) { r.Value = r.Value[:len(r.Value)-1] }, reasonEnvelope},
		"two":                  {func(r *kafka.Message) { r.Value = append(r.Value, r.Value...) }, reasonEnvelope},
		"not UTF-8":            {value("100.00", "\xff"), reasonEnvelope},
		"another id":           {set(headerID, "evt_00000000000000000000000002"), reasonEnvelope},
		"another type":         {set(headerType, "payment.failed"), reasonEnvelope},
		"no data":              {value(`"data"`, `"date"`), reasonEnvelope},
		"no version":           {value(`"api_version"`, `"version"`), reasonEnvelope},
		"over-long":            {func(r *kafka.Message) { r.Value = append(r.Value, bytes.Repeat([]byte(" "), maxEnvelope)...) }, reasonTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := good()
			c.change(&r)
			got := fault{}
			if _, why := decode(r); why != nil {
				got = *why
			}
			if got.reason != c.reason {
				t.Errorf("got the reason %q (%v), want %q", got.reason, got.err, c.reason)
			}
		})
	}
}

// FuzzDecode checks that a message either is an event, which is encoded again
// unchanged, or has a reason that the metric knows. A message with a reason can become
// a dead letter.
func FuzzDecode(f *testing.F) {
	good := encode(testEvent(f, 1, "acc_1"))
	f.Add(good.Key, good.Value, "evt_00000000000000000000000001", "payment.succeeded", "live", "1793514600123456")
	f.Add([]byte(nil), []byte("{}"), "", "", "", "")
	f.Fuzz(func(t *testing.T, key, value []byte, id, kind, mode, created string) {
		r := kafka.Message{Key: key, Value: value, Headers: []kafka.Header{
			{Key: headerID, Value: []byte(id)}, {Key: headerType, Value: []byte(kind)},
			{Key: headerMode, Value: []byte(mode)}, {Key: headerCreated, Value: []byte(created)},
		}}
		got, why := decode(r)
		if why != nil {
			if !slices.Contains(reasons, why.reason) || got.ID != "" {
				t.Errorf("got %#v and %#v", got, why)
			}
			return
		}
		again, why := decode(encode(got))
		if why != nil {
			t.Fatal(why.err)
		}
		if diff := cmp.Diff(got, again, cmp.AllowUnexported(outbox.Event{})); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	})
}
