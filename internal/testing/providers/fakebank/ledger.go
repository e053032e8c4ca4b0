package fakebank

import (
	"slices"
	"time"
)

// Entry is a deposit of one rupee that the bank has made.
type Entry struct {
	Reference string
	Account   string
	At        time.Time
}

// Ledger returns all deposits, the oldest first.
func (s *Simulator) Ledger() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ledger)
}

// Deposits returns the number of deposits by reference. It is 0 for an accepted order without a
// deposit. Each deposit above 1 is lost money.
func (s *Simulator) Deposits() map[string]int {
	return s.count(func(o *order) int { return o.deposits })
}

// Requests returns the number of accepted deposit requests by reference.
func (s *Simulator) Requests() map[string]int {
	return s.count(func(o *order) int { return o.requests })
}

// Violations returns the number of deposits above 1, by reference. Only a naive simulator makes
// more than 1.
func (s *Simulator) Violations() map[string]int {
	all := s.Deposits()
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
