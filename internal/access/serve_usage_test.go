package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/apikey"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// usageOf returns this month's usage from the API, with the parameters "name=value".
func (s *serviceFixture) usageOf(account string, world schema.World, params ...string) (lines []string) {
	s.t.Helper()
	c := call("")
	c.Principal = httpapi.Principal{Account: account, World: world}
	c.URL.Path = "/v1/usage"
	c.Params = map[string]string{}
	for _, p := range params {
		if name, value, ok := strings.Cut(p, "="); ok {
			c.Params[name] = value
		}
	}
	resp, err := s.getUsage(c)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, d := range resp.Value.(schema.Usage).Days {
		lines = append(lines, fmt.Sprintf("%s %s%s: %d %d %d", d.Date, d.Operation, d.KeyID, d.Calls, d.Failed, d.Counted))
	}
	return lines
}

func TestUsageIncludesUnwrittenCalls(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		acc, other := addAccount(t, db, "one", "unlimited"), addAccount(t, db, "other", "unlimited")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}).Key
		s.refresh()
		for _, k := range []string{key, addKey(t, db, apikey.Spec{Account: acc, World: schema.Sandbox}).Key, addKey(t, db, apikey.Spec{Account: other, World: schema.Live}).Key} {
			s.get(k, "/v1/any")
		}
		s.get(key, "")
		s.write()
		s.get(key, "/v1/aqi?count=5")
		s.get(key, "/v1/aqi?fail=not_found")
		s.get(key, "/v1/recharge/1")
		s.clock.Set(november.Add(time.Minute))
		s.get(key, "")
		s.clock.Set(november)
		want := []string{"2026-11-30 GET /v1/any: 1 0 1", "2026-11-30 GET /v1/aqi: 3 1 7", "2026-11-30 GET /v1/recharge/{id}: 1 0 1"}
		stored := usageLines(t, db)
		// A full store rejects writes, but can be read.
		sqlstoretest.Exec(t, db, "ALTER TABLE quota_period RENAME TO away")
		if err := s.usage.Flush(context.Background()); err == nil {
			t.Error("the store takes something")
		}
		if diff := cmp.Diff(want, s.usageOf(acc, schema.Live)); diff != "" {
			t.Error(diff)
		}
		sqlstoretest.Exec(t, db, "ALTER TABLE away RENAME TO quota_period")
		if diff := cmp.Diff(stored, usageLines(t, db)); diff != "" {
			t.Errorf("the question wrote: %s", diff)
		}
		s.write()
		if diff := cmp.Diff(want, s.usageOf(acc, schema.Live)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"2026-11-30 GET /v1/any: 1 0 0"}, s.usageOf(acc, schema.Sandbox)); diff != "" {
			t.Error(diff)
		}
		s.clock.Set(november.Add(time.Minute))
		if diff := cmp.Diff([]string{"2026-12-01 GET /v1/aqi: 1 0 1"}, s.usageOf(acc, schema.Live)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUsageIsExactWhileItIsWritten(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		acc := addAccount(t, db, "one", "unlimited")
		made := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live})
		other := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live})
		s.refresh()
		begin, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			for range begin {
				if err := s.usage.Flush(context.Background()); err != nil {
					t.Error(err)
				}
			}
		}()
		for i := 1; i <= 200; i++ {
			s.get(made.Key, "")
			s.get(other.Key, "")
			begin <- struct{}{} // the queries run during the flush
			want := []string{fmt.Sprintf("2026-11-30 GET /v1/aqi: %d 0 %d", 2*i, 2*i)}
			if diff := cmp.Diff(want, s.usageOf(acc, schema.Live)); diff != "" {
				t.Fatal(diff)
			}
			want = []string{fmt.Sprintf("2026-11-30 GET /v1/aqi: %d 0 %d", i, i)}
			if diff := cmp.Diff(want, s.usageOf(acc, schema.Live, "key="+made.Record.ID)); diff != "" {
				t.Fatal(diff)
			}
			want = nil
			for _, id := range slices.Sorted(slices.Values([]string{made.Record.ID, other.Record.ID})) {
				want = append(want, fmt.Sprintf("2026-11-30 GET /v1/aqi%s: %d 0 %d", id, i, i))
			}
			if diff := cmp.Diff(want, s.usageOf(acc, schema.Live, "by=key")); diff != "" {
				t.Fatal(diff)
			}
		}
		close(begin)
		<-ended
	})
}

