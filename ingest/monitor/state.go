package monitor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
	"vayu/schema/air"
)

// A problem begins when beginsAfter checks in a row find it, and ends when endsAfter do not. Checks run each minute.
const (
	beginsAfter = 3
	endsAfter   = 5
)

// Problem is a problem that a source of readings has at present, such as silence.
type Problem struct {
	Problem air.Problem
	Since   time.Time
	Detail  string
}

// key identifies a problem by its source and its kind.
type key struct {
	source  string
	problem air.Problem
}

// counter counts the consecutive checks that contradict the present state of a problem.
type counter struct{ begins, ends int }

// observe counts a check of a problem that is present (`active`) or absent. It reports whether this state changes.
func (c *counter) observe(active bool, f finding) (changes bool) {
	if active {
		c.begins = 0
		if f.stays {
			c.ends = 0
			return false
		}
		c.ends++
		return c.ends >= endsAfter
	}
	c.ends = 0
	if !f.begins {
		c.begins = 0
		return false
	}
	c.begins++
	return c.begins >= beginsAfter
}

// Store reads and writes the problems of one world's sources in the state store. It is safe for concurrent use.
type Store struct {
	DB *sqlstore.DB
	// Scope is the world (live or sandbox). If several instances have readings of their own and share the state store,
	// Scope also identifies the instance.
	Scope string
}

// Stores has the Store of each world (live and sandbox).
type Stores [len(schema.Worlds)]*Store

// NewStores returns the stores of both worlds. The function `scope` returns the [Store.Scope] of a world.
func NewStores(db *sqlstore.DB, scope func(schema.World) (string, error)) (all Stores, err error) {
	for _, w := range schema.Worlds {
		text, err := scope(w)
		if err != nil {
			return all, err
		}
		all[w] = &Store{db, text}
	}
	return all, nil
}

const selectProblems = "SELECT source, problem, since, detail FROM source_problem WHERE scope = $1 ORDER BY source, problem"

// Problems returns the present problems by source, in the order of air.Problems.
func (s *Store) Problems(ctx context.Context) (map[string][]Problem, error) {
	all := make(map[string][]Problem)
	err := sqlstore.Each(s.DB.View(ctx), func(row sqlstore.Scanner) error {
		var source, problem, detail string
		var since int64
		if err := row.Scan(&source, &problem, &since, &detail); err != nil {
			return err
		}
		all[source] = append(all[source], Problem{air.Problem(problem), time.UnixMicro(since).UTC(), detail})
		return nil
	}, selectProblems, s.Scope)
	if err != nil {
		return nil, fmt.Errorf("reading the problems of sources: %w", err)
	}
	for _, problems := range all {
		slices.SortFunc(problems, func(a, b Problem) int {
			return slices.Index(air.Problems, a.Problem) - slices.Index(air.Problems, b.Problem)
		})
	}
	return all, nil
}

// save replaces the stored problems of a source.
func (s *Store) save(tx *sqlstore.Tx, source string, problems []Problem) error {
	if _, err := tx.Exec("DELETE FROM source_problem WHERE scope = $1 AND source = $2", s.Scope, source); err != nil {
		return err
	}
	for _, p := range problems {
		if _, err := tx.Exec("INSERT INTO source_problem (scope, source, problem, since, detail) VALUES ($1, $2, $3, $4, $5)",
			s.Scope, source, string(p.Problem), p.Since.UnixMicro(), p.Detail); err != nil {
			return err
		}
	}
	return nil
}

// Found returns the present problems of a world by source, in the form of API replies.
func (s Stores) Found(ctx context.Context, w schema.World) (map[string][]air.FoundProblem, error) {
	all, err := s[w].Problems(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string][]air.FoundProblem, len(all))
	for source, problems := range all {
		for _, p := range problems {
			found[source] = append(found[source], p.wire())
		}
	}
	return found, nil
}

// wire returns the problem in the form of events and API replies.
func (p Problem) wire() air.FoundProblem {
	return air.FoundProblem{Problem: p.Problem, Since: p.Since.UTC().Format(time.RFC3339), Detail: p.Detail}
}
