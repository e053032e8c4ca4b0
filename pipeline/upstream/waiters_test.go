package upstream

import "testing"

// All waiters of an id get its newest result, and none of another id.
func TestWaitersGetTheNewestResult(t *testing.T) {
	t.Parallel()
	w := NewWaiters[int]()
	a, b, c := w.Await("x"), w.Await("x"), w.Await("y")
	if got := w.Counts(); got["x"] != 2 || got["y"] != 1 || len(got) != 2 {
		t.Errorf("got %v", got)
	}
	for i := range 3 {
		w.Tell("x", i)
	}
	w.Tell("z", 9)
	for _, one := range []*Waiter[int]{a, b} {
		if got := <-one.Said; got != 2 {
			t.Errorf("got %d", got)
		}
	}
	select {
	case got := <-c.Said:
		t.Errorf("of another it hears %d", got)
	default:
	}
	w.Forget("x", a)
	w.Tell("x", 7)
	if got := <-b.Said; got != 7 || len(a.Said) != 0 {
		t.Errorf("got %d, and %d for who has gone", got, len(a.Said))
	}
	w.Forget("x", b)
	w.Forget("x", b)
	w.Forget("y", c)
	if got := w.Counts(); len(got) != 0 {
		t.Errorf("for ever wait %v", got)
	}
	w.End()
	w.End()
	<-w.Ended()
}
