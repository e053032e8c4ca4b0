package share

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"time"
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
	// patience is how long a job must have had no lease before an instance claims it in addition to its share. The
	// other instances may be unable to run the job, because its source is not in their configuration.
	patience = 10 * time.Second
	// keep is how long an instance keeps a job that it has claimed in addition to its share.
	keep = 10 * time.Minute
)

// planner decides which jobs an instance should run. Its maps have the names of jobs as keys.
type planner struct {
	freeSince map[string]time.Time // when the instance first saw the job without a lease
	keepUntil map[string]time.Time // end of the time `keep`, for a job claimed in addition to the share
}

// plan returns the jobs that the instance v.self should run. The instance already has the leases of some of these
// jobs, and tries to claim the leases of the others.
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

// share returns the number of jobs that the instance should run: an equal part of all jobs. If the division leaves a
// remainder, the first members run one job more.
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

// preferred returns the jobs in the order of [view.compare], the least preferred first.
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
