package public

import (
	"errors"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vayu/internal/httpapi"
	"vayu/query/snapshot"
)

const (
	// maxAnswers bounds the memory of rendered replies. It is the number of cities, about 500, times the forms of each.
	maxAnswers = 5_000
	// stalePeriod is how long a rendered reply can say that its figures are not stale, although they have become so.
	stalePeriod = 5 * time.Minute
)

// answers holds rendered replies of one snapshot. The zero value is ready. It is safe for concurrent use.
type answers struct {
	mu     sync.Mutex
	of     *snapshot.Snapshot
	period int64 // of stalePeriod
	ready  *lru.Cache[string, *answer]
}

type answer struct {
	once sync.Once
	resp httpapi.Response
	err  error
}

var errPanicked = errors.New("rendering a public reply panicked")

// get returns the reply with a key, which names its form and its place. It calls render if the reply is not there.
// Concurrent requests for a reply render it once. A failed reply is rendered again by the next request.
func (a *answers) get(r *request, key string, render func() (httpapi.Response, error)) (httpapi.Response, error) {
	one := a.entry(r, key)
	one.once.Do(func() {
		one.err = errPanicked // unless render returns
		one.resp, one.err = render()
	})
	if one.err != nil || one.resp.Cache != nil { // a reply with a time limit of its own is incomplete
		a.forget(key, one)
	}
	return one.resp, one.err
}

func (a *answers) entry(r *request, key string) *answer {
	period := r.now.Unix() / int64(stalePeriod/time.Second)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of != r.snap || a.period != period {
		if a.of != nil && r.snap.Built.Before(a.of.Built) {
			return &answer{} // the request began before the present snapshot was published
		}
		a.of, a.period = r.snap, period
		a.ready, _ = lru.New[string, *answer](maxAnswers) // fails only if the size is not positive
	}
	one, ok := a.ready.Get(key)
	if !ok {
		one = &answer{}
		a.ready.Add(key, one)
	}
	return one
}

func (a *answers) forget(key string, one *answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if kept, ok := a.ready.Peek(key); ok && kept == one {
		a.ready.Remove(key)
	}
}
