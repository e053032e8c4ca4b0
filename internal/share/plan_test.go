package share

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// cluster simulates instances that look and plan once a second.
type cluster struct {
	now     time.Time
	jobs    map[string][]string // of each instance
	holder  map[string]string   // instance of each job
	planner map[string]*planner
	moves   int // how often a job got another holder
}

func newCluster() *cluster {
	return &cluster{
		now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), jobs: make(map[string][]string), holder: make(map[string]string), planner: make(map[string]*planner),
	}
}

func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("live/source-%d", i))
	}
	return all
}

func (c *cluster) join(instance string, jobs []string) {
	c.jobs[instance] = jobs
	c.planner[instance] = &planner{freeSince: make(map[string]time.Time), keepUntil: make(map[string]time.Time)}
}

// leave ends an instance, whose leases expire.
func (c *cluster) leave(instance string) {
	delete(c.jobs, instance)
	maps.DeleteFunc(c.holder, func(_, holder string) bool { return holder == instance })
}

// run lets all instances plan for some seconds, in random order.
func (c *cluster) run(seconds int) {
	for range seconds {
		c.now = c.now.Add(time.Second)
		members := slices.Sorted(maps.Keys(c.jobs))
		rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		for _, self := range members {
			v := &view{jobs: c.jobs[self], mine: make(map[string]bool), taken: make(map[string]bool), members: slices.Sorted(maps.Keys(c.jobs)), self: self}
			for job, holder := range c.holder {
				v.taken[job] = true
				if holder == self {
					v.mine[job] = true
				}
			}
			wanted := c.planner[self].plan(v, c.now)
			for job := range v.mine {
				if !wanted[job] {
					delete(c.holder, job)
				}
			}
			for job := range wanted {
				if c.holder[job] == "" {
					c.holder[job] = self
					c.moves++
				}
			}
		}
	}
}

// shares returns how many jobs each instance has.
func (c *cluster) shares() map[string]int {
	n := make(map[string]int)
	for _, instance := range slices.Sorted(maps.Keys(c.jobs)) {
		n[instance] = 0
	}
	for _, holder := range c.holder {
		n[holder]++
	}
	return n
}

func (c *cluster) want(t *testing.T, what string, least, most, jobs int) {
	t.Helper()
	if len(c.holder) != jobs {
		t.Errorf("%s: %d jobs run, want %d", what, len(c.holder), jobs)
	}
	for instance, n := range c.shares() {
		if n < least || n > most {
			t.Errorf("%s: instance %s has %d jobs, want %d to %d", what, instance, n, least, most)
		}
	}
}

func TestSharesAreEven(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1, 2, 4, 7, 12, 100} {
		t.Run(fmt.Sprint(jobs), func(t *testing.T) {
			t.Parallel()
			c := newCluster()
			c.join("a", names(jobs))
			c.run(3)
			c.want(t, "one instance", jobs, jobs, jobs)
			c.join("b", names(jobs))
			c.join("c", names(jobs))
			c.run(5)
			c.want(t, "three instances", jobs/3, (jobs+2)/3, jobs)
			c.moves = 0
			c.run(3600)
			if c.moves > 0 {
				t.Errorf("%d jobs moved although no instance came or went", c.moves)
			}
			c.leave("b")
			c.run(5)
			c.want(t, "after a death", jobs/2, (jobs+1)/2, jobs)
		})
	}
}

// A job that only one instance has in its configuration runs there, beyond its share, and does not move to and fro.
func TestInstancesWithOtherSources(t *testing.T) {
	t.Parallel()
	c := newCluster()
	c.join("a", names(8))
	c.join("b", nil)
	c.join("c", names(2))
	c.run(30)
	if len(c.holder) != 8 || c.shares()["b"] != 0 {
		t.Errorf("%d of 8 jobs run, shares %v", len(c.holder), c.shares())
	}
	c.moves = 0
	c.run(3600)
	if c.moves > 6*8 { // a look every ten minutes whether another instance wants them
		t.Errorf("%d moves within an hour", c.moves)
	}
}
