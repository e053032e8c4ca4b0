package account

import (
	"math"
	"strconv"
	"strings"

	"vayu/internal/api"
	"vayu/internal/page"
	"vayu/internal/state"
	"vayu/schema"
)

// storedAudit is a row of the audit log with its hash.
type storedAudit struct {
	auditRow
	hash []byte
}

// listAudit answers GET /v1/audit: the newest first. Rows of several instances
// need not have been written in the order of their clocks, so time comes first
// and the number in the chain second.
func (s *Service) listAudit(c *api.Call) (api.Response, error) {
	params, err := api.Parameters(c.URL.RawQuery, "from", "to", "limit", "cursor")
	if err != nil {
		return api.Response{}, err
	}
	var f schema.Faults
	from, to := page.Span(&f, params)
	list := "audit/" + strconv.FormatInt(from, 10) + "/" + strconv.FormatInt(to, 10)
	limit, after := page.Limit(&f, params), page.After(&f, s.Box, c, list, params)
	if err := f.Problem(); err != nil {
		return api.Response{}, err
	}
	at, seq := to, int64(math.MinInt64) // before every row of the instant to
	if after != "" {
		at, seq = parsePlace(after)
	}
	rows, err := state.All(s.DB.View(c.Context()), func(row state.Scanner) (r storedAudit, err error) {
		err = row.Scan(&r.seq, &r.at, &r.Actor, &r.Action, &r.Subject, &r.Request, &r.Client, &r.detail, &r.hash)
		return r, err
	}, `SELECT seq, at, actor, action, subject, request_id, client, detail, hash FROM audit
		WHERE account_id = $1 AND mode = $2 AND at >= $3 AND at <= $4 AND (at < $4 OR seq < $5)
		ORDER BY at DESC, seq DESC LIMIT $6`, c.Account, c.World.String(), from, at, seq, limit+1)
	if err != nil {
		return api.Response{}, err
	}
	return page.Reply(rows, limit,
		func(r storedAudit) (schema.AuditRow, error) { return r.wire(r.hash) },
		func(r storedAudit) *string {
			return page.Cursor(s.Box, c, list, strconv.FormatInt(r.at, 10)+" "+strconv.FormatInt(r.seq, 10))
		})
}

// parsePlace reads the cursor that listAudit has written itself.
func parsePlace(text string) (at, seq int64) {
	first, second, _ := strings.Cut(text, " ")
	at, _ = strconv.ParseInt(first, 10, 64)
	seq, _ = strconv.ParseInt(second, 10, 64)
	return at, seq
}
