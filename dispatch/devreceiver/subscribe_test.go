package devreceiver_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/devreceiver"
	"vayu/schema"
)

// service is a fake of the API of a service, with the routes that a listener calls.
type service struct {
	*httptest.Server
	mu     sync.Mutex
	calls  []string          // method, path and key of every request
	made   map[string]any    // body of the request that created the subscription
	refuse map[string]string // by method: "status body"
	tests  chan struct{}     // POST …/test
	hooks  []schema.Webhook  // existing subscriptions

	refuseTest string // "status body" of POST …/test
}

func newService(t *testing.T, refuse map[string]string) *service {
	t.Helper()
	s := &service{refuse: refuse, tests: make(chan struct{}, 2)}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
	refusal, ok := s.refuse[r.Method]
	if !ok && strings.HasSuffix(r.URL.Path, "/test") {
		refusal, ok = s.refuseTest, s.refuseTest != ""
	}
	if ok {
		status, body, _ := strings.Cut(refusal, " ")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(map[string]int{"201": 201, "302": 302, "401": 401, "403": 403, "404": 404, "422": 422, "500": 500, "502": 502}[status])
		_, _ = w.Write([]byte(body))
		return
	}
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/v1/webhooks":
		s.list(w, r.URL.Query().Get("cursor"))
	case r.URL.Path == "/elsewhere":
		http.NotFound(w, r)
	case r.Method == http.MethodDelete:
		_, _ = w.Write([]byte(`{"status":"success","id":"wh_1","deleted":true}`))
	case strings.HasSuffix(r.URL.Path, "/test"):
		s.tests <- struct{}{}
		_, _ = w.Write([]byte(`{"status":"success","event_id":"evt_1","delivery_id":"dlv_1"}`))
	default:
		_ = json.NewDecoder(r.Body).Decode(&s.made)
		shown := schema.WebhookReply{Status: "success", Webhook: schema.Webhook{ID: "wh_1", Mode: "sandbox"}}
		if s.made["secret"] == nil {
			shown.Secret = secret
		}
		w.WriteHeader(http.StatusCreated)
		write(w, shown)
	}
}

// list replies with a page of one subscription.
func (s *service) list(w http.ResponseWriter, cursor string) {
	page, at := schema.List[schema.Webhook]{Status: schema.Success}, len(cursor)
	if at < len(s.hooks) {
		page.Data = s.hooks[at : at+1]
	}
	if at+1 < len(s.hooks) {
		next := strings.Repeat("+", at+1) // must be escaped
		page.HasMore, page.NextCursor = true, &next
	}
	write(w, page)
}

func write(w http.ResponseWriter, reply any) {
	if err := json.NewEncoder(w).Encode(reply); err != nil {
		panic(err)
	}
}

func (s *service) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *service) body() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

func problem(status string, code schema.Code, message string) string {
	text, err := json.Marshal(schema.NewProblem(code, "", message).Body("req_1"))
	if err != nil {
		panic(err)
	}
	return status + " " + string(text)
}

const key = "sk_test_000000000000000000000000000000000000000"

func TestSubscriptionEndsWithListener(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	r := start(t, devreceiver.Config{Client: &devreceiver.Client{API: s.URL + "/", Key: key, KeyShown: key}})
	want := map[string]any{"url": r.address, "events": []any{}}
	for _, e := range schema.CustomerEventTypes() {
		want["events"] = append(want["events"].([]any), string(e))
	}
	if diff := cmp.Diff(want, s.body()); diff != "" {
		t.Error(diff)
	}
	// The printed command works unchanged.
	command := r.until(t, `(?m)^  (curl .*)$`)[1]
	if _, err := exec.LookPath("curl"); err == nil {
		if out, err := exec.CommandContext(t.Context(), "sh", "-c", command+" -fsS --noproxy '*'").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		<-s.tests
	}
	_ = r.answer(t, event, secret, "1")
	r.until(t, eventID+".* verified")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r.until(t, "The subscription wh_1 is deleted")
	calls := s.requests()
	if got, want := calls[len(calls)-1], "DELETE /v1/webhooks/wh_1 Bearer "+key; got != want {
		t.Errorf("the last request is %q, want %q", got, want)
	}
}

func TestChosenSecretAndEvents(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	r := start(t, devreceiver.Config{Secrets: []string{"whsec_mine"}, Client: &devreceiver.Client{
		API: s.URL, Key: key, KeyShown: "$VAYU_API_KEY", Events: []schema.EventType{schema.EventQuotaWarning},
	}})
	want := map[string]any{"url": r.address, "events": []any{"quota.warning"}, "secret": "whsec_mine"}
	if diff := cmp.Diff(want, s.body()); diff != "" {
		t.Error(diff)
	}
	_ = r.answer(t, event, "whsec_mine", "1")
	r.until(t, eventID+".* verified")
	if strings.Contains(r.String(), key) || strings.Contains(r.String(), "whsec_mine") {
		t.Errorf("a secret is shown:\n%s", r)
	}
}

