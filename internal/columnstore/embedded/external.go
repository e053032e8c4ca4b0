package embedded

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/embedded/session"
	"vayu/internal/columnstore/embedded/wire"
	"vayu/schema/statement"
)

// external is a multipart body with tables for one query, as clickhouse-connect and curl -F send it. The URL parameters
// NAME_structure, NAME_types and NAME_format describe a table. The query and its parameters can be parts, too.
type external struct {
	parts  *multipart.Reader
	values url.Values // of the URL
	tables []string   // names of the tables that were made in the session
	fields int        // bytes of the query and the parameters that are parts, with their names
	own    bool       // the session is for this request only
}

// externalSuffixes are the endings of the URL parameters that describe external tables.
var externalSuffixes = []string{"_structure", "_types", "_format"}

// newExternal returns the multipart body of a request. It returns nil if the body has another type.
func newExternal(r *http.Request, body io.Reader, values url.Values) (*external, error) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		return nil, nil //nolint:nilnil // other types do not matter
	}
	if err != nil || parameters["boundary"] == "" {
		return nil, chdb.NewException(codeBadArguments, "BAD_ARGUMENTS", "The Content-Type multipart/form-data has no boundary")
	}
	return &external{parts: multipart.NewReader(body, parameters["boundary"]), values: values}, nil
}

// name returns the session of a request with external tables. A request that names no session gets its own.
func (e *external) name(n session.Name) session.Name {
	if e.own = n.ID == ""; e.own {
		n.ID = uuid.NewString()
	}
	return n
}

// load makes temporary tables of the parts of the body, and then reads the query.
func (h *handler) load(s *session.Session, q *request, r *http.Request) error {
	for {
		part, err := q.external.parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return q.readStatement(q.external.values, r, strings.NewReader(""))
		case err != nil:
			return wire.ReadError(err)
		}
		name := part.FormName()
		_, described := q.external.values[name+"_structure"]
		switch {
		case part.FileName() != "" || described:
			err = h.table(s, q, name, part)
		case name == "query" || strings.HasPrefix(name, "param_"):
			err = q.external.field(name, part)
		default:
			err = chdb.NewException(codeBadArguments, "BAD_ARGUMENTS", "The part %q is no table: neither a file name nor %s_structure is given", name, name)
		}
		if err != nil {
			return err
		}
	}
}

// field reads a part with the query or one of its parameters. All such parts together have the length limit of a query,
// because they stay in memory.
func (e *external) field(name string, part io.Reader) error {
	e.fields += len(name)
	text, err := io.ReadAll(io.LimitReader(part, int64(max(0, maxQuery-e.fields))+1))
	if err != nil {
		return wire.ReadError(err)
	}
	if e.fields += len(text); e.fields > maxQuery {
		return chdb.NewException(codeSizeLimit, "TOO_MANY_BYTES", "The query and its parameters are longer than %d bytes", maxQuery)
	}
	e.values.Set(name, string(text))
	return nil
}

// table makes a temporary table from a part of the multipart body.
func (h *handler) table(s *session.Session, q *request, name string, part io.Reader) error {
	columns := q.external.columns(name)
	if columns == "" {
		return chdb.NewException(codeBadArguments, "BAD_ARGUMENTS", "The external table %q has no description: give %s_structure or %s_types", name, name, name)
	}
	format := cmp.Or(q.external.values.Get(name+"_format"), "TabSeparated")
	if !statement.Name(format) || strings.EqualFold(format, "Values") { // the engine evaluates data in the format Values as expressions
		return chdb.NewException(codeUnknownFormat, "UNKNOWN_FORMAT", "The external table %q has the format %q, which is none of a table", name, format)
	}
	create := statement.Parse("CREATE TEMPORARY TABLE " + statement.QuoteName(name) + " (" + columns + "\n)")
	if create.Many {
		return chdb.NewException(codeSyntax, "SYNTAX_ERROR", "The columns of the external table %q are more than one statement", name)
	}
	if q.user == access.Analyst {
		if _, err := h.guard.Check(create, "", func(text string) (chdb.Analysis, error) { return analyse(s, text) }); err != nil {
			return err
		}
	}
	if err := s.Exec(create.Text); err != nil {
		return err
	}
	q.external.tables = append(q.external.tables, name)
	if _, err := h.feed(s, "INSERT INTO "+statement.QuoteName(name), format, nil, part); err != nil {
		return err
	}
	return s.Stored("INSERT", "")
}

// columns returns the columns of a table with their types. NAME_types has no names: the columns are called _1, _2, ….
func (e *external) columns(name string) string {
	types := e.values.Get(name + "_types")
	if structure := e.values.Get(name + "_structure"); structure != "" || types == "" {
		return structure
	}
	var columns []string
	begin, depth := 0, 0
	add := func(end int) { columns = append(columns, fmt.Sprintf("_%d %s", len(columns)+1, types[begin:end])) }
	s := statement.Scan(types)
	for t := s.Next(); t.Kind != statement.End; t = s.Next() {
		switch s.Text(t) {
		case "(":
			depth++
		case ")":
			depth--
		case ",":
			if depth == 0 {
				add(t.Start)
				begin = t.End
			}
		}
	}
	add(len(types))
	return strings.Join(columns, ", ")
}

// unload drops the request's tables. It ends the session if only this request uses it, a query hangs or a DROP fails.
func (q *request) unload(s *session.Session) {
	for _, name := range q.external.tables {
		if q.external.own || s.Left() || s.Exec("DROP TEMPORARY TABLE IF EXISTS "+statement.QuoteName(name)) != nil {
			s.End()
			return
		}
	}
	if q.external.own || s.Stored("DROP", "") != nil {
		s.End()
	}
}
