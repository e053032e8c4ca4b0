package outbox

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// keys of the accounts acc_live and acc_sandbox.
var keys = httpapitest.Keys{"live", "sandbox"}

// apiFixture is an outbox with its HTTP routes.
type apiFixture struct {
	*outboxFixture
	url string
}

func eachAPIFixture(t *testing.T, do func(t *testing.T, c *apiFixture)) {
	t.Helper()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		handler, err := httpapi.New(httpapi.Config{Routes: d.Routes(), Access: keys})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(httpapitest.Checked(t, handler))
		t.Cleanup(server.Close)
		do(t, &apiFixture{d, server.URL})
	})
}

// reply is an HTTP reply.
type reply struct {
	status int
	text   string
	Data   json.RawMessage
	More   bool    `json:"has_more"`
	Next   *string `json:"next_cursor"`
	Error  schema.Problem
}

func (c *apiFixture) get(world schema.World, path string) (r reply) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.url+path, http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+keys[world])
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		c.t.Fatalf("%s: %v: %s", path, err, text)
	}
	r.status, r.text = resp.StatusCode, string(text)
	return r
}

// list reads all pages, and returns the ids and the number of pages.
func (c *apiFixture) list(world schema.World, query string) (ids []string, pages int) {
	c.t.Helper()
	ids = []string{}
	for cursor := ""; ; {
		r := c.get(world, "/v1/events?"+query+cursor)
		if r.status != http.StatusOK {
			c.t.Fatalf("%s: %d %s", query, r.status, r.text)
		}
		var all []schema.Envelope
		if err := json.Unmarshal(r.Data, &all); err != nil {
			c.t.Fatal(err)
		}
		for _, e := range all {
			ids = append(ids, e.ID)
		}
		pages++
		if !r.More {
			return ids, pages
		}
		cursor = "&cursor=" + *r.Next
	}
}

// appendEvents commits events of an account, at the given intervals.
func (c *apiFixture) appendEvents(world schema.World, n int, step time.Duration, types ...schema.EventType) (ids []string) {
	c.t.Helper()
	if err := c.DB.Update(c.t.Context(), func(tx *sqlstore.Tx) error {
		ids = nil
		at := c.clock.Now()
		for i := range n {
			c.clock.Set(at.Add(time.Duration(i) * step))
			kind := types[i%len(types)]
			data := bytes.Replace(schema.EventExample(kind), []byte(`"topup-42"`), []byte(`"<&>\u2028`+strconv.Itoa(i)+`"`), 1)
			id, err := c.Append(tx, "acc_"+world.String(), world, kind, json.RawMessage(data))
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	}); err != nil {
		c.t.Fatal(err)
	}
	return ids
}

func TestEventsAreListedForwards(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, c *apiFixture) {
		c.clock.Set(noon)
		live := c.appendEvents(schema.Live, 25, time.Hour, schema.EventPaymentSucceeded, schema.EventPaymentFailed)
		c.clock.Set(noon)
		sandbox := c.appendEvents(schema.Sandbox, 3, 0, schema.EventQuotaWarning)
		odd := func(i int) (ids []string) {
			for ; i < len(live); i += 2 {
				ids = append(ids, live[i])
			}
			return ids
		}
		at := func(i int) string {
			return url.QueryEscape(noon.Add(time.Duration(i) * time.Hour).Format(time.RFC3339Nano))
		}
		for query, want := range map[string][]string{
			"":                               live,
			"limit=7":                        live,
			"type=payment.succeeded":         odd(0),
			"type=payment.failed&limit=5":    odd(1),
			"type=recharge.pending":          {},
			"from=" + at(3):                  live[3:],
			"to=" + at(3):                    live[:3],
			"from=" + at(3) + "&to=" + at(4): live[3:4],
			"from=2026-11-22&limit=2":        live[12:],
			"to=2026-11-21":                  live[:12],
			"from=2026-11-21&to=2026-11-22":  live,
			"from=1969-12-31T00:00:00Z":      live,
			"from=9999-12-31":                {},
			"to=1969-12-31":                  {},
			"from=" + at(24) + "&type=" + "payment.succeeded": live[24:],
		} {
			if got, _ := c.list(schema.Live, query); !cmp.Equal(got, want) {
				t.Errorf("%q: %s", query, cmp.Diff(want, got))
			}
			newest := append([]string{}, want...)
			slices.Reverse(newest)
			if got, _ := c.list(schema.Live, "order=newest&"+query); !cmp.Equal(got, newest) {
				t.Errorf("the newest first, %q: %s", query, cmp.Diff(newest, got))
			}
		}
		if got, _ := c.list(schema.Sandbox, ""); !cmp.Equal(got, sandbox) {
			t.Errorf("the sandbox: %s", cmp.Diff(sandbox, got))
		}
		// Times have microseconds, here within one millisecond.
		c.clock.Set(noon.Add(48 * time.Hour))
		near := c.appendEvents(schema.Live, 3, time.Microsecond, schema.EventPaymentFailed)
		second := url.QueryEscape(noon.Add(48*time.Hour + time.Microsecond).Format(time.RFC3339Nano))
		if got, _ := c.list(schema.Live, "from="+second); !cmp.Equal(got, near[1:]) {
			t.Errorf("from the second on: %s", cmp.Diff(near[1:], got))
		}
		if got, _ := c.list(schema.Live, "from=2026-11-23&to="+second); !cmp.Equal(got, near[:1]) {
			t.Errorf("up to the second: %s", cmp.Diff(near[:1], got))
		}
	})
}

