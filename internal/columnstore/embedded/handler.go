package embedded

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	chproto "github.com/ClickHouse/ch-go/proto"
	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
	"github.com/google/uuid"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/embedded/session"
	"vayu/internal/columnstore/embedded/wire"
	"vayu/schema/statement"
)

// handler serves ClickHouse's HTTP interface. It runs the statements on sessions of the engine.
type handler struct {
	pool      *session.Pool
	passwords map[access.User]string
	limits    access.Limits
	guard     access.Guard
	version   string // of the engine, such as 26.7.2.1
	zone      string
	host      string
	log       *slog.Logger
	chunks    *sync.Pool // *[]byte for insert data
}

// newHandler returns a handler. First it reads the engine's version, time zone and name, and its table functions.
func newHandler(pool *session.Pool, passwords secrets, limits access.Limits, log *slog.Logger) (*handler, error) {
	h := &handler{
		pool: pool, limits: limits, log: log,
		passwords: map[access.User]string{access.Admin: passwords.Admin, access.Analyst: passwords.Analyst},
	}
	h.chunks = &sync.Pool{New: func() any { b := make([]byte, 1<<20); return &b }}
	var functions string
	for query, to := range map[string]*string{
		"version()": &h.version, "timezone()": &h.zone, "displayName()": &h.host,
		"arrayStringConcat(groupArray(name), ' ') FROM system.table_functions": &functions,
	} {
		var err error
		if *to, err = pool.Value("SELECT " + query); err != nil {
			return nil, fmt.Errorf("reading %s from the engine: %w", query, err)
		}
	}
	h.guard = access.NewGuard(strings.Fields(functions), limits)
	return h, nil
}

// ServeHTTP serves statements at / and /query, and the health checks /ping and /replicas_status.
func (h *handler) ServeHTTP(reply http.ResponseWriter, r *http.Request) {
	w := wire.Limit(reply, r)
	switch {
	case r.URL.Path == "/ping":
		if err := h.pool.Ping(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "Ok.\n")
		return
	case r.URL.Path == "/replicas_status", r.URL.Path == "/" && r.Method != http.MethodPost && r.URL.RawQuery == "":
		_, _ = io.WriteString(w, "Ok.\n")
		return
	case r.URL.Path != "/" && r.URL.Path != "/query":
		http.Error(w, "There is no handle "+r.URL.Path+"\n\nUse / or /ping for health checks.\n", http.StatusNotFound)
		return
	}
	a := &answer{w: w, r: r, version: h.version, log: h.log, plain: true}
	w.Header().Set("X-ClickHouse-Server-Display-Name", h.host)
	w.Header().Set("X-ClickHouse-Timezone", h.zone)
	user, err := h.authenticate(r)
	if err != nil {
		a.fail(err)
		return
	}
	a.user = user
	if r.Method != http.MethodGet && r.Method != http.MethodPost && r.Method != http.MethodHead {
		http.Error(w, "Only GET and POST are served", http.StatusMethodNotAllowed)
		return
	}
	body, err := wire.DecodeBody(r)
	if err != nil {
		a.fail(err)
		return
	}
	q, err := readRequest(r, body)
	if err != nil {
		a.fail(err)
		return
	}
	if err := h.admit(q, user); err != nil {
		a.fail(err)
		return
	}
	if q.id == "" {
		q.id = uuid.NewString()
	}
	w.Header().Set("X-ClickHouse-Query-Id", q.id)
	a.plain = false
	if err := h.run(r.Context(), q, a); err != nil {
		a.fail(err)
	}
}

// authenticate checks the name and password of a request: in headers, else in Basic credentials, else in the URL.
func (h *handler) authenticate(r *http.Request) (access.User, error) {
	name, password := r.Header.Get("X-ClickHouse-User"), r.Header.Get("X-ClickHouse-Key")
	if name == "" && password == "" {
		var ok bool
		if name, password, ok = r.BasicAuth(); !ok {
			name, password = r.URL.Query().Get("user"), r.URL.Query().Get("password")
		}
	}
	user := access.User(cmp.Or(name, string(access.Admin)))
	if user == access.Admin && password == "" {
		return "", chdb.NewException(codeRequiredPass, "REQUIRED_PASSWORD", "default: Authentication failed: password is required. "+
			"It is in the file engine.password of the data directory. Analysts use the user analyst, with the file analyst.password")
	}
	known, ok := h.passwords[user]
	want, got := sha256.Sum256([]byte(known)), sha256.Sum256([]byte(password))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 || !ok || known == "" {
		return "", chdb.NewException(codeAuthFailed, "AUTHENTICATION_FAILED", "%s: Authentication failed: password is incorrect, or there is no user with such name", user)
	}
	return user, nil
}

