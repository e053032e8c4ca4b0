package caching

import (
	"errors"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vayu/internal/httpapi"
	"vayu/query/snapshot"
)

// Replies holds rendered replies of one snapshot, and compresses each only once. It is safe for concurrent use.
type Replies struct {
	lasting   time.Duration
	most      int
	mostBytes int

	mu     sync.Mutex
	of     *snapshot.Snapshot
	period int64 // number of the period, of length `lasting`, in which the replies were rendered
	ready  *lru.Cache[string, *reply]
}

// NewReplies returns an empty cache for `most` replies. Each reply states the age of its figures, so it is cached for
// at most `lasting`. A body of more than `mostBytes` is not cached, unless mostBytes is 0.
func NewReplies(lasting time.Duration, most, mostBytes int) *Replies {
	return &Replies{lasting: lasting, most: most, mostBytes: mostBytes}
}

type reply struct {
	once sync.Once
	resp httpapi.Response
	err  error
}

var errPanicked = errors.New("rendering a reply panicked")

// maxKey is the maximum length of the key of a cached reply, in bytes. Keys contain Accept headers of up to 140 bytes.
const maxKey = 500

// Get returns the reply with a key. The key contains everything that the reply depends on, except the snapshot and the
// time. If the reply is not cached, Get calls `render`; concurrent requests share the call. It does not cache an error,
// a reply that is too large or sets its own Cache-Control, or a reply whose key is longer than maxKey.
func (r *Replies) Get(s *snapshot.Snapshot, now time.Time, key string, render func() (httpapi.Response, error)) (httpapi.Response, error) {
	if len(key) > maxKey {
		return render()
	}
	one := r.entry(s, now, key)
	one.once.Do(func() {
		one.err = errPanicked // stays if `render` panics
		if one.resp, one.err = render(); one.err == nil {
			one.resp = one.resp.CompressOnce()
		}
	})
	large := r.mostBytes > 0 && len(one.resp.Body) > r.mostBytes
	if one.err != nil || large || one.resp.Cache != nil { // a reply that sets its own Cache-Control is incomplete
		r.forget(key, one)
	}
	return one.resp, one.err
}

func (r *Replies) entry(s *snapshot.Snapshot, now time.Time, key string) *reply {
	period := now.UnixNano() / int64(r.lasting)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of != s || r.period != period {
		if r.of != nil && s.Built.Before(r.of.Built) {
			return &reply{} // the request began before the present snapshot was published
		}
		r.of, r.period = s, period
		r.ready, _ = lru.New[string, *reply](r.most) // fails only if the size is not positive
	}
	one, ok := r.ready.Get(key)
	if !ok {
		one = &reply{}
		r.ready.Add(key, one)
	}
	return one
}

func (r *Replies) forget(key string, one *reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if kept, ok := r.ready.Peek(key); ok && kept == one {
		r.ready.Remove(key)
	}
}
