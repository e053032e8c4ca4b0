package recharge

import (
	"context"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// selectPending counts pending recharges by provider. The concatenations make SQLite use the
// index of pending recharges. To group by the plain columns, it would read the whole table
// along an index in their order.
const selectPending = "SELECT mode || '', provider || '', count(*) FROM recharge WHERE state = 'pending' GROUP BY 1, 2 ORDER BY 1, 2"

// warnStranded logs the providers that have pending recharges, but are no longer
// configured.
func (s *Service) warnStranded(ctx context.Context) error {
	return sqlstore.Each(s.DB.View(ctx), func(row sqlstore.Scanner) error {
		var mode, provider string
		var n int64
		if err := row.Scan(&mode, &provider, &n); err != nil {
			return err
		}
		if s.connectionOf(schema.WorldOf(mode), provider) == nil {
			s.Log.WarnContext(ctx, "recharges are pending with a provider that is not configured; they stay so until it is again",
				"provider", provider, "world", mode, "pending", n)
		}
		return nil
	}, selectPending)
}
