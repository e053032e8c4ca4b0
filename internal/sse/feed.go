package sse

import (
	"context"
	"time"

	"vayu/schema"
)

// Feed finds what has changed of some kinds of things. It is asked once a second
// while somebody listens, by one goroutine.
type Feed interface {
	// Kinds are the kinds of its notices; a kind belongs to one feed.
	Kinds() []Kind
	// Changes returns what has changed since the time of each ask, for its owner, in
	// the order in which it should be told. It may return more: what an owner has
	// been told already, in the same words, is not told again. It costs a bounded
	// number of rows, whatever has changed; owners for whom that was not enough are
	// Cut, and learn that they should read anew. It asks about all owners together,
	// and ends soon after ctx. Clocks of instances differ, and a change shows only
	// when it is committed: the times that it is given allow for that.
	Changes(ctx context.Context, asks []Ask) (Found, error)
}

// Kind is a kind of notices.
type Kind struct {
	Name schema.LiveKind
	// Scopes are those of which a key needs one to be told any notice of the kind.
	Scopes []schema.Scope
}

// Ask is whose changes are wanted, and since when.
type Ask struct {
	schema.Owner

	Since time.Time
}

// Found is what a feed has found.
type Found struct {
	Notices []Notice
	Cut     []schema.Owner
}

// Notice says that something has changed, and hardly more.
type Notice struct {
	Owner schema.Owner
	Kind  schema.LiveKind
	// ID names what has changed among all of its kind.
	ID string
	// Scope is what a key needs to be told. Reads is a second scope that it needs, the
	// one of what the notice is about; empty for none.
	Scope, Reads schema.Scope
	Data         any // becomes JSON
}

// Since is the earliest time of some asks, and whose they are: for a feed that looks
// through the changes of everybody.
func Since(asks []Ask) (since time.Time, owners map[schema.Owner]bool) {
	owners = make(map[schema.Owner]bool, len(asks))
	for _, a := range asks {
		if since.IsZero() || a.Since.Before(since) {
			since = a.Since
		}
		owners[a.Owner] = true
	}
	return since, owners
}

// Groups is a statement about any number of owners, with a text for each size of a
// group.
type Groups interface {
	Each(n int, do func(text string, from, to int) error) error
}

// Search asks a statement about groups of owners. It reads so many rows at most; when
// it has, the halves of the group are asked about, down to single owners, so that who
// has much is Cut and nobody beside him.
func (f *Found) Search(statement Groups, asks []Ask, most int, read func(text string, asks []Ask) ([]Notice, error)) error {
	return statement.Each(len(asks), func(text string, from, to int) error {
		group := asks[from:to]
		all, err := read(text, group)
		if err != nil {
			return err
		}
		if half := len(group) / 2; len(all) >= most && half > 0 {
			if err := f.Search(statement, group[:half], most, read); err != nil {
				return err
			}
			return f.Search(statement, group[half:], most, read)
		}
		if len(all) >= most {
			f.Cut = append(f.Cut, Owners(group)...)
		}
		f.Notices = append(f.Notices, all...)
		return nil
	})
}

// Owners are those of asks.
func Owners(asks []Ask) []schema.Owner {
	all := make([]schema.Owner, len(asks))
	for i, a := range asks {
		all[i] = a.Owner
	}
	return all
}
