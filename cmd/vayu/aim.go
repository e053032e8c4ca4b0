package main

import (
	"fmt"
	"slices"
	"strings"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// aim is where events go.
type aim struct {
	world schema.World
	typ   string
	audience
}

// audience is how many webhooks of an account ask for a type, by the world.
type audience map[schema.World]asking

// asking counts webhooks; paused ones among them get what waits when they go on.
type asking struct{ all, paused int64 }

// aim finds out where the events of a volley go.
func (v volley) aim(q sqlstore.Querier, account string) (aim, error) {
	asked, err := v.asked(q, account)
	if err != nil {
		return aim{}, fmt.Errorf("looking for webhooks: %w", err)
	}
	world, err := v.world(asked)
	return aim{world, v.typ, asked}, err
}

// world is the one that the flags name; when they name none, the one in which the
// type is asked for, and live if that does not decide.
func (v volley) world(asked audience) (schema.World, error) {
	switch v.mode {
	case "live":
		return schema.Live, nil
	case "sandbox", "test":
		return schema.Sandbox, nil
	case "":
	default:
		return 0, fmt.Errorf("--mode: %q is neither live nor sandbox (or test, which is the same)", v.mode)
	}
	if asked[schema.Live].all == 0 && asked[schema.Sandbox].all > 0 {
		return schema.Sandbox, nil
	}
	return schema.Live, nil
}

// likes are webhooks that are the same but for where they lead.
type likes struct {
	mode, events string
	active       int64
	count        int64
}

// asked reads who asks for the type of a volley.
func (v volley) asked(q sqlstore.Querier, account string) (audience, error) {
	rows, err := sqlstore.All(q, func(row sqlstore.Scanner) (r likes, err error) {
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
		n.all += r.count
		if r.active == 0 {
			n.paused += r.count
		}
		found[world] = n
	}
	return found, nil
}

// String says where the events go and who asked for them; and when webhooks of
// the other world ask for the type too, how they are reached.
func (a aim) String() string {
	text := fmt.Sprintf("%s, %s; %s", a.world, a.typ, a.audience[a.world])
	other := schema.Live
	if a.world == schema.Live {
		other = schema.Sandbox
	}
	if there := a.audience[other]; there.all > 0 {
		text += fmt.Sprintf("; with --mode %s %d would get them", other, there.all)
	}
	return text
}

// String is a sentence without its end.
func (n asking) String() string {
	switch {
	case n.all == 0:
		return "no webhook asked for them"
	case n.all == 1 && n.paused == 1:
		return "1 webhook asked for them, and is paused"
	case n.all == 1:
		return "1 webhook asked for them"
	case n.paused > 0:
		return fmt.Sprintf("%d webhooks asked for them, and %d of these are paused", n.all, n.paused)
	}
	return fmt.Sprintf("%d webhooks asked for them", n.all)
}
