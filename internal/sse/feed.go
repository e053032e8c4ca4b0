package sse

import (
	"context"
	"time"

	"vayu/schema"
)

// Feed finds changes of one or more kinds, such as new deliveries. One goroutine polls it
// once a second while there are streams.
type Feed interface {
	// Kinds returns the kinds of its notices; a kind belongs to one feed.
	Kinds() []Kind
	// Changes returns the notices of each query's owner since the time of the query, in
	// the order of sending. It may return more, because the hub skips a notice whose
	// payload it sent last.
	//
	// Changes reads a bounded number of rows, for all owners together. An owner that has
	// more changes is in Cut, and its clients get a reset: a message to read all again.
	// The times of the queries allow for clock skew and for late commits. Changes returns
	// soon after ctx ends.
	Changes(ctx context.Context, queries []Query) (Result, error)
}

// Kind names a kind of notices and the scopes that permit them.
type Kind struct {
	Name schema.LiveKind
	// Scopes permit notices of the kind; a key needs one of them.
	Scopes []schema.Scope
}

// Query requests the changes of an owner (account and world) since a time.
type Query struct {
	schema.Owner

	Since time.Time
}

// Result has the notices that a feed found, and the owners that have more of them.
type Result struct {
	Notices []Notice
	Cut     []schema.Owner
}

// Notice reports a change, with little more than the id of its subject.
type Notice struct {
	Owner schema.Owner
	Kind  schema.LiveKind
	// ID identifies the subject (what has changed) among all of its kind.
	ID string
	// Scope permits the notice. SubjectScope is a second scope that the key needs, to
	// read the subject; empty for none.
	Scope, SubjectScope schema.Scope
	Data                any // becomes JSON
}

// Since returns the earliest time of some queries, and their owners. It serves feeds
// that read the changes of all owners.
func Since(queries []Query) (since time.Time, owners map[schema.Owner]bool) {
	owners = make(map[schema.Owner]bool, len(queries))
	for _, a := range queries {
		if since.IsZero() || a.Since.Before(since) {
			since = a.Since
		}
		owners[a.Owner] = true
	}
	return since, owners
}

// Groups is an SQL statement about several owners, such as a sqlstore.BatchStatement. It has
// one text for each group size.
type Groups interface {
	Each(n int, do func(text string, from, to int) error) error
}

// Search runs a statement on groups of owners, and reads at most limit rows of each
// group. A group that reaches the limit is split into halves, down to single owners.
// Only an owner that reaches the limit alone is Cut.
func (f *Result) Search(statement Groups, queries []Query, limit int, read func(text string, queries []Query) ([]Notice, error)) error {
	return statement.Each(len(queries), func(text string, from, to int) error {
		group := queries[from:to]
		all, err := read(text, group)
		if err != nil {
			return err
		}
		if half := len(group) / 2; len(all) >= limit && half > 0 {
			if err := f.Search(statement, group[:half], limit, read); err != nil {
				return err
			}
			return f.Search(statement, group[half:], limit, read)
		}
		if len(all) >= limit {
			f.Cut = append(f.Cut, Owners(group)...)
		}
		f.Notices = append(f.Notices, all...)
		return nil
	})
}

// Owners returns the owner of each query.
func Owners(queries []Query) []schema.Owner {
	all := make([]schema.Owner, len(queries))
	for i, a := range queries {
		all[i] = a.Owner
	}
	return all
}
