package embedded

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/embedded/session"
	"vayu/internal/columnstore/embedded/wire"
	"vayu/schema/statement"
)

// headSize is how many bytes of a body are searched for the query: the default of ClickHouse's max_query_size.
const headSize = 256 << 10

// maxQuery limits the length in bytes of a statement that carries no data of an INSERT.
const maxQuery = 16 << 20

// request is one statement received over HTTP.
type request struct {
	statement.Statement
	user     access.User
	format   string // of the result, or of an INSERT's data
	params   []chdb.Param
	database string
	settings []statement.Setting
	id       string       // query_id of the client, may be empty
	hello    bool         // clickhouse-go's preflight query
	wait     bool         // buffer the whole result before the first byte
	named    session.Name // the session that the client names
	readonly bool         // a GET must not change anything
	inline   []byte       // first part of an INSERT's data
	body     io.Reader    // the rest of the data; nil when inline is all of it
	external *external    // tables in the body, nil for none
}

// helloQuery is clickhouse-go's first query. Only its result has clickhouse-go's protocol revision ([handler.hello]).
const helloQuery = "SELECT displayName(), version(), revision(), timezone()"

// reserved has the URL parameters that are not settings of ClickHouse.
var reserved = []string{
	"query", "database", "default_format", "user", "password", "quota_key", "query_id", "compress", "decompress",
	"client_protocol_version", "wait_end_of_query", "buffer_size", "stacktrace", "role", "log_comment",
	"session_id", "session_timeout", "session_check",
	// These parameters configure progress headers, which this package lacks, and compression (see [wire.NewEncoder]).
	"send_progress_in_http_headers", "http_headers_progress_interval_ms", "network_compression_method", "network_zstd_compression_level",
	"enable_http_compression", "http_zlib_compression_level",
}

// readRequest parses a request: its URL, its headers and the beginning of its body.
func readRequest(r *http.Request, body io.Reader) (*request, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, chdb.NewException(codeBadArguments, "BAD_ARGUMENTS", "The URL cannot be read: %v", err)
	}
	q := &request{
		id:       values.Get("query_id"),
		database: cmp.Or(values.Get("database"), r.Header.Get("X-ClickHouse-Database")),
		wait:     wire.On(values.Get("wait_end_of_query")),
		readonly: r.Method != http.MethodPost,
	}
	if q.external, err = newExternal(r, body, values); err != nil {
		return nil, err
	}
	q.setSettings(values)
	if q.named, err = session.ReadName(values.Get("session_id"), values.Get("session_timeout"), wire.On(values.Get("session_check"))); err != nil {
		return nil, err
	}
	if q.external != nil {
		q.named = q.external.name(q.named)
		return q, nil
	}
	err = q.readStatement(values, r, body)
	return q, err
}

func (q *request) readStatement(values url.Values, r *http.Request, body io.Reader) error {
	q.setParams(values)
	if err := q.readQuery(values.Get("query"), body); err != nil {
		return err
	}
	if q.Many {
		return chdb.NewException(codeSyntax, "SYNTAX_ERROR", "Syntax error (Multi-statements are not allowed)")
	}
	if q.Empty {
		return chdb.NewException(codeSyntax, "SYNTAX_ERROR", "Syntax error: Empty query")
	}
	fallback := "TabSeparated"
	if q.Data >= 0 {
		fallback = "Values"
	} else if requested := cmp.Or(values.Get("default_format"), r.Header.Get("X-ClickHouse-Format")); requested != "" {
		fallback = requested
	}
	q.format = cmp.Or(q.Format, fallback)
	if !statement.Name(q.format) {
		return chdb.NewException(codeUnknownFormat, "UNKNOWN_FORMAT", "Unknown format %s", q.format)
	}
	q.hello = q.Text == helloQuery && values.Get("client_protocol_version") != ""
	return nil
}

// setParams sets q.params from the URL parameters param_NAME. It sorts q.params by name, because the order of a map is
// random.
func (q *request) setParams(values url.Values) {
	for key, value := range values {
		if name, ok := strings.CutPrefix(key, "param_"); ok {
			q.params = append(q.params, chdb.Param{Name: name, Value: value[len(value)-1]})
		}
	}
	slices.SortFunc(q.params, func(a, b chdb.Param) int { return strings.Compare(a.Name, b.Name) })
}

func (q *request) setSettings(values url.Values) {
	for key, value := range values {
		described := slices.ContainsFunc(externalSuffixes, func(suffix string) bool { return strings.HasSuffix(key, suffix) })
		if !strings.HasPrefix(key, "param_") && !slices.Contains(reserved, key) && (q.external == nil || !described) {
			q.settings = append(q.settings, statement.Setting{Name: key, Value: value[len(value)-1]})
		}
	}
	slices.SortFunc(q.settings, func(a, b statement.Setting) int { return strings.Compare(a.Name, b.Name) })
}

// readQuery reads the statement. Text in the URL and in the body is joined with a line break, as in ClickHouse.
func (q *request) readQuery(text string, body io.Reader) error {
	head := make([]byte, 0, 4<<10)
	head = append(head, text...)
	if text != "" {
		head = append(head, '\n')
	}
	// If the URL has an INSERT with a format, the body is its data. Otherwise the body continues the query.
	if text != "" {
		if st := statement.Parse(string(head)); st.Data >= 0 && st.Format != "" {
			q.Statement, q.inline, q.body = st, head[st.Data:], body
			return nil
		}
	}
	buffer := bytes.NewBuffer(head)
	_, err := io.CopyN(buffer, body, headSize)
	whole := errors.Is(err, io.EOF)
	if err != nil && !whole {
		return wire.ReadError(err)
	}
	st := statement.Parse(buffer.String())
	if st.Data >= 0 {
		q.Statement, q.inline = st, buffer.Bytes()[min(st.Data, buffer.Len()):]
		if !whole {
			q.body = body
		}
		return nil
	}
	if !whole {
		n, err := io.CopyN(buffer, body, maxQuery)
		if err != nil && !errors.Is(err, io.EOF) {
			return wire.ReadError(err)
		}
		if n == maxQuery {
			return chdb.NewException(codeSizeLimit, "TOO_MANY_BYTES", "The query is longer than %d bytes", maxQuery)
		}
		st = statement.Parse(buffer.String())
	}
	if text != "" && buffer.Len() == len(head) {
		st.Text = strings.TrimSuffix(st.Text, "\n")
	}
	q.Statement = st
	return nil
}

// newSessionKey returns the key of a request's session. If q.readonly is true, the session of Admin refuses changes.
func newSessionKey(q *request) session.Key {
	settings := slices.Clone(q.settings)
	slices.SortStableFunc(settings, func(a, b statement.Setting) int { return strings.Compare(a.Name, b.Name) })
	if q.readonly && q.user == access.Admin {
		settings = append(settings, statement.Setting{Name: "readonly", Value: "2"})
	}
	return session.Key{User: q.user, Database: q.database, Settings: statement.Set(settings)}
}
