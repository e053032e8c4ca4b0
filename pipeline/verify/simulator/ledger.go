package simulator

import (
	"slices"
	"time"
)

// Entry is a deposit that was made.
type Entry struct {
	Reference string
	Account   string
	At        time.Time
}

// Ledger is every deposit, in the order in which they were made.
func (s *Simulator) Ledger() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ledger)
}

// Made is how many deposits were made for each reference. A reference that was taken
// without a deposit has 0. More than 1 is money given away.
func (s *Simulator) Made() map[string]int { return s.count(func(o *order) int { return o.deposits }) }

// Asks is how often each reference was asked for and taken.
func (s *Simulator) Asks() map[string]int { return s.count(func(o *order) int { return o.requests }) }

// Violations is the references for which a naive simulator has made more deposits than
// one, and how many more. One that is not naive has none.
func (s *Simulator) Violations() map[string]int {
	all := s.Made()
	for reference, made := range all {
		if made > 1 {
			all[reference] = made - 1
		} else {
			delete(all, reference)
		}
	}
	return all
}

func (s *Simulator) count(of func(*order) int) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]int, len(s.orders))
	for reference, o := range s.orders {
		all[reference] = of(o)
	}
	return all
}
