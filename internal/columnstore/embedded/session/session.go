// Package session opens connections to the engine and keeps them open. A connection of the pool runs single statements.
// A named session is a connection to which a client has given a name, and keeps its state between requests.
package session

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/chdb"
	"vayu/schema/statement"
)

// Key is the user, database and settings of a session. A request can reuse a session with an equal key.
type Key struct {
	User     access.User
	Database string
	Settings string // SET statement, "" for none
}

// idleSessions limits the sessions kept for reuse. Opening a session takes about 0.5 ms. An idle session needs 10 kB.
const idleSessions = 32

// Pool is a pool of connections to the engine. It is safe for concurrent use.
type Pool struct {
	lib      *chdb.Library
	args     []string // of every connection
	of       map[access.User]share
	readable []string // databases of analysts
	named    *named
	count    atomic.Uint64

	temporary int64 // limit of the temporary tables of analysts, in bytes; 0 for none

	mu   sync.Mutex
	idle map[Key][]*Session
	kept int

	control   *chdb.Connection // keeps the engine running and kills queries
	controlMu sync.Mutex
	pulse     *chdb.Connection // answers /ping
	pulseMu   sync.Mutex
}

// share has the settings of a user's connections, and the number of statements that the user can run concurrently.
type share struct {
	args  []string      // of a connection, besides those of every connection
	slots chan struct{} // limits the concurrent statements
}

// Session is a connection in use by one request.
type Session struct {
	*chdb.Connection
	pool *Pool
	key  Key
	mark string      // the connection's log_comment, by which KILL QUERY finds the query
	bad  atomic.Bool // must not be reused; set by Guard and by the handler

	killed chan struct{} // closed by Guard when it begins to kill the query; nil before Guard
	over   chan struct{} // closed when a killed call that did not return in time returns; nil for none (see Left)

	named    *namedSession // nil for a session of the pool
	database string        // the connection's first database if the key has none
}

// Config has the arguments and limits of a pool's connections.
type Config struct {
	Arguments []string      // of every connection
	Admin     []string      // further arguments of the connections of administrators
	Queries   int           // concurrent statements of administrators
	Analysts  access.Limits // of the connections of analysts
}

// Open boots the engine and returns its pool.
func Open(lib *chdb.Library, cfg Config) (*Pool, error) {
	p := &Pool{lib: lib, args: cfg.Arguments, readable: cfg.Analysts.Databases, temporary: cfg.Analysts.Temporary, idle: map[Key][]*Session{}, of: map[access.User]share{
		access.Admin:   {cfg.Admin, make(chan struct{}, cfg.Queries)},
		access.Analyst: {cfg.Analysts.Arguments(), make(chan struct{}, cfg.Analysts.Slots(runtime.GOMAXPROCS(0)))},
	}}
	p.named = &named{pool: p, all: map[namedKey]*namedSession{}}
	var err error
	if p.control, err = lib.Open(p.args...); err != nil {
		return nil, err
	}
	if p.pulse, err = lib.Open(p.args...); err != nil {
		p.control.Close()
		return nil, err
	}
	return p, nil
}

// queueTime is how long a request waits for a free slot before it is rejected.
const queueTime = 30 * time.Second

// Acquire waits for a slot, at most 30 s, and returns a session with the user, database and settings in `key`.
func (p *Pool) Acquire(ctx context.Context, key Key) (*Session, error) {
	if err := p.wait(ctx, key.User); err != nil {
		return nil, err
	}
	if s := p.reuse(key); s != nil {
		return s, nil
	}
	s, err := p.fresh(key)
	if err != nil {
		p.free(key.User)
		return nil, err
	}
	return s, nil
}

// wait waits for a slot of `user`, at most queueTime.
func (p *Pool) wait(ctx context.Context, user access.User) error {
	wait := time.NewTimer(queueTime)
	defer wait.Stop()
	slots := p.of[user].slots
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return chdb.NewException(chdb.CodeTooManyQueries, "TOO_MANY_SIMULTANEOUS_QUERIES", "Too many simultaneous queries for the user %s. Maximum: %d", user, cap(slots))
	}
}

