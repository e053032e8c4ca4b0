package scheduler

import (
	"time"
)

// Claim is a request to claim at most Limit items of a lane from the store.
type Claim struct {
	Lane  string
	Limit int
}

// Claims returns the claims to make now. The caller calls Claimed for each of them.
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

// Claimed adds the items that a claim has leased until the time `until`. `next` is the due time of the lane's next item
// in the store; zero if there is none. After a failed claim, it is the time of the retry.
func (q *Queue[T]) Claimed(c Claim, items []T, until, next time.Time) {
	l := q.lane(c.Lane)
	q.addReserved(l, len(items)-c.Limit)
	q.Add(c.Lane, items, until)
	if !next.IsZero() {
		q.Due(c.Lane, next)
	}
	q.wake(l.host)
}

// NextClaim returns when to call Claims next; zero if only a change of the queue can cause a claim.
func (q *Queue[T]) NextClaim() (at time.Time) {
	for c := range class(classes) {
		if l := q.groups[c].due.first(); l != nil && q.budget(c) > 0 && (at.IsZero() || l.next.Before(at)) {
			at = l.next
		}
	}
	return q.orNextToken(at)
}

// awaitRoom removes a lane from the due heap until the host of the lane has room for more items.
func (q *Queue[T]) awaitRoom(l *lane[T]) {
	q.groups[l.class].due.update(l, false)
	l.roomEntry.join(&l.host.roomWaiters, l)
	if !q.proven(l.host) {
		q.awaitToken(l.host)
	}
}

// orNextToken returns the earlier of two times: the given time, and the time at which the next unproven host is checked
// for a token.
func (q *Queue[T]) orNextToken(at time.Time) time.Time {
	if h := q.tokenWaiters.first(); h != nil {
		return earlier(at, h.tokenAt)
	}
	return at
}

// earlier returns the earlier of two times; zero means none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
