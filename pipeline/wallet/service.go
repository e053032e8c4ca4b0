package wallet

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/internal/access"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Config holds the dependencies of a Service.
type Config struct {
	DB     *sqlstore.DB
	Events Events
	// Change makes an idempotent, audited handler. It may be nil if Routes is not used.
	Change  func(access.Changer) httpapi.Handler
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// Events appends an event for the webhooks of an account. It uses the transaction of the change that the event reports.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Service records payments into wallets, and serves balances, payments and statements.
type Service struct {
	Config

	payments, refusals *prometheus.CounterVec
}

// New returns a Service. It starts no goroutines.
func New(c Config) *Service {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	count := promauto.With(c.Metrics).NewCounterVec
	return &Service{
		Config: c,
		payments: count(prometheus.CounterOpts{
			Name: "vayu_wallet_payments_total", Help: "Payments by outcome: created and undecided (pending), success or failed.",
		}, []string{"world", "outcome"}),
		refusals: count(prometheus.CounterOpts{
			Name: "vayu_wallet_refusals_total", Help: "Refused payments, of which nothing is recorded, by error code.",
		}, []string{"world", "code"}),
	}
}

// count counts a payment by its state. Callers call it when a payment is created, and when its state becomes final.
func (s *Service) count(p *Payment) {
	s.payments.WithLabelValues(p.Owner.World.String(), string(p.State)).Inc()
}

const topupPath = "/v1/wallet/topups"

// Routes returns the endpoints under /v1/wallet.
func (s *Service) Routes() []httpapi.Route {
	const (
		read  = string(schema.RechargeRead)
		write = string(schema.RechargeWrite)
	)
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/wallet", Scope: read, Handler: s.get},
		{Method: http.MethodGet, Path: "/v1/wallet/entries", Scope: read, Params: []string{"subject", "from", "to", "limit", "cursor", "totals"}, Handler: s.listEntries},
		{Method: http.MethodPost, Path: topupPath, Scope: write, Limit: httpapi.Money, Body: httpapi.SmallBody, Handler: s.post},
		{Method: http.MethodGet, Path: topupPath, Scope: read, Params: []string{"status", "ref_id", "from", "to", "limit", "cursor"}, Handler: s.listPayments},
		{Method: http.MethodGet, Path: topupPath + "/{id}", Scope: read, Handler: s.getPayment},
	}
}

// get answers GET /v1/wallet with the balances of the account.
func (s *Service) get(c *httpapi.Call) (httpapi.Response, error) {
	b, err := BalanceOf(s.DB.View(c.Context()), c.Owner())
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Response{Value: schema.Wallet{
		Status: schema.Success, Currency: schema.Currency, Available: b.Available, Held: b.Held, Balance: b.Available + b.Held,
	}}, nil
}

// getPayment answers GET /v1/wallet/topups/{id}.
func (s *Service) getPayment(c *httpapi.Call) (httpapi.Response, error) {
	p, err := byID(s.DB.View(c.Context()), mux.Vars(c.Request)["id"])
	if err != nil {
		return httpapi.Response{}, err
	}
	if p.Owner != c.Owner() {
		return httpapi.Response{}, errNoPayment()
	}
	return httpapi.Response{Value: p.toWire()}, nil
}

// post answers POST /v1/wallet/topups, which creates a payment.
func (s *Service) post(c *httpapi.Call) (httpapi.Response, error) {
	resp, p, err := s.createPayment(c)
	switch refused, ok := errors.AsType[*schema.Problem](err); {
	case ok:
		s.refusals.WithLabelValues(c.World.String(), string(refused.Code)).Inc()
	case err == nil && !resp.Replayed:
		s.count(p)
		s.Log.InfoContext(c.Context(), "payment recorded", "payment", p.ID, "account", c.Account, "world", c.World, "amount", p.Amount, "state", p.State)
	}
	return resp, err
}