// admit sets the user of q. It reduces settings of an analyst that exceed the analyst's limits.
func (h *handler) admit(q *request, user access.User) (err error) {
	q.user = user
	if user == access.Analyst {
		q.settings, err = h.limits.Settings(q.settings)
	}
	return err
}

// run executes the statement. The caller sends an error to the client. It is no error if the client stops reading.
func (h *handler) run(ctx context.Context, q *request, a *answer) error {
	if q.hello {
		return h.hello(a)
	}
	s, err := h.session(ctx, q)
	if err != nil {
		return err
	}
	defer func() {
		if s.Left() {
			h.log.Warn("a cancelled query still runs and occupies a slot, because the engine cancels it between two blocks only", "user", q.user, "query", q.id)
		}
		s.Release()
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if q.user == access.Analyst && h.limits.Time > 0 {
		ctx, cancel = context.WithTimeout(ctx, h.limits.Time+lateTime)
		defer cancel()
		a.w.Until = time.Now().Add(h.limits.Time + 2*lateTime) // after ctx ends, so that the reply can still report the error
	}
	stop := sync.OnceFunc(s.Guard(ctx)) // after a kill the session is never reused, because a late KILL QUERY could hit its next query
	defer stop()
	a.gone, a.complete = cancel, stop
	if q.external != nil {
		defer q.unload(s)
		if err := h.load(s, q, a.r); err != nil {
			s.Failed()
			return err
		}
	}
	if err := h.check(s, q); err != nil {
		return err
	}
	h.recast(s, q)
	s.Changed(q.Session())
	if err := h.execute(s, q, a); err != nil {
		s.Failed()
		if limit := s.Stored(q.Verb, q.Text); limit != nil { // a failed CREATE … AS SELECT leaves its table
			return limit
		}
		return err
	}
	s.Ran(q.Statement)
	return nil
}

// lateTime is added to an analyst's time limit. If the engine has not ended the query by then, the handler ends it.
const lateTime = 5 * time.Second

// session returns the session that the client names, or one of the pool.
func (h *handler) session(ctx context.Context, q *request) (*session.Session, error) {
	if q.named.ID != "" {
		return h.pool.AcquireNamed(ctx, session.Request{Name: q.named, User: q.user, Database: q.database, Settings: q.settings})
	}
	return h.pool.Acquire(ctx, newSessionKey(q))
}

// check refuses a statement that the user may not run. It rewrites some statements of analysts.
func (h *handler) check(s *session.Session, q *request) (err error) {
	if q.user == access.Analyst {
		var values string
		if q.Data >= 0 && strings.EqualFold(q.format, "Values") {
			if values = string(q.inline); q.body != nil {
				return chdb.NewException(codeSizeLimit, "TOO_MANY_BYTES", "VALUES are longer than %d bytes: use another format", headSize)
			}
		}
		q.Text, err = h.guard.Check(q.Statement, values, func(text string) (chdb.Analysis, error) { return analyse(s, text) })
		return err
	}
	if q.readonly && q.named.ID != "" && q.Verb != "SET" && q.Verb != "USE" {
		if a, err := s.Analyse(q.Text); err != nil || a.Statements > 0 && a.Class != chdb.ReadOnly {
			return chdb.NewException(codeReadonly, "READONLY", "Cannot execute query in readonly mode: a GET changes nothing, use POST")
		}
	}
	return nil
}

// analyse classifies a statement with the engine's parser. For a statement that the parser rejects, it returns the
// engine's syntax error, which comes from formatQuery: that function parses a text but does not run it.
func analyse(s *session.Session, text string) (chdb.Analysis, error) {
	a, err := s.Analyse(text)
	if err != nil || a.Statements > 0 {
		return a, err
	}
	_, err = s.Value("SELECT formatQuery(" + statement.Quote(text) + ")")
	if e, ok := errors.AsType[*chdb.Exception](err); ok {
		e.Message, _, _ = strings.Cut(e.Message, ": In scope SELECT formatQuery(")
	}
	if err != nil {
		s.Failed()
	}
	return a, err
}

// execute runs the statement of q on a session. If it returns an error, the caller must call s.Failed.
func (h *handler) execute(s *session.Session, q *request, a *answer) error {
	switch {
	case q.Data >= 0 && q.inlined():
		q.Text += " VALUES " + string(q.inline)
		return h.whole(s, q, a)
	case q.Data >= 0:
		return h.insert(s, q, a)
	case !q.wait:
		return h.pipe(s, q, a)
	default:
		return h.whole(s, q, a)
	}
}

// inlined reports whether an INSERT runs with its data in the SQL text. The data after VALUES need this, because they
// are expressions, which may contain parameters.
func (q *request) inlined() bool {
	return q.body == nil && q.format == "Values" && len(q.inline) > 0
}

// whole runs a statement, and sends its result once the result is complete.
func (h *handler) whole(s *session.Session, q *request, a *answer) error {
	began := time.Now()
	r, err := s.Query(q.Text, q.format, q.params)
	if err != nil {
		return err
	}
	defer r.Free()
	if err := s.Stored(q.Verb, q.Text); err != nil {
		return err
	}
	a.complete()
	data := r.Data()
	if a.user == access.Analyst && h.limits.Time > 0 { // the query occupies a slot until the client has the result
		a.w.Until = time.Now().Add(h.limits.Time)
	}
	a.start(q.format, len(data), r.Counters(), time.Since(began))
	if err := a.write(data); err != nil {
		return nil // the client has disconnected
	}
	a.finish()
	return nil
}

// insert passes the body to the engine as the body arrives. The engine limits how much of the body is in memory.
func (h *handler) insert(s *session.Session, q *request, a *answer) error {
	began := time.Now()
	var data io.Reader = bytes.NewReader(q.inline)
	if q.body != nil {
		data = io.MultiReader(data, q.body)
	}
	n, err := h.feed(s, q.Text, q.format, q.params, data)
	if err != nil {
		return err
	}
	if err := s.Stored(q.Verb, q.Text); err != nil {
		return err
	}
	a.start(q.format, 0, n, time.Since(began))
	a.finish()
	return nil
}

func (h *handler) feed(s *session.Session, text, format string, params []chdb.Param, data io.Reader) (chdb.Counters, error) {
	chunk := h.chunks.Get().(*[]byte)
	defer func() {
		if !s.Left() { // after a kill the INSERT may still run, and the engine may still read the chunk
			h.chunks.Put(chunk)
		}
	}()
	return s.Insert(text, format, params, func() ([]byte, error) {
		n, err := fill(data, *chunk)
		if err != nil && err != io.EOF { //nolint:errorlint // fill returns the error of Read unchanged
			return nil, wire.ReadError(err)
		}
		return (*chunk)[:n], nil
	})
}

// fill reads until b is full or r fails, and returns the error of r. io.ReadFull would not distinguish the end of a
// body from a lost client.
func fill(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = r.Read(b[n:])
		n += m
	}
	return n, err
}

// hello answers clickhouse-go's first query in the protocol revision that clickhouse-go expects. The reply says that
// the engine has revision 0. Both sides then omit BlockInfo in later blocks, as the engine's Native format does.
func (h *handler) hello(a *answer) error {
	block := proto.NewBlock()
	values := []any{h.host, h.version, uint32(0), h.zone}
	for i, name := range []string{"displayName()", "version()", "revision()", "timezone()"} {
		kind := column.Type("String")
		if i == 2 {
			kind = "UInt32"
		}
		if err := block.AddColumn(name, kind); err != nil {
			return fmt.Errorf("answering the hello query: %w", err)
		}
	}
	var buffer chproto.Buffer
	if err := cmp.Or(block.Append(values...), block.Encode(&buffer, clickhouse.ClientTCPProtocolVersion)); err != nil {
		return fmt.Errorf("answering the hello query: %w", err)
	}
	a.start("Native", len(buffer.Buf), chdb.Counters{Rows: 1}, 0)
	if a.write(buffer.Buf) == nil {
		a.finish()
	}
	return nil
}
