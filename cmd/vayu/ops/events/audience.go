package events

import (
	"fmt"
	"slices"
	"strings"

	"vayu/cmd/vayu/tool"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// eventTarget describes where fired events go: the world (live or sandbox), the type and the webhooks.
type eventTarget struct {
	world schema.World
	typ   string
	audience
}

// audience counts the webhooks of an account that subscribe to a type of events, by world (live or sandbox).
type audience map[schema.World]webhookCount

// webhookCount counts webhooks. The total includes paused webhooks. These get their events when resumed.
type webhookCount struct{ total, paused int64 }

// target determines the world of the events and counts the webhooks that get the events.
func (v fireOptions) target(q sqlstore.Querier, account string) (eventTarget, error) {
	found, err := v.countWebhooks(q, account)
	if err != nil {
		return eventTarget{}, fmt.Errorf("counting webhooks: %w", err)
	}
	world, err := v.world(found)
	return eventTarget{world, v.typ, found}, err
}

// world returns the world that --mode selects. Without --mode, it returns the sandbox if only webhooks of the
// sandbox subscribe to the type of the events, and otherwise the live world.
func (v fireOptions) world(found audience) (schema.World, error) {
	if v.mode != "" {
		return tool.ParseWorld(v.mode)
	}
	if found[schema.Live].total == 0 && found[schema.Sandbox].total > 0 {
		return schema.Sandbox, nil
	}
	return schema.Live, nil
}

// webhookGroup is the number of webhooks that have the same mode, events and active flag.
type webhookGroup struct {
	mode, events string
	active       int64
	count        int64
}

// countWebhooks counts the account's webhooks that subscribe to the type of the events.
func (v fireOptions) countWebhooks(q sqlstore.Querier, account string) (audience, error) {
	rows, err := sqlstore.All(q, func(row sqlstore.Scanner) (r webhookGroup, err error) {
		err = row.Scan(&r.mode, &r.events, &r.active, &r.count)
		return r, err
	}, "SELECT mode, events, active, count(*) FROM webhook WHERE account_id = $1 AND deleted_at IS NULL GROUP BY mode, events, active", account)
	if err != nil {
		return nil, err
	}
	found := audience{}
	for _, r := range rows {
		if !slices.Contains(strings.Fields(r.events), v.typ) {
			continue
		}
		world := schema.WorldOf(r.mode)
		n := found[world]
		n.total += r.count
		if r.active == 0 {
			n.paused += r.count
		}
		found[world] = n
	}
	return found, nil
}

// String describes the target. It also counts the other world's webhooks, and names the flag for that world.
func (a eventTarget) String() string {
	text := fmt.Sprintf("%s, %s; %s", a.world, a.typ, a.audience[a.world])
	other := schema.Live
	if a.world == schema.Live {
		other = schema.Sandbox
	}
	if count := a.audience[other]; count.total > 0 {
		text += fmt.Sprintf("; with --mode %s %d would get them", other, count.total)
	}
	return text
}

// String returns the count as a clause, such as "2 webhooks subscribe to them".
func (n webhookCount) String() string {
	switch {
	case n.total == 0:
		return "no webhook subscribes to them"
	case n.total == 1 && n.paused == 1:
		return "1 webhook subscribes to them, and is paused"
	case n.total == 1:
		return "1 webhook subscribes to them"
	case n.paused > 0:
		return fmt.Sprintf("%d webhooks subscribe to them, and %d of these are paused", n.total, n.paused)
	}
	return fmt.Sprintf("%d webhooks subscribe to them", n.total)
}