func (p *Pool) free(user access.User) { <-p.of[user].slots }

func (p *Pool) reuse(key Key) *Session {
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

// drop removes the last idle session of `key` from p.idle. The caller holds p.mu.
func (p *Pool) drop(key Key) {
	free := p.idle[key]
	if len(free) == 1 {
		delete(p.idle, key)
	} else {
		p.idle[key] = free[:len(free)-1]
	}
	p.kept--
}

func (p *Pool) fresh(key Key) (*Session, error) {
	mark := fmt.Sprintf("vayu-%d", p.count.Add(1))
	conn, err := p.lib.Open(append(slices.Concat(p.args, p.of[key.User].args), "--log_comment="+mark)...)
	if err != nil {
		return nil, err
	}
	s := &Session{Connection: conn, pool: p, key: key, mark: mark, database: "default"}
	var begin []string
	if key.User == access.Analyst {
		begin = access.Statements()
	}
	if key.Database != "" && key.Database != "default" {
		begin = append(begin, "USE "+statement.QuoteName(key.Database))
	}
	if key.Settings != "" {
		begin = append(begin, key.Settings)
	}
	for _, text := range begin {
		if err := conn.Exec(text); err != nil {
			conn.Close()
			return nil, err
		}
	}
	if key.User == access.Analyst && key.Database == "" && len(p.readable) > 0 && conn.Exec("USE "+statement.QuoteName(p.readable[0])) == nil {
		s.database = p.readable[0] // USE fails before the first migration, which creates this database
	}
	return s, nil
}

// Release makes the session idle, or closes it if it must not be reused, and frees the slot. If a query of the session
// still runs, Release returns at once, and all this happens when the query ends.
func (s *Session) Release() {
	if s.over == nil {
		s.release()
		return
	}
	go func() {
		<-s.over
		s.release()
	}()
}

func (s *Session) release() {
	p := s.pool
	defer p.free(s.key.User)
	if s.named != nil {
		s.named.put()
		return
	}
	if s.bad.Load() {
		s.Close()
		return
	}
	p.mu.Lock()
	var evict *Session
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

// Changed records whether a statement may affect later statements. If it may, a session of the pool is not reused.
func (s *Session) Changed(changed bool) {
	if s.named == nil && changed {
		s.End()
	}
}

// End closes the session once it is released.
func (s *Session) End() { s.bad.Store(true) }

// Failed records that a statement has failed. The engine prepends the output of a failed statement to the connection's
// next result. So Failed ends a session of the pool. In a named session, it discards that output with SELECT 1.
func (s *Session) Failed() {
	if s.named == nil || s.over != nil || s.Exec("SELECT 1") != nil {
		s.End()
	}
}

// Ran records what a statement of a named session has changed: USE changes the database, and SET changes settings.
func (s *Session) Ran(st statement.Statement) {
	if s.named != nil {
		s.named.ran(st)
	}
}

func (p *Pool) kill(mark string) {
	p.controlMu.Lock()
	defer p.controlMu.Unlock()
	// An error is ignored: Guard tries again, and the query has a time limit of its own.
	_ = p.control.Exec("KILL QUERY WHERE Settings['log_comment'] = " + statement.Quote(mark) + " ASYNC")
}

// Ping returns an error unless the engine answers a query.
func (p *Pool) Ping() error {
	p.pulseMu.Lock()
	defer p.pulseMu.Unlock()
	return p.pulse.Exec("SELECT 1")
}

// Value returns the only value of a query of the service itself, as text.
func (p *Pool) Value(query string) (string, error) {
	p.controlMu.Lock()
	defer p.controlMu.Unlock()
	return p.control.Value(query)
}

// Close shuts the engine down. If a query still runs, Close does nothing, because only the end of the process ends it.
func (p *Pool) Close() {
	for _, of := range p.of {
		if len(of.slots) > 0 {
			return
		}
	}
	p.named.close()
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
