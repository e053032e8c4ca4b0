package scheduler

// class describes how the last attempt at an endpoint ended. The method pickLane mostly tries the
// classes in this order.
type class int

const (
	quick   class = iota // acknowledged within quickLimit
	untried              // no attempt has ended
	slow                 // ended after quickLimit or by the timeout; or see MarkSlow
	failing              // failed within quickLimit
	classes = iota
)

// group has the lanes (queues of endpoints) of one class, and counts the items of these lanes.
type group[T any] struct {
	ring     ring[T]            // lanes that could send, in round-robin order
	due      timeHeap[*lane[T]] // lanes to claim for
	inFlight int
	// buffered counts the items that wait in memory, and the reserved items.
	buffered int
}
