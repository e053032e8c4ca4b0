package kafka

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/outbox"
)

func TestDecodeIsTheInverseOfEncode(t *testing.T) {
	t.Parallel()
	for n := range 2 { // both worlds
		want := testEvent(t, n, "acc_1")
		want.Trace = []string{"", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}[n]
		got := decode(encode(want))
		if got.Fault != nil {
			t.Fatal(got.Fault)
		}
		if diff := cmp.Diff(want, got.Event); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	}
}

func TestDecodeRejectsInvalidMessages(t *testing.T) {
	t.Parallel()
	good := func() record { return encode(testEvent(t, 1, "acc_1")) }
	set := func(name, value string) func(*record) {
		return func(r *record) {
			for i := range r.headers {
				if r.headers[i].key == name {
					r.headers[i].value = []byte(value)
				}
			}
		}
	}
	value := func(old, fresh string) func(*record) {
		return func(r *record) { r.value = bytes.Replace(r.value, []byte(old), []byte(fresh), 1) }
	}
	for name, c := range map[string]struct {
		change func(*record)
		reason string // empty for an event
	}{
		"good":                 {func(*record) {}, ""},
		"a type of tomorrow":   {func(r *record) { set(headerType, "city.moved")(r); value("payment.succeeded", "city.moved")(r) }, ""},
		"more headers":         {func(r *record) { r.headers = append(r.headers, header{"trace", nil}) }, ""},
		"no content type":      {func(r *record) { r.headers = r.headers[:4] }, ""},
		"no headers":           {func(r *record) { r.headers = nil }, reasonHeaders},
		"no mode":              {func(r *record) { r.headers = append(r.headers[:2:2], r.headers[3:]...) }, reasonHeaders},
		"a header twice":       {func(r *record) { r.headers = append(r.headers, r.headers[0]) }, reasonHeaders},
		"id":                   {set(headerID, "evt_<script>"), reasonHeaders},
		"id of something else": {set(headerID, "whk_00000000000000000000000001"), reasonHeaders},
		"type":                 {set(headerType, "payment"), reasonHeaders},
		"mode":                 {set(headerMode, "both"), reasonHeaders},
		"created":              {set(headerCreated, "2026-11-01"), reasonHeaders},
		"created before 1970":  {set(headerCreated, "-1"), reasonHeaders},
		"created too late":     {set(headerCreated, "253402300800000000"), reasonHeaders},
		"no key":               {func(r *record) { r.key = nil }, reasonKey},
		"key with a space":     {func(r *record) { r.key = []byte("acc 1") }, reasonKey},
		"key with a line":      {func(r *record) { r.key = []byte("acc_1\n") }, reasonKey},
		"long key":             {func(r *record) { r.key = bytes.Repeat([]byte("a"), maxKey+1) }, reasonKey},
		"no envelope":          {func(r *record) { r.value = nil }, reasonEnvelope},
		"a list":               {func(r *record) { r.value = []byte("[]") }, reasonEnvelope},
		"null":                 {func(r *record) { r.value = []byte("null") }, reasonEnvelope},
		"cut off":              {func(r *record) { r.value = r.value[:len(r.value)-1] }, reasonEnvelope},
		"two":                  {func(r *record) { r.value = append(r.value, r.value...) }, reasonEnvelope},
		"not UTF-8":            {value("100.00", "\xff"), reasonEnvelope},
		"another id":           {set(headerID, "evt_00000000000000000000000002"), reasonEnvelope},
		"another type":         {set(headerType, "payment.failed"), reasonEnvelope},
		"no data":              {value(`"data"`, `"date"`), reasonEnvelope},
		"no version":           {value(`"api_version"`, `"version"`), reasonEnvelope},
		"over-long":            {func(r *record) { r.value = append(r.value, bytes.Repeat([]byte(" "), maxEnvelope)...) }, reasonTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := good()
			c.change(&r)
			got := decode(r)
			why, _ := errors.AsType[fault](got.Fault)
			if why.reason != c.reason || (got.Fault == nil) != (c.reason == "") {
				t.Errorf("got the reason %q (%v), want %q", why.reason, got.Fault, c.reason)
			}
		})
	}
}

// FuzzDecode checks that a message either is an event, which is encoded again
// unchanged, or has a reason that the metric knows. A message with a reason can become
// a dead letter.
func FuzzDecode(f *testing.F) {
	good := encode(testEvent(f, 1, "acc_1"))
	f.Add(good.key, good.value, "evt_00000000000000000000000001", "payment.succeeded", "live", "1793514600123456")
	f.Add([]byte(nil), []byte("{}"), "", "", "", "")
	f.Fuzz(func(t *testing.T, key, value []byte, id, kind, mode, created string) {
		r := record{key: key, value: value, headers: []header{
			{headerID, []byte(id)}, {headerType, []byte(kind)}, {headerMode, []byte(mode)}, {headerCreated, []byte(created)},
		}}
		got := decode(r)
		if got.Fault != nil {
			why, ok := errors.AsType[fault](got.Fault)
			if !ok || !slices.Contains(reasons, why.reason) || got.Event.ID != "" {
				t.Errorf("got %#v", got)
			}
			return
		}
		again := decode(encode(got.Event))
		if diff := cmp.Diff(got, again, cmp.AllowUnexported(outbox.Event{})); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	})
}
