package scheduler

import (
	"time"
)

// Claim is a request to claim at most Limit items of a lane from the store.
type Claim struct {
	Lane  string
	Limit int
}

// Claims returns the claims that the caller should make now. After each claim the caller calls Claimed.
func (q *Queue[T]) Claims(now time.Time) (claims []Claim) {
	q.refill(now)
	rows := 0
	for c := range class(classes) {
		for len(claims) < maxClaimLanes && rows < maxClaimRows {
			l, budget := q.groups[c].due.first(), q.budget(c)
			if l == nil || l.next.After(now) || budget <= 0 {
				break
			}
			host := q.hostBudget(l.host)
			if host <= 0 {
				q.awaitRoom(l)
				continue
			}
			n := min(q.room(l), maxLaneRows, maxClaimRows-rows, budget, host)
			q.addReserved(l, n)
			l.next, l.claimedAt = time.Time{}, now
			q.schedule(l)
			claims = append(claims, Claim{l.id, n})
			rows += n
		}
	}
	return claims
}

// Claimed adds the items of a claim to its lane. The items are leased until the time `until`. `next` is the due time of
// the lane's next item in the store; zero if there is none. After a failed claim, `next` is the time of the retry.
func (q *Queue[T]) Claimed(c Claim, items []T, until, next time.Time) {
	l := q.lane(c.Lane)
	q.addReserved(l, len(items)-c.Limit)
	q.Add(c.Lane, items, until)
	if !next.IsZero() {
		q.Due(c.Lane, next)
	}
	q.wake(l.host)
}

// NextClaim returns when to call Claims next. It returns zero if no claim is possible before another method changes the
// queue.
func (q *Queue[T]) NextClaim() (at time.Time) {
	for c := range class(classes) {
		if l := q.groups[c].due.first(); l != nil && q.budget(c) > 0 && (at.IsZero() || l.next.Before(at)) {
			at = l.next
		}
	}
	return q.orNextToken(at)
}

// awaitRoom moves a lane from the due heap to the lanes that wait until their host has room for more items.
func (q *Queue[T]) awaitRoom(l *lane[T]) {
	q.groups[l.class].due.update(l, false)
	l.roomEntry.join(&l.host.roomWaiters, l)
	if !q.proven(l.host) {
		q.awaitToken(l.host)
	}
}

// orNextToken returns the earlier of the time `at` and the time at which the next host is checked for a token.
func (q *Queue[T]) orNextToken(at time.Time) time.Time {
	if h := q.tokenWaiters.first(); h != nil {
		return earlier(at, h.tokenAt)
	}
	return at
}

// earlier returns the earlier of two times. The zero time counts as no time.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
