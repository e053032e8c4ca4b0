package fakeaggregator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"vayu/internal/testing/providers"
	"vayu/pipeline/recharge/numbering"
	"vayu/schema"
)

// order is an accepted order and its state.
type order struct {
	orderStatus

	number   string
	operator string
	amount   schema.Paise
	fault    providers.Fault
	due      time.Time // time of the result, if the fault delays it
	effects  int
}

// Values of status in replies.
const (
	success  = "SUCCESS"
	failed   = "FAILED"
	pending  = "PENDING"
	wrong    = "WRONG_OPERATOR"
	refunded = "REFUNDED"
	refused  = "REFUSED"
	notFound = "NOT_FOUND"
)

// names maps an operator's code in this API to the operator's canonical name.
var names = map[string]string{
	"AT": "Airtel", "JI": "Jio", "VI": "Vi", "BS": "BSNL", "MT": "MTNL",
	"TP": "Tata Play", "DT": "Dish TV", "D2": "d2h", "SD": "Sun Direct", "AD": "Airtel Digital TV",
}

// codes maps an operator's canonical name to the operator's code in this API.
var codes = func() map[string]string {
	all := map[string]string{}
	for code, name := range names {
		all[name] = code
	}
	return all
}()

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
		providers.Reply(w, http.StatusBadRequest, orderStatus{Code: "BAD_REQUEST"})
		return
	}
	f, body := s.accept(in.Reference, in.Number, in.Operator, amount)
	s.Answer(w, r, f, http.StatusOK, body)
}

// accept stores a new order, or looks up a repeated one, except for the fault DropBefore. It returns fault and reply.
func (s *Simulator) accept(reference, number, operator string, amount schema.Paise) (providers.Fault, orderStatus) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	f := s.Dice.Fault(reference, number)
	if f == providers.DropBefore {
		return f, orderStatus{}
	}
	if o := s.Orders[reference]; o != nil {
		if s.Naive && o.Status != wrong && o.Status != failed {
			s.carryOut(o)
		}
		return f, s.statusOf(o)
	}
	o := &order{number: number, operator: operator, amount: amount, fault: f}
	o.orderStatus = orderStatus{Reference: reference, ID: fmt.Sprintf("SIM%08d", len(s.Orders)+1), Circle: "DL"}
	s.Orders[reference] = o
	body := s.begin(o)
	if f == LieFailed {
		body.Status, body.Code = failed, "DOWN"
	}
	return f, body
}

// begin applies the fault of a new order: it decides the result, may carry the order out, and returns the reply.
func (s *Simulator) begin(o *order) orderStatus {
	if owner, ok := s.Ported[o.number]; ok && codes[owner] != o.operator {
		o.Status = wrong
		return o.orderStatus
	}
	switch o.fault {
	case Refuse:
		o.Status, o.Code = failed, "BAD_NUMBER"
	case Late, LateFailure:
		o.Status, o.due = pending, s.Now().Add(s.Late)
		s.Callbacks.Schedule(o.Reference, o.due, 1)
	case LieForever:
		s.carryOut(o)
		o.Status = pending
	case Duplicate:
		s.carryOut(o)
		s.Callbacks.Schedule(o.Reference, s.Now(), 2)
	default:
		s.carryOut(o)
	}
	return o.orderStatus
}

// carryOut credits the amount of an order to its subscriber.
func (s *Simulator) carryOut(o *order) {
	o.Status = success
	o.effects++
	s.ledger = append(s.ledger, Entry{o.Reference, o.number, names[o.operator], o.amount, s.Now()})
}

// statusOf returns the current state of an order, after it has applied a delayed result that is due.
func (s *Simulator) statusOf(o *order) orderStatus {
	if o.Status == pending && o.fault != LieForever && !s.Now().Before(o.due) {
		if o.fault == LateFailure {
			o.Status, o.Code = failed, "DOWN"
		} else {
			s.carryOut(o)
		}
	}
	return o.orderStatus
}

// about returns the handler of a request about one order. The function `of` returns the reply.
func (s *Simulator) about(of func(*order) orderStatus) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		reference := r.PathValue("reference")
		s.Mu.Lock()
		f, status, body := s.Dice.Noise(reference), http.StatusNotFound, orderStatus{Reference: reference, Status: notFound}
		if o := s.Orders[reference]; o != nil {
			status, body = http.StatusOK, of(o)
		}
		s.Mu.Unlock()
		s.Answer(w, r, f, status, body)
	}
}

// takeBack reverses an order if its status is SUCCESS, and returns the status for the reply.
func (s *Simulator) takeBack(o *order) string {
	switch s.statusOf(o); o.Status {
	case success:
		o.Status = refunded
		s.ledger = append(s.ledger, Entry{o.Reference, o.number, names[o.operator], -o.amount, s.Now()})
		return refunded
	case refunded, pending:
		return o.Status
	}
	return refused
}

// TakeBack reverses an order on the aggregator's own initiative, and schedules a callback. It
// returns false if the order is unknown, or its status is neither SUCCESS nor REFUNDED.
func (s *Simulator) TakeBack(reference string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	o := s.Orders[reference]
	if o == nil || s.takeBack(o) != refunded {
		return false
	}
	s.Callbacks.Schedule(o.Reference, s.Now(), 1)
	return true
}

func (s *Simulator) detect(w http.ResponseWriter, r *http.Request) {
	number := r.PathValue("number")
	f := s.Dice.Noise(number)
	operator, circle, known := numbering.Series(number)
	if owner, ported := s.Ported[number]; ported {
		operator, known = owner, true
	}
	if !known || codes[operator] == "" {
		s.Answer(w, r, f, http.StatusNotFound, orderStatus{Status: notFound})
		return
	}
	s.Answer(w, r, f, http.StatusOK, map[string]string{"operator": codes[operator], "circle": circle})
}

type plan struct {
	Price int    `json:"price"`
	Days  int    `json:"days"`
	Text  string `json:"text"`
}

// offers are the plans of every operator.
var offers = []plan{{199, 28, "1.5 GB a day, unlimited calls"}, {299, 28, "2 GB a day, unlimited calls"}, {22, 1, "1 GB"}}

func (s *Simulator) plans(w http.ResponseWriter, r *http.Request) {
	f := s.Dice.Noise(r.URL.RawQuery)
	if names[r.URL.Query().Get("operator")] == "" {
		providers.Reply(w, http.StatusBadRequest, orderStatus{Code: "BAD_OPERATOR"})
		return
	}
	s.Answer(w, r, f, http.StatusOK, map[string][]plan{"plans": offers})
}
