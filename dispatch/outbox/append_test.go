package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 123456000, time.UTC)

func TestEnvelopeIsImmutable(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		d.clock.Set(noon)
		var id string
		if err := d.DB.Update(t.Context(), func(tx *sqlstore.Tx) (err error) {
			id, err = d.Append(tx, "acc_a", schema.Sandbox, schema.EventRechargeCompleted, struct {
				B string  `json:"b"`
				A float64 `json:"a"`
			}{"<Ä & Ω>", 199.5})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		r := d.relay(nil)
		got, err := r.read(t.Context(), "")
		if err != nil || len(got) != 1 {
			t.Fatalf("the relay reads %v, %v", got, err)
		}
		want := Event{
			ID: id, Account: "acc_a", World: schema.Sandbox, Type: schema.EventRechargeCompleted, CreatedAt: noon,
			Envelope: []byte(`{"id":"` + id + `","type":"recharge.completed","created":1795262400,"api_version":"2026-11-01","data":{"b":"<Ä & Ω>","a":199.5}}`),
		}
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("the event: %s", diff)
		}
		if parsed, err := ulid.ParseStrict(strings.TrimPrefix(id, "evt_")); err != nil || !parsed.Timestamp().Equal(noon.Truncate(time.Millisecond)) {
			t.Errorf("the id %s is of %v, %v", id, parsed.Timestamp(), err)
		}
	})
}

func TestInvalidEventFailsItsChange(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		for name, c := range map[string]struct {
			typ  schema.EventType
			data any
			want error
		}{
			"unknown type":  {"recharge.done", map[string]any{}, errType},
			"list":          {schema.EventQuotaWarning, []int{1}, errObject},
			"nothing":       {schema.EventQuotaWarning, nil, errObject},
			"text":          {schema.EventQuotaWarning, "x", errObject},
			"no JSON":       {schema.EventQuotaWarning, map[string]any{"f": func() {}}, nil},
			"broken JSON":   {schema.EventQuotaWarning, json.RawMessage(`{"a":`), nil},
			"no UTF-8":      {schema.EventQuotaWarning, json.RawMessage("{\"a\":\"\xff\"}"), errUTF8},
			"too long":      {schema.EventQuotaWarning, map[string]string{"a": strings.Repeat("x", maxEnvelope)}, nil},
			"no account":    {"", nil, errType},
			"white space":   {schema.EventQuotaWarning, json.RawMessage(" \n7"), errObject},
			"two documents": {schema.EventQuotaWarning, json.RawMessage(`{} {}`), nil},
		} {
			t.Run(name, func(t *testing.T) {
				err := d.DB.Update(t.Context(), func(tx *sqlstore.Tx) error {
					if _, err := tx.Exec("INSERT INTO seen_signature (key_id, signature, expires_at) VALUES ('key', $1, 1)", []byte(name)); err != nil {
						return err
					}
					_, err := d.Append(tx, "acc_a", schema.Live, c.typ, c.data)
					return err
				})
				if err == nil || c.want != nil && !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
		}
		if _, err := d.tryAppend("acc_nobody"); err == nil {
			t.Error("an account that is not there has an event")
		}
		if n := d.count("event") + d.count("outbox") + d.count("seen_signature"); n != 0 {
			t.Errorf("%d rows are left of changes that failed", n)
		}
	})
}

func TestRolledBackChangeHasNoEvent(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		refused := errors.New("refused")
		err := d.DB.Update(t.Context(), func(tx *sqlstore.Tx) error {
			if _, err := d.Append(tx, "acc_a", schema.Live, schema.EventPaymentFailed, struct{}{}); err != nil {
				return err
			}
			return refused
		})
		if !errors.Is(err, refused) || len(d.wakeSignal) != 0 {
			t.Errorf("got %v and %d wakes", err, len(d.wakeSignal))
		}
		if n := d.count("event") + d.count("outbox"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		d.appendEvent("acc_a")
		if len(d.wakeSignal) != 1 {
			t.Error("a commit does not wake the relay")
		}
	})
}

