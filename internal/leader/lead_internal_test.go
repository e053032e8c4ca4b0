package leader

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bench is a store with one seat, in memory; its clock is that of the bubble.
type bench struct {
	mu     sync.Mutex
	holder string
	until  time.Time
}

// place is the way of one candidate to the bench. It can be cut, and it can hang.
type place struct {
	*bench
	name string
	cut  bool
	hang chan struct{} // nil: does not
}

var errCut = errors.New("cut")

func (p *place) reach() error {
	p.mu.Lock()
	cut, hang := p.cut, p.hang
	p.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if cut {
		return errCut
	}
	return nil
}

func (p *place) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *place) free(context.Context) (bool, error) {
	if err := p.reach(); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holder == p.name || !time.Now().Before(p.until), nil
}

func (p *place) take(ctx context.Context) (bool, error) {
	if free, err := p.free(ctx); !free || err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holder, p.until = p.name, time.Now().Add(leaseTime)
	return true, nil
}

func (p *place) held(context.Context) (bool, error) {
	if err := p.reach(); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holder == p.name && time.Now().Before(p.until), nil
}

func (p *place) leave(context.Context) error {
	if err := p.reach(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holder == p.name {
		p.holder, p.until = "", time.Time{}
	}
	return nil
}

// reign notes who leads from when to when.
type reign struct {
	mu     sync.Mutex
	began  time.Time
	events []event
}

type event struct {
	After time.Duration
	Text  string
}

func (r *reign) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event{time.Since(r.began), text})
}

// sit lets a candidate run until the function it returns is called.
func (r *reign) sit(t *testing.T, p *place) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- newCandidate(p, slog.New(slog.DiscardHandler)).run(ctx, func(ctx context.Context, _ Fence) error {
			r.note(p.name + " begins")
			<-ctx.Done()
			r.note(p.name + " ends")
			return ctx.Err()
		})
	}()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s ended with %v", p.name, err)
		}
	}
}

func (r *reign) want(t *testing.T, want ...event) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.events); diff != "" {
		t.Errorf("who led when: %s", diff)
	}
}

func TestTheLeadIsHandedOverWhenItsHolderStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, b := &reign{began: time.Now()}, &bench{}
		stopA := r.sit(t, &place{bench: b, name: "a"})
		synctest.Wait()
		stopB := r.sit(t, &place{bench: b, name: "b"})
		time.Sleep(time.Hour + 500*time.Millisecond)
		stopA()
		time.Sleep(10 * time.Second)
		stopB()
		end := time.Hour + 500*time.Millisecond
		r.want(t, event{0, "a begins"}, event{end, "a ends"}, event{end + 500*time.Millisecond, "b begins"}, event{end + 10*time.Second, "b ends"})
	})
}

// One whose way to the store is cut stops three seconds before the other begins,
// also when the store does not answer at all, and comes back when it can.
func TestWhoCannotRenewStopsBeforeAnotherBegins(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(p *place){
		"refused": func(p *place) { p.cut = true },
		"silent":  func(p *place) { p.hang = make(chan struct{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, b := &reign{began: time.Now()}, &bench{}
				a := &place{bench: b, name: "a"}
				stopA := r.sit(t, a)
				synctest.Wait()
				stopB := r.sit(t, &place{bench: b, name: "b"})
				time.Sleep(4 * time.Second) // renewed after three
				a.set(func() { trouble(a) })
				time.Sleep(16 * time.Second)
				a.set(func() {
					a.cut = false
					if a.hang != nil {
						close(a.hang)
						a.hang = nil
					}
				})
				time.Sleep(9500 * time.Millisecond)
				stopB()
				time.Sleep(5500 * time.Millisecond)
				stopA()
				r.want(t, event{0, "a begins"}, event{9 * time.Second, "a ends"}, event{12 * time.Second, "b begins"},
					event{29500 * time.Millisecond, "b ends"}, event{30 * time.Second, "a begins"}, event{35 * time.Second, "a ends"})
			})
		})
	}
}

func TestAStoreThatIsAwayForAMomentChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, a := &reign{began: time.Now()}, &place{bench: &bench{}, name: "a"}
		stop := r.sit(t, a)
		time.Sleep(2 * time.Second)
		a.set(func() { a.cut = true })
		time.Sleep(2500 * time.Millisecond) // the renewals after 3 and 4 seconds fail
		a.set(func() { a.cut = false })
		time.Sleep(20 * time.Second)
		stop()
		r.want(t, event{0, "a begins"}, event{24500 * time.Millisecond, "a ends"})
	})
}

func TestWhatIsLedEndsRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, want := range []error{nil, broken} {
		b := &bench{}
		got := newCandidate(&place{bench: b, name: "a"}, slog.New(slog.DiscardHandler)).run(t.Context(),
			func(context.Context, Fence) error { return want })
		if !errors.Is(got, want) || b.holder != "" {
			t.Errorf("got %v and the seat held by %q, want %v and nobody", got, b.holder, want)
		}
	}
}
