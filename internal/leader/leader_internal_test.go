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

// fakeLock is a lock in memory, with the clock of the synctest bubble.
type fakeLock struct {
	mu     sync.Mutex
	holder string
	until  time.Time
}

// lockClient is the connection of one candidate to the lock. It can fail, and it can
// block.
type lockClient struct {
	*fakeLock
	name         string
	disconnected bool
	block        chan struct{} // blocks until it is closed, unless it is nil
}

var errDisconnected = errors.New("disconnected")

func (p *lockClient) connect() error {
	p.mu.Lock()
	disconnected, block := p.disconnected, p.block
	p.mu.Unlock()
	if block != nil {
		<-block
	}
	if disconnected {
		return errDisconnected
	}
	return nil
}

func (p *lockClient) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *lockClient) available(context.Context) (bool, error) {
	if err := p.connect(); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holder == p.name || !time.Now().Before(p.until), nil
}

func (p *lockClient) acquire(ctx context.Context) (bool, error) {
	if free, err := p.available(ctx); !free || err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holder, p.until = p.name, time.Now().Add(leaseTime)
	return true, nil
}

func (p *lockClient) held(context.Context) (bool, error) {
	if err := p.connect(); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holder == p.name && time.Now().Before(p.until), nil
}

func (p *lockClient) release(context.Context) error {
	if err := p.connect(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holder == p.name {
		p.holder, p.until = "", time.Time{}
	}
	return nil
}

// history records when each candidate led.
type history struct {
	mu     sync.Mutex
	began  time.Time
	events []event
}

type event struct {
	After time.Duration
	Text  string
}

func (r *history) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event{time.Since(r.began), text})
}

// start runs a candidate until stop is called.
func (r *history) start(t *testing.T, p *lockClient) (stop func()) {
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

func (r *history) want(t *testing.T, want ...event) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.events); diff != "" {
		t.Errorf("leaders by time (-want +got):\n%s", diff)
	}
}

func TestStoppedLeaderHandsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, b := &history{began: time.Now()}, &fakeLock{}
		stopA := r.start(t, &lockClient{fakeLock: b, name: "a"})
		synctest.Wait()
		stopB := r.start(t, &lockClient{fakeLock: b, name: "b"})
		time.Sleep(time.Hour + 500*time.Millisecond)
		stopA()
		time.Sleep(10 * time.Second)
		stopB()
		end := time.Hour + 500*time.Millisecond
		r.want(t, event{0, "a begins"}, event{end, "a ends"}, event{end + 500*time.Millisecond, "b begins"}, event{end + 10*time.Second, "b ends"})
	})
}

// A leader without the store stops three seconds before a standby leads. It can lead
// again after the store has recovered.
func TestLeaderThatCannotRenewStops(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(p *lockClient){
		"refused": func(p *lockClient) { p.disconnected = true },
		"silent":  func(p *lockClient) { p.block = make(chan struct{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, b := &history{began: time.Now()}, &fakeLock{}
				a := &lockClient{fakeLock: b, name: "a"}
				stopA := r.start(t, a)
				synctest.Wait()
				stopB := r.start(t, &lockClient{fakeLock: b, name: "b"})
				time.Sleep(4 * time.Second) // renewed after three
				a.set(func() { trouble(a) })
				time.Sleep(16 * time.Second)
				a.set(func() {
					a.disconnected = false
					if a.block != nil {
						close(a.block)
						a.block = nil
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

func TestShortFailureOfStoreKeepsLeader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, a := &history{began: time.Now()}, &lockClient{fakeLock: &fakeLock{}, name: "a"}
		stop := r.start(t, a)
		time.Sleep(2 * time.Second)
		a.set(func() { a.disconnected = true })
		time.Sleep(2500 * time.Millisecond) // the renewals after 3 and 4 seconds fail
		a.set(func() { a.disconnected = false })
		time.Sleep(20 * time.Second)
		stop()
		r.want(t, event{0, "a begins"}, event{24500 * time.Millisecond, "a ends"})
	})
}

func TestRunReturnsErrorOfJob(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, want := range []error{nil, broken} {
		b := &fakeLock{}
		got := newCandidate(&lockClient{fakeLock: b, name: "a"}, slog.New(slog.DiscardHandler)).run(t.Context(),
			func(context.Context, Fence) error { return want })
		if !errors.Is(got, want) || b.holder != "" {
			t.Errorf("got %v and the lease held by %q, want %v and no holder", got, b.holder, want)
		}
	}
}
