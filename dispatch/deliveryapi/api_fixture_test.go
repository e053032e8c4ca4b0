package deliveryapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/deliveryapi"
	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/httpapi"
	"vayu/internal/httpapi/httpapitest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// apiFixture is a service with its store and HTTP routes, and an account with a key
// for the live world and one for the sandbox.
type apiFixture struct {
	*delivery.Service

	t       *testing.T
	url     string
	account string
	keys    [len(schema.Worlds)]string
	micros  atomic.Int64 // the clock
	mu      sync.Mutex
	woken   []string
	events  int
}

// eachFixture runs a test on both engines.
func eachFixture(t *testing.T, do func(t *testing.T, s *apiFixture)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newFixture(t, db)) })
}

func newFixture(t *testing.T, db *sqlstore.DB) *apiFixture {
	t.Helper()
	box := accesstest.ClaimedCipher(t, db)
	s := &apiFixture{t: t}
	s.micros.Store(start.UnixMicro())
	now := func() time.Time { return time.UnixMicro(s.micros.Load()).UTC() }
	plans := map[string]int64{"unlimited": 0}
	service := access.New(access.Config{DB: db, Cipher: box, Settings: access.Settings{Plans: plans}, Now: now, Timeout: time.Minute})
	do(t, db, func(tx *sqlstore.Tx) error {
		h, _, err := account.Create(tx, plans, "default", "unlimited", now())
		if err != nil {
			return err
		}
		s.account = h.ID
		for _, world := range schema.Worlds {
			made, _, err := apikey.Create(tx, box, apikey.Spec{Account: h.ID, World: world, Scopes: schema.Scopes}, now())
			if err != nil {
				return err
			}
			s.keys[world] = made.Key
		}
		return nil
	})
	s.Service = delivery.New(delivery.Config{DB: db, Now: now, Wake: func(webhook string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.woken = append(s.woken, webhook)
	}})
	api := deliveryapi.API{Deliveries: s.Service, Change: service.Change}
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(running) }()
	if err := service.Ready(running); err != nil {
		t.Fatal(err)
	}
	handler, err := httpapi.New(httpapi.Config{Routes: api.Routes(), Access: service})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(httpapitest.Checked(t, handler))
	s.url = server.URL
	t.Cleanup(func() {
		server.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// advance advances the clock.
func (s *apiFixture) advance(d time.Duration) { s.micros.Add(d.Microseconds()) }

// webhook creates a subscription of the account, and returns its id.
func (s *apiFixture) webhook(world schema.World, n int) string {
	s.t.Helper()
	id := fmt.Sprintf("wh_01KAHR3M5Q7S9V1X3Z5B7D%04d", n)
	addWebhook(s.t, s.DB, s.account, world, id)
	return id
}

// delivery stores a pending delivery of a new event.
func (s *apiFixture) delivery(world schema.World, webhook string) delivery.Row {
	s.t.Helper()
	s.events++
	e := addEvent(s.t, s.DB, s.account, world, fmt.Sprintf("evt_01KAHR3M5Q7S9V1X3Z5B7D%04d", s.events))
	return insert(s.t, s.DB, []delivery.Draft{{Event: e, Webhook: webhook, Lease: true}}, lease("token", s.Now().Add(time.Minute)), s.Now())[0]
}

// finished stores a delivery with a final state, after its last attempt.
func (s *apiFixture) finished(world schema.World, webhook string, status int) delivery.Row {
	s.t.Helper()
	r := s.delivery(world, webhook)
	sqlstoretest.Exec(s.t, s.DB, "UPDATE delivery SET attempts = 7 WHERE id = $1", r.ID)
	r.Attempts = 7
	if stale := record(s.t, s.DB, s.Now(), outcome(&r, "token", status, s.Now())); stale != 0 {
		s.t.Fatal("stale")
	}
	return r
}

// reply is an HTTP reply.
type reply struct {
	status int
	header http.Header
	text   string
}

func (s *apiFixture) do(world schema.World, method, path, body string, header ...string) reply {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body == "" {
		req.Body = http.NoBody
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+s.keys[world])
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(text)}
}

func (s *apiFixture) liveRequest(method, path, body string) reply {
	s.t.Helper()
	return s.do(schema.Live, method, path, body)
}

// refused checks the status of a refusal, and that its message contains a word.
func (r reply) refused(t *testing.T, what string, status int, code schema.Code, field, word string) {
	t.Helper()
	var body schema.ProblemBody
	switch err := json.Unmarshal([]byte(r.text), &body); {
	case err != nil:
		t.Errorf("%s: %s: %v", what, r.text, err)
	case r.status != status:
		t.Errorf("%s: %s: r.status = %v, want %v", what, r.text, r.status, status)
	case body.Error.Code != code:
		t.Errorf("%s: %s: body.Error.Code = %v, want %v", what, r.text, body.Error.Code, code)
	case body.Error.Field != field:
		t.Errorf("%s: %s: body.Error.Field = %q, want %q", what, r.text, body.Error.Field, field)
	case !strings.Contains(body.Message, word):
		t.Errorf("%s: %s: body.Message = %q, want %q in it", what, r.text, body.Message, word)
	}
}

// read checks the status of a reply and decodes it.
func read[T any](t *testing.T, r reply, status int) (v T) {
	t.Helper()
	if r.status != status {
		t.Fatalf("got %d %s, want %d", r.status, r.text, status)
	}
	if err := json.Unmarshal([]byte(r.text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// walk reads all pages of a list.
func (s *apiFixture) walk(world schema.World, path string) (ids []string) {
	s.t.Helper()
	between := "?"
	if strings.Contains(path, "?") {
		between = "&"
	}
	for next := ""; ; {
		list := read[schema.List[schema.Delivery]](s.t, s.do(world, "GET", path+next, ""), 200)
		for _, d := range list.Data {
			ids = append(ids, d.ID)
		}
		if list.NextCursor == nil {
			return ids
		}
		next = between + "cursor=" + *list.NextCursor
	}
}
