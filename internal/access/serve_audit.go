package access

import (
	"net/url"
	"strconv"
	"strings"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/schema"
)

// auditTypes are the media types that the audit log comes in beside JSON.
const auditTypes = csvType + ", " + linesType

// listAudit answers GET /v1/audit: the newest first, a page of it or, as CSV or
// lines of JSON, all.
func (s *Service) listAudit(c *httpapi.Call) (httpapi.Response, error) {
	params, err := httpapi.Parameters(c.URL.RawQuery, "from", "to", "subject", "actor", "action", "limit", "cursor")
	if err != nil {
		return httpapi.Response{}, err
	}
	var f schema.Faults
	ask := selectionOf(&f, c.Owner(), params)
	for _, as := range [...]string{csvType, linesType} {
		if c.Wants(as) {
			return s.exportAudit(c, &f, ask, as, params)
		}
	}
	list := "audit?" + url.Values{
		"from": {strconv.FormatInt(ask.from, 10)}, "to": {strconv.FormatInt(ask.to, 10)},
		"subject": {ask.subject}, "actor": {ask.actor}, "action": {ask.action},
	}.Encode()
	limit, after := pagination.Limit(&f, params), pagination.After(&f, s.Box, c, list, params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	at := ask.start()
	if after != "" {
		at = parsePlace(after)
	}
	rows, next, err := ask.page(s.DB.View(c.Context()), at, limit)
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
		reply.NextCursor = pagination.Cursor(s.Box, c, list, next.String())
	}
	return httpapi.Response{Value: reply}, nil
}

// selectionOf reads which rows are asked for; faults go to f.
func selectionOf(f *schema.Faults, owner schema.Owner, params map[string]string) *selection {
	s := &selection{owner: owner, subject: params["subject"], actor: params["actor"], action: params["action"]}
	s.from, s.to = pagination.Span(f, params)
	if s.subject != "" && !schema.IsID(s.subject) {
		f.Add("subject", "A subject is the id of what was changed, such as txn_ and 26 letters and digits.")
	}
	if s.actor != "" && !schema.IsID(s.actor) {
		f.Add("actor", "An actor is the id of a key, or a word such as command.")
	}
	if s.action != "" && !isAction(s.action) {
		f.Add("action", "An action is two words with a dot between them, such as key.create; the first with its dot stands for all that begin so.")
	}
	return s
}

// isAction reports whether a text has the form of an action, or of the beginning of
// one up to its dot.
func isAction(text string) bool {
	const longest = 64
	first, second, dotted := strings.Cut(text, ".")
	word := func(text string) bool { return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") == "" }
	return dotted && first != "" && len(text) <= longest && word(first) && word(second)
}