// hangingRecorder is an Events that waits, inside the transaction of a flush, until it is released.
type hangingRecorder struct{ reached, release chan struct{} }

// Append implements quota.Events.
func (h hangingRecorder) Append(*sqlstore.Tx, string, schema.World, schema.EventType, any) (string, error) {
	h.reached <- struct{}{}
	<-h.release
	return "", nil
}

func TestHangingFlushDoesNotBlockUsage(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		events := hangingRecorder{make(chan struct{}), make(chan struct{})}
		s := newServiceFixture(t, db, func(c *Config) { c.Events = events })
		s.clock.Set(november)
		acc := addAccount(t, db, "one", "five")
		key := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live}).Key
		s.refresh()
		s.get(key, "/v1/aqi?count=4") // reaches the mark of 80 per cent
		flushed := make(chan error, 1)
		go func() { flushed <- s.usage.Flush(context.Background()) }()
		<-events.reached
		s.get(key, "")
		if diff := cmp.Diff([]string{"2026-11-30 GET /v1/aqi: 2 0 5"}, s.usageOf(acc, schema.Live)); diff != "" {
			t.Error(diff)
		}
		close(events.release)
		if err := <-flushed; err != nil {
			t.Error(err)
		}
	})
}

func TestUsageByKey(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		s.clock.Set(november)
		acc, stranger := addAccount(t, db, "one", "unlimited"), addAccount(t, db, "other", "unlimited")
		till := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live})
		site := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live})
		sandbox := addKey(t, db, apikey.Spec{Account: acc, World: schema.Sandbox})
		s.refresh()
		call := func() {
			s.get(till.Key, "/v1/aqi?count=5")
			s.get(site.Key, "/v1/recharge/1")
			s.get(site.Key, "/v1/recharge/2")
			s.get(till.Key, "/v1/recharge/3")
			s.get(sandbox.Key, "/v1/any")
		}
		call()
		s.write()
		call() // these are not written yet
		sorted := []string{
			"2026-11-30 GET /v1/recharge/{id}" + till.Record.ID + ": 2 0 2",
			"2026-11-30 GET /v1/recharge/{id}" + site.Record.ID + ": 4 0 4",
		}
		slices.Sort(sorted)
		for _, written := range []bool{false, true} {
			for params, want := range map[string][]string{
				"":                         {"2026-11-30 GET /v1/aqi: 2 0 10", "2026-11-30 GET /v1/recharge/{id}: 6 0 6"},
				"by=operation":             {"2026-11-30 GET /v1/aqi: 2 0 10", "2026-11-30 GET /v1/recharge/{id}: 6 0 6"},
				"by=key":                   append([]string{"2026-11-30 GET /v1/aqi" + till.Record.ID + ": 2 0 10"}, sorted...),
				"key=" + site.Record.ID:    {"2026-11-30 GET /v1/recharge/{id}: 4 0 4"},
				"key=" + sandbox.Record.ID: nil, // of the other world
				"key=key_0":                nil,
			} {
				if diff := cmp.Diff(want, s.usageOf(acc, schema.Live, params)); diff != "" {
					t.Errorf("%s, written %t: %s", params, written, diff)
				}
			}
			if diff := cmp.Diff([]string{"2026-11-30 GET /v1/any" + sandbox.Record.ID + ": 2 0 0"}, s.usageOf(acc, schema.Sandbox, "by=key", "key="+sandbox.Record.ID)); diff != "" {
				t.Error(diff)
			}
			if got := s.usageOf(stranger, schema.Live, "key="+till.Record.ID); got != nil {
				t.Errorf("another account got %v", got)
			}
			s.write()
		}
		// Rows by key expire, those of the account stay.
		for _, days := range []int{399, 402} {
			s.clock.Set(november.AddDate(0, 0, days))
			if err := s.purgeOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := [2]int64{4, 3}
			if days > 400 {
				want[0] = 0
			}
			got := [2]int64{sqlstoretest.Value[int64](t, db, "SELECT COUNT(*) FROM usage_key_day"), sqlstoretest.Value[int64](t, db, "SELECT COUNT(*) FROM usage_day")}
			if got != want {
				t.Errorf("%v rows after %d days, want %v", got, days, want)
			}
		}
	})
}