// createPayment creates a payment, or returns the existing one with its reference. A sandbox payment is final at once.
func (s *Service) createPayment(c *httpapi.Call) (resp httpapi.Response, p *Payment, err error) {
	want, err := requestOf(c)
	if err != nil {
		return httpapi.Response{}, nil, err
	}
	resp, err = s.Change(func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		now := s.Now()
		id, err := insertPending(tx, now, want)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		if id == "" {
			p, err = findRepeated(tx, want)
			if err != nil {
				return httpapi.Response{}, audit.Entry{}, err
			}
			return p.reply(c, true), audit.Entry{}, nil
		}
		if c.World == schema.Sandbox {
			p, err = s.decide(tx, now, id, decision{succeeded: !sandboxFails(want.amount)})
		} else {
			p, err = byID(tx, id)
		}
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		return p.reply(c, false), p.auditEntry(), nil
	})(c)
	return resp, p, err
}

func sandboxFails(amount schema.Paise) bool { return amount%100 == 13 }

// findRepeated returns the existing payment with the reference of the request `want`. If that payment has another
// amount or method than the request, the error is the problem duplicate_ref_id.
func findRepeated(tx *sqlstore.Tx, want request) (*Payment, error) {
	p, err := scanPayment(tx.QueryRow(selectPayment+" WHERE account_id = $1 AND mode = $2 AND ref_id = $3", want.owner.Account, want.owner.World.String(), want.ref))
	if err != nil {
		return nil, err
	}
	if p.Amount != want.amount || p.Method != want.method {
		return nil, schema.NewProblem(schema.DuplicateRefID, "ref_id", "This ref_id was used for another payment.")
	}
	return p, nil
}

// These are the smallest and the largest amount of one payment.
const (
	leastTopup schema.Paise = 1_00
	mostTopup  schema.Paise = 10_00_000_00
)

// requestOf reads and validates the body of POST /v1/wallet/topups, and reports every fault.
func requestOf(c *httpapi.Call) (request, error) {
	wanted, err := httpapi.Decode[struct {
		Amount jsontext.Value        `json:"amount"`
		Method *schema.PaymentMethod `json:"method"`
		RefID  *string               `json:"ref_id"`
	}](c)
	if err != nil {
		return request{}, err
	}
	r := request{owner: c.Owner(), method: schema.UPI}
	var f schema.RequestErrors
	r.amount = amountOf(&f, wanted.Amount)
	if wanted.Method != nil {
		if r.method = *wanted.Method; !slices.Contains(schema.PaymentMethods, r.method) {
			f.Add("method", "The method must be one of "+schema.Join(schema.PaymentMethods, ", ")+".")
		}
	}
	if wanted.RefID != nil {
		if r.ref = *wanted.RefID; !schema.IsRef(r.ref) {
			f.Add("ref_id", "The ref_id must have 1 to 255 printable characters.")
		}
	}
	return r, f.ProblemByStatus()
}

// amountOf reads an amount from the digits of a JSON number. A float could round the amount.
func amountOf(f *schema.RequestErrors, v jsontext.Value) schema.Paise {
	const field = "amount"
	switch {
	case len(v) == 0 || v.Kind() == jsontext.KindNull:
		f.Add(field, "The amount is missing.")
		return 0
	case v.Kind() != jsontext.KindNumber:
		f.Add(field, "amount must be a number.")
		return 0
	}
	amount, err := ParseAmount(string(v))
	if p, ok := errors.AsType[*schema.Problem](err); ok {
		f.AddAs(p.Code, field, p.Message)
	}
	return amount
}

// ParseAmount parses the amount of a payment in rupees, and checks that it is within the limits.
// The error is a *schema.Problem.
func ParseAmount(text string) (schema.Paise, error) {
	amount, err := schema.ParsePaise(text)
	switch {
	case errors.Is(err, schema.ErrAmountForm):
		return 0, schema.NewProblem(schema.InvalidAmount, "amount", "The amount must be a number.")
	case errors.Is(err, schema.ErrAmountPrecision):
		return 0, schema.NewProblem(schema.InvalidAmount, "amount", "The amount can have at most two decimals.")
	case err != nil || amount < leastTopup || amount > mostTopup:
		return 0, schema.NewProblem(schema.InvalidAmount, "amount",
			"The amount must be between "+leastTopup.Rupees()+" and "+mostTopup.Rupees()+".")
	}
	return amount, nil
}
