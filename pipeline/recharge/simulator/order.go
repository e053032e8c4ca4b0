package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"vayu/pipeline/recharge/numbering"
	"vayu/schema"
)

// order is what the simulator knows of a reference.
type order struct {
	word

	number   string
	operator string
	amount   schema.Paise
	fault    Fault
	due      time.Time // of an outcome that is late
	effects  int
	submits  int
}

// The words of the wire.
const (
	success  = "SUCCESS"
	failed   = "FAILED"
	pending  = "PENDING"
	wrong    = "WRONG_OPERATOR"
	refunded = "REFUNDED"
	refused  = "REFUSED"
	notFound = "NOT_FOUND"
)

// names are the operators by their codes.
var names = map[string]string{
	"AT": "Airtel", "JI": "Jio", "VI": "Vi", "BS": "BSNL", "MT": "MTNL",
	"TP": "Tata Play", "DT": "Dish TV", "D2": "d2h", "SD": "Sun Direct", "AD": "Airtel Digital TV",
}

// codes are the codes by operators.
var codes = func() map[string]string {
	all := map[string]string{}
	for code, name := range names {
		all[name] = code
	}
	return all
}()

// submit answers POST /v1/orders.
func (s *Simulator) submit(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Reference string      `json:"order_ref"`
		Number    string      `json:"number"`
		Operator  string      `json:"operator"`
		Amount    json.Number `json:"amount"`
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	amount, amountErr := schema.ParsePaise(in.Amount.String())
	if err != nil || amountErr != nil || in.Reference == "" || in.Number == "" || names[in.Operator] == "" {
		reply(w, http.StatusBadRequest, word{Code: "BAD_REQUEST"})
		return
	}
	f, said := s.take(in.Reference, in.Number, in.Operator, amount)
	s.answer(w, r, f, http.StatusOK, said)
}

// take takes an order, and returns what is said of it and how.
func (s *Simulator) take(reference, number, operator string, amount schema.Paise) (Fault, word) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.fault(reference, number)
	if f == DropBefore {
		return f, word{}
	}
	o, known := s.orders[reference]
	if !known {
		o = &order{number: number, operator: operator, amount: amount, fault: f}
		o.word = word{Reference: reference, ID: fmt.Sprintf("SIM%08d", len(s.orders)+1), Circle: "DL"}
		s.orders[reference] = o
	}
	o.submits++
	if known {
		if s.Naive && o.Status != wrong && o.Status != failed {
			s.carryOut(o)
		}
		return f, s.say(o)
	}
	said := s.begin(o)
	if f == LieFailed {
		said.Status, said.Code = failed, "DOWN"
	}
	return f, said
}

// begin decides what becomes of an order that is new.
func (s *Simulator) begin(o *order) word {
	if owner, ok := s.Ported[o.number]; ok && codes[owner] != o.operator {
		o.Status = wrong
		return o.word
	}
	switch o.fault {
	case Refuse:
		o.Status, o.Code = failed, "BAD_NUMBER"
	case Late, LateFailure:
		o.Status, o.due = pending, s.Now().Add(s.Late)
		s.tell(o, o.due, 1)
	case LieForever:
		s.carryOut(o)
		o.Status = pending
	case Duplicate:
		s.carryOut(o)
		s.tell(o, s.Now(), 2)
	default:
		s.carryOut(o)
	}
	return o.word
}

// carryOut gives the subscriber what was ordered.
func (s *Simulator) carryOut(o *order) {
	o.Status = success
	o.effects++
	s.ledger = append(s.ledger, Entry{o.Reference, o.number, names[o.operator], o.amount, s.Now()})
}

// say is what is known of an order now. A late outcome comes about when its time
// has come.
func (s *Simulator) say(o *order) word {
	if o.Status == pending && o.fault != LieForever && !s.Now().Before(o.due) {
		if o.fault == LateFailure {
			o.Status, o.Code = failed, "DOWN"
		} else {
			s.carryOut(o)
		}
	}
	return o.word
}

// enquire answers GET /v1/orders/{reference}.
func (s *Simulator) enquire(w http.ResponseWriter, r *http.Request) {
	reference := r.PathValue("reference")
	s.mu.Lock()
	f, status, said := s.noise(reference), http.StatusNotFound, word{Reference: reference, Status: notFound}
	if o := s.orders[reference]; o != nil {
		status, said = http.StatusOK, s.say(o)
	}
	s.mu.Unlock()
	s.answer(w, r, f, status, said)
}

// refund answers POST /v1/orders/{reference}/refund.
func (s *Simulator) refund(w http.ResponseWriter, r *http.Request) {
	reference := r.PathValue("reference")
	s.mu.Lock()
	f, status, said := s.noise(reference), http.StatusNotFound, word{Reference: reference, Status: notFound}
	if o := s.orders[reference]; o != nil {
		status, said = http.StatusOK, word{Reference: reference, Status: s.takeBack(o)}
	}
	s.mu.Unlock()
	s.answer(w, r, f, status, said)
}

// takeBack takes an order back that was carried out.
func (s *Simulator) takeBack(o *order) string {
	switch s.say(o); o.Status {
	case success:
		o.Status = refunded
		s.ledger = append(s.ledger, Entry{o.Reference, o.number, names[o.operator], -o.amount, s.Now()})
		return refunded
	case refunded, pending:
		return o.Status
	}
	return refused
}

// TakeBack reverses an order without being asked, and tells of it by callback. It
// reports whether the order had been carried out.
func (s *Simulator) TakeBack(reference string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.orders[reference]
	if o == nil || s.takeBack(o) != refunded {
		return false
	}
	s.tell(o, s.Now(), 1)
	return true
}

// detect answers GET /v1/numbers/{number}.
func (s *Simulator) detect(w http.ResponseWriter, r *http.Request) {
	number := r.PathValue("number")
	s.mu.Lock()
	f := s.noise(number)
	s.mu.Unlock()
	operator, circle, known := numbering.Series(number)
	if owner, ported := s.Ported[number]; ported {
		operator, known = owner, true
	}
	if !known || codes[operator] == "" {
		s.answer(w, r, f, http.StatusNotFound, word{Status: notFound})
		return
	}
	s.answer(w, r, f, http.StatusOK, map[string]string{"operator": codes[operator], "circle": circle})
}

type plan struct {
	Price int    `json:"price"`
	Days  int    `json:"days"`
	Text  string `json:"text"`
}

// offers are the same for everybody.
var offers = []plan{{199, 28, "1.5 GB a day, unlimited calls"}, {299, 28, "2 GB a day, unlimited calls"}, {22, 1, "1 GB"}}

// plans answers GET /v1/plans.
func (s *Simulator) plans(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f := s.noise(r.URL.RawQuery)
	s.mu.Unlock()
	if names[r.URL.Query().Get("operator")] == "" {
		reply(w, http.StatusBadRequest, word{Code: "BAD_OPERATOR"})
		return
	}
	s.answer(w, r, f, http.StatusOK, map[string][]plan{"plans": offers})
}
