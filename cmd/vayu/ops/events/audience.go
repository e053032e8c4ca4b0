package events

import (
	"fmt"
	"strings"

	"vayu/cmd/vayu/tool"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// audience counts, for each world (live or sandbox), an account's webhooks that subscribe to a type of event. Paused
// webhooks count too, because they get their events later, when they are resumed.
type audience map[schema.World]struct{ all, paused int64 }

// selectAudience counts the webhooks of an account, by world. The column "events" has types separated by blanks.
const selectAudience = `SELECT mode, count(*), CAST(sum(1 - active) AS BIGINT) FROM webhook
	WHERE account_id = $1 AND deleted_at IS NULL AND ' ' || events || ' ' LIKE '% ' || CAST($2 AS TEXT) || ' %' GROUP BY mode`

// audience counts the account's webhooks that subscribe to the type of the test events.
func (v fireOptions) audience(q sqlstore.Querier, account string) (audience, error) {
	found := audience{}
	err := sqlstore.Each(q, func(row sqlstore.Scanner) error {
		var mode string
		var n struct{ all, paused int64 }
		err := row.Scan(&mode, &n.all, &n.paused)
		found[schema.WorldOf(mode)] = n
		return err
	}, selectAudience, account, v.typ)
	if err != nil {
		return nil, fmt.Errorf("counting webhooks: %w", err)
	}
	return found, nil
}

// world returns the world that --mode selects. Without --mode, it returns the live world. But if only webhooks of the
// sandbox subscribe to the type of event, it returns the sandbox.
func (v fireOptions) world(found audience) (schema.World, error) {
	if v.mode != "" {
		return tool.ParseWorld(v.mode)
	}
	if found[schema.Live].all == 0 && found[schema.Sandbox].all > 0 {
		return schema.Sandbox, nil
	}
	return schema.Live, nil
}

// String returns the numbers, such as "2 live (1 paused), 0 sandbox".
func (a audience) String() string {
	var parts []string
	for _, world := range schema.Worlds {
		n := a[world]
		part := fmt.Sprintf("%d %s", n.all, world)
		if n.paused > 0 {
			part += fmt.Sprintf(" (%d paused)", n.paused)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
