// Package signup creates accounts for people who sign up. A sign-up creates an account with a sandbox key, and sends a
// mail with a signed link. The link confirms the e-mail address. Then the account gets a live key.
//
// Every valid request creates an account, even if another account has the same address. Replies therefore do not reveal
// who has an account.
package signup

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/http"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/httpapi/ratelimit"
	"vayu/internal/mail"
	"vayu/internal/sqlstore"
	"vayu/schema"
	wire "vayu/schema/signup"
)

// Values of Settings.Mode.
const (
	off    = "off"
	invite = "invite"
	open   = "open"
)

// Settings are the settings of sign-ups.
type Settings struct {
	Mode string     `yaml:"mode" help:"who can make an account: off, invite (with an invite code) or open"`
	Plan string     `yaml:"plan" help:"plan of the accounts that people make"`
	From string     `yaml:"from" help:"sender of mails, such as Vayu <no-reply@example.com>"`
	SMTP config.DSN `yaml:"smtp" help:"mail server, smtp://user:password@host:587 or smtps://…; empty for files in DATA/mail"`
}

// DefaultSettings returns settings without sign-ups.
func DefaultSettings() Settings { return Settings{Mode: off, Plan: "free"} }

// Validate implements config.Validator.
func (s Settings) Validate() []error {
	var f config.Faults
	f.Check(s.Mode == off || s.Mode == invite || s.Mode == open, "mode", "%q must be off, invite or open", s.Mode)
	_, err := netmail.ParseAddress(cmp.Or(s.From, mail.DefaultFrom))
	f.CheckError(err, "from")
	u, err := url.Parse(string(s.SMTP))
	f.Check(s.SMTP == "" || err == nil && (u.Scheme == "smtp" || u.Scheme == "smtps") && u.Hostname() != "", "smtp", "must be smtp://host:port or smtps://host:port, with user:password@ before the host if it needs them")
	f.Check(s.SMTP == "" || s.From != "", "from", "a mail server needs a sender, such as Vayu <no-reply@example.com>")
	return f
}

// Config holds the dependencies of a Service.
type Config struct {
	Settings
	DB     *sqlstore.DB
	Cipher *encryption.Cipher
	Plans  map[string]int64
	Mail   *mail.Sender
	// BaseURL returns the URL of the service for clients, without a final slash. It is not called before the API
	// listens.
	BaseURL func() string
	// Erase erases the data of an account that has no active keys. It is idempotent.
	Erase   func(ctx context.Context, account string) error
	Limited bool // whether requests are limited by client and by e-mail address
	Metrics prometheus.Registerer
	Now     func() time.Time
}

// Limits of the requests of one client, and for one e-mail address. perClient leaves room for a class of students who
// share one IPv4 address. perEmail keeps people from flooding the mailbox of another person. Each instance counts
// separately.
const (
	perClient = 60     // per hour, also in one burst
	perEmail  = 3      // per hour, also in one burst
	most      = 50_000 // clients or e-mail addresses that a limiter counts; beyond that, it drops the one idle longest
	tooMany   = "There were too many sign-ups from this address or for this e-mail address. Retry later."
	hour      = 3600.0
)

// Service serves sign-ups.
type Service struct {
	Config
	clients *ratelimit.Limiter[netip.Addr]
	emails  *ratelimit.Limiter[string]
	events  *prometheus.CounterVec
	mails   *mail.Queue
}

// New returns a service. It panics if its metric is already registered.
func New(c Config) *Service {
	s := &Service{
		Config:  c,
		clients: ratelimit.New[netip.Addr](perClient/hour, perClient, most, tooMany),
		emails:  ratelimit.New[string](perEmail/hour, perEmail, most, tooMany),
		events: promauto.With(c.Metrics).NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_signup_total", Help: "Sign-ups by what happened: requested, confirmed, erased, mail_sent or mail_failed.",
		}, []string{"event"}),
	}
	for _, event := range []string{"requested", "confirmed", "erased", "mail_sent", "mail_failed"} {
		s.events.WithLabelValues(event)
	}
	s.mails = mail.NewQueue(mail.Queue{Sender: c.Mail, DB: c.DB, Table: "signup", Key: "account_id", Due: s.due, Clean: s.eraseExpired, Count: s.count})
	return s
}

func (s *Service) count(event string) { s.events.WithLabelValues(event).Inc() }

// Routes are the endpoints of sign-ups. The endpoints exist even if sign-up is off, so that a client can read the mode.
func (s *Service) Routes() []httpapi.Route {
	const path = "/v1/signup"
	return []httpapi.Route{
		{Method: http.MethodGet, Path: path, NoAuth: true, Handler: s.get},
		{Method: http.MethodPost, Path: path, NoAuth: true, Body: httpapi.SmallBody, Handler: s.limited(s.post)},
		{Method: http.MethodPost, Path: path + "/confirm", NoAuth: true, Body: httpapi.SmallBody, Handler: s.limited(s.confirm)},
	}
}

func (s *Service) get(*httpapi.Call) (httpapi.Response, error) {
	return httpapi.Response{Value: wire.Mode{Status: schema.Success, Mode: s.Mode}}, nil
}

// limited returns a handler that rejects all calls if sign-up is off. It also rejects the calls of a client that has
// sent too many calls.
func (s *Service) limited(h httpapi.Handler) httpapi.Handler {
	return func(c *httpapi.Call) (resp httpapi.Response, err error) {
		if s.Mode == off {
			return resp, schema.NewProblem(schema.NotFound, "", "This service has no sign-up. Its operator makes accounts.")
		}
		if s.Limited {
			if err := s.clients.Admit(ratelimit.Network(c.Client), s.Now()); err != nil {
				return resp, err
			}
		}
		return h(c)
	}
}

// Personal describes the personal data of an account in this package's tables, for its erasure.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{
		{Table: "signup_invite", Key: []string{"hash"}, From: "signup_invite t WHERE t.account_id = $1"},
		{Table: "signup", Key: []string{"account_id"}, From: "signup t WHERE t.account_id = $1"},
	}
}

// CreateInvite creates an invite code and returns it. The store has only the hash of the code. If email is not empty,
// only this address can use the code. The error is a *schema.Problem if the address is invalid.
func CreateInvite(tx *sqlstore.Tx, email string, expires, now time.Time) (code string, err error) {
	if email != "" && !wire.IsEmail(email) {
		return "", errEmail
	}
	code = "inv_" + rand.Text()
	hash := sha256.Sum256([]byte(code))
	_, err = tx.Exec("INSERT INTO signup_invite (hash, email, created_at, expires_at) VALUES ($1, $2, $3, $4)",
		hash[:], strings.ToLower(email), now.UnixMicro(), expires.UnixMicro())
	if err != nil {
		return "", fmt.Errorf("creating an invite code: %w", err)
	}
	return code, nil
}
