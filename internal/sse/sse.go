// Package sse sends notices of changes to connected clients as Server-Sent Events. A notice names
// what has changed. The client reads the changed data from the ordinary endpoints.
//
// The hub (Service) polls the store for changes once a second while there are streams. It therefore finds the changes
// that any instance of the service makes. A slow client does not delay other clients: each stream has a bounded queue,
// and the hub ends a stream whose queue is full.
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
	"vayu/internal/sleep"
	"vayu/schema"
)

const (
	// pollInterval is the time between two polls of a feed. A notice is usually delayed no longer than this time.
	pollInterval = time.Second
	pollTimeout  = 2 * time.Second
	// pollOverlap is the time by which the changes of successive polls overlap. It allows for clock
	// skew between instances, and for changes that were committed late.
	pollOverlap = 5 * time.Second
	// maxResume is the longest disconnection after which a stream resumes. After a longer one it begins with a reset.
	maxResume = 30 * time.Second
	// keepAliveInterval is the time between two comments on an idle stream. It is shorter than the
	// idle timeouts of proxies: 60 s in nginx and AWS, 30 s in some others.
	keepAliveInterval = 15 * time.Second
	// maxNoticesPerPoll limits the notices that a stream gets from one poll of a feed. If there are more notices,
	// the stream gets a reset (a message to read all data again), at most once in resetInterval.
	maxNoticesPerPoll = 100
	resetInterval     = 5 * time.Second
	// queueLength is the capacity of a stream's queue. It covers the notices of three feeds from one poll, 100 each,
	// and some other messages.
	queueLength = 320
)

// Limits of the open streams of one instance. A person has several tabs, and a stream costs about
// 50 KB of memory. The limit of an account leaves room for other accounts.
const (
	maxPerKey      = 20
	maxPerAccount  = 200
	maxPerInstance = 2000
)

// Access checks keys and sessions while their streams are open.
type Access interface {
	// Scopes returns the current scopes of the key of c. It returns none if the key is no longer valid, or if an
	// allow-list excludes the client address of c. Scopes does not query the store.
	Scopes(c *httpapi.Call) []schema.Scope
	// SessionsEnded reports for each call whether its session has ended. The caller passes only calls with a session.
	SessionsEnded(ctx context.Context, calls []*httpapi.Call) ([]bool, error)
}

// Config configures a Service.
type Config struct {
	Access  Access
	Feeds   []Feed
	Log     *slog.Logger          // nil for none
	Metrics prometheus.Registerer // nil for none
	Now     func() time.Time      // nil for time.Now
	// MaxStreams is the limit of open streams of the instance. If it is 0, the limit is 2000.
	MaxStreams int
}

// Service is the hub: it polls the feeds, and sends their notices to the streams.
type Service struct {
	Config

	watchers        []*watcher // one per feed
	kinds           map[schema.LiveKind]Kind
	metrics         *metrics
	sessionFailures *failurelog.Log

	mu      sync.Mutex
	streams map[*stream]struct{}
	counts  map[string]int // open streams by key id and by account id
	ended   chan struct{}  // closed by End
	end     func()
}

// New returns a Service that sends no notices before Run. It fails if two feeds have the same kind.
// It panics if a metric is already registered.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.MaxStreams == 0 {
		c.MaxStreams = maxPerInstance
	}
	s := &Service{
		Config: c, kinds: map[schema.LiveKind]Kind{}, streams: map[*stream]struct{}{}, counts: map[string]int{}, ended: make(chan struct{}),
	}
	s.end = sync.OnceFunc(func() { close(s.ended) })
	s.metrics = newMetrics(s, c.Metrics)
	s.sessionFailures = failurelog.New(c.Log, "live: the state store", "checking for ended sessions", "streams stay open", s.metrics.failures.WithLabelValues("session"))
	for i, feed := range c.Feeds {
		w := &watcher{Service: s, feed: feed, index: i, states: map[*stream]*streamState{}, lastSent: map[schema.Owner]map[string]string{}}
		var names []string
		for _, kind := range feed.Kinds() {
			if _, twice := s.kinds[kind.Name]; twice {
				return nil, errors.New("two feeds have notices of the kind " + string(kind.Name))
			}
			s.kinds[kind.Name] = kind
			w.kinds, names = append(w.kinds, kind.Name), append(names, string(kind.Name))
		}
		name := strings.Join(names, ",")
		w.failures = failurelog.New(c.Log, "live: the feed of "+name, "polling for changes", "streams get no notices of it", s.metrics.failures.WithLabelValues(name))
		s.watchers = append(s.watchers, w)
	}
	return s, nil
}

// Run polls for changes, revoked keys and ended sessions until ctx ends. Streams stay open after
// Run has returned; [Service.End] ends them.
func (s *Service) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, w := range s.watchers {
		all.Go(func() { sleep.Every(ctx, pollInterval, w.poll) })
	}
	all.Go(func() { sleep.Every(ctx, keyCheckInterval, s.checkKeys) })
	all.Go(func() { sleep.Every(ctx, sessionCheckInterval, s.checkSessions) })
	all.Wait()
	return nil
}

// End ends every open stream. Later streams end as soon as they are opened. Clients then reconnect
// to another instance, and the shutdown does not wait for them. End is idempotent.
func (s *Service) End() { s.end() }
