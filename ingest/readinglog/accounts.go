package readinglog

import (
	"context"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vayu/internal/access/account"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// cachedAccounts is the number of accounts in the cache.
	cachedAccounts = 4096
	// knownFor is how long the cache entry of an existing account is valid. Accounts are never deleted. unknownFor is
	// the time for an account that does not exist. It is short, because the account may be created later.
	knownFor   = time.Hour
	unknownFor = 10 * time.Second
)

// accounts checks whether accounts exist, and caches the results.
type accounts struct {
	state *sqlstore.DB
	cache *lru.Cache[string, entry]
}

type entry struct {
	exists bool
	until  time.Time
}

func newAccounts(state *sqlstore.DB) *accounts {
	cache, _ := lru.New[string, entry](cachedAccounts) // fails for a size of 0 only
	return &accounts{state, cache}
}

// exist reports whether an account with the id exists.
func (a *accounts) exist(ctx context.Context, id string) (bool, error) {
	now := time.Now()
	if e, ok := a.cache.Get(id); ok && now.Before(e.until) {
		return e.exists, nil
	}
	_, err := account.ByID(a.state.View(ctx), id)
	e := entry{err == nil, now.Add(knownFor)}
	if problem, ok := errors.AsType[*schema.Problem](err); ok && problem.Code == schema.NotFound {
		e.until = now.Add(unknownFor)
	} else if err != nil {
		return false, fmt.Errorf("looking for an account: %w", err)
	}
	a.cache.Add(id, e)
	return e.exists, nil
}
