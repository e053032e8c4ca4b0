package embedded

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"vayu/internal/columnstore/embedded/access"
	"vayu/internal/columnstore/embedded/session"
	"vayu/schema/statement"
)

var (
	enumType = regexp.MustCompile(`Enum(?:8|16)\('(?:[^'\\]|\\.)*' = -?\d+(?:, '(?:[^'\\]|\\.)*' = -?\d+)*\)`)
	zoneType = regexp.MustCompile(`^DateTime\('([^']+)'\)$`)
)

// recaster returns a function that maps a column's type to the type that the client needs; nil if no type changes. In
// Arrow, the engine would write an enum as a number. In Native, libchdb would write a DateTime without its time zone,
// so it becomes a DateTime64 for analysts and in named sessions. The service's own queries need no time zones.
func (h *handler) recaster(q *request) func(kind string) string {
	switch {
	case strings.EqualFold(q.format, "Arrow"), strings.EqualFold(q.format, "ArrowStream"):
		return func(kind string) string { return enumType.ReplaceAllString(kind, "String") }
	case q.format == "Native" && (q.user == access.Analyst || q.named.ID != ""):
		return func(kind string) string {
			if m := zoneType.FindStringSubmatch(kind); len(m) == 2 && m[1] != h.zone {
				return "DateTime64(0, " + statement.Quote(m[1]) + ")"
			}
			return kind
		}
	}
	return nil
}

// recast changes a SELECT so that its columns have the types that [handler.recaster] returns. It does not change a
// statement that the engine cannot describe.
func (h *handler) recast(s *session.Session, q *request) {
	shown := h.recaster(q)
	query, rest, ok := q.Query()
	if shown == nil || !ok {
		return
	}
	r, err := s.Query("DESCRIBE TABLE ("+query+"\n)", "JSONCompactEachRow", q.params)
	if err != nil {
		s.Failed()
		return
	}
	defer r.Free()
	if casts := casts(r.Data(), shown); len(casts) > 0 {
		q.Statement = statement.Parse("SELECT * REPLACE (" + strings.Join(casts, ", ") + ") FROM (" + query + "\n) " + rest)
	}
}

// casts returns the expressions for the columns whose types the function `shown` changes. The parameter `described` is
// the result of a DESCRIBE. If two columns have the same name, casts returns nil.
func casts(described []byte, shown func(string) string) (all []string) {
	known := map[string]bool{}
	for line := range bytes.Lines(described) {
		var column []string
		if json.Unmarshal(line, &column) != nil || len(column) < 2 || known[column[0]] {
			return nil
		}
		name, kind := column[0], column[1]
		known[name] = true
		if to := shown(kind); to != kind {
			all = append(all, "CAST("+statement.QuoteName(name)+", "+statement.Quote(to)+") AS "+statement.QuoteName(name))
		}
	}
	return all
}