func TestEventsAreShownByteForByte(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, c *apiFixture) {
		ids := c.appendEvents(schema.Live, 2, time.Second, schema.EventPaymentSucceeded)
		var stored []byte
		if err := c.DB.View(t.Context()).QueryRow("SELECT envelope FROM event WHERE id = $1", ids[1]).Scan(&stored); err != nil {
			t.Fatal(err)
		}
		if r := c.get(schema.Live, "/v1/events/"+ids[1]); r.status != http.StatusOK || r.text != `{"status":"success","data":`+string(stored)+`}` {
			t.Errorf("the event: %d %s, want %s in it", r.status, r.text, stored)
		}
		if r := c.get(schema.Live, "/v1/events"); !strings.Contains(r.text, ","+string(stored)+`],"has_more":false,"next_cursor":null}`) {
			t.Errorf("the list %s does not end with %s", r.text, stored)
		}
		for name, path := range map[string]string{
			"another's": "/v1/events/" + ids[0], "none": "/v1/events/evt_01KAJ0A6Q3W8Y1B4D7F0H2K5M9", "no id": "/v1/events/x", "NUL": "/v1/events/%00",
			"lower case": "/v1/events/" + strings.ToLower(ids[0]), "no prefix": "/v1/events/" + strings.TrimPrefix(ids[0], "evt_"),
		} {
			if r := c.get(schema.Sandbox, path); r.status != http.StatusNotFound || r.Error.Code != schema.NotFound {
				t.Errorf("%s: %d %s", name, r.status, r.text)
			}
		}
	})
}

func TestInvalidQueriesAreRejected(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, c *apiFixture) {
		c.appendEvents(schema.Live, 3, time.Second, schema.EventPaymentSucceeded)
		cursor := *c.get(schema.Live, "/v1/events?limit=1").Next
		for path, want := range map[string]struct {
			code  schema.Code
			field string
		}{
			"/v1/events?type=payment.done":                        {schema.UnknownEventType, "type"},
			"/v1/events?type=payment.*":                           {schema.UnknownEventType, "type"},
			"/v1/events?type=x&limit=0":                           {schema.UnknownEventType, "type"},
			"/v1/events?types=payment.failed":                     {schema.InvalidRequest, "types"},
			"/v1/events?order=new":                                {schema.InvalidRequest, "order"},
			"/v1/events?order=newest&cursor=" + cursor:            {schema.InvalidRequest, "cursor"},
			"/v1/events?limit=1001":                               {schema.InvalidRequest, "limit"},
			"/v1/events?from=yesterday":                           {schema.InvalidRequest, "from"},
			"/v1/events?from=2026-11-22&to=2026-11-20":            {schema.InvalidRequest, "from"},
			"/v1/events?cursor=abc":                               {schema.InvalidRequest, "cursor"},
			"/v1/events?type=payment.succeeded&cursor=" + cursor:  {schema.InvalidRequest, "cursor"},
			"/v1/events?to=2027-01-01&cursor=" + cursor:           {schema.InvalidRequest, "cursor"},
			"/v1/events/evt_01KAJ0A6Q3W8Y1B4D7F0H2K5M9?view=data": {schema.InvalidRequest, "view"},
		} {
			t.Run(strings.ReplaceAll(path, cursor, "CURSOR"), func(t *testing.T) {
				if r := c.get(schema.Live, path); r.status != want.code.Status() || r.Error.Code != want.code || r.Error.Field != want.field {
					t.Errorf("got %d %s, want %s of %s", r.status, r.text, want.code, want.field)
				}
			})
		}
		if r := c.get(schema.Sandbox, "/v1/events?cursor="+cursor); r.Error.Field != "cursor" {
			t.Errorf("a cursor of the other world: %d %s", r.status, r.text)
		}
	})
}

// A rare type is found among many events, page by page. Each page scans a bounded
// number.
func TestRareTypeIsScannedInPages(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, c *apiFixture) {
		var want []string
		for range 2 {
			want = append(want, c.appendEvents(schema.Live, 1, 0, schema.EventQuotaExceeded)...)
			c.appendEvents(schema.Live, scanMost, 0, schema.EventPaymentSucceeded)
		}
		got, pages := c.list(schema.Live, "type=quota.exceeded")
		if pages != 3 || !slices.Equal(got, want) {
			t.Errorf("%d pages, want 3: %s", pages, cmp.Diff(want, got))
		}
		slices.Reverse(want)
		got, pages = c.list(schema.Live, "type=quota.exceeded&order=newest")
		if pages != 3 || !slices.Equal(got, want) {
			t.Errorf("the newest first: %d pages, want 3: %s", pages, cmp.Diff(want, got))
		}
	})
}
