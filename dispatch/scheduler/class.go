package scheduler

import (
	"math"
	"time"
)

// class says how an endpoint has answered last. Classes are in the order in which
// their attempts start.
type class int

const (
	quick   class = iota // acknowledged within quickly
	untried              // no attempt has ended
	slow                 // answered later than that, or not at all
	failing              // refused, within quickly
	classes = iota
)

// quickly is half of what a lane's window looks ahead: an endpoint that answers so
// does not hold an attempt long enough for others to notice.
const quickly = horizon / 2

func classOf(e Ended) class {
	switch {
	case e.TimedOut || e.Took >= quickly:
		return slow
	case !e.OK:
		return failing
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

// lastFirst is how often the classes start in reverse order, so that lanes that
// acknowledge quickly and never run dry do not stop all others.
const lastFirst = 8

// share is how many attempts of a class may be under way. Half of all slots are for
// the slow, an eighth for the failing, three quarters for these and the untried
// together: so the untried find room beside any number of slow ones, and the quick
// beside all.
func (q *Queue[T]) share(c class) int {
	switch c {
	case slow:
		return max(1, q.limits.All/2)
	case failing:
		return max(1, q.limits.All/8)
	case untried:
		return max(1, q.limits.All-q.limits.All/4-q.groups[slow].flying-q.groups[failing].flying)
	}
	return q.limits.All
}

// mayFly says that another attempt of a class may begin.
func (q *Queue[T]) mayFly(c class) bool {
	others := q.groups[slow].flying + q.groups[failing].flying + q.groups[untried].flying
	if (c == slow || c == failing) && others >= max(1, q.limits.All-q.limits.All/4) {
		return false
	}
	return q.groups[c].flying < q.share(c)
}

// paceOf is the pace of starts of a class that is not quick.
func (q *Queue[T]) paceOf(c class) *pace {
	if c == failing {
		return &q.failing
	}
	return &q.pace
}

// spend notes that an attempt of a lane has started.
func (q *Queue[T]) spend(l *lane[T]) {
	if l.class != quick {
		q.paceOf(l.class).spend()
	}
	if l.host != nil && !q.proven(l.host) {
		l.host.tokens.spend()
	}
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
	l.host.hold(n)
}

// hold notes that n more items of a lane are in memory.
func (q *Queue[T]) hold(l *lane[T], n int) {
	q.waiting += n
	q.groups[l.class].held += n
	l.host.hold(n)
}

// fly notes that n more attempts of a lane are under way.
func (q *Queue[T]) fly(l *lane[T], n int) {
	l.flying += n
	q.flying += n
	q.groups[l.class].flying += n
	l.host.fly(l.class, n)
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
	l.host.fly(l.class, -l.flying)
	l.host.fly(to, l.flying)
	l.class = to
	q.groups[to].flying += l.flying
	q.groups[to].held += held
	q.unpark(l.host) // the lane may have been the one that others of its class waited behind
}

// enlist lets a lane have turns, when it could send.
func (q *Queue[T]) enlist(l *lane[T]) {
	if !l.items.empty() && l.flying < q.limits.Lane {
		l.turn.join(&q.groups[l.class].ring, l)
	}
}

// take takes the lane whose turn it is out of its ring; nil when none may send. The
// classes are asked in their order, and in one of lastFirst turns in reverse.
func (q *Queue[T]) take(now time.Time) *lane[T] {
	q.turns++
	for i := range class(classes) {
		c := i
		if q.turns%lastFirst == 0 {
			c = classes - 1 - i
		}
		if !q.mayFly(c) || c != quick && !q.paceOf(c).allows(now) {
			continue
		}
		for l := q.groups[c].ring.pop(); l != nil; l = q.groups[c].ring.pop() {
			if q.admits(l) {
				return l
			}
		}
	}
	return nil
}
