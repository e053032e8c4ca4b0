package session

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/chdb"
	"vayu/schema/statement"
)

// Name has the parameters of a request that select a named session.
type Name struct {
	ID      string
	Timeout time.Duration // how long the session lasts without a request
	Check   bool          // the session must exist
}

// Codes from ClickHouse's src/Common/ErrorCodes.cpp.
const (
	codeNoSession     = 372
	codeSessionLocked = 373
	codeBadTimeout    = 374
)

// Limits of named sessions. The first two are ClickHouse's defaults (default_session_timeout, max_session_timeout).
const (
	sessionTimeout = time.Minute
	maxTimeout     = time.Hour
	maxNamed       = 256 // of each user
)

// ReadName reads the values of the URL parameters session_id and session_timeout.
func ReadName(id, timeout string, check bool) (n Name, err error) {
	n = Name{ID: id, Timeout: sessionTimeout, Check: check}
	if timeout != "" {
		seconds, err := strconv.ParseUint(timeout, 10, 32)
		if n.Timeout = time.Duration(seconds) * time.Second; err != nil || n.Timeout > maxTimeout {
			return n, chdb.NewException(codeBadTimeout, "INVALID_SESSION_TIMEOUT", "Session timeout %q is no number of seconds up to %d", timeout, maxTimeout/time.Second)
		}
	}
	return n, nil
}

// namedKey identifies a named session. Users do not share sessions.
type namedKey struct {
	user access.User
	id   string
}

// Request has the parts of a request that a named session needs.
type Request struct {
	Name     Name
	User     access.User
	Database string // "" for that of the session
	Settings []statement.Setting
}

// named has the named sessions of all users. These sessions keep settings, the database and temporary tables between
// requests. named is safe for concurrent use.
type named struct {
	pool *Pool
	mu   sync.Mutex
	all  map[namedKey]*namedSession
}

// namedSession is the state of a named session. Only the request that has marked the session as busy uses this state.
type namedSession struct {
	of       *named
	key      namedKey
	session  *Session
	timer    *time.Timer // ends the session when it is idle
	timeout  time.Duration
	busy     bool
	database string            // default database, or that of the client's last USE; for requests that name none
	current  string            // current database of the connection
	replaced map[string]string // values of the settings of the last request before that request
	applied  string            // settings of the last request, as a SET statement
	tables   int64             // bytes of the temporary tables
	settings int64             // bytes of the SET statements that the client has run
	bytes    int64             // tables + settings + 2*len(applied); guarded by named.mu
}

// AcquireNamed waits for a slot and returns the session q.Name.ID. Unless q.Name.Check is set, it opens a missing one.
func (p *Pool) AcquireNamed(ctx context.Context, q Request) (*Session, error) {
	if err := p.wait(ctx, q.User); err != nil {
		return nil, err
	}
	s, err := p.named.take(q)
	if err == nil {
		if err = s.prepare(q); err == nil {
			return s.session, nil
		}
		s.session.Failed()
		s.put()
	}
	p.free(q.User)
	return nil, err
}

// count returns the number of sessions of a user. The caller holds n.mu.
func (n *named) count(user access.User) (count int) {
	for key := range n.all {
		if key.user == user {
			count++
		}
	}
	return count
}

// take returns the session q.Name.ID and marks it as busy. It opens a missing session, unless q.Name.Check is true.
func (n *named) take(q Request) (*namedSession, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := namedKey{q.User, q.Name.ID}
	s := n.all[key]
	switch {
	case s == nil && q.Name.Check:
		return nil, chdb.NewException(codeNoSession, "SESSION_NOT_FOUND", "Session %s not found", key.id)
	case s == nil && n.count(q.User) >= maxNamed:
		return nil, chdb.NewException(chdb.CodeTooManyQueries, "TOO_MANY_SIMULTANEOUS_QUERIES", "Too many sessions. Maximum: %d", maxNamed)
	case s == nil:
		opened, err := n.pool.fresh(Key{User: q.User})
		if err != nil {
			return nil, err
		}
		s = &namedSession{of: n, key: key, session: opened, database: opened.database, current: opened.database}
		opened.named = s
		n.all[key] = s
	case s.busy:
		return nil, chdb.NewException(codeSessionLocked, "SESSION_IS_LOCKED", "Session %s is locked by a concurrent client", key.id)
	default:
		s.timer.Stop()
	}
	s.busy, s.timeout = true, q.Name.Timeout
	return s, nil
}

// put makes the session idle, or closes it if it must not be reused.
func (s *namedSession) put() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.session.bad.Load() {
		delete(s.of.all, s.key)
		s.session.Close()
		return
	}
	s.busy = false
	s.timer = time.AfterFunc(s.timeout, s.expire)
}

// expire closes the session if it is still idle.
func (s *namedSession) expire() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if !s.busy && s.of.all[s.key] == s {
		delete(s.of.all, s.key)
		s.session.Close()
	}
}

// prepare sets the database and settings of a request on the connection. Settings apply to one request only, so prepare
// first restores the values that the settings of the previous request have replaced.
func (s *namedSession) prepare(q Request) error {
	if database := cmp.Or(q.Database, s.database); database != s.current {
		if err := s.session.Exec("USE " + statement.QuoteName(database)); err != nil {
			return err
		}
		s.current = database
	}
	set := statement.Set(q.Settings)
	if set == s.applied {
		return nil
	}
	var restored []statement.Setting
	for _, name := range slices.Sorted(maps.Keys(s.replaced)) {
		restored = append(restored, statement.Setting{Name: name, Value: s.replaced[name]})
	}
	if len(restored) > 0 {
		if err := s.session.Exec(statement.Set(restored)); err != nil {
			return err
		}
	}
	s.applied, s.replaced = "", nil
	if set == "" {
		return s.of.within(s)
	}
	replaced := map[string]string{}
	for _, setting := range q.Settings {
		value, err := s.session.Value("SELECT value FROM system.settings WHERE name = " + statement.Quote(setting.Name))
		if err != nil {
			return err
		}
		replaced[setting.Name] = value
	}
	if err := s.session.Exec(set); err != nil {
		return err
	}
	s.applied, s.replaced = set, replaced
	return s.of.within(s)
}

// ran records what a statement has changed: USE changes the database, and SET changes settings.
func (s *namedSession) ran(st statement.Statement) {
	if database, ok := st.Database(); ok {
		s.database, s.current = database, database
	}
	settings, _ := st.Settings()
	for _, setting := range settings {
		if _, ok := s.replaced[setting.Name]; ok {
			s.replaced[setting.Name] = setting.Value
			s.applied = strings.Repeat("-", 2) // differs from every SET, so that the next request restores the values
		}
	}
}

// close closes all sessions. None may be in use.
func (n *named) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, s := range n.all {
		if s.timer != nil {
			s.timer.Stop()
		}
		s.session.Close()
		delete(n.all, key)
	}
}