// Each failure of the service is reported with its remedy, and without the key.
func TestProblemsOfServiceAreExplained(t *testing.T) {
	t.Parallel()
	gone := newService(t, nil)
	gone.Close()
	for name, c := range map[string]struct {
		reply string
		want  []string
	}{
		"no such key":    {problem("401", schema.Unauthorized, "the key is not known"), []string{"the key is not known", "unauthorized"}},
		"no scope":       {problem("403", schema.InsufficientScope, "webhooks:manage is needed"), []string{"webhooks:manage is needed", "`vayu key create`"}},
		"no local URL":   {problem("422", schema.URLNotAllowed, "it leads to this machine"), []string{"it leads to this machine", "--webhook-local"}},
		"no such port":   {problem("422", schema.InvalidWebhookURL, "port 9443"), []string{"port 9443", "--webhook-local"}},
		"an event":       {problem("422", schema.UnknownEventType, "x\x1b[2J"+strings.Repeat(", a type", 100)), []string{"x\ufffd[2J", strings.Repeat(", a type", 100) + " (unknown_event_type)"}},
		"an endless one": {problem("422", schema.UnknownEventType, strings.Repeat("x", 100_000)), []string{"x (unknown_event_type)"}},
		"another server": {"500 <html>", []string{"is not Vayu", "500 Internal Server Error"}},
		"a redirect":     {"302 ", []string{"is not Vayu", "302 Found"}},
		"no JSON":        {"201 hello", []string{"is not Vayu"}},
		"no secret":      {`201 {"id":"wh_1"}`, []string{"no id or no secret"}},
		"an evil id":     {`201 {"id":"wh_1; rm -r /","secret":"whsec_1"}`, []string{"no id or no secret"}},
		"nobody":         {"", []string{"no service answers on " + gone.URL, "is it running"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := gone.URL
			if c.reply != "" {
				api = newService(t, map[string]string{http.MethodPost: c.reply}).URL
			}
			out := newScreen()
			l, err := devreceiver.New(devreceiver.Config{Data: t.TempDir(), Answer: 200, Out: out, Now: noonNow, Client: &devreceiver.Client{API: api, Key: key, KeyShown: key}})
			if err != nil {
				t.Fatal(err)
			}
			err = l.Run(t.Context())
			if err == nil {
				t.Fatal("it runs")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %q", want, err)
				}
			}
			if strings.Contains(err.Error()+out.String(), key) {
				t.Errorf("the key is shown: %v\n%s", err, out)
			}
		})
	}
}

func TestFailedDeletionIsReported(t *testing.T) {
	t.Parallel()
	c := devreceiver.Client{Key: key, KeyShown: key}
	for reply, want := range map[string]string{
		problem("404", schema.NotFound, "no such subscription"): "",
		problem("403", schema.IPNotAllowed, "not from here"):    "deleting the subscription wh_1, which stays active: the service refuses: not from here (ip_not_allowed)",
	} {
		c := c
		c.API = newService(t, map[string]string{http.MethodDelete: reply}).URL
		err := start(t, devreceiver.Config{Client: &c}).stop()
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// The listener opens its port before it creates a subscription.
func TestNoSubscriptionWithoutAPort(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	l, err := devreceiver.New(devreceiver.Config{
		Data: t.TempDir(), Port: taken.Addr().(*net.TCPAddr).Port, Answer: 200, Out: newScreen(), Now: noonNow,
		Client: &devreceiver.Client{API: s.URL, Key: key, KeyShown: key},
	})
	if err != nil {
		t.Fatal(err)
	}
	if l.Run(t.Context()) == nil {
		t.Error("Run without a port: got no error")
	}
	if got := s.requests(); len(got) > 0 {
		t.Errorf("requests without a port: %v", got)
	}
}

// With Test the listener requests a test event, so that a delivery arrives without
// further commands.
func TestTestEventIsSent(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	r := start(t, devreceiver.Config{Client: &devreceiver.Client{
		API: s.URL, Key: key, KeyShown: "$VAYU_API_KEY", Test: true, Events: []schema.EventType{schema.EventQuotaWarning},
	}})
	<-s.tests
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}

	s = newService(t, nil)
	r = start(t, devreceiver.Config{Client: &devreceiver.Client{API: s.URL, Key: key, KeyShown: key}})
	_ = r.stop()
	for _, call := range s.requests() {
		if strings.Contains(call, "/test ") {
			t.Errorf("an unrequested test event: %s", call)
		}
	}
}

func TestFailedTestEventIsReported(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.refuseTest = problem("403", schema.IPNotAllowed, "not from here")
	r := start(t, devreceiver.Config{Secrets: []string{secret}, Client: &devreceiver.Client{API: s.URL, Key: key, KeyShown: key, Test: true}})
	r.until(t, `No test event is on its way: the service refuses: not from here \(ip_not_allowed\)`)
	_ = r.answer(t, event, secret, "1")
	r.until(t, eventID+".* verified")
}

// A killed listener leaves its subscription. The next one on the same port deletes it.
func TestLeftoverSubscriptionIsDeleted(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	own := fmt.Sprintf("https://localhost:%d/", port)
	s := newService(t, nil)
	s.hooks = []schema.Webhook{
		{ID: "wh_other", URL: "https://localhost:1/"}, {ID: "wh_old", URL: own}, {ID: "wh_path", URL: own + "x"},
		{ID: "../account", URL: own}, {ID: "wh_older", URL: own},
	}
	r := start(t, devreceiver.Config{Port: port, Client: &devreceiver.Client{API: s.URL, Key: key, KeyShown: key}})
	_ = r.stop()
	var got []string
	for _, call := range s.requests() {
		if method, path, _ := strings.Cut(strings.TrimSuffix(call, " Bearer "+key), " "); method != http.MethodGet {
			got = append(got, method+" "+path)
		}
	}
	want := []string{"DELETE /v1/webhooks/wh_old", "DELETE /v1/webhooks/wh_older", "POST /v1/webhooks", "DELETE /v1/webhooks/wh_1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
