package queue

import (
	"math"
	"time"
)

// class says how an endpoint has answered last.
type class int

const (
	quick   class = iota // within quickly
	untried              // nobody has asked it
	slow                 // later than that, or not at all
	classes = iota
)

// quickly is half of what a lane's window looks ahead: who answers so does not
// hold an attempt long enough for others to notice.
const quickly = horizon / 2

func classOf(took time.Duration, timedOut bool) class {
	if timedOut || took >= quickly {
		return slow
	}
	return quick
}

// group is the lanes of one class.
type group[T any] struct {
	ring   ring[T]     // those that could send now, in turn
	due    schedule[T] // those that the store has something for
	flying int
	// held is what is in memory or on its way there, and not under way.
	held int
}

// share is how many attempts of a class may be under way. Half of all is for the
// slow, three quarters for them and the untried together: so the untried find
// room beside any number of slow ones, and the quick beside both.
func (q *Queue[T]) share(c class) int {
	switch c {
	case slow:
		return max(1, q.limits.All/2)
	case untried:
		return max(1, q.limits.All-q.limits.All/4-q.groups[slow].flying)
	}
	return q.limits.All
}

// mayFly says that another attempt of a class may begin.
func (q *Queue[T]) mayFly(c class) bool {
	g := &q.groups[c]
	if c == slow && g.flying+q.groups[untried].flying >= max(1, q.limits.All-q.limits.All/4) {
		return false
	}
	return g.flying < q.share(c)
}

// budget is how many more items of a class should be in memory. Of those that are
// not quick it is as many as can be under way: what waits longer for its turn
// would lose its lease, and giving it back costs more than to ask later.
func (q *Queue[T]) budget(c class) int {
	if c == quick {
		return math.MaxInt
	}
	g := &q.groups[c]
	return q.share(c) - g.flying - g.held
}

// come notes that n more items of a lane are on their way.
func (q *Queue[T]) come(l *lane[T], n int) {
	l.coming += n
	q.groups[l.class].held += n
}

// hold notes that n more items of a lane are in memory.
func (q *Queue[T]) hold(l *lane[T], n int) {
	q.waiting += n
	q.groups[l.class].held += n
}

// fly notes that n more attempts of a lane are under way.
func (q *Queue[T]) fly(l *lane[T], n int) {
	l.flying += n
	q.flying += n
	q.groups[l.class].flying += n
}

// move puts a lane, with all that it has, into another class.
func (q *Queue[T]) move(l *lane[T], to class) {
	if l.class == to {
		return
	}
	held := l.items.len() + l.coming
	from := &q.groups[l.class]
	from.flying -= l.flying
	from.held -= held
	from.due.place(l, false)
	l.turn.leave()
	l.class = to
	q.groups[to].flying += l.flying
	q.groups[to].held += held
}

// enlist lets a lane have turns, when it could send.
func (q *Queue[T]) enlist(l *lane[T]) {
	if !l.items.empty() && l.flying < l.width {
		l.turn.join(&q.groups[l.class].ring, l)
	}
}

// take takes the lane whose turn it is out of its ring; nil when none may send.
// Classes take turns too, so that none waits for another to have nothing.
func (q *Queue[T]) take(now time.Time) *lane[T] {
	for range classes {
		q.turns++
		c := class(q.turns % classes)
		if q.mayFly(c) && (c == quick || q.pace.allows(now)) {
			if l := q.groups[c].ring.pop(); l != nil {
				return l
			}
		}
	}
	return nil
}
