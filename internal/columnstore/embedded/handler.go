package embedded

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	chproto "github.com/ClickHouse/ch-go/proto"
	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"

	"github.com/google/uuid"

	"vayu/internal/columnstore/embedded/chdb"
)

// handler serves ClickHouse's HTTP interface. It runs the statements on sessions of the engine.
type handler struct {
	pool     *sessions
	password string
	version  string // of the engine, such as 26.7.2.1
	zone     string
	host     string
	log      *slog.Logger
	chunks   sync.Pool // *[]byte for insert data
}

// newHandler returns a handler. It queries the engine's version, time zone and name, which replies contain.
func newHandler(pool *sessions, password string, log *slog.Logger) (*handler, error) {
	h := &handler{pool: pool, password: password, log: log}
	h.chunks.New = func() any { b := make([]byte, 1<<20); return &b }
	for query, to := range map[string]*string{"version()": &h.version, "timezone()": &h.zone, "displayName()": &h.host} {
		r, err := pool.control.Query("SELECT "+query, "TSVRaw", nil)
		if err != nil {
			return nil, fmt.Errorf("asking the engine for %s: %w", query, err)
		}
		data := r.Data()
		*to = string(data[:max(0, len(data)-1)])
		r.Free()
	}
	return h, nil
}

// ServeHTTP serves statements at / and /query, and the health checks /ping and /replicas_status.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/ping":
		if err := h.pool.ping(); err != nil {
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
	if err := h.authenticate(r); err != nil {
		a.fail(err)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodPost && r.Method != http.MethodHead {
		http.Error(w, "Only GET and POST are served", http.StatusMethodNotAllowed)
		return
	}
	body, err := decodeBody(r)
	if err != nil {
		a.fail(err)
		return
	}
	q, err := readRequest(r, body)
	if err != nil {
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

// authenticate checks user and password: those in headers, else in Basic credentials, else in the URL.
func (h *handler) authenticate(r *http.Request) error {
	user, password := r.Header.Get("X-ClickHouse-User"), r.Header.Get("X-ClickHouse-Key")
	if user == "" && password == "" {
		var ok bool
		if user, password, ok = r.BasicAuth(); !ok {
			user, password = r.URL.Query().Get("user"), r.URL.Query().Get("password")
		}
	}
	if user == "" {
		user = "default"
	}
	if user == "default" && password == "" {
		return exception(codeRequiredPass, "REQUIRED_PASSWORD", "default: Authentication failed: password is required. It is in the file engine.password of the data directory")
	}
	want, got := sha256.Sum256([]byte(h.password)), sha256.Sum256([]byte(password))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 || user != "default" {
		return exception(codeAuthFailed, "AUTHENTICATION_FAILED", "%s: Authentication failed: password is incorrect, or there is no user with such name", user)
	}
	return nil
}

// run executes the statement. The caller reports an error to the client. A disconnected client is no error.
func (h *handler) run(ctx context.Context, q *request, a *answer) error {
	if q.hello {
		return h.hello(a)
	}
	s, err := h.pool.acquire(ctx, newSessionKey(q.database, q.settings, q.readonly))
	if err != nil {
		return err
	}
	defer s.release()
	s.bad.Store(q.session())
	stop := s.guard(ctx) // guard may set bad, and nothing clears it: a late KILL must not hit a reused session
	defer stop()
	if err := h.execute(s, q, a); err != nil {
		s.bad.Store(true) // the engine prepends the output of a failed query to the connection's next result
		return err
	}
	return nil
}

// execute runs the statement of q on a session. After an error the session must not be reused.
func (h *handler) execute(s *session, q *request, a *answer) error {
	switch {
	case q.data >= 0 && q.inlined():
		q.text += " VALUES " + string(q.inline)
		return h.whole(s, q, a)
	case q.data >= 0:
		return h.insert(s, q, a)
	case q.streams(q.format) && !q.wait:
		return h.stream(s, q, a)
	default:
		return h.whole(s, q, a)
	}
}

// inlined reports whether an INSERT runs with its data in the SQL text. VALUES are expressions, which may contain
// parameters.
func (q *request) inlined() bool {
	return q.body == nil && q.format == "Values" && len(q.inline) > 0
}

// whole runs a statement, and sends its result once the result is complete.
func (h *handler) whole(s *session, q *request, a *answer) error {
	began := time.Now()
	r, err := s.Query(q.text, q.format, q.params)
	if err != nil {
		return err
	}
	defer r.Free()
	data := r.Data()
	a.start(q.format, len(data), r.Counters(), time.Since(began))
	if err := a.write(data); err != nil {
		return nil // the client has disconnected
	}
	a.finish()
	return nil
}

// stream sends a result while the engine produces it. At most two pieces of 65,409 rows are in memory.
func (h *handler) stream(s *session, q *request, a *answer) error {
	began := time.Now()
	st, err := s.Stream(q.text, q.format, q.params)
	if err != nil {
		return err
	}
	defer st.Close()
	piece, more, err := st.Next()
	if err != nil {
		return err
	}
	if !more {
		a.start(q.format, 0, chdb.Counters{}, time.Since(began))
		a.finish()
		return nil
	}
	for firstPiece := true; more; firstPiece = false {
		ahead, another, err := st.Next()
		if firstPiece && err != nil {
			piece.Free()
			return err
		}
		if firstPiece {
			length := -1
			if !another {
				length = len(piece.Data())
			}
			a.start(q.format, length, piece.Counters(), time.Since(began))
		}
		gone := a.write(piece.Data())
		piece.Free()
		if gone != nil {
			if another {
				ahead.Free()
			}
			return nil
		}
		if err != nil {
			return err
		}
		if another {
			a.flush()
		}
		piece, more = ahead, another
	}
	a.finish()
	return nil
}

// insert passes the body to the engine as the body arrives. The engine limits how much of the body is in memory.
func (h *handler) insert(s *session, q *request, a *answer) error {
	began := time.Now()
	in, err := s.Insert(q.text, q.format, q.params)
	if err != nil {
		return err
	}
	if err := h.feed(in, q); err != nil {
		in.Abort()
		return err
	}
	n, err := in.Done()
	if err != nil {
		return err
	}
	a.start(q.format, 0, n, time.Since(began))
	a.finish()
	return nil
}

// feed copies the data of q to the engine. It returns nil if the engine rejects the data: in.Done has that error.
func (h *handler) feed(in *chdb.Insertion, q *request) error {
	if in.Write(q.inline) != nil || q.body == nil {
		return nil
	}
	chunk := h.chunks.Get().(*[]byte)
	defer h.chunks.Put(chunk)
	for {
		n, err := fill(q.body, *chunk)
		if err != nil && err != io.EOF { //nolint:errorlint // fill returns the error of Read unchanged
			return readError(err)
		}
		if in.Write((*chunk)[:n]) != nil || err != nil {
			return nil // the body has ended, or in.Done will return an error
		}
	}
}

// fill reads until b is full or r fails. io.ReadFull returns one error for both the end of a body and a lost client.
func fill(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = r.Read(b[n:])
		n += m
	}
	return n, err
}

// hello answers clickhouse-go's first query in the protocol revision that clickhouse-go expects. It reports
// revision 0 for the engine. So both sides omit BlockInfo in later replies, as the engine's Native format does.
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
	if err := block.Append(values...); err != nil {
		return fmt.Errorf("answering the hello query: %w", err)
	}
	var buffer chproto.Buffer
	if err := block.Encode(&buffer, clickhouse.ClientTCPProtocolVersion); err != nil {
		return fmt.Errorf("answering the hello query: %w", err)
	}
	a.start("Native", len(buffer.Buf), chdb.Counters{Rows: 1}, 0)
	if a.write(buffer.Buf) == nil {
		a.finish()
	}
	return nil
}
