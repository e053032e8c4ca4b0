package wallet

import (
	"errors"
	"net/http"

	"github.com/gorilla/mux"

	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// topupPath is the path of payments into wallets.
const topupPath = "/v1/wallet/topups"

// Routes returns the endpoints under /v1/wallet.
func (s *Service) Routes() []httpapi.Route {
	const (
		read  = string(schema.RechargeRead)
		write = string(schema.RechargeWrite)
	)
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/wallet", Scope: read, Handler: s.get},
		{Method: http.MethodGet, Path: "/v1/wallet/entries", Scope: read, Params: []string{"subject", "from", "to", "limit", "cursor"}, Handler: s.listEntries},
		{Method: http.MethodPost, Path: topupPath, Scope: write, Limit: httpapi.Money, Body: httpapi.SmallBody, Handler: s.post},
		{Method: http.MethodGet, Path: topupPath, Scope: read, Params: []string{"status", "ref_id", "from", "to", "limit", "cursor"}, Handler: s.listPayments},
		{Method: http.MethodGet, Path: topupPath + "/{id}", Scope: read, Handler: s.getPayment},
	}
}

func ownerOf(c *httpapi.Call) schema.Owner { return schema.Owner{Account: c.Account, World: c.World} }

// get answers GET /v1/wallet with the balances of the account.
func (s *Service) get(c *httpapi.Call) (httpapi.Response, error) {
	b, err := BalanceOf(s.DB.View(c.Context()), ownerOf(c))
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
	if p.Owner != ownerOf(c) {
		return httpapi.Response{}, errNoPayment()
	}
	return httpapi.Response{Value: p.toWire()}, nil
}

// post answers POST /v1/wallet/topups, which creates a payment.
func (s *Service) post(c *httpapi.Call) (httpapi.Response, error) {
	resp, p, err := s.createPayment(c)
	switch refused, ok := errors.AsType[*schema.Problem](err); {
	case ok:
		s.metrics.refusal(c.World, refused.Code)
	case err == nil && !resp.Replayed:
		s.metrics.payment(p)
		s.Log.InfoContext(c.Context(), "payment recorded", "payment", p.ID, "account", c.Account, "world", c.World, "amount", p.Amount, "state", p.State)
	}
	return resp, err
}

// createPayment creates a payment, or returns the account's payment with the same reference.
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

// sandboxFails reports whether a payment of this amount fails in the sandbox.
func sandboxFails(amount schema.Paise) bool { return amount%100 == 13 }

// findRepeated returns the existing payment with the reference of want. If the payment has another
// amount or method than want, the error is a duplicate_ref_id problem.
func findRepeated(tx *sqlstore.Tx, want request) (*Payment, error) {
	p, err := byRef(tx, want.owner, want.ref)
	if err != nil {
		return nil, err
	}
	if p.Amount != want.amount || p.Method != want.method {
		return nil, schema.NewProblem(schema.DuplicateRefID, "ref_id", "This ref_id was used for another payment.")
	}
	return p, nil
}
