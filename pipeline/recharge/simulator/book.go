package simulator

import (
	"slices"
	"time"

	"vayu/schema"
)

// Entry is something that a subscriber has got, or that was taken back from him:
// then its amount is negative.
type Entry struct {
	Reference string
	Number    string
	Operator  string // canonical name
	Amount    schema.Paise
	At        time.Time
}

// Ledger is every entry, in the order in which they came about.
func (s *Simulator) Ledger() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ledger)
}

// Received is what a subscriber has got and kept.
func (s *Simulator) Received(number string) schema.Paise {
	var sum schema.Paise
	for _, e := range s.Ledger() {
		if e.Number == number {
			sum += e.Amount
		}
	}
	return sum
}

// Effects is how often each reference was carried out. A reference that was taken
// and not carried out has 0; one that was taken back keeps its 1.
func (s *Simulator) Effects() map[string]int { return s.count(func(o *order) int { return o.effects }) }

// Submits is how often each reference was submitted and taken.
func (s *Simulator) Submits() map[string]int { return s.count(func(o *order) int { return o.submits }) }

func (s *Simulator) count(of func(*order) int) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]int, len(s.orders))
	for reference, o := range s.orders {
		all[reference] = of(o)
	}
	return all
}
