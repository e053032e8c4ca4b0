package fakeaggregator

import (
	"slices"
	"time"

	"vayu/schema"
)

// Entry is a credit of a subscriber, or a reversal, with a negative amount.
type Entry struct {
	Reference string
	Number    string
	Operator  string // canonical name
	Amount    schema.Paise
	At        time.Time
}

// Ledger returns every entry, the oldest first.
func (s *Simulator) Ledger() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ledger)
}

// Received returns the total that a subscriber received and kept.
func (s *Simulator) Received(number string) schema.Paise {
	var sum schema.Paise
	for _, e := range s.Ledger() {
		if e.Number == number {
			sum += e.Amount
		}
	}
	return sum
}

// Effects returns how often each reference was carried out. A reversed order counts as 1;
// an accepted one that was not carried out as 0.
func (s *Simulator) Effects() map[string]int { return s.count(func(o *order) int { return o.effects }) }

// Submits returns how often each reference was submitted and accepted.
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
