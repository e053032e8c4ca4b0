package member_test

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
	"vayu/internal/access/member"
	"vayu/internal/httpapi"
	"vayu/internal/mail"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// site is a service with members, and a client of it. The account has a live and a sandbox key with every scope.
type site struct {
	*member.Service
	accesstest.Client
	accesstest.Tenant
	t       *testing.T
	db      *sqlstore.DB
	clock   fixture.Clock
	log     fixture.Log
	metrics *prometheus.Registry
	mail    *mail.Sender
	access  interface {
		httpapi.Access
		Refresh(ctx context.Context) error
	}
}

func newSite(t *testing.T, db *sqlstore.DB, limited bool) *site {
	t.Helper()
	s := &site{t: t, db: db, metrics: prometheus.NewRegistry()}
	s.clock.Set(time.Now().Truncate(time.Second))
	s.Tenant = accesstest.AddTenant(t, db, "acme")
	access := accesstest.Access(t, db, s.clock.Now)
	s.access = access
	s.mail = &mail.Sender{Data: t.TempDir(), Log: s.log.Logger(), Now: s.clock.Now}
	s.Service = member.New(member.Config{
		DB: db, Cipher: accesstest.ClaimedCipher(t, db), Mail: s.mail, BaseURL: func() string { return "https://api.example.com" },
		Change: access.ChangeMembers, Limited: limited, Metrics: s.metrics, Now: s.clock.Now,
	})
	s.Client = accesstest.NewClient(t, access, append(s.Service.Routes(), access.Routes()...))
	return s
}

// eachSite runs a test on both engines.
func eachSite(t *testing.T, do func(t *testing.T, s *site)) {
	t.Helper()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) { do(t, newSite(t, db, false)) })
}

func jsonOf(t *testing.T, body any) string {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// live is the live key of the account.
func (s *site) live() string { return s.Keys[schema.Live] }

// add adds a member with a key.
func (s *site) add(key, email, role string) accesstest.Reply {
	s.t.Helper()
	s.clock.Advance(time.Millisecond) // ids, and so the names of files, are in the order of the requests
	return s.Do(key, http.MethodPost, "/v1/members", jsonOf(s.t, map[string]string{"email": email, "role": role}))
}

// added adds a member and returns its id.
func (s *site) added(email, role string) string {
	s.t.Helper()
	return s.add(s.live(), email, role).Want(s.t, "adding "+email, http.StatusCreated).TextAt("data.id")
}

func (s *site) request(email string) accesstest.Reply {
	s.t.Helper()
	s.clock.Advance(time.Millisecond)
	return s.Do("", http.MethodPost, "/v1/sign-in-links", jsonOf(s.t, map[string]string{"email": email}))
}

func (s *site) confirm(token string) accesstest.Reply {
	s.t.Helper()
	return s.Do("", http.MethodPost, "/v1/sign-in-links/confirm", jsonOf(s.t, map[string]string{"token": token}))
}

var link = regexp.MustCompile(`https://api\.example\.com/dashboard/sign-in#(\S+)`)

// mails sends the mails that are due. It returns the tokens of the links in all mails so far, one list for each mail.
func (s *site) mails() (tokens [][]string) {
	s.t.Helper()
	if err := s.Process(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.mail.Data, "mail", "*.eml"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(raw), "\r\n\r\n")
		plain, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(body)))
		if err != nil {
			s.t.Fatal(err)
		}
		var all []string
		for _, found := range link.FindAllStringSubmatch(string(plain), -1) {
			if len(all) == 0 || all[0] != found[1] { // the mail has each link in two languages
				all = append(all, found[1])
			}
		}
		tokens = append(tokens, all)
	}
	return tokens
}

// last returns the token of the first link in the newest mail.
func (s *site) last() string {
	s.t.Helper()
	all := s.mails()
	if len(all) == 0 || len(all[len(all)-1]) == 0 {
		s.t.Fatalf("the mails have the links %q, want one in the last", all)
	}
	return all[len(all)-1][0]
}

// cookie signs in with a token, and returns the cookie of the session.
func (s *site) cookie(token string) string {
	s.t.Helper()
	r := s.confirm(token).Want(s.t, "signing in", http.StatusCreated)
	set, err := http.ParseSetCookie(r.Header.Get("Set-Cookie"))
	if err != nil {
		s.t.Fatal(err)
	}
	return set.Name + "=" + set.Value
}

// by sends a request of a session.
func (s *site) by(cookie, method, path, body string) accesstest.Reply {
	s.t.Helper()
	return s.Do("", method, "/dashboard"+path, body, "Cookie", cookie)
}
