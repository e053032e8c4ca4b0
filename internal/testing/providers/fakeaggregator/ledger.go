package fakeaggregator

import (
	"slices"
	"time"

	"vayu/schema"
)

// Entry is a credit to a subscriber, or, with a negative amount, its reversal.
type Entry struct {
	Reference string
	Number    string
	Operator  string // canonical name
	Amount    schema.Paise
	At        time.Time
}

// Ledger returns all entries, the oldest first.
func (s *Simulator) Ledger() []Entry {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.ledger)
}

// Received returns the total of the credits to a subscriber, less reversals.
func (s *Simulator) Received(number string) schema.Paise {
	var sum schema.Paise
	for _, e := range s.Ledger() {
		if e.Number == number {
			sum += e.Amount
		}
	}
	return sum
}

// Effects returns how often the order of each accepted reference was carried out. A reversal does not change the count.
func (s *Simulator) Effects() map[string]int { return s.Count(func(o *order) int { return o.effects }) }
