package member

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/access/session"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/httpapi/ratelimit"
	"vayu/internal/mail"
	"vayu/internal/sqlstore"
	"vayu/schema"
	wire "vayu/schema/member"
)

// Config holds the dependencies of a Service.
type Config struct {
	DB     *sqlstore.DB
	Cipher *encryption.Cipher
	Mail   *mail.Sender
	// BaseURL returns the URL of the service for clients, without a final slash. It is not called before the API
	// listens.
	BaseURL func() string
	// Change runs a change of members and keys in one transaction with its audit row.
	Change  func(c *httpapi.Call, do session.Change) (httpapi.Response, error)
	Limited bool // whether requests are limited by client, by e-mail address and by account
	Metrics prometheus.Registerer
	Now     func() time.Time
}

// Limits of the requests of one client, and of the mails to one address. Each instance counts separately. Package
// signup has the same limits, but counts separately too.
const (
	perClient = 60 // per hour, also in one burst
	perEmail  = 3  // per hour, also in one burst
	// perAccount is the number of invitations that an account can send per day, also in one burst. Without this limit,
	// an account that adds and removes members could send mails to any number of strangers.
	perAccount = 2 * most
	remember   = 50_000 // clients, addresses or accounts that each limiter counts; above that it drops the longest idle
	tooMany    = "There were too many requests from this address or for this e-mail address. Retry later."
	hour       = 3600.0
)

// Service serves members and their sign-ins.
type Service struct {
	Config
	clients *ratelimit.Limiter[netip.Addr]
	emails  *ratelimit.Limiter[string]
	adders  *ratelimit.Limiter[string] // by account
	events  *prometheus.CounterVec
	mails   *mail.Queue
}

// New returns a service. It panics if its metric is already registered.
func New(c Config) *Service {
	s := &Service{
		Config:  c,
		clients: ratelimit.New[netip.Addr](perClient/hour, perClient, remember, tooMany),
		emails:  ratelimit.New[string](perEmail/hour, perEmail, remember, tooMany),
		adders:  ratelimit.New[string](perAccount/(24*hour), perAccount, remember, "The account has added too many members today. Retry later."),
		events: promauto.With(c.Metrics).NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_sign_in_total", Help: "Sign-ins with a link, by what happened: requested, signed_in, mail_sent or mail_failed.",
		}, []string{"event"}),
	}
	for _, event := range []string{"requested", "signed_in", "mail_sent", "mail_failed"} {
		s.events.WithLabelValues(event)
	}
	s.mails = mail.NewQueue(mail.Queue{Sender: c.Mail, DB: c.DB, Table: "sign_in_link", Key: "id", Due: s.due, Clean: s.clean, Count: s.count})
	return s
}

func (s *Service) count(event string) { s.events.WithLabelValues(event).Inc() }

// Run sends due mails and removes expired links until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.mails.Run(ctx) }

// Routes are the endpoints of members and of sign-ins with a link.
func (s *Service) Routes() []httpapi.Route {
	const (
		path   = "/v1/members"
		links  = "/v1/sign-in-links"
		manage = string(schema.KeysManage)
		body   = httpapi.SmallBody
	)
	return []httpapi.Route{
		{Method: http.MethodGet, Path: path, Scope: manage, Handler: s.list},
		{Method: http.MethodPost, Path: path, Scope: manage, Body: body, Handler: s.post},
		{Method: http.MethodPatch, Path: path + "/{id}", Scope: manage, Body: body, Handler: s.patch},
		{Method: http.MethodDelete, Path: path + "/{id}", Scope: manage, Handler: s.remove},
		{Method: http.MethodPost, Path: links, NoAuth: true, Body: body, Handler: s.limited(s.postLink)},
		{Method: http.MethodPost, Path: links + "/confirm", NoAuth: true, Body: body, Handler: s.limited(s.confirm)},
	}
}

// limited returns a handler that rejects the calls of a client that has sent too many calls.
func (s *Service) limited(h httpapi.Handler) httpapi.Handler {
	return func(c *httpapi.Call) (resp httpapi.Response, err error) {
		if s.Limited {
			if err := s.clients.Admit(ratelimit.Network(c.Client), s.Now()); err != nil {
				return resp, err
			}
		}
		return h(c)
	}
}

// admitEmail limits the mails to an address, so that a client cannot flood the mailbox of a person.
func (s *Service) admitEmail(email string, now time.Time) error {
	if !s.Limited {
		return nil
	}
	return s.emails.Admit(strings.ToLower(email), now)
}

// list answers GET /v1/members. There is one page, because an account has few members.
func (s *Service) list(c *httpapi.Call) (httpapi.Response, error) {
	if c.World != schema.Live {
		return httpapi.Response{}, errSandbox
	}
	all, err := List(s.DB.View(c.Context()), c.Account)
	return httpapi.Response{Value: wire.List{Status: schema.Success, Data: all, Roles: wire.Roles()}}, err
}

func (s *Service) post(c *httpapi.Call) (resp httpapi.Response, err error) {
	wanted, err := httpapi.Decode[struct {
		Email string `json:"email"`
		Role  string `json:"role"`
	}](c)
	if err != nil {
		return resp, err
	}
	if s.Limited {
		if err := s.adders.Admit(c.Account, s.Now()); err != nil {
			return resp, err
		}
	}
	if err := s.admitEmail(wanted.Email, s.Now()); err != nil {
		return resp, err
	}
	resp, err = s.change(c, http.StatusCreated, func(tx *sqlstore.Tx, by Author, now time.Time) (wire.Member, error) {
		return Add(tx, s.Cipher, c.Account, wanted.Email, wanted.Role, by, now)
	})
	if err == nil {
		s.mails.Wake()
	}
	return resp, err
}

// change runs a change of a member, and replies with the member and a status. The caller needs a live key, because the
// change also affects the member's live key. Sandbox keys are often less well protected.
func (s *Service) change(c *httpapi.Call, status int, do func(tx *sqlstore.Tx, by Author, now time.Time) (wire.Member, error)) (httpapi.Response, error) {
	if c.World != schema.Live {
		return httpapi.Response{}, errSandbox
	}
	return s.Change(c, func(c *httpapi.Call, tx *sqlstore.Tx, caller apikey.Record) (httpapi.Response, audit.Entry, error) {
		m, err := do(tx, Author{Who: c.Who(), caller: &caller}, s.Now())
		return httpapi.Response{Status: status, Value: wire.Reply{Status: schema.Success, Data: m}}, audit.Entry{}, err
	})
}

// idOf returns the id in the path, or errNotFound if it is malformed. A query must not get a malformed id, because
// PostgreSQL fails on some texts, such as one with a zero byte.
func idOf(c *httpapi.Call) (string, error) {
	id := mux.Vars(c.Request)["id"]
	if !schema.IsID(id) {
		return "", errNotFound
	}
	return id, nil
}

func (s *Service) patch(c *httpapi.Call) (httpapi.Response, error) {
	wanted, err := httpapi.Decode[struct {
		Role string `json:"role"`
	}](c)
	if err != nil {
		return httpapi.Response{}, err
	}
	id, err := idOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	return s.change(c, http.StatusOK, func(tx *sqlstore.Tx, by Author, now time.Time) (wire.Member, error) {
		return setRole(tx, c.Account, id, wanted.Role, by, now)
	})
}

func (s *Service) remove(c *httpapi.Call) (httpapi.Response, error) {
	id, err := idOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	return s.change(c, http.StatusOK, func(tx *sqlstore.Tx, by Author, now time.Time) (wire.Member, error) {
		return Remove(tx, c.Account, id, by, now)
	})
}
