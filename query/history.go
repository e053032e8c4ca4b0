package query

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"vayu/query/places"
	"vayu/schema"
)

// day is a city on an Indian day.
type day struct {
	day schema.Day
	figures
}

// history keeps whole cities' days in memory: the first question for a city
// loads all of them with one query, later ones are a binary search. A history of its
// own keeps the hours of places that were asked for, by day.
type history struct {
	tables   tables
	cities   *lru.Cache[place, *past]
	group    singleflight.Group
	size     atomic.Int64 // bytes of days held
	limit    int64
	patience time.Duration // for newer days than those in memory
	touches  atomic.Uint64 // roll-ups noticed
	loads    counter
	failures counter
}

type counter interface{ Inc() }

// maxCities bounds the cache by count as well: India has 8,000 towns.
const maxCities = 10_000

func newHistory(t tables, limit int64) (*history, error) {
	h := &history{tables: t, limit: limit, patience: cachedPatience}
	var err error
	h.cities, err = lru.NewWithEvict(maxCities, func(_ place, p *past) { h.leave(p) })
	return h, err
}

// past is one city's days, or one place's hours.
type past struct {
	days atomic.Pointer[[]day] // sorted; never changed, only replaced
	mu   sync.Mutex
	// bytes is what the cache counts for it; gone when it has left the cache,
	// after which nothing is counted.
	bytes int64
	gone  bool
	// dirty is the first day that has to be read again; clean for none.
	dirty schema.Day
	// marks counts changes of dirty, so that a reload does not clear a mark
	// that was set while it ran.
	marks uint64
	lent  map[schema.Day]figures // days whose gaps have been filled
	// blocks are days as ready text; only ranges make them.
	blocks map[schema.Day]*block
	// hours are those of days, out of the stations that an index had; nil is of none.
	hours map[schema.Day]dayHours
	index *places.Index
}

func newPast() *past {
	return &past{dirty: clean, lent: map[schema.Day]figures{}, blocks: map[schema.Day]*block{}, hours: map[schema.Day]dayHours{}}
}

const clean = schema.Day(math.MaxInt32)

// touch marks everything from a day on as changed.
func (h *history) touch(from schema.Day) {
	h.touches.Add(1)
	for _, p := range h.cities.Values() {
		p.mark(from)
	}
}

func (p *past) mark(from schema.Day) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirty = min(p.dirty, from)
	p.marks++
}

func (p *past) state() (dirty schema.Day, marks uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dirty, p.marks
}

// of returns a city's days, sorted. Days that a roll-up has touched are read
// again first; when the engine is away or slow the days as they were are given, and
// the reading goes on.
func (h *history) of(ctx context.Context, c places.City) (*past, []day, error) {
	p, ok := h.cities.Get(place{city: c})
	if ok {
		if dirty, _ := p.state(); dirty == clean {
			return p, *p.days.Load(), nil
		}
	}
	// The work is shared by all who wait for it, so it outlives the one who
	// happened to ask first.
	done := h.group.DoChan(c.Name+"\x00"+c.State, func() (any, error) {
		p, err := h.load(context.WithoutCancel(ctx), c)
		if err != nil {
			h.failures.Inc()
		}
		return p, err
	})
	wait := ctx
	if ok {
		var cancel context.CancelFunc
		patience := h.patience
		if !h.tables.healthy() {
			patience = min(patience, awayPatience)
		}
		wait, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	select {
	case <-wait.Done():
		if ok {
			return p, *p.days.Load(), nil
		}
		return nil, nil, wait.Err()
	case result := <-done:
		if result.Err == nil {
			p = result.Val.(*past)
			return p, *p.days.Load(), nil
		}
		if ok {
			return p, *p.days.Load(), nil
		}
		return nil, nil, result.Err
	}
}

func (h *history) load(ctx context.Context, c places.City) (*past, error) {
	ctx, cancel := context.WithTimeout(ctx, queryPatience)
	defer cancel()
	h.loads.Inc()
	p, ok := h.cities.Peek(place{city: c})
	if !ok {
		touches := h.touches.Load()
		days, err := h.tables.days(ctx, c, 0)
		if err != nil {
			return nil, err
		}
		p = newPast()
		h.keep(p, days)
		h.cities.Add(place{city: c}, p)
		if h.touches.Load() != touches {
			p.mark(0)
		}
		h.shrink()
		return p, nil
	}
	dirty, marks := p.state()
	if dirty == clean {
		return p, nil
	}
	tail, err := h.tables.days(ctx, c, dirty)
	if err != nil {
		return nil, err
	}
	old := *p.days.Load()
	head, _ := find(old, dirty)
	h.keep(p, append(slices.Clone(old[:head]), tail...))
	p.mu.Lock()
	defer p.mu.Unlock()
	h.dropBlocks(p, dirty)
	for d := range p.lent {
		if d >= dirty {
			delete(p.lent, d)
		}
	}
	if p.marks == marks {
		p.dirty = clean
	}
	return p, nil
}

// keep replaces a city's days.
func (h *history) keep(p *past, days []day) {
	p.mu.Lock()
	defer p.mu.Unlock()
	grown := cap(days)
	if old := p.days.Swap(&days); old != nil {
		grown -= cap(*old)
	}
	h.count(p, int64(grown)*int64(unsafe.Sizeof(day{})))
}

// count adds to what the cache holds; p.mu is held.
func (h *history) count(p *past, grown int64) {
	if !p.gone {
		p.bytes += grown
		h.size.Add(grown)
	}
}

func (h *history) leave(p *past) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.count(p, -p.bytes)
	p.gone = true
}

