package scheduler

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// store is a store of items for the model: how many are due in each lane.
type store struct{ due map[string][]int }

// model runs a queue against random work and keeps books of its own.
type model struct {
	*testing.T

	random *rand.Rand
	q      *Queue[int]
	now    time.Time
	store  store
	state  map[int]string // of each item: stored, asked, held, flying, done
	flying map[string][]int
	at     map[string]string // the host of each lane
	began  map[int]string    // the host at which an item began
	next   int
}

// Whatever happens, every item is attempted once, limits hold, and nothing is
// left when all is done.
func TestQueueAgainstAModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := &model{
				T: t, random: rand.New(rand.NewPCG(seed, 1)), now: start,
				store: store{map[string][]int{}}, state: map[int]string{}, flying: map[string][]int{}, at: map[string]string{}, began: map[int]string{},
			}
			m.q = New[int](Limits{
				Lane: 1 + int(seed%8), Host: int(seed % 3 * 5), All: 1 + int(seed*7%40), Unproven: int(seed % 4 * 20), FailingStarts: int(seed % 2 * 50),
				Timeout: 5 * time.Second, Margin: 2 * time.Second, HostOf: func(id string) string { return m.at[id] },
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
	if m.random.IntN(20) == 0 { // a lane has another host; 0 is none
		m.at[m.lane()] = []string{"", "h1", "h2", "h3"}[m.random.IntN(4)]
	}
	switch m.random.IntN(8) {
	case 0, 1:
		m.insert()
	case 2:
		m.claim()
	case 3, 4:
		m.begin()
	default:
		m.end()
	}
	m.release()
	m.check()
}

// insert stores new items, of which some go to memory at once.
func (m *model) insert() {
	id := m.lane()
	n := 1 + m.random.IntN(5)
	items := numbers(m.next, m.next+n)
	m.next += n
	held := m.q.Reserve(id, n, m.now)
	switch {
	case held > 0 && m.random.IntN(4) == 0: // they could not be stored so
		m.q.Unreserve(id, held)
		held = 0
	case held > 0:
		m.q.Add(id, items[:held], m.now.Add(12*time.Second))
		m.mark(items[:held], "held")
	}
	if rest := items[held:]; len(rest) > 0 {
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
			m.q.Suspect(c.Lane)
		}
		due := m.store.due[c.Lane]
		n := min(c.Most, len(due))
		m.store.due[c.Lane] = due[n:]
		m.mark(due[:n], "held")
		var next time.Time
		if len(due) > n {
			next = m.now
		}
		m.q.Claimed(c, due[:n:n], m.now.Add(12*time.Second), next)
	}
}

func (m *model) begin() {
	for range 1 + m.random.IntN(10) {
		id, item, ok := m.q.Next(m.now)
		if !ok {
			return
		}
		if m.state[item] != "held" {
			m.Fatalf("item %d, which is %s, was begun", item, m.state[item])
		}
		m.state[item], m.began[item] = "flying", m.at[id]
		m.flying[id] = append(m.flying[id], item)
	}
}

func (m *model) end() {
	id := m.lane()
	under := m.flying[id]
	if len(under) == 0 {
		return
	}
	item := under[0]
	m.flying[id] = under[1:]
	if m.random.IntN(10) == 0 {
		m.q.Abandon(id)
		m.back(id, item)
		return
	}
	m.state[item] = "done"
	m.q.Done(id, Ended{
		At: m.now, Took: time.Duration(m.random.IntN(3000)) * time.Millisecond, OK: m.random.IntN(2) == 0, TimedOut: m.random.IntN(5) == 0,
	})
}

// release brings back what could not be sent in time.
func (m *model) release() {
	for _, item := range m.q.Expired() {
		m.back(fmt.Sprint("lane", m.random.IntN(12)), item) // any lane does for the model
	}
}

func (m *model) back(id string, item int) {
	m.store.due[id] = append(m.store.due[id], item)
	m.state[item] = "stored"
	m.q.Due(id, m.now)
}

func (m *model) check() {
	held, all := 0, 0
	for _, state := range m.state {
		if state == "held" {
			held++
		}
	}
	hosts := map[string]int{}
	for id, under := range m.flying {
		all += len(under)
		for _, item := range under {
			hosts[m.began[item]]++
		}
		if len(under) > m.q.limits.Lane {
			m.Fatalf("%d are under way in %s, more than %d", len(under), id, m.q.limits.Lane)
		}
	}
	for name, n := range hosts {
		if name != "" && m.q.limits.Host > 0 && n > m.q.limits.Host {
			m.Fatalf("%d are in flight at %s, more than %d", n, name, m.q.limits.Host)
		}
	}
	if _, waiting, flying := m.q.Size(); waiting != held || flying != all || flying > m.q.limits.All {
		m.Fatalf("the queue says %d wait and %d are under way, want %d and %d", waiting, flying, held, all)
	}
}

// finish lets everything be sent.
func (m *model) finish() {
	for range 20 * m.next {
		m.now = m.now.Add(100 * time.Millisecond)
		m.claim()
		m.begin()
		m.release()
		for id, under := range m.flying {
			for _, item := range under {
				m.state[item] = "done"
				m.q.Done(id, Ended{At: m.now, Took: time.Millisecond, OK: true})
			}
			m.flying[id] = nil
		}
	}
	for item, state := range m.state {
		if state != "done" {
			m.Fatalf("item %d is %s at the end, want done", item, state)
		}
	}
	for id, l := range m.q.lanes {
		if l.coming != 0 || l.flying != 0 || !l.items.empty() {
			m.Errorf("%s has %d coming, %d under way and %d items at the end", id, l.coming, l.flying, l.items.len())
		}
	}
	for name, h := range m.q.hosts {
		if h.flying() != 0 || h.held != 0 {
			m.Errorf("of %s, %d are counted as in flight and %d as held at the end", name, h.flying(), h.held)
		}
	}
	for c, g := range m.q.groups {
		if g.flying != 0 || g.held != 0 {
			m.Errorf("of class %d, %d are counted as under way and %d as held at the end", c, g.flying, g.held)
		}
	}
}
