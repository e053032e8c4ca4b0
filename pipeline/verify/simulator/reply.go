package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"vayu/pipeline/httpconnector/httpconnectortest"
)

// order is what the simulator knows of a reference.
type order struct {
	reply

	account         string
	fault           Fault
	due             time.Time // of an outcome that is late
	pendingDeposits int       // deposits that are made when it is due
	deposits        int       // deposits
	requests        int
	enquiries       int
}

// The words of the wire.
const (
	valid   = "VALID"
	invalid = "INVALID"
	queued  = "QUEUED"
	away    = "AWAY"
	unseen  = "UNSEEN"
)

// reply is what the simulator says of an order.
type reply struct {
	Reference string   `json:"ref,omitempty"`
	Result    string   `json:"result,omitempty"`
	ID        string   `json:"txn,omitempty"`
	UTR       string   `json:"utr,omitempty"`
	Account   *Account `json:"account,omitempty"`
	Flags     []string `json:"flags,omitempty"`
}

// deposit answers POST /v1/deposits.
func (s *Simulator) deposit(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Reference string `json:"ref"`
		Account   string `json:"account"`
		IFSC      string `json:"ifsc"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Reference == "" || in.Account == "" || in.IFSC == "" {
		httpconnectortest.Reply(w, http.StatusBadRequest, map[string]string{"code": "BAD_REQUEST"})
		return
	}
	f, said := s.acceptOrder(in.Reference, in.Account)
	s.answer(w, r, f, http.StatusOK, said)
}

// acceptOrder takes an order, and returns what is said of it and how.
func (s *Simulator) acceptOrder(reference, account string) (Fault, reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.fault(reference, account)
	if f == DropBefore {
		return f, reply{}
	}
	o, known := s.orders[reference]
	if !known {
		o = &order{account: account, fault: f}
		o.reply = reply{Reference: reference, ID: fmt.Sprintf("SIM%08d", len(s.orders)+1)}
		s.orders[reference] = o
	}
	o.requests++
	switch {
	case known && o.Result != away:
		if said := s.currentReply(o); !s.Naive || said.Result == invalid {
			return f, said
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
	said := s.firstReply(o)
	if f == LieMissing {
		said = reply{Reference: reference, ID: o.ID, Result: invalid}
	}
	return f, said
}

// firstReply decides what becomes of an order that is new.
func (s *Simulator) firstReply(o *order) reply {
	if s.accountOf(o.account).Missing {
		o.fault = Missing
	}
	switch o.fault {
	case Missing:
		o.Result = invalid
	case Away:
		o.Result = away
	case Late, LateMissing:
		o.Result, o.due, o.pendingDeposits = queued, s.Now().Add(s.Late), 1
		s.callbacks.Due(o.Reference, o.due, 1)
	case LieForever:
		s.makeDeposit(o)
		return s.currentReply(o)
	case Duplicate:
		s.makeDeposit(o)
		s.callbacks.Due(o.Reference, s.Now(), 2)
	default:
		s.makeDeposit(o)
	}
	return o.reply
}

// makeDeposit gives the account its rupee, and reads whose it is.
func (s *Simulator) makeDeposit(o *order) {
	a := s.accountOf(o.account)
	o.deposits++
	s.ledger = append(s.ledger, Entry{Reference: o.Reference, Account: o.account, At: s.Now()})
	o.Result, o.Account, o.Flags = valid, &a, a.Flags
	o.UTR = fmt.Sprintf("%012d", 600_000_000_000+len(s.ledger))
}

// accountOf is what is known of an account or address.
func (s *Simulator) accountOf(account string) Account {
	if a, ok := s.Accounts[account]; ok {
		return a
	}
	return Everybody
}

// currentReply is what is known of an order now. A late outcome comes about when its time
// has come.
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

// enquire answers GET /v1/deposits/{reference}.
func (s *Simulator) enquire(w http.ResponseWriter, r *http.Request) {
	reference := r.PathValue("reference")
	s.mu.Lock()
	f := s.dice.Noise(s.Seed, s.Noise, reference)
	said := reply{Reference: reference, Result: unseen}
	if o := s.orders[reference]; o != nil {
		said = s.enquiryReply(o)
	}
	s.mu.Unlock()
	status := http.StatusOK
	if said.Result == unseen {
		status = http.StatusNotFound
	}
	s.answer(w, r, f, status, said)
}

// enquiryReply is what an enquiry is told.
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

// resolve answers GET /v1/addresses/{vpa}. It keeps nothing: no money moves.
func (s *Simulator) resolve(w http.ResponseWriter, r *http.Request) {
	vpa, reference := r.PathValue("vpa"), r.URL.Query().Get("ref")
	f, a := s.fault(reference, vpa), s.accountOf(vpa)
	said := reply{Reference: reference, ID: "UPI-" + reference, Result: valid, Account: &a, Flags: a.Flags}
	switch {
	case f == Away:
		said.Result, said.Account, said.Flags = away, nil, nil
	case f == Missing || f == LieMissing || f == LateMissing || a.Missing:
		said.Result, said.Account, said.Flags = invalid, nil, nil
	}
	s.answer(w, r, f, http.StatusOK, said)
}