func (h *history) shrink() {
	for h.size.Load() > h.limit && h.cities.Len() > 1 {
		h.cities.RemoveOldest()
	}
}

func find(days []day, d schema.Day) (int, bool) {
	return slices.BinarySearchFunc(days, d, func(e day, d schema.Day) int { return int(e.day) - int(d) })
}

// between returns the days from one to another, both included.
func between(days []day, from, to schema.Day) []day {
	i, _ := find(days, from)
	j, _ := find(days, to+1)
	return days[i:j]
}

// days reads a city's days from one on, sorted.
func (t tables) days(ctx context.Context, c places.City, from schema.Day) ([]day, error) {
	var out []day
	var d int32
	var row raw
	err := t.each(ctx, row.into(&d), func() { out = append(out, day{schema.Day(d), row.figures()}) },
		fmt.Sprintf(`SELECT toInt32(day), %s FROM %s.city_day FINAL
			WHERE city = {city:String} AND state = {state:String} AND day >= toDate({from:Int32})
			ORDER BY day`, cityFigures, t.database),
		param("city", c.Name), param("state", c.State), number("from", int32(from)))
	if err != nil {
		return nil, fmt.Errorf("reading days of %q: %w", c.Name, err)
	}
	return slices.Clip(out), nil
}

// filled returns the days with their gaps filled from stations around. The
// result is remembered; without the engine the gaps stay and whole is false. An
// engine that has just failed is not waited for.
func (h *history) filled(ctx context.Context, p *past, days []day, lenders func() []string) (out []day, whole bool) {
	gaps := false
	for i := range days {
		gaps = gaps || days[i].missing() != 0
	}
	if !gaps {
		return days, true
	}
	out = slices.Clone(days)
	var wanted []*figures
	p.mu.Lock()
	for i := range out {
		if out[i].missing() == 0 {
			continue
		}
		if f, ok := p.lent[out[i].day]; ok && f.at == out[i].at {
			out[i].figures = f
			continue
		}
		wanted = append(wanted, &out[i].figures)
	}
	marks := p.marks
	p.mu.Unlock()
	if len(wanted) == 0 {
		return out, true
	}
	ids := lenders()
	patience := fillPatience
	if !h.tables.healthy() {
		patience = min(h.patience, awayPatience)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := h.tables.lend(ctx, ids, wanted); err != nil {
		h.failures.Inc()
		return out, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.marks == marks {
		for i := range out {
			if days[i].missing() != 0 {
				p.lent[out[i].day] = out[i].figures
			}
		}
	}
	return out, true
}
