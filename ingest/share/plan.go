package share

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"vayu/internal/sqlstore"
)

// view is the state of all instances and jobs, as one instance reads it from the leases.
type view struct {
	jobs    []string        // jobs that this instance can run
	mine    map[string]bool // jobs whose lease this instance has and keeps
	taken   map[string]bool // jobs whose lease some instance has
	members []string        // live instances, sorted
	self    string
}

const (
	// If no instance has claimed a job for the time patience, an instance claims it in addition to its share. The other
	// instances may not have the job's source in their configuration.
	patience = 10 * time.Second
	// keep is how long an instance keeps such an additional job.
	keep = 10 * time.Minute
)

// planner decides which jobs an instance wants. It records since when jobs have had no lease.
type planner struct {
	freeSince map[string]time.Time
	keepUntil map[string]time.Time
}

// plan returns the jobs that the instance v.self wants: those that it keeps, and those whose lease it tries to claim.
func (p *planner) plan(v *view, now time.Time) map[string]bool {
	wanted := make(map[string]bool)
	for _, name := range v.jobs {
		if v.mine[name] {
			wanted[name] = true
		}
	}
	share := v.share()
	for _, name := range v.preferred(wanted) { // the least preferred first
		if len(wanted) <= share {
			break
		}
		if !now.Before(p.keepUntil[name]) {
			delete(wanted, name)
		}
	}
	var free []string
	for _, name := range v.jobs {
		if v.taken[name] || v.mine[name] {
			delete(p.freeSince, name)
			continue
		}
		free = append(free, name)
		if _, known := p.freeSince[name]; !known {
			p.freeSince[name] = now
		}
	}
	slices.SortFunc(free, v.compare)
	for _, name := range free {
		if len(wanted) < share {
			wanted[name] = true
		} else if now.Sub(p.freeSince[name]) >= patience {
			wanted[name] = true
			p.keepUntil[name] = now.Add(keep)
		}
	}
	return wanted
}

// share returns the number of jobs that the instance should run: an equal part of all jobs. If the number of jobs is
// not divisible, the first members run one job more.
func (v *view) share() int {
	all := make(map[string]bool)
	for _, name := range v.jobs {
		all[name] = true
	}
	for name := range v.taken {
		all[name] = true
	}
	if len(v.members) == 0 {
		return len(all)
	}
	rank, found := slices.BinarySearch(v.members, v.self)
	n := len(all) / len(v.members)
	if found && rank < len(all)%len(v.members) {
		n++
	}
	return n
}

// preferred returns the jobs in the order of preference, the least preferred first.
func (v *view) preferred(jobs map[string]bool) []string {
	all := make([]string, 0, len(jobs))
	for name := range jobs {
		all = append(all, name)
	}
	slices.SortFunc(all, func(a, b string) int { return v.compare(b, a) })
	return all
}

// compare orders jobs by the preference of this instance. The order depends on the instance, so that two instances
// rarely claim the same job.
func (v *view) compare(a, b string) int {
	return cmp.Or(cmp.Compare(v.weight(a), v.weight(b)), cmp.Compare(a, b))
}

func (v *view) weight(job string) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %s", v.self, job)
	return h.Sum64()
}

// serverNow is an SQL expression for the time of the database server, in Unix microseconds.
const serverNow = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"

// look reads the leases of all instances into v. If members died more than keepMembers ago, it deletes their leases.
func (s *sharer) look(ctx context.Context, v *view) error {
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
	}, "SELECT name, until - "+serverNow+" FROM leader WHERE name LIKE $1 || '%'", prefix)
	slices.Sort(v.members)
	if err != nil {
		return fmt.Errorf("reading the leases of group %q: %w", s.Group, err)
	}
	if !old {
		return nil
	}
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("DELETE FROM leader WHERE name LIKE $1 || '%' AND until < "+serverNow+" - CAST($2 AS BIGINT)",
			memberName(s.Group, "", ""), keepMembers.Microseconds())
		return err
	})
}

// Members returns the number of running instances of a group, on PostgreSQL. local has the meaning of [Config.Local].
func Members(ctx context.Context, db *sqlstore.DB, group, local string) (n int, err error) {
	err = db.View(ctx).QueryRow("SELECT count(*) FROM leader WHERE name LIKE $1 || '%' AND until > "+serverNow, memberName(group, local, "")).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("reading the members of group %q: %w", group, err)
	}
	return n, nil
}
