package audit

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// exportTypes are the media types besides JSON in which the audit log can be exported.
const exportTypes = csvType + ", " + linesType

// Log answers GET /v1/audit.
type Log struct {
	DB     *sqlstore.DB
	Cipher *encryption.Cipher
}

// Route returns the endpoint of the audit log.
func (l *Log) Route() httpapi.Route {
	return httpapi.Route{
		Method: http.MethodGet, Path: "/v1/audit", Scope: string(schema.AccountRead), Type: exportTypes,
		Params: []string{"from", "to", "subject", "actor", "action", "limit", "cursor"}, Handler: l.list,
	}
}

// list answers GET /v1/audit, newest row first. It returns one page as JSON, or all rows as CSV or as lines of JSON.
func (l *Log) list(c *httpapi.Call) (httpapi.Response, error) {
	var f schema.RequestErrors
	sel := selectionOf(&f, c.Owner(), c.Params)
	for _, as := range [...]string{csvType, linesType} {
		if c.Wants(as) {
			return l.export(c, &f, sel, as, c.Params)
		}
	}
	list := "audit?" + url.Values{
		"from": {strconv.FormatInt(sel.from, 10)}, "to": {strconv.FormatInt(sel.to, 10)},
		"subject": {sel.subject}, "actor": {sel.actor}, "action": {sel.action},
	}.Encode()
	limit, after := pagination.Limit(&f, c.Params), pagination.ReadCursor(&f, c, list, c.Params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	at := sel.start()
	if after != "" {
		at = parsePosition(after)
	}
	rows, next, err := sel.page(l.DB.View(c.Context()), at, limit)
	if err != nil {
		return httpapi.Response{}, err
	}
	reply := schema.List[schema.AuditRow]{Status: schema.Success, Data: []schema.AuditRow{}, HasMore: next != nil}
	for i := range rows {
		row, err := rows[i].wire(rows[i].hash)
		if err != nil {
			return httpapi.Response{}, err
		}
		reply.Data = append(reply.Data, row)
	}
	if next != nil {
		reply.NextCursor = pagination.Cursor(c, list, next.String())
	}
	return httpapi.Response{Value: reply}, nil
}

// selectionOf parses the filters of a call. It adds the faults that it finds to f.
func selectionOf(f *schema.RequestErrors, owner schema.Owner, params map[string]string) *selection {
	s := &selection{owner: owner, subject: params["subject"], actor: params["actor"], action: params["action"]}
	s.from, s.to = pagination.TimeRange(f, params)
	if s.subject != "" && !schema.IsID(s.subject) {
		f.Add("subject", "The subject must be the id of an object, such as txn_ and 26 letters and digits.")
	}
	if s.actor != "" && !schema.IsID(s.actor) {
		f.Add("actor", "The actor must be the id of a key, or a name such as command.")
	}
	if s.action != "" && !isAction(s.action) {
		f.Add("action", "The action must be two words with a dot between them, such as key.create, or a prefix with its dot, such as 'key.'.")
	}
	return s
}

// isAction reports whether a text has the form of an action, such as "key.create". The first part of an
// action with its dot, such as "key.", is valid too.
func isAction(text string) bool {
	const longest = 64
	first, second, dotted := strings.Cut(text, ".")
	isWord := func(text string) bool { return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") == "" }
	return dotted && first != "" && len(text) <= longest && isWord(first) && isWord(second)
}
