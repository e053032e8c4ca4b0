package scheduler

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// store is the model's store: the items due in each lane.
type store struct{ due map[string][]int }

// model runs random operations on a queue and compares its counts.
type model struct {
	*testing.T

	random    *rand.Rand
	q         *Queue[int]
	now       time.Time
	store     store
	state     map[int]string // of each item: stored, buffered, inFlight, done
	inFlight  map[string][]int
	hostOf    map[string]string // host of each lane
	startedAt map[int]string    // host at which an item started
	next      int
}

// Under random operations every item is attempted once, limits hold, and nothing is left
// at the end.
func TestQueueMatchesModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := &model{
				T: t, random: rand.New(rand.NewPCG(seed, 1)), now: start,
				store: store{map[string][]int{}}, state: map[int]string{}, inFlight: map[string][]int{}, hostOf: map[string]string{}, startedAt: map[int]string{},
			}
			m.q = New[int](Limits{
				Lane: 1 + int(seed%8), Host: int(seed % 3 * 5), All: 1 + int(seed*7%40), Unproven: int(seed % 4 * 20), FailingStarts: int(seed % 2 * 50),
				Timeout: 5 * time.Second, Margin: 2 * time.Second, HostOf: func(id string) string { return m.hostOf[id] },
			})
			for range 3000 {
				m.step()
			}
			m.finish()
		})
	}
}

func (m *model) lane() string { return fmt.Sprint("lane", m.random.IntN(12)) }

func (m *model) step() {
	m.now = m.now.Add(time.Duration(m.random.IntN(200)) * time.Millisecond)
	if m.random.IntN(20) == 0 { // moves a lane to another host or to none
		m.hostOf[m.lane()] = []string{"", "h1", "h2", "h3"}[m.random.IntN(4)]
	}
	switch m.random.IntN(8) {
	case 0, 1:
		m.insert()
	case 2:
		m.claim()
	case 3, 4:
		m.start()
	default:
		m.end()
	}
	m.release()
	m.check()
}

// insert stores new items and adds the reserved ones to the queue.
func (m *model) insert() {
	id := m.lane()
	n := 1 + m.random.IntN(5)
	items := numbers(m.next, m.next+n)
	m.next += n
	buffered := m.q.Reserve(id, n, m.now)
	switch {
	case buffered > 0 && m.random.IntN(4) == 0: // storing failed
		m.q.Unreserve(id, buffered)
		buffered = 0
	case buffered > 0:
		m.q.Add(id, items[:buffered], m.now.Add(12*time.Second))
		m.mark(items[:buffered], "buffered")
	}
	if rest := items[buffered:]; len(rest) > 0 {
		m.store.due[id] = append(m.store.due[id], rest...)
		m.mark(rest, "stored")
		m.q.Due(id, m.now)
	}
}

func (m *model) mark(items []int, state string) {
	for _, i := range items {
		m.state[i] = state
	}
}

func (m *model) claim() {
	for _, c := range m.q.Claims(m.now) {
		if m.random.IntN(5) == 0 {
			m.q.MarkSlow(c.Lane)
		}
		due := m.store.due[c.Lane]
		n := min(c.Limit, len(due))
		m.store.due[c.Lane] = due[n:]
		m.mark(due[:n], "buffered")
		var next time.Time
		if len(due) > n {
			next = m.now
		}
		m.q.Claimed(c, due[:n:n], m.now.Add(12*time.Second), next)
	}
}

func (m *model) start() {
	for range 1 + m.random.IntN(10) {
		id, item, ok := m.q.Next(m.now)
		if !ok {
			return
		}
		if m.state[item] != "buffered" {
			m.Fatalf("item %d is %s when it starts, want buffered", item, m.state[item])
		}
		m.state[item], m.startedAt[item] = "inFlight", m.hostOf[id]
		m.inFlight[id] = append(m.inFlight[id], item)
	}
}

func (m *model) end() {
	id := m.lane()
	under := m.inFlight[id]
	if len(under) == 0 {
		return
	}
	item := under[0]
	m.inFlight[id] = under[1:]
	if m.random.IntN(10) == 0 {
		m.q.Abandon(id)
		m.restore(id, item)
		return
	}
	m.state[item] = "done"
	m.q.Done(id, Result{
		At: m.now, Took: time.Duration(m.random.IntN(3000)) * time.Millisecond, OK: m.random.IntN(2) == 0, TimedOut: m.random.IntN(5) == 0,
	})
}

// release returns expired items to the store.
func (m *model) release() {
	for _, item := range m.q.Expired() {
		m.restore(fmt.Sprint("lane", m.random.IntN(12)), item) // the model accepts any lane
	}
}

func (m *model) restore(id string, item int) {
	m.store.due[id] = append(m.store.due[id], item)
	m.state[item] = "stored"
	m.q.Due(id, m.now)
}

func (m *model) check() {
	buffered, all := 0, 0
	for _, state := range m.state {
		if state == "buffered" {
			buffered++
		}
	}
	hosts := map[string]int{}
	for id, under := range m.inFlight {
		all += len(under)
		for _, item := range under {
			hosts[m.startedAt[item]]++
		}
		if len(under) > m.q.limits.Lane {
			m.Fatalf("%d attempts are in flight in %s, want at most %d", len(under), id, m.q.limits.Lane)
		}
	}
	for name, n := range hosts {
		if name != "" && m.q.limits.Host > 0 && n > m.q.limits.Host {
			m.Fatalf("%d attempts are in flight at %s, want at most %d", n, name, m.q.limits.Host)
		}
	}
	if _, inMemory, inFlight := m.q.Size(); inMemory != buffered || inFlight != all || inFlight > m.q.limits.All {
		m.Fatalf("Size returns %d buffered and %d in flight, want %d and %d", inMemory, inFlight, buffered, all)
	}
}

// finish sends everything.
func (m *model) finish() {
	for range 20 * m.next {
		m.now = m.now.Add(100 * time.Millisecond)
		m.claim()
		m.start()
		m.release()
		for id, under := range m.inFlight {
			for _, item := range under {
				m.state[item] = "done"
				m.q.Done(id, Result{At: m.now, Took: time.Millisecond, OK: true})
			}
			m.inFlight[id] = nil
		}
	}
	for item, state := range m.state {
		if state != "done" {
			m.Fatalf("item %d is %s at the end, want done", item, state)
		}
	}
	for id, l := range m.q.lanes {
		if l.reserved != 0 || l.inFlight != 0 || !l.items.empty() {
			m.Errorf("%s has %d reserved, %d in flight and %d items at the end, want none", id, l.reserved, l.inFlight, l.items.len())
		}
	}
	for name, h := range m.q.hosts {
		if h.totalInFlight() != 0 || h.buffered != 0 {
			m.Errorf("%s has %d in flight and %d buffered at the end, want none", name, h.totalInFlight(), h.buffered)
		}
	}
	for c, g := range m.q.groups {
		if g.inFlight != 0 || g.buffered != 0 {
			m.Errorf("class %d has %d in flight and %d buffered at the end, want none", c, g.inFlight, g.buffered)
		}
	}
}
