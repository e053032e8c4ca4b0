package sse

import (
	"context"
	"time"

	"vayu/schema"
)

// Feed finds changes of one or more kinds, such as new deliveries, and returns a notice of each.
// While there are streams, one goroutine polls the Feed once a second.
type Feed interface {
	// Kinds returns the kinds of the notices of the Feed. No other Feed sends notices of these kinds.
	Kinds() []Kind
	// Changes returns the notices since Query.Since for the owner of each query, in the order of sending. It may return
	// a notice more than once. If a notice has the same payload as the last notice of its subject, the hub sends the
	// notice only to new streams.
	//
	// Changes reads a bounded number of rows, for all owners together. If it leaves out changes of an owner, it adds
	// the owner to Result.Cut. The owner's clients then get a reset, a message to read all data again. The hub allows
	// for clock skew and late commits: it subtracts pollOverlap from the query times. Changes must end with ctx.
	Changes(ctx context.Context, queries []Query) (Result, error)
}

// Kind is a kind of notices, such as deliveries.
type Kind struct {
	Name schema.LiveKind
	// Scopes has the scopes that permit notices of the kind. A key needs one of them.
	Scopes []schema.Scope
}

// Query requests the changes of an owner (account and world) since a time.
type Query struct {
	schema.Owner

	Since time.Time
}

// Result has the notices that a feed found. Cut lists the owners for whom the feed has left out notices.
type Result struct {
	Notices []Notice
	Cut     []schema.Owner
}

// Notice reports to a client what has changed, with little more than an id.
type Notice struct {
	Owner schema.Owner
	Kind  schema.LiveKind
	// ID identifies the subject, the thing that has changed, among all subjects of the kind.
	ID string
	// Scope is a scope that the key needs. If SubjectScope is not empty, the key also needs it, to read the subject.
	Scope, SubjectScope schema.Scope
	Data                any // becomes JSON
}

// Since returns the earliest time and all owners of the queries. It serves feeds that read the
// changes of all owners at once.
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

// Groups is an SQL statement about several owners, with a text for each group size, such as a sqlstore.BatchStatement.
// The method Each divides n owners into groups. It calls `do` with the text and the range [from, to) of each group.
type Groups interface {
	Each(n int, do func(text string, from, to int) error) error
}

// Search runs a statement on groups of owners. The function `read` returns at most `limit` notices of a group. A group
// that reaches the limit is split into halves, down to single owners. A single owner that reaches it is added to f.Cut.
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

// Owners returns the owner of each query, in the order of the queries.
func Owners(queries []Query) []schema.Owner {
	all := make([]schema.Owner, len(queries))
	for i, a := range queries {
		all[i] = a.Owner
	}
	return all
}
