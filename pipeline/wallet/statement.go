package wallet

import (
	"fmt"
	"math"
	"net/url"
	"time"

	"vayu/internal/api"
	"vayu/internal/page"
	"vayu/internal/state"
	"vayu/schema"
)

// line is an entry as it concerns an account.
type line struct {
	subject, kind   string
	at              int64 // microseconds
	available, held schema.Paise
}

// selectLines goes backwards along posting_account, and stops after a page. Each
// entry that concerns an account has one posting here: what it changes of available,
// or of held where it changes nothing of the other. What happened to a subject in
// one instant comes in the order in which it can have happened, the last first.
const selectLines = `SELECT subject, kind, ledger, at, amount FROM posting
	WHERE account_id = $1 AND mode = $2 AND at >= $3 AND at < $4 AND at <= $5
	AND (ledger = 'available' OR ledger = 'held' AND kind = 'commit')
	AND (at < $5 OR subject < $6 OR subject = $6 AND kind > $7)
	ORDER BY at DESC, subject DESC, kind LIMIT $8`

func scanLine(row state.Scanner) (l line, err error) {
	var ledger string
	var amount schema.Paise
	if err := row.Scan(&l.subject, &l.kind, &ledger, &l.at, &amount); err != nil {
		return line{}, err
	}
	switch {
	case ledger == held:
		l.held = amount
	case l.kind == kindReserve || l.kind == kindRelease:
		l.available, l.held = amount, -amount
	default:
		l.available = amount
	}
	return l, nil
}

// listEntries answers GET /v1/wallet/entries, the newest first.
func (s *Service) listEntries(c *api.Call) (api.Response, error) {
	params, err := api.Parameters(c.URL.RawQuery, "from", "to", "limit", "cursor")
	if err != nil {
		return api.Response{}, err
	}
	var f schema.Faults
	from, to := page.Span(&f, params)
	list := "entries?" + url.Values{"span": spanName(from, to)}.Encode()
	limit, last := page.Limit(&f, params), page.After(&f, s.Box, c, list, params)
	if err := f.Problem(); err != nil {
		return api.Response{}, err
	}
	after := line{at: math.MaxInt64} // before the first
	if last != "" {
		if _, err := fmt.Sscan(last, &after.at, &after.subject, &after.kind); err != nil {
			return api.Response{}, fmt.Errorf("reading the cursor %q: %w", last, err)
		}
	}
	rows, err := state.All(s.DB.View(c.Context()), scanLine, selectLines,
		c.Account, c.World.String(), from, to, after.at, after.subject, after.kind, limit+1)
	if err != nil {
		return api.Response{}, err
	}
	return page.Reply(rows, limit,
		func(l line) (schema.WalletEntry, error) { return l.shown(), nil },
		func(l line) *string {
			return page.Cursor(s.Box, c, list, fmt.Sprint(l.at, " ", l.subject, " ", l.kind))
		})
}

func (l line) shown() schema.WalletEntry {
	const micro = "2006-01-02T15:04:05.000000Z"
	return schema.WalletEntry{
		Subject: l.subject, Kind: l.kind, At: time.UnixMicro(l.at).UTC().Format(micro), Available: l.available, Held: l.held,
	}
}
