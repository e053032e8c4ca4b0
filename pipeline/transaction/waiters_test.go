package transaction

import "testing"

// All waiters of an id get its newest result, and none of another id.
func TestWaitersGetTheNewestResult(t *testing.T) {
	t.Parallel()
	w := NewWaiters[int]()
	a, removeA := w.Add("x")
	b, removeB := w.Add("x")
	c, removeC := w.Add("y")
	if got := w.Counts(); got["x"] != 2 || got["y"] != 1 || len(got) != 2 {
		t.Errorf("got %v", got)
	}
	for i := range 3 {
		w.Notify("x", i)
	}
	w.Notify("z", 9)
	for _, one := range []<-chan int{a, b} {
		if got := <-one; got != 2 {
			t.Errorf("got %d", got)
		}
	}
	select {
	case got := <-c:
		t.Errorf("of another it hears %d", got)
	default:
	}
	removeA()
	w.Notify("x", 7)
	if got := <-b; got != 7 || len(a) != 0 {
		t.Errorf("got %d, and %d for who has gone", got, len(a))
	}
	removeB()
	removeB()
	removeC()
	if got := w.Counts(); len(got) != 0 {
		t.Errorf("for ever wait %v", got)
	}
	w.Close()
	w.Close()
	<-w.Closed()
}