// Store makes an event that can be queried, and that the relay does not publish.
func TestStoredEventIsNotRelayed(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		var e Event
		if err := d.DB.Update(t.Context(), func(tx *sqlstore.Tx) (err error) {
			e, err = d.Store(tx, "acc_a", schema.Live, schema.EventPaymentFailed, schema.TestEventData(schema.EventPaymentFailed))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if n := len(d.wakeSignal); n != 0 {
			t.Errorf("the relay was woken %d times, want never", n)
		}
		if n := d.count("outbox"); n != 0 {
			t.Errorf("%d rows are in the outbox, want none", n)
		}
		if n := d.count("event WHERE id = $1 AND envelope = $2", e.ID, e.Envelope); n != 1 {
			t.Errorf("the event %s is stored %d times, want once", e.Envelope, n)
		}
	})
}

func TestIDsAreMonotonic(t *testing.T) {
	t.Parallel()
	var i ids
	i.init()
	last, lastAt := "", time.Time{}
	for n := range 10_000 {
		now := noon.Add(time.Duration(n%7-n%13) * 300 * time.Microsecond)
		if n == 5000 { // the entropy of this millisecond is used up
			used := [10]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255}
			i.entropy = ulid.Monotonic(strings.NewReader(string(used[:])+strings.Repeat("x", 1<<20)), 0)
			if err := i.entropy.MonotonicRead(ulid.Timestamp(i.last), used[:]); err != nil {
				t.Fatal(err)
			}
		}
		id, at, err := i.next(now)
		switch {
		case err != nil:
			t.Fatalf("%d: %v", n, err)
		case id <= last:
			t.Fatalf("%d: id = %v, want more than %v", n, id, last)
		case at.Before(lastAt):
			t.Fatalf("%d: at.Before(lastAt) is true", n)
		case !timeOf(id).Equal(at.Truncate(time.Millisecond)):
			t.Fatalf("%d: %s of %s follows %s of %s, %v", n, id, at, last, lastAt, err)
		}
		last, lastAt = id, at
	}
	if _, _, err := i.next(time.Date(11000, 1, 1, 0, 0, 0, 0, time.UTC)); err == nil {
		t.Error("a time that no id can have has one")
	}
}

func TestTimeRangeIsIDRange(t *testing.T) {
	t.Parallel()
	bounds := []string{}
	for _, micros := range []int64{-1 << 63, -1, 0, 999, 1000, noon.UnixMicro(), noon.UnixMicro() + 1000, 1<<63 - 1} {
		bounds = append(bounds, idAt(micros))
	}
	switch {
	case !slices.IsSorted(bounds):
		t.Errorf("the bounds are %q", bounds)
	case bounds[0] != "":
		t.Errorf("bounds[0] = %q, want none", bounds[0])
	case bounds[2] != bounds[3]:
		t.Errorf("bounds[2] = %v, want %v", bounds[2], bounds[3])
	case bounds[3] == bounds[4]:
		t.Errorf("bounds[3] is %v, want another", bounds[4])
	}
	if got := timeOf(idAt(noon.UnixMicro())).UTC(); !got.Equal(noon.Truncate(time.Millisecond)) {
		t.Errorf("the bound of %s is of %s", noon, got)
	}
}

func FuzzTimeOf(f *testing.F) {
	for _, id := range []string{"", "evt_", "evt_01KAJ0A6Q3W8Y1B4D7F0H2K5M9", "01KAJ0A6Q3W8Y1B4D7F0H2K5M9", "evt_8ZZZZZZZZZZZZZZZZZZZZZZZZZ"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		at := timeOf(id)
		if at.IsZero() {
			return
		}
		if len(id) < ulid.EncodedSize || !strings.EqualFold(fmt.Sprintf("%.10s", strings.TrimPrefix(idAt(at.UnixMicro()), "evt_")), strings.TrimPrefix(id, "evt_")[:10]) {
			t.Errorf("%q is of %s, whose first id is %s", id, at, idAt(at.UnixMicro()))
		}
	})
}
