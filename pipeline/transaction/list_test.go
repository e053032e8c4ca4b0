package transaction

import (
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/schema"
)

func TestReadFilter(t *testing.T) {
	t.Parallel()
	const list = "things"
	states := []string{"pending", "success", "failed"}
	call := func(query string) *httpapi.Call {
		c := &httpapi.Call{
			Request: httptest.NewRequest(http.MethodGet, "/things?"+query, nil), Params: map[string]string{},
			Principal: httpapi.Principal{Account: "acc_1", World: schema.Sandbox},
		}
		for name, values := range c.URL.Query() {
			c.Params[name] = values[0]
		}
		return c
	}
	_, name, err := readFilter(call("status=failed&from=2026-11-01"), list, states, nil)
	if err != nil {
		t.Fatal(err)
	}
	cursor := *pagination.Cursor(call(""), name, "ver_1")
	owner := schema.Owner{Account: "acc_1", World: schema.Sandbox}
	from := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	to := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC).UnixMicro()
	for query, want := range map[string]Filter{
		"":                                  {Owner: owner, From: math.MinInt64, To: math.MaxInt64, Limit: 100},
		"ref_id=a+b&batch_id=bat_1&limit=7": {Owner: owner, From: math.MinInt64, To: math.MaxInt64, Limit: 7, Ref: "a b", Batch: "bat_1"},
		"from=2026-11-01&to=2026-11-02":     {Owner: owner, From: from, To: to, Limit: 100},
		"status=failed&from=2026-11-01&cursor=" + cursor: {Owner: owner, From: from, To: math.MaxInt64, Limit: 100, State: "failed", After: "ver_1"},
	} {
		got, _, err := readFilter(call(query), list, states, nil)
		if err != nil {
			t.Fatal(query, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	for query, want := range map[string][]string{
		"status=refunded":                 {"status: The status of things must be pending, success or failed."},
		"status=pending&cursor=" + cursor: {"cursor: The cursor is not from this list. Use next_cursor of the previous page."},
		"status=x&limit=0":                {"status: The status of things must be pending, success or failed.", "limit: The limit must be a whole number from 1 to 1000."},
	} {
		_, _, err := readFilter(call(query), list, states, nil)
		p, ok := errors.AsType[*schema.Problem](err)
		if !ok {
			t.Fatalf("%s: got %v", query, err)
		}
		got := []string{p.Field + ": " + p.Message}
		for _, more := range p.Details[min(1, len(p.Details)):] {
			got = append(got, more.Field+": "+more.Message)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}
