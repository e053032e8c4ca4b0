package fakebank

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"vayu/internal/testing/providers"
)

// order is an accepted order and its state.
type order struct {
	reply

	account         string
	fault           providers.Fault
	due             time.Time // time of the result, if the fault delays it
	pendingDeposits int       // deposits to make at the time `due`
	deposits        int       // deposits made so far
	enquiries       int
}

// Values of result in replies.
const (
	valid       = "VALID"
	invalid     = "INVALID"
	queued      = "QUEUED"
	unavailable = "AWAY"
	unseen      = "UNSEEN"
)

// reply is the state of an order, as in replies and callbacks.
type reply struct {
	Reference string   `json:"ref,omitempty"`
	Result    string   `json:"result,omitempty"`
	ID        string   `json:"txn,omitempty"`
	UTR       string   `json:"utr,omitempty"`
	Account   *Account `json:"account,omitempty"`
	Flags     []string `json:"flags,omitempty"`
}

func (s *Simulator) deposit(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Reference string `json:"ref"`
		Account   string `json:"account"`
		IFSC      string `json:"ifsc"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Reference == "" || in.Account == "" || in.IFSC == "" {
		providers.Reply(w, http.StatusBadRequest, map[string]string{"code": "BAD_REQUEST"})
		return
	}
	f, out := s.acceptOrder(in.Reference, in.Account)
	s.answer(w, r, f, http.StatusOK, out)
}

// acceptOrder stores a new order, or looks up a repeated one. It returns the reply, and the fault that changes it.
func (s *Simulator) acceptOrder(reference, account string) (providers.Fault, reply) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	f := s.Dice.Fault(reference, account)
	if f == providers.DropBefore {
		return f, reply{}
	}
	o, known := s.Orders[reference]
	if !known {
		o = &order{account: account, fault: f}
		o.reply = reply{Reference: reference, ID: fmt.Sprintf("SIM%08d", len(s.Orders)+1)}
		s.Orders[reference] = o
	}
	switch {
	case known && o.Result != unavailable:
		if out := s.currentReply(o); !s.Naive || out.Result == invalid {
			return f, out
		}
		if o.Result == queued {
			o.pendingDeposits++
		} else {
			s.makeDeposit(o)
		}
		return f, s.currentReply(o)
	case known:
		o.fault = f
	}
	out := s.firstReply(o)
	if f == LieMissing {
		out = reply{Reference: reference, ID: o.ID, Result: invalid}
	}
	return f, out
}

// firstReply decides the result of an order that is new, or that got the result AWAY before, and returns the reply.
func (s *Simulator) firstReply(o *order) reply {
	if s.accountOf(o.account).Missing {
		o.fault = Missing
	}
	switch o.fault {
	case Missing:
		o.Result = invalid
	case Away:
		o.Result = unavailable
	case Late, LateMissing:
		o.Result, o.due, o.pendingDeposits = queued, s.Now().Add(s.Late), 1
		s.Callbacks.Schedule(o.Reference, o.due, 1)
	case LieForever:
		s.makeDeposit(o)
		return s.currentReply(o)
	case Duplicate:
		s.makeDeposit(o)
		s.Callbacks.Schedule(o.Reference, s.Now(), 2)
	default:
		s.makeDeposit(o)
	}
	return o.reply
}

// makeDeposit records a deposit of one rupee into the account of an order, and adds the account's data to the reply.
func (s *Simulator) makeDeposit(o *order) {
	a := s.accountOf(o.account)
	o.deposits++
	s.deposits++
	o.Result, o.Account, o.Flags = valid, &a, a.Flags
	o.UTR = fmt.Sprintf("%012d", 600_000_000_000+s.deposits)
}

// accountOf returns the data of an account number or UPI address.
func (s *Simulator) accountOf(account string) Account {
	if a, ok := s.Accounts[account]; ok {
		return a
	}
	return DefaultAccount
}

// currentReply returns an order's current state, after it has applied a delayed result that is due.
func (s *Simulator) currentReply(o *order) reply {
	if o.Result == queued && !s.Now().Before(o.due) {
		if o.fault == LateMissing {
			o.Result = invalid
		} else {
			for range o.pendingDeposits {
				s.makeDeposit(o)
			}
		}
	}
	if o.fault == LieForever {
		return reply{Reference: o.Reference, ID: o.ID, Result: queued}
	}
	return o.reply
}

func (s *Simulator) enquire(w http.ResponseWriter, r *http.Request) {
	reference := r.PathValue("reference")
	s.Mu.Lock()
	f := s.Dice.Noise(reference)
	out := reply{Reference: reference, Result: unseen}
	if o := s.Orders[reference]; o != nil {
		out = s.enquiryReply(o)
	}
	s.Mu.Unlock()
	status := http.StatusOK
	if out.Result == unseen {
		status = http.StatusNotFound
	}
	s.answer(w, r, f, status, out)
}

// enquiryReply returns the reply to a status enquiry about an order. With the faults Forget and
// Waver the reply depends on the number of enquiries.
func (s *Simulator) enquiryReply(o *order) reply {
	o.enquiries++
	switch {
	case o.fault == Forget && o.enquiries == 1:
		return reply{Reference: o.Reference, Result: unseen}
	case o.fault == Waver && o.enquiries%2 == 1:
		return reply{Reference: o.Reference, ID: o.ID, Result: invalid}
	}
	return s.currentReply(o)
}

// resolve handles GET /v1/addresses/{vpa}. It stores no order, because no money moves.
func (s *Simulator) resolve(w http.ResponseWriter, r *http.Request) {
	vpa, reference := r.PathValue("vpa"), r.URL.Query().Get("ref")
	f, a := s.Dice.Fault(reference, vpa), s.accountOf(vpa)
	out := reply{Reference: reference, ID: "UPI-" + reference, Result: valid, Account: &a, Flags: a.Flags}
	switch {
	case f == Away:
		out.Result, out.Account, out.Flags = unavailable, nil, nil
	case f == Missing || f == LieMissing || f == LateMissing || a.Missing:
		out.Result, out.Account, out.Flags = invalid, nil, nil
	}
	s.answer(w, r, f, http.StatusOK, out)
}
