package signup_test

import (
	"context"
	"encoding/json"
	"io"
	"mime/quotedprintable"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/access/accesstest"
	"vayu/internal/access/account"
	"vayu/internal/access/signup"
	"vayu/internal/httpapi"
	"vayu/internal/mail"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
)

// service admits calls, and has the endpoints of accounts and keys.
type service interface {
	httpapi.Access
	Refresh(ctx context.Context) error
	Routes() []httpapi.Route
}

// site is a service with sign-ups, and a client of it.
type site struct {
	*signup.Service
	accesstest.Client
	access  service
	t       *testing.T
	db      *sqlstore.DB
	clock   fixture.Clock
	log     fixture.Log
	metrics *prometheus.Registry
}

func newSite(t *testing.T, db *sqlstore.DB, mode string, change func(*signup.Config)) *site {
	t.Helper()
	s := &site{t: t, db: db, metrics: prometheus.NewRegistry()}
	s.clock.Set(time.Now().Truncate(time.Second))
	s.access = accesstest.Access(t, db, s.clock.Now)
	settings := signup.DefaultSettings()
	settings.Mode = mode
	c := signup.Config{
		Settings: settings, DB: db, Cipher: accesstest.ClaimedCipher(t, db), Plans: accesstest.Plans,
		Mail:    &mail.Sender{Data: t.TempDir(), Log: s.log.Logger(), Now: s.clock.Now},
		BaseURL: func() string { return "https://api.example.com" }, Limited: true, Metrics: s.metrics, Now: s.clock.Now,
		Erase: s.erase,
	}
	if change != nil {
		change(&c)
	}
	s.Service = signup.New(c)
	s.Client = accesstest.NewClient(t, s.access, append(s.Service.Routes(), s.access.Routes()...))
	return s
}

// erase erases an account and the tables of sign-ups, as the service does for all tables.
func (s *site) erase(ctx context.Context, id string) error {
	if _, err := sqlstore.EraseAll(ctx, s.db, id, signup.Personal()); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := account.Erase(tx, id, nil)
		return err
	})
}

// eachSite runs a test on both engines.
func eachSite(t *testing.T, mode string, change func(*signup.Config), do func(t *testing.T, s *site)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newSite(t, db, mode, change)) })
}

func (s *site) post(path string, body any) accesstest.Reply {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.Do("", http.MethodPost, path, string(text))
}

func (s *site) signUp(email string) accesstest.Reply {
	s.t.Helper()
	return s.post("/v1/signup", map[string]string{"email": email})
}

func (s *site) confirm(token string) accesstest.Reply {
	s.t.Helper()
	return s.post("/v1/signup/confirm", map[string]any{"token": token, "member": false})
}

// made signs up and returns the id and the sandbox key of the account.
func (s *site) made(email string) (id, key string) {
	s.t.Helper()
	r := s.signUp(email)
	if r.Status != http.StatusCreated {
		s.t.Fatalf("%s: got %d %s, want 201", email, r.Status, r.Text)
	}
	return r.Body["account_id"].(string), r.Body["key"].(string)
}

func (s *site) process() {
	s.t.Helper()
	if err := s.Process(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

var link = regexp.MustCompile(`https://api\.example\.com/dashboard/signup/confirm#(\S+)`)

// tokenIn returns the token of the link in a mail.
func tokenIn(t *testing.T, mail string) string {
	t.Helper()
	_, body, _ := strings.Cut(mail, "\r\n\r\n")
	plain, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	found := link.FindStringSubmatch(string(plain))
	if found == nil {
		t.Fatalf("the mail has no link:\n%s", plain)
	}
	return found[1]
}

// token returns the token of the mail of an account, from its file.
func (s *site) token(id string) string {
	s.t.Helper()
	s.process()
	mail, err := os.ReadFile(s.file(id))
	if err != nil {
		s.t.Fatal(err)
	}
	return tokenIn(s.t, string(mail))
}

func (s *site) file(id string) string { return filepath.Join(s.Mail.Data, "mail", id+".eml") }

// works returns the status of a call with a key.
func (s *site) works(key string) int {
	s.t.Helper()
	if err := s.access.Refresh(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return s.Do(key, http.MethodGet, "/v1/account", "").Status
}

func (s *site) count(event string) float64 {
	s.t.Helper()
	return fixture.MetricValue(s.t, s.metrics, "vayu_signup_total", "event", event)
}

// wantInvalid fails unless a reply refuses a field.
func wantInvalid(t *testing.T, r accesstest.Reply, field string) {
	t.Helper()
	problem, _ := r.Body["error"].(map[string]any)
	if r.Status != http.StatusBadRequest || problem["code"] != "invalid_request" || problem["field"] != field {
		t.Errorf("got %d and the problem %v, want 400, invalid_request and the field %s: %s", r.Status, problem, field, r.Text)
	}
}
