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
	word

	account   string
	fault     Fault
	due       time.Time // of an outcome that is late
	waiting   int       // deposits that are made when it is due
	made      int       // deposits
	asks      int
	enquiries int
}

// The words of the wire.
const (
	valid   = "VALID"
	invalid = "INVALID"
	queued  = "QUEUED"
	away    = "AWAY"
	unseen  = "UNSEEN"
)

// word is what the simulator says of an order.
type word struct {
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
	f, said := s.take(in.Reference, in.Account)
	s.answer(w, r, f, http.StatusOK, said)
}

// take takes an order, and returns what is said of it and how.
func (s *Simulator) take(reference, account string) (Fault, word) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.fault(reference, account)
	if f == DropBefore {
		return f, word{}
	}
	o, known := s.orders[reference]
	if !known {
		o = &order{account: account, fault: f}
		o.word = word{Reference: reference, ID: fmt.Sprintf("SIM%08d", len(s.orders)+1)}
		s.orders[reference] = o
	}
	o.asks++
	switch {
	case known && o.Result != away:
		if said := s.say(o); !s.Naive || said.Result == invalid {
			return f, said
		}
		if o.Result == queued {
			o.waiting++
		} else {
			s.makeDeposit(o)
		}
		return f, s.say(o)
	case known:
		o.fault = f
	}
	said := s.begin(o)
	if f == LieMissing {
		said = word{Reference: reference, ID: o.ID, Result: invalid}
	}
	return f, said
}

// begin decides what becomes of an order that is new.
func (s *Simulator) begin(o *order) word {
	if s.whose(o.account).Missing {
		o.fault = Missing
	}
	switch o.fault {
	case Missing:
		o.Result = invalid
	case Away:
		o.Result = away
	case Late, LateMissing:
		o.Result, o.due, o.waiting = queued, s.Now().Add(s.Late), 1
		s.teller.Due(o.Reference, o.due, 1)
	case LieForever:
		s.makeDeposit(o)
		return s.say(o)
	case Duplicate:
		s.makeDeposit(o)
		s.teller.Due(o.Reference, s.Now(), 2)
	default:
		s.makeDeposit(o)
	}
	return o.word
}

// makeDeposit gives the account its rupee, and reads whose it is.
func (s *Simulator) makeDeposit(o *order) {
	a := s.whose(o.account)
	o.made++
	s.ledger = append(s.ledger, Entry{Reference: o.Reference, Account: o.account, At: s.Now()})
	o.Result, o.Account, o.Flags = valid, &a, a.Flags
	o.UTR = fmt.Sprintf("%012d", 600_000_000_000+len(s.ledger))
}

// whose is what is known of an account or address.
func (s *Simulator) whose(account string) Account {
	if a, ok := s.Accounts[account]; ok {
		return a
	}
	return Everybody
}

// say is what is known of an order now. A late outcome comes about when its time
// has come.
func (s *Simulator) say(o *order) word {
	if o.Result == queued && !s.Now().Before(o.due) {
		if o.fault == LateMissing {
			o.Result = invalid
		} else {
			for range o.waiting {
				s.makeDeposit(o)
			}
		}
	}
	if o.fault == LieForever {
		return word{Reference: o.Reference, ID: o.ID, Result: queued}
	}
	return o.word
}

// enquire answers GET /v1/deposits/{reference}.
func (s *Simulator) enquire(w http.ResponseWriter, r *http.Request) {
	reference := r.PathValue("reference")
	s.mu.Lock()
	f := s.dice.Noise(s.Seed, s.Noise, reference)
	said := word{Reference: reference, Result: unseen}
	if o := s.orders[reference]; o != nil {
		said = s.told(o)
	}
	s.mu.Unlock()
	status := http.StatusOK
	if said.Result == unseen {
		status = http.StatusNotFound
	}
	s.answer(w, r, f, status, said)
}

// told is what an enquiry is told.
func (s *Simulator) told(o *order) word {
	o.enquiries++
	switch {
	case o.fault == Forget && o.enquiries == 1:
		return word{Reference: o.Reference, Result: unseen}
	case o.fault == Waver && o.enquiries%2 == 1:
		return word{Reference: o.Reference, ID: o.ID, Result: invalid}
	}
	return s.say(o)
}

// resolve answers GET /v1/addresses/{vpa}. It keeps nothing: no money moves.
func (s *Simulator) resolve(w http.ResponseWriter, r *http.Request) {
	vpa, reference := r.PathValue("vpa"), r.URL.Query().Get("ref")
	f, a := s.fault(reference, vpa), s.whose(vpa)
	said := word{Reference: reference, ID: "UPI-" + reference, Result: valid, Account: &a, Flags: a.Flags}
	switch {
	case f == Away:
		said.Result, said.Account, said.Flags = away, nil, nil
	case f == Missing || f == LieMissing || f == LateMissing || a.Missing:
		said.Result, said.Account, said.Flags = invalid, nil, nil
	}
	s.answer(w, r, f, http.StatusOK, said)
}
