package share

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vayu/internal/leader"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
)

// readLeases reads the valid leases of the group's members and jobs into v, unless this instance shares no jobs. It
// deletes the leases of members that expired more than keepMembers ago.
func (s *sharer) readLeases(ctx context.Context, v *view) error {
	v.self, v.taken = s.member, make(map[string]bool)
	if s.alone {
		return nil
	}
	prefix, old := s.Group+":", false
	err := sqlstore.Each(s.DB.View(ctx), func(row sqlstore.Scanner) error {
		var name string
		var left int64 // microseconds
		if err := row.Scan(&name, &left); err != nil {
			return err
		}
		member, ok := strings.CutPrefix(name, memberName(s.Group, "", ""))
		switch {
		case left <= 0:
			old = old || ok && left < -keepMembers.Microseconds()
		case ok:
			v.members = append(v.members, member)
		default:
			v.taken[strings.TrimPrefix(name, prefix)] = true
		}
		return nil
	}, "SELECT name, until - "+leader.ServerNow+" FROM leader WHERE name LIKE $1 || '%'", prefix)
	slices.Sort(v.members)
	if err != nil {
		return fmt.Errorf("reading the leases of group %q: %w", s.Group, err)
	}
	if !old {
		return nil
	}
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("DELETE FROM leader WHERE name LIKE $1 || '%' AND until < "+leader.ServerNow+" - CAST($2 AS BIGINT)",
			memberName(s.Group, "", ""), keepMembers.Microseconds())
		return err
	})
}

// placeEnd separates the place ([Config.Place]), with which a member's name begins, from the rest of the name.
const placeEnd = "."

// ErrPlace is the error of Run if another member has a different place. See [Config.Place].
var ErrPlace = errors.New("running instances use another store")

// checkPlace returns ErrPlace if another member has a different place. It retries until it has read the members. This
// instance is already a member itself. So of two instances that start together, at least one detects the other.
func (s *sharer) checkPlace(ctx context.Context) error {
	for s.Place != "" {
		var other string
		err := s.DB.View(ctx).QueryRow("SELECT COALESCE(max(name), '') FROM leader WHERE name LIKE $1 AND name NOT LIKE $2 AND until > "+leader.ServerNow,
			memberName(s.Group, "", "%"+placeEnd+"%"), memberName(s.Group, "", s.Place+placeEnd+"%")).Scan(&other)
		if err == nil && other != "" {
			return fmt.Errorf("%w (%s), and this instance uses %s", ErrPlace, strings.TrimPrefix(strings.Split(other, placeEnd)[0], memberName(s.Group, "", "")), s.Place)
		}
		s.store.Observe(ctx, err)
		if err == nil || !sleep.For(ctx, interval) {
			break
		}
	}
	return nil
}

// Members returns the number of running instances of a group in a store on PostgreSQL. `local` is as [Config.Local].
func Members(ctx context.Context, db *sqlstore.DB, group, local string) (n int, err error) {
	err = db.View(ctx).QueryRow("SELECT count(*) FROM leader WHERE name LIKE $1 || '%' AND until > "+leader.ServerNow, memberName(group, local, "")).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("reading the members of group %q: %w", group, err)
	}
	return n, nil
}

// memberName returns the name of a member's lease. The double colon distinguishes this name from that of a job's lease.
// For an instance with its own jobs (`local` is not ""), the name has another form, so that the instances that share
// jobs do not count this instance as a member.
func memberName(group, local, member string) string {
	if local != "" {
		return group + "@" + local + "::" + member
	}
	return group + "::" + member
}
