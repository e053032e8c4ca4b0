package recharge

import (
	"context"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// selectPending counts what is pending by who was asked for it, along the index of what
// is: that is little. Groups of the columns themselves SQLite would make along an index
// that has them in order, and read the whole table.
const selectPending = "SELECT mode || '', provider || '', count(*) FROM recharge WHERE state = 'pending' GROUP BY 1, 2 ORDER BY 1, 2"

// warnOfStranded says of which providers there are pending recharges that nobody asks
// about, because the configuration does not know them any more.
func (s *Service) warnOfStranded(ctx context.Context) error {
	return sqlstore.Each(s.DB.View(ctx), func(row sqlstore.Scanner) error {
		var mode, provider string
		var n int64
		if err := row.Scan(&mode, &provider, &n); err != nil {
			return err
		}
		if s.lineOf(schema.WorldOf(mode), provider) == nil {
			s.Log.WarnContext(ctx, "recharges are pending with a provider that is not configured; they stay so until it is again",
				"provider", provider, "world", mode, "pending", n)
		}
		return nil
	}, selectPending)
}
