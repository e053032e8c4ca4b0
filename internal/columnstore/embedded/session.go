package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vayu/internal/columnstore/embedded/chdb"
)

// setting is the name and value of a ClickHouse setting in a request.
type setting struct{ name, value string }

// sessionKey is the database and settings of a session. A request can reuse a session with an equal key.
type sessionKey struct {
	database string
	settings string // SET statement, "" for none
}

// newSessionKey returns the session key of a request. readonly forbids changes, as ClickHouse does for GET.
func newSessionKey(database string, settings []setting, readonly bool) sessionKey {
	settings = slices.Clone(settings)
	slices.SortStableFunc(settings, func(a, b setting) int { return strings.Compare(a.name, b.name) })
	if readonly {
		settings = append(settings, setting{"readonly", "2"})
	}
	set := make([]string, len(settings))
	for i, s := range settings {
		set[i] = quoteName(s.name) + " = " + quote(s.value)
	}
	key := sessionKey{database: database}
	if len(set) > 0 {
		key.settings = "SET " + strings.Join(set, ", ")
	}
	return key
}

// idleSessions limits the sessions kept for reuse. Opening one takes about 0.5 ms; an idle one needs 10 kB.
const idleSessions = 32

// sessions is a pool of connections to the engine. It is safe for concurrent use.
type sessions struct {
	lib   *chdb.Library
	args  []string // of every connection
	slots chan struct{}
	count atomic.Uint64

	mu   sync.Mutex
	idle map[sessionKey][]*session
	kept int

	control   *chdb.Connection // keeps the engine running and kills queries
	controlMu sync.Mutex
	pulse     *chdb.Connection // answers /ping
	pulseMu   sync.Mutex
}

// session is a connection in use by one request.
type session struct {
	*chdb.Connection
	pool *sessions
	key  sessionKey
	mark string      // the connection's log_comment, by which KILL QUERY finds the query
	bad  atomic.Bool // must not be reused; set by guard and by the handler
}

// openSessions boots the engine and returns its pool of sessions. parallel limits the concurrent statements.
func openSessions(lib *chdb.Library, parallel int, args []string) (*sessions, error) {
	p := &sessions{lib: lib, args: args, slots: make(chan struct{}, parallel), idle: map[sessionKey][]*session{}}
	var err error
	if p.control, err = lib.Open(args...); err != nil {
		return nil, err
	}
	if p.pulse, err = lib.Open(args...); err != nil {
		p.control.Close()
		return nil, err
	}
	return p, nil
}

// queueTime is how long a request waits for a free slot before it is rejected.
const queueTime = 30 * time.Second

// acquire waits for a slot, at most queueTime, and returns a session with the database and settings of key.
func (p *sessions) acquire(ctx context.Context, key sessionKey) (*session, error) {
	wait := time.NewTimer(queueTime)
	defer wait.Stop()
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-wait.C:
		return nil, exception(codeTooManyQueries, "TOO_MANY_SIMULTANEOUS_QUERIES", "Too many simultaneous queries. Maximum: %d", cap(p.slots))
	}
	if s := p.reuse(key); s != nil {
		return s, nil
	}
	s, err := p.fresh(key)
	if err != nil {
		<-p.slots
		return nil, err
	}
	return s, nil
}

func (p *sessions) reuse(key sessionKey) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	free := p.idle[key]
	if len(free) == 0 {
		return nil
	}
	s := free[len(free)-1]
	p.drop(key)
	return s
}

// drop removes the last idle session of key from p.idle. The caller holds p.mu.
func (p *sessions) drop(key sessionKey) {
	free := p.idle[key]
	if len(free) == 1 {
		delete(p.idle, key)
	} else {
		p.idle[key] = free[:len(free)-1]
	}
	p.kept--
}

func (p *sessions) fresh(key sessionKey) (*session, error) {
	mark := fmt.Sprintf("vayu-%d", p.count.Add(1))
	conn, err := p.lib.Open(append(slices.Clone(p.args), "--log_comment="+mark)...)
	if err != nil {
		return nil, err
	}
	s := &session{Connection: conn, pool: p, key: key, mark: mark}
	if key.database != "" && key.database != "default" {
		err = conn.Exec("USE " + quoteName(key.database))
	}
	if err == nil && key.settings != "" {
		err = conn.Exec(key.settings)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

// release makes the session idle, or closes it if it must not be reused. It frees the slot.
func (s *session) release() {
	p := s.pool
	defer func() { <-p.slots }()
	if s.bad.Load() {
		s.Close()
		return
	}
	p.mu.Lock()
	var evict *session
	if p.kept >= idleSessions {
		for key, free := range p.idle {
			evict = free[len(free)-1]
			p.drop(key)
			break
		}
	}
	p.idle[s.key] = append(p.idle[s.key], s)
	p.kept++
	p.mu.Unlock()
	if evict != nil {
		evict.Close()
	}
}

// killEvery is the pause between attempts to kill a query. A new query can be missing from the engine's list for a
// moment, and then an attempt has no effect.
const killEvery = 50 * time.Millisecond

// guard kills the session's query when ctx ends. Call stop before the session is released. After stop has
// returned, guard kills nothing.
func (s *session) guard(ctx context.Context) (stop func()) {
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-over:
			return
		case <-ctx.Done():
		}
		s.bad.Store(true)
		tick := time.NewTicker(killEvery)
		defer tick.Stop()
		for {
			s.pool.kill(s.mark)
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(over); <-gone }
}

func (p *sessions) kill(mark string) {
	p.controlMu.Lock()
	defer p.controlMu.Unlock()
	// An error is ignored: guard tries again, and the query has a time limit of its own.
	_ = p.control.Exec("KILL QUERY WHERE Settings['log_comment'] = " + quote(mark) + " ASYNC")
}

// ping returns an error unless the engine answers a query.
func (p *sessions) ping() error {
	p.pulseMu.Lock()
	defer p.pulseMu.Unlock()
	return p.pulse.Exec("SELECT 1")
}

// close shuts the engine down. No session may be in use.
func (p *sessions) close() {
	p.mu.Lock()
	for _, free := range p.idle {
		for _, s := range free {
			s.Close()
		}
	}
	p.idle = nil
	p.mu.Unlock()
	p.pulseMu.Lock()
	p.pulse.Close()
	p.pulseMu.Unlock()
	p.controlMu.Lock()
	p.control.Close()
	p.controlMu.Unlock()
	p.lib.Shutdown()
}

// quote returns s as a string literal of ClickHouse.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// quoteName returns s as a quoted identifier of ClickHouse.
func quoteName(s string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(s) + "`"
}
