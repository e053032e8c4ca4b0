// Package sse tells connected clients what has changed, by server-sent events. A
// message is a notice and no data: who is told reads what he shows by the ordinary
// endpoints.
//
// Changes are found by looking at the store once a second, while somebody listens,
// so that it does not matter which instance has made them. Nobody waits for a
// client: each has a queue, and who does not read is cut off.
package sse

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/internal/httpapi"
	"vayu/schema"
)

const (
	// lookEvery and lookMost: what is told is at most about a second old, and a store
	// that hangs costs two looks.
	lookEvery = time.Second
	lookMost  = 2 * time.Second
	// overlap is by how much a look goes back behind the last one: clocks of instances
	// differ, and what was changed then may have been committed since.
	overlap = 5 * time.Second
	// resumeMost is how long a client may have been away and be told what it missed.
	resumeMost = 30 * time.Second
	// keepAlive is shorter than proxies wait for the next byte: nginx 60 s, AWS's 60 s,
	// some 30 s.
	keepAlive = 15 * time.Second
	// mostAtOnce is how many notices of a feed a client gets of one look; past it, it
	// is told to read anew, at most once in resetEvery.
	mostAtOnce = 100
	resetEvery = 5 * time.Second
	// queueLength holds what three feeds may say in one look.
	queueLength = 320
)

// Numbers of streams that are open at once in an instance: a person has some tabs,
// and a stream costs about 50 KB. An account may have any number of keys, and must
// leave room for others.
const (
	mostOfKey     = 20
	mostOfAccount = 200
	mostOfAll     = 2000
)

// Access says whose key is still good for what.
type Access interface {
	// Scopes is what the key of an admitted call may do now, from where it came;
	// nothing when the key is not good any more. It costs no query.
	Scopes(c *httpapi.Call) []schema.Scope
	// Ended says of each of some calls that were made with sessions whether its
	// session has ended.
	Ended(ctx context.Context, calls []*httpapi.Call) ([]bool, error)
}

// Config is what a Service is made of.
type Config struct {
	Access  Access
	Feeds   []Feed
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil for time.Now
	// Most is how many streams there are at once in all; 0 is 2000.
	Most int
}

// Service is the hub between feeds and streams.
type Service struct {
	Config

	watchers []*watcher // of Feeds
	kinds    map[schema.LiveKind]Kind
	metrics  *metrics
	sessions *failurelog.Outage

	mu      sync.Mutex
	streams map[*stream]struct{}
	of      map[string]int // how many by the id of their key, and of their account
	ended   chan struct{}  // closed by End
	end     func()
}

// New returns a service that tells nothing before Run. It fails when a kind is in
// two feeds, or a metric is registered already.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Most == 0 {
		c.Most = mostOfAll
	}
	s := &Service{
		Config: c, kinds: map[schema.LiveKind]Kind{}, streams: map[*stream]struct{}{}, of: map[string]int{}, ended: make(chan struct{}),
	}
	s.end = sync.OnceFunc(func() { close(s.ended) })
	var err error
	if s.metrics, err = newMetrics(s, c.Metrics); err != nil {
		return nil, err
	}
	s.sessions = failurelog.New(c.Log, "live: the state store", "looking for sessions that have ended", "streams go on", s.metrics.failures.WithLabelValues("session"))
	for i, feed := range c.Feeds {
		w := &watcher{Service: s, feed: feed, index: i, places: map[*stream]*place{}, told: map[schema.Owner]map[string]string{}}
		var names []string
		for _, kind := range feed.Kinds() {
			if _, twice := s.kinds[kind.Name]; twice {
				return nil, errors.New("notices of " + string(kind.Name) + " are in two feeds")
			}
			s.kinds[kind.Name] = kind
			w.kinds, names = append(w.kinds, kind.Name), append(names, string(kind.Name))
		}
		name := strings.Join(names, ",")
		w.away = failurelog.New(c.Log, "live: the feed of "+name, "looking for changes", "streams go on without", s.metrics.failures.WithLabelValues(name))
		s.watchers = append(s.watchers, w)
	}
	return s, nil
}

// Run looks for changes, and for keys and sessions that are not good any more, until
// ctx ends. Streams go on without; [Service.End] ends them.
func (s *Service) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, w := range s.watchers {
		all.Go(func() { every(ctx, lookEvery, w.look) })
	}
	all.Go(func() { every(ctx, keyEvery, s.checkKeys) })
	all.Go(func() { every(ctx, sessionEvery, s.checkSessions) })
	all.Wait()
	return nil
}

// End ends every stream, now and from here on: a server that stops has no time for
// them, and another instance will do. It may be called more than once.
func (s *Service) End() { s.end() }

// every calls do at each tick until ctx ends.
func every(ctx context.Context, period time.Duration, do func(context.Context)) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ticker.C:
			do(ctx)
		case <-ctx.Done():
		}
	}
}
